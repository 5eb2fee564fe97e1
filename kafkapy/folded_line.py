"""A command line over several lines, which a shell takes as one.

It is broken before an option, before a text in quotes that is no option's value, or behind a pipe, never inside quotes,
and each line but the last ends in a backslash or a bar. What cannot be broken stays too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

INDENT = "    "
_OPTION = re.compile("--?[a-z]")
_WORD = re.compile(r"""(?:[^\s"']+|"[^"]*"|'[^']*')+""")


def folded(line: str, width: int) -> list[str]:
    """The lines, all but the first indented."""
    lines: list[str] = []
    for piece in _pieces(line):
        if lines and len(lines[-1]) + len(piece) + len("  \\") <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(INDENT * bool(lines) + piece)
    return [each if each.endswith("|") else f"{each} \\" for each in lines[:-1]] + lines[-1:]


def _pieces(line: str) -> Iterator[str]:
    """What is not to be broken: a command's name, or an option with its values."""
    piece: list[str] = []
    for word in _WORD.findall(line):
        if piece and (_OPTION.match(word) or piece[-1] == "|" or (word[0] in "\"'" and len(piece) > 1)):
            yield " ".join(piece)
            piece = []
        piece.append(word)
    yield " ".join(piece)
