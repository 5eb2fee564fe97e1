"""The prompt of the metadata shell: lines with editing, history and completion on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from kafkapy.metadata.metadata_shell import MetadataShell
from kafkapy.output.printing import print_lines

PROMPT = ">> "


def run_shell(shell: MetadataShell) -> None:
    """Reads and runs commands until the input ends, or ``exit``."""
    lines = _typed_lines(shell) if sys.stdin.isatty() else map(str.strip, sys.stdin)
    for line in lines:
        if line:
            shell.history.append(line)
            print_lines(shell.run(_words(line)))
        if shell.done:
            return


def _typed_lines(shell: MetadataShell) -> Iterator[str]:
    import readline

    def candidate(text: str, number: int) -> str | None:
        """What readline asks for again and again: the completion with this number."""
        before = readline.get_line_buffer()[: readline.get_begidx()].split()
        found = shell.complete_word(before, text)
        return found[number] if number < len(found) else None

    readline.set_completer(candidate)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
    while not shell.done:
        try:
            yield input(PROMPT).strip()
        except KeyboardInterrupt:
            print_lines(["^C"])
        except EOFError:
            print_lines([""])
            return


def _words(line: str) -> list[str]:
    import shlex

    try:
        return shlex.split(line)
    except ValueError:  # a quote that is not closed
        return line.split()
