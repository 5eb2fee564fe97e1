"""Writes man/*.1, a page for each command, from the commands themselves.

    python man/generate.py           write the pages
    python man/generate.py --check   write nothing; exit 1 and name the pages that are not what they should be

The pages hold kafkapy's version and no date, so the same commands always give the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kafkapy.command_tree import command_tree, walk  # noqa: E402
from kafkapy.manual.page import page_of  # noqa: E402
from kafkapy.manual.roff import roff  # noqa: E402


def main(args: list[str]) -> int:
    """Write the pages, or check them."""
    return publish(pages(), args, sorted((ROOT / "man").glob("*.1")))


def publish(files: dict[Path, str], args: list[str], present: list[Path]) -> int:
    """Make the files that are ``present`` exactly these, or with ``--check`` only say where they are not."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    extra = [path for path in present if path not in files]
    if args == ["--check"]:
        for path in (*stale, *extra):
            print(f"{path.relative_to(ROOT)} is stale: run `make docs-generated`", file=sys.stderr)
        return 1 if stale or extra else 0
    if args:
        print("the only argument is --check", file=sys.stderr)
        return 2
    for path in stale:
        path.write_text(files[path])
    for path in extra:
        path.unlink()
    return 0


def pages() -> dict[Path, str]:
    """Each page's path and text."""
    return {ROOT / "man" / f"{'-'.join(node.path)}.1": roff(page_of(node)) for node in walk(command_tree())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
