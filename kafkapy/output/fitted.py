"""Blocks of aligned lines that fit the terminal.

Where a block is too wide, columns that may be spared go, in the order in which they are named, from all blocks alike,
and a line below tells which. In a pipe nothing goes. What still does not fit is left for the terminal to break.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkapy.output.aligned import GAP, aligned
from kafkapy.output.at_words import at_words
from kafkapy.output.cell_width import width_of
from kafkapy.output.terminal_width import terminal_width

Block = Sequence[Sequence[str]]
"""Rows of cells; the first are the titles."""


def fitted(blocks: Sequence[Block], spare: Sequence[str]) -> Iterator[str]:
    """The lines of all blocks, with an empty one between them; ``spare`` has titles."""
    width = terminal_width()
    gone = [] if width is None else _gone(blocks, spare, width)
    for number, block in enumerate(blocks):
        yield from [""] * bool(number)
        yield from aligned(_without(block, gone))
    if gone:
        yield from at_words(f"Not shown, for lack of room: {', '.join(gone)}").splitlines()


def _gone(blocks: Sequence[Block], spare: Sequence[str], width: int) -> list[str]:
    """What has to go. A narrow column that went before a wide one stays if the wide one's going made room for it."""

    def fits(gone: Sequence[str]) -> bool:
        return all(_width(_without(block, gone)) <= width for block in blocks)

    there = [title for title in spare if any(title in block[0] for block in blocks)]
    count = next((count for count in range(len(there)) if fits(there[:count])), len(there))
    gone = there[:count]
    for title in reversed(gone[:-1]):
        fewer = [each for each in gone if each != title]
        gone = fewer if fits(fewer) else gone
    return gone


def _without(block: Block, gone: Sequence[str]) -> Block:
    kept = [at for at, title in enumerate(block[0]) if title not in gone]
    return [[row[at] for at in kept] for row in block]


def _width(block: Block) -> int:
    return sum(max(map(width_of, column)) for column in zip(*block, strict=True)) + len(GAP) * (len(block[0]) - 1)
