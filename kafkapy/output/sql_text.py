"""SQL as text: where a statement ends, and which names it has. What it means is for Spark to say.

Names and semicolons inside of quotes and comments do not count. Quotes are Spark's: ' and " around texts, with \\
before what is to be taken as it is, and ` around names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|`(?P<quoted>[^`]*)`"
    r"|(?P<open>['\"`]|/\*)"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<number>[0-9]\w*)"
    r"|(?P<end>;)"
    r"|(?P<sign>\S)",
    re.DOTALL,
)
_BEFORE_ALL = frozenset(("select", "distinct", "all", ",", ".", "("))
"""What stands before a * that is every column, and not a multiplication."""
_WHOLE_ROWS = frozenset(("natural", "table"))


class Script(NamedTuple):
    """Statements that are ended by a semicolon, and what follows the last one."""

    statements: list[str]
    rest: str


def split_statements(text: str) -> Script:
    """The statements of a text, without semicolons; where a quote or a comment stays open, the rest begins before."""
    statements: list[str] = []
    start = 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            break
        if token["end"]:
            statements.append(text[start : token.start()].strip())
            start = token.end()
    return Script([each for each in statements if each and not is_blank(each)], text[start:])


def is_blank(text: str) -> bool:
    """Whether there is nothing but comments."""
    return all(token["comment"] for token in _TOKEN.finditer(text))


def first_word(statement: str) -> str:
    """What a statement does, in lower case."""
    return next(iter(_words(statement)), "")


def names(statement: str) -> frozenset[str]:
    """Every name and word, in lower case."""
    return frozenset(_words(statement))


def texts(statement: str) -> frozenset[str]:
    """Every text in quotes, as it is spelled between them."""
    return frozenset(token["text"][1:-1] for token in _TOKEN.finditer(statement) if token["text"])


def asks_for_all_columns(statement: str) -> bool:
    """Whether a statement may need columns that it does not name."""
    words = ["", "", *_words(statement)]
    stars = (words[at - 2 : at] for at, word in enumerate(words) if word == "*")
    has_star = any(before in _BEFORE_ALL and [far, before] != ["count", "("] for far, before in stars)
    return has_star or not _WHOLE_ROWS.isdisjoint(words)


def _words(statement: str) -> list[str]:
    tokens = (token for token in _TOKEN.finditer(statement) if not token["comment"] and not token["text"])
    return [(token["quoted"] or token[0]).lower() for token in tokens]
