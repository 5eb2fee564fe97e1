"""Real shells that complete a line: what each would offer for it.

Bash and zsh run on a terminal of their own, as for a user. Bash is asked by a key that calls the function with what
readline has, and prints what it offers; zsh by one that lists all matches. Fish has a command for it.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.readable import is_readable

SHELLS = ("bash", "zsh", "fish")
LONGEST_WAIT_S = 60
END = "<<end>>"
LINE = "line:"
CTRL_U = b"\x15"

BASH = """PS1= PS2=
bind 'set enable-bracketed-paste off'
source completions/kafkapy.bash
report() {
    local value; _kafkapy
    for value in "${COMPREPLY[@]}"; do printf '<<%s>>\\n' "$value"; done
    printf '<<end>>\\n'; COMPREPLY=()
}
complete -F report kafkapy
printf '<<ready>>\\n'
"""
ZSH = """PS1= PS2= RPS1=
unsetopt ZLE_BRACKETED_PASTE PROMPT_SP
fpath=($PWD/completions $fpath)
autoload -Uz compinit; compinit -u -d "$HOME/.zcompdump"
zstyle ':completion:*' list-colors ''
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
    local -a found
    builtin compadd -O found "$@"
    local value; for value in $found; do printf '<<%s>>\\n' "$value"; done
    builtin compadd "$@"
}
finished() {
    zle expand-or-complete; printf '<<line:%s>>\\n<<end>>\\n' "$BUFFER"; zle -I; BUFFER=
}
zle -N finished; bindkey '^I' finished
printf '<<ready>>\\n'
"""


def offered(shell: str, line: str, root: Path, environment: Mapping[str, str], times: int = 1) -> list[str]:
    """What a shell offers at the end of a line, in any order, each once; the same each time that bash or zsh is
    asked."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if shell == "fish":
        return _fish(line, root, environment)
    startup = Path(environment["HOME"], f"startup.{shell}")
    startup.write_text(BASH if shell == "bash" else ZSH)
    program = ["zsh", "-f", "-i"] if shell == "zsh" else ["bash", "--norc", "--noprofile", "-i"]
    found = _typed(program, f"source {startup}\n", line, root, environment, times)
    return [each for each in found if not each.startswith(LINE)]


def completed(line: str, root: Path, environment: Mapping[str, str]) -> str:
    """What zsh makes of a line for which it has one match."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    startup = Path(environment["HOME"], "startup.zsh")
    startup.write_text(ZSH)
    found = _typed(["zsh", "-f", "-i"], f"source {startup}\n", line, root, environment)
    (after,) = (each.removeprefix(LINE) for each in found if each.startswith(LINE))
    return after


def _fish(line: str, root: Path, environment: Mapping[str, str]) -> list[str]:
    program = "source completions/kafkapy.fish; complete -C $argv[1]"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program, line],
        cwd=root,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return sorted({each.partition("\t")[0] for each in done.stdout.splitlines()})


def _typed(
    shell: list[str], startup: str, line: str, root: Path, environment: Mapping[str, str], times: int = 1
) -> list[str]:
    """What a shell offers when a line and then a tab is typed into it, each time."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(root)
        os.execvpe(shell[0], shell, dict(environment))
    try:
        os.write(terminal, startup.encode())
        _read_until(terminal, "<<ready>>\r")
        found = []
        for _ in range(times):
            os.write(terminal, CTRL_U + line.encode() + b"\t")
            found.append(_values(_read_until(terminal, END + "\r")))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    assert found == found[:1] * times
    return found[0]


def _values(text: str) -> list[str]:
    assert "rror" not in text.replace("--", ""), text
    return sorted(set(re.findall("<<(.*?)>>\r", text)) - {"end"})


def _read_until(terminal: int, mark: str) -> str:
    text = ""
    while mark not in text:
        assert is_readable(terminal, LONGEST_WAIT_S), f"the shell is silent after: {text}"
        text += os.read(terminal, 65536).decode("utf-8", "replace")
    return text
