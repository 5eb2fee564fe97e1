"""What ``kafkapy tour`` prints: words, command lines as they are typed, what these printed, and notes on it.

A command begins with ``$``, a note with ``#``; words are wrapped at 80 columns. In a pipe, what a command printed
stands as it is. On a terminal, lines that are longer than it is wide are cut where they are rows of a table, with a
mark at their end; lines that are explained one by one are folded between words, so that nothing of them is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from kafkapy.output.styled_lines import Line
from kafkapy.tour.itinerary import Suggestion
from kafkapy.tour.play import Played
from kafkapy.tour.step import Command, Step

WIDTH = 80
CUT = "…"
FOLD = "    "
TOGETHER = "\N{NO-BREAK SPACE}"
EMPTY: Line = [("", "")]


def introduction_lines(count: int, preparations: Sequence[str], is_kept: bool, width: int | None) -> Iterator[Line]:
    """What the tour is, and how to type along."""
    end = "which is kept" if is_kept else "which is removed at the end (--keep DIR keeps it)"
    yield [("A tour of kafkapy", "title")]
    yield from _words(
        f"{count} steps in a scratch directory, {end}. Every command is shown as you would type it. To do that, or "
        "to look around, open another terminal and type:"
    )
    yield EMPTY
    yield from (_command_line(line, is_first=True) for line in preparations)
    if width is not None:
        yield EMPTY
        yield from _words(f"A line that ends in {CUT} is too long for this terminal, and was cut.")


def step_lines(step: Step, number: int, count: int) -> Iterator[Line]:
    """What a step is about."""
    yield EMPTY
    yield [(f"[{number}/{count}] ", "dim"), (step.title, "step")]
    yield from _words(step.text)


def step_row(step: Step) -> dict[str, Any]:
    """A step as a row; its command lines as they are typed."""
    return {
        "type": "tour_step",
        "step": step.name.value,
        "title": step.title,
        "needs_spark": step.needs_spark,
        "commands": [command.line for command in step.commands],
    }


def command_lines(command: Command) -> Iterator[Line]:
    """A command line, as it is typed."""
    yield EMPTY
    for number, line in enumerate(command.line.splitlines()):
        yield _command_line(line, is_first=number == 0)


def played_lines(played: Played, width: int | None) -> Iterator[Line]:
    """What a command printed, on a terminal so wide, and what there is to say about it."""
    is_line_by_line = any(note is not None for _, note in played.lines)
    for line, note in played.lines:
        shown = [line] if width is None else _folded(line, width) if is_line_by_line else [_cut(line, width)]
        yield from ([(each, "")] for each in shown)
        if note is not None:
            yield from _note(note)
    for note in played.notes:
        yield from _note(note)


def skipped_lines(reason: str) -> Iterator[Line]:
    """Why a step is left out."""
    yield EMPTY
    yield from ([(line, "changed")] for line in wrap(f"Skipped: {reason}", WIDTH, break_on_hyphens=False))


def end_lines(suggestions: Sequence[Suggestion], preparations: Sequence[str], is_kept: bool) -> Iterator[Line]:
    """What to try next."""
    yield EMPTY
    yield [("The end of the tour. What to try next:", "title")]
    if is_kept:
        yield from (_command_line(line, is_first=True) for line in preparations)
    else:
        yield from _words(
            "(The scratch directory is now removed. 'kafkapy tour --keep DIR' leaves you one in which to try this.)"
        )
    for each in suggestions:
        yield EMPTY
        yield from _words(each.text)
        yield from ([(f"  {line}", "command")] for line in each.line.splitlines())


def _words(text: str) -> Iterator[Line]:
    return ([(line, "")] for line in wrap(text, WIDTH, break_on_hyphens=False))


def _note(text: str) -> Iterator[Line]:
    lines = wrap(text, WIDTH, initial_indent="  # ", subsequent_indent="  # ", break_on_hyphens=False)
    return ([(line, "note")] for line in lines)


def _command_line(line: str, is_first: bool) -> Line:
    return [("$ " if is_first else "", "dim"), (line, "command")]


def _cut(line: str, width: int) -> str:
    line = line.expandtabs().rstrip()
    return line if len(line) <= width else line[: width - 1] + CUT


def _folded(line: str, width: int) -> list[str]:
    """Lines no longer than that; a name stays with its value."""
    line = line.expandtabs()
    indent = " " * (len(line) - len(line.lstrip())) + FOLD
    lines = wrap(line.replace(": ", f":{TOGETHER}"), width, subsequent_indent=indent, break_on_hyphens=False)
    return [each.replace(TOGETHER, " ").rstrip() for each in lines] or [""]
