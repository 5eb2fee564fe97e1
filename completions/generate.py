"""Writes the completions of bash, zsh and fish from the commands themselves.

    python completions/generate.py           write them
    python completions/generate.py --check   write nothing; exit 1 and name the files that are not what they should be

The scripts know every subcommand, flag and enumeration, and complete file names where an option takes paths, also
after a comma. Where an option takes names that a cluster has (its metavar says so: kafkapy/value_kind.py),
they ask ``kafkapy __complete``, and nothing else ever runs kafkapy.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from completions.bash_script import bash  # noqa: E402
from completions.fish_script import fish  # noqa: E402
from completions.zsh_script import zsh  # noqa: E402
from kafkapy.command_tree import command_tree  # noqa: E402
from man.generate import publish  # noqa: E402


def main(args: list[str]) -> int:
    """Write the scripts, or check them."""
    files = scripts()
    return publish(files, args, list(files))


def scripts() -> dict[Path, str]:
    """Each script's path and text."""
    root = command_tree()
    here = ROOT / "completions"
    return {here / "kafkapy.bash": bash(root), here / "_kafkapy": zsh(root), here / "kafkapy.fish": fish(root)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
