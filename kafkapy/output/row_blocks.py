"""Rows as blocks of lines, a field each: for a terminal that is too narrow to show them as a table.

    topic      orders
    partition  0

    topic      orders
    partition  1

A value that is too long goes on below itself, or stands below its name where that helps; no number is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.output.cell_width import pieces, to_the_left, width_of

NARROWEST_PIECE = 8


class Field(NamedTuple):
    """A field of all rows: its name, and what it says in each."""

    name: str
    cells: Sequence[str]
    is_text: bool


def block_lines(fields: Sequence[Field], width: int, is_brief: bool) -> list[str]:
    """A block of lines for each row, with an empty one between; where it ``is_brief`` without the fields that have no
    value."""
    names = max(width_of(field.name) for field in fields)
    lines: list[str] = []
    for row in zip(*(field.cells for field in fields), strict=True):
        lines += [""] if lines else []
        for field, cell in zip(fields, row, strict=True):
            lines += _field_lines(field, cell, names, width) if cell or not is_brief else []
    return lines


def _field_lines(field: Field, cell: str, names: int, width: int) -> list[str]:
    room = width - names - 2
    first, *more = [piece for line in cell.split("\n") for piece in broken(line, room, field.is_text)]
    if all(width_of(piece) <= room for piece in (first, *more)):
        return [f"{to_the_left(field.name, names)}  {first}".rstrip(), *(f"{'':{names}}  {piece}" for piece in more)]
    lines = (piece for line in cell.split("\n") for piece in broken(line, width - 2, field.is_text))
    return [field.name, *(f"  {piece}" for piece in lines)]


def broken(text: str, width: int | None, breaks_words: bool = True) -> list[str]:
    """Lines of ``text``, broken between words where that can be; at least one."""
    from textwrap import wrap

    if width is None or width_of(text) <= width:
        return [text]
    if not text.isascii():
        return pieces(text, max(width, NARROWEST_PIECE))
    return wrap(text, max(width, NARROWEST_PIECE), break_long_words=breaks_words, break_on_hyphens=False) or [""]
