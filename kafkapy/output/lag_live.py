"""Lag that is shown again and again: in place on a terminal, one block after the other through a pipe.

A terminal has so many lines and no more. Where not all rows have room, the worst come first, and the last line tells
how many are missing. It shows its other screen meanwhile, as it does for an editor: what a terminal makes of lines when
its window gets another size cannot be known, so only a whole screen can be written anew. The last block stays when that
screen is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.lag.lag_point import LagPoint
from kafkapy.output.lag_lines import lag_lines, worst_lines
from kafkapy.output.printing import print_lines

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {
    "missed": "bold red",
    "stopped": "bold red",
    "stalled": "bold red",
    "rewound": "magenta",
    "falling behind": "yellow",
    "unknown": "dim",
    "ok": "green",
}
_OLD = "dim"


class Frame(NamedTuple):
    """What is shown at a time: lines, and below them rows, which may be old ones."""

    head: Sequence[str]
    points: Sequence[LagPoint]
    is_old: bool = False


def print_frames(frames: Iterable[Frame]) -> None:
    """Print each when it comes."""
    for number, frame in enumerate(frames):
        print_lines([*[""] * bool(number), *frame.head, *lag_lines(frame.points)])


def show_in_place(frames: Iterable[Frame]) -> None:
    """Show each in the place of the one before."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    live = Live(console=console, auto_refresh=False, screen=True)
    last = None
    try:
        for last in frames:
            live.start()
            live.update(_text(last, console.width, console.height), refresh=True)
    finally:
        live.stop()
        if last is not None:
            console.print(_text(last, console.width, console.height))


def _text(frame: Frame, width: int, height: int) -> Text:
    from rich.text import Text

    head = list(_wrapped(frame.head, width))
    text = Text("".join(f"{line}\n" for line in head), no_wrap=True, overflow="ellipsis")
    for line in map(_visible, _fitting(frame.points, height - len(head))):
        verdict = next((name for name in _STYLES if line.endswith("  " + name)), None)
        if frame.is_old or verdict is None:
            text.append(line + "\n", _OLD if frame.is_old else None)
        else:
            text.append(line.removesuffix(verdict)).append(verdict + "\n", _STYLES[verdict])
    text.rstrip()
    return text


def _fitting(points: Sequence[LagPoint], height: int) -> Sequence[str]:
    lines = list(lag_lines(points))
    return lines if len(lines) <= height else list(worst_lines(points, height))


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    """Lines none of which is wider than the terminal."""
    from textwrap import wrap

    for line in lines:
        yield from wrap(_visible(line), width, subsequent_indent="  ", drop_whitespace=True) or [""]


def _visible(line: str) -> str:
    """With the control characters of names made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
