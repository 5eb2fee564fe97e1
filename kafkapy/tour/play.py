"""Playing a command of the tour: what it printed, and what there is to say about which line.

A step that goes wrong ends the tour, since the steps after it would be about something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.tour.shell import Finished, Shell
from kafkapy.tour.step import Command, Note, Step


class Played(NamedTuple):
    """The lines that a command printed, each with what is said below it, and what is said at the end."""

    lines: tuple[tuple[str, str | None], ...]
    notes: tuple[str, ...]


def play(step: Step, command: Command, shell: Shell) -> Played:
    """Run a command, and find in its output what the notes are about."""
    finished = shell.run(command.line)
    lines = finished.output.splitlines()
    if finished.exit_code != 0:
        raise _failure(step, command, finished)
    if command.is_line_by_line:
        return Played(tuple(_explained(step, command, lines)), ())
    notes = tuple(_found(step, command, note, finished.output) for note in command.notes)
    return Played(tuple((line, None) for line in lines), notes)


def _explained(step: Step, command: Command, lines: Sequence[str]) -> list[tuple[str, str | None]]:
    """Every line with its note; the notes are about lines in the order of these."""
    explained: list[tuple[str, str | None]] = []
    waiting = list(command.notes)
    for line in lines:
        found = re.search(waiting[0].pattern, line) if waiting else None
        explained.append((line, None if found is None else waiting.pop(0).text.format(**found.groupdict())))
    if waiting:
        raise _missing(step, command, waiting[0])
    return explained


def _found(step: Step, command: Command, note: Note, output: str) -> str:
    found = re.search(note.pattern, output)
    if found is None:
        raise _missing(step, command, note)
    return note.text.format(**found.groupdict())


def _failure(step: Step, command: Command, finished: Finished) -> KafkapyError:
    said = finished.output.strip().rpartition("\n")[2]
    how = f"exit code {finished.exit_code}" if finished.exit_code > 0 else f"signal {-finished.exit_code}"
    return KafkapyError(f"step {step.name}: '{_one_line(command)}' ended with {how}: {said or 'it printed nothing'}")


def _missing(step: Step, command: Command, note: Note) -> KafkapyError:
    return KafkapyError(
        f"step {step.name}: '{_one_line(command)}' did not print what the tour explains: {note.pattern}"
    )


def _one_line(command: Command) -> str:
    return " ".join(command.line.replace("\\\n", " ").split())
