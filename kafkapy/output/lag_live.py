"""Lines that are shown again and again: in place on a terminal, one block after the other through a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kafkapy.output.printing import print_lines

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {
    "stopped": "bold red",
    "stalled": "bold red",
    "rewound": "magenta",
    "falling behind": "yellow",
    "unknown": "dim",
    "ok": "green",
}


def show(blocks: Iterable[Sequence[str]]) -> None:
    """Show each block when it comes."""
    if os.isatty(1):
        _show_in_place(blocks)
        return
    for number, block in enumerate(blocks):
        print_lines(["", *block] if number else block)


def _show_in_place(blocks: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for block in blocks:
            live.update(_styled(_cropped(block, console.height)), refresh=True)


def _cropped(block: Sequence[str], height: int) -> Sequence[str]:
    """As much of a block as there is room for, and how much more there is."""
    if len(block) <= height:
        return block
    shown = height - 1
    return [*block[:shown], f"... {len(block) - shown} more lines: --group, --topic or --by group make it shorter"]


def _styled(block: Iterable[str]) -> Text:
    """The lines with the verdicts at their ends in colour; control characters of names are made visible."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ellipsis")
    for line in _visible(block):
        verdict = next((name for name in _STYLES if line.endswith("  " + name)), None)
        if verdict is None:
            text.append(line + "\n")
        else:
            text.append(line.removesuffix(verdict)).append(verdict + "\n", _STYLES[verdict])
    text.rstrip()
    return text


def _visible(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
