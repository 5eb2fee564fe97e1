"""Lines that are broken where words end, and not wherever the terminal does; in a pipe they stay whole.

A word that has no room in a line of its own is broken behind its commas, as the types of columns are; one without any,
such as a path, is left for the terminal to break, so that it can be copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkapy.output.cell_width import width_of
from kafkapy.output.terminal_width import terminal_width

FOLD = "    "
_WORD = re.compile(r"\s*\S+")
_PART = re.compile("[^,]*,|[^,]+")


def at_words(line: str) -> str:
    """The line, or several with line breaks between them, those after the first indented further."""
    width = terminal_width()
    if width is None or width_of(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())] + FOLD
    lines = [""]
    for piece in _pieces(line, width - len(indent)):
        if lines[-1].strip() and width_of(lines[-1] + piece) > width:
            lines.append(indent + piece.lstrip())
        else:
            lines[-1] += piece
    return "\n".join(lines)


def _pieces(line: str, room: int) -> Iterator[str]:
    for word in _WORD.findall(line):
        if width_of(word.lstrip()) > room:
            yield from _PART.findall(word)
        else:
            yield word
