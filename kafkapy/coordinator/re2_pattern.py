"""RE2's regular expressions as Python's, for the subscriptions that a coordinator matches with names of topics.

``formats/re2_syntax.py`` says which expressions there are; here one of those becomes an expression of Python's ``re``
that matches the same names. Every item is written anew, so that nothing is left to what Python takes it for: a flag in
the middle of an expression, ``{,2}``, ``\\z``, ``\\Q...\\E``, ``[[:alpha:]]``. Groups do not capture.

Unicode classes and ``(?i)`` are followed for ASCII only: a topic's name has nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from kafkapy.formats.re2_syntax import check_syntax

MAX_RUNE = 0x10FFFF

Ranges = list[tuple[int, int]]

NOTHING: Ranges = [(MAX_RUNE, MAX_RUNE)]  # nothing that a name can have

_PERL: dict[str, Ranges] = {
    "d": [(48, 57)],
    "s": [(9, 10), (12, 13), (32, 32)],
    "w": [(48, 57), (65, 90), (95, 95), (97, 122)],
}
_POSIX: dict[str, Ranges] = {
    "alnum": [(48, 57), (65, 90), (97, 122)],
    "alpha": [(65, 90), (97, 122)],
    "ascii": [(0, 127)],
    "blank": [(9, 9), (32, 32)],
    "cntrl": [(0, 31), (127, 127)],
    "digit": [(48, 57)],
    "graph": [(33, 126)],
    "lower": [(97, 122)],
    "print": [(32, 126)],
    "punct": [(33, 47), (58, 64), (91, 96), (123, 126)],
    "space": [(9, 13), (32, 32)],
    "upper": [(65, 90)],
    "word": _PERL["w"],
    "xdigit": [(48, 57), (65, 70), (97, 102)],
}
_C_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANCHORS = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?a:(?!\b))"}
_COUNT = re.compile(r"\{(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*)?)?\}")
_OCTAL = re.compile(r"[0-7]{1,3}")
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_GROUP = re.compile(r"\(\?(?:P?<\w+>|(\w*)(?:-(\w*))?([:)]))")
_UNICODE = re.compile(r"[pP](?:\{(\^?)(\w+)\}|(\w))")


@lru_cache(maxsize=256)
def compile_re2(pattern: str) -> re.Pattern[str]:
    """The expression that matches what ``pattern`` does; a FormatError in RE2's words where that is none."""
    check_syntax(pattern)
    return re.compile(_Translation(pattern).run())


class _Translation:
    """One pass over an expression that is known to be right. ``flags`` are those in force, and with every open group
    those that were before it; ``operand`` is where in ``out`` that begins which an operator would repeat."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._outer: list[tuple[frozenset[str], int]] = []
        self._out: list[str] = []
        self._operand = 0

    def run(self) -> str:
        while self._at < len(self._text):
            self._item(self._text[self._at])
        return "".join(self._out)

    def _item(self, char: str) -> None:
        count = _COUNT.match(self._text, self._at)
        if self._text.startswith("(?", self._at):
            self._perl_group()
        elif char in "*+?" or count:
            self._repeat(count.group() if count else char)
        elif char == "[":
            self._atom(self._class())
        elif self._text.startswith("\\Q", self._at):
            self._quoted()
        elif char == "\\":
            self._atom(self._escaped())
        else:
            self._at += 1
            self._plain(char)

    def _atom(self, item: str) -> None:
        self._operand = len(self._out)
        self._out.append(item)

    def _plain(self, char: str) -> None:
        if char == "(":
            self._open(self._flags)
        elif char == ")":
            self._flags, self._operand = self._outer.pop()
            self._out.append(char)
        elif char == ".":
            self._atom("(?s:.)" if "s" in self._flags else r"[^\n]")
        elif char in "^$":
            self._atom(f"(?m:{char})" if "m" in self._flags else _ANCHORS["A" if char == "^" else "z"])
        else:
            self._atom(char if char == "|" else self._folded(re.escape(char)))

    def _open(self, flags: frozenset[str]) -> None:
        self._outer.append((self._flags, len(self._out)))
        self._out.append("(?:")
        self._flags = flags

    def _perl_group(self) -> None:
        found = _GROUP.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        added, removed, end = found.groups()
        flags = self._flags.union(added or "").difference(removed or "")
        if end == ")":
            self._flags = flags
        else:
            self._open(flags)

    def _repeat(self, operator: str) -> None:
        self._at += len(operator)
        is_lazy = self._text.startswith("?", self._at)
        self._at += is_lazy
        # a group, because what is repeated may be a repetition: flags can stand between two operators
        repeated = "".join(self._out[self._operand :])
        self._out[self._operand :] = [f"(?:{repeated}){operator}{'?' if is_lazy != ('U' in self._flags) else ''}"]

    def _quoted(self) -> None:
        end = self._text.find("\\E", self._at)
        for char in self._text[self._at + 2 : end if end >= 0 else None]:
            self._atom(self._folded(re.escape(char)))
        self._at = len(self._text) if end < 0 else end + 2

    def _escaped(self) -> str:
        char = self._text[self._at + 1]
        if char in _ANCHORS:
            self._at += 2
            return _ANCHORS[char]
        ranges = self._class_escape()
        if ranges is None:
            code = self._escape()
            ranges = [(code, code)]
        return self._folded(_set(ranges))

    def _class(self) -> str:
        is_negated = self._text.startswith("[^", self._at)
        self._at += 2 if is_negated else 1
        ranges: Ranges = []
        is_first = True
        while is_first or self._text[self._at] != "]":
            is_first = False
            ranges += self._posix_class() or self._class_escape() or self._range()
        self._at += 1
        return self._folded(_set(ranges, is_negated))

    def _posix_class(self) -> Ranges | None:
        end = self._text.find(":]", self._at)
        if not self._text.startswith("[:", self._at) or end < 0:
            return None
        name = self._text[self._at + 2 : end]
        self._at = end + 2
        ranges = _POSIX[name.removeprefix("^")]
        return _complement(ranges) if name.startswith("^") else ranges

    def _class_escape(self) -> Ranges | None:
        """``\\d`` and its like, or ``\\p{Greek}``."""
        if self._text[self._at] != "\\":
            return None
        char = self._text[self._at + 1]
        if char.lower() in _PERL:
            self._at += 2
            ranges = _PERL[char.lower()]
            return _complement(ranges) if char.isupper() else ranges
        found = _UNICODE.match(self._text, self._at + 1)
        if found is None:
            return None
        self._at = found.end()
        is_negated = (char == "P") != bool(found[1])
        ranges = _unicode_class(found[2] or found[3])
        return (_complement(ranges) if is_negated else ranges) or NOTHING

    def _range(self) -> Ranges:
        low = high = self._class_char()
        if self._text[self._at] == "-" and self._text[self._at + 1] != "]":
            self._at += 1
            high = self._class_char()
        return [(low, high)]

    def _class_char(self) -> int:
        if self._text[self._at] == "\\":
            return self._escape()
        self._at += 1
        return ord(self._text[self._at - 1])

    def _escape(self) -> int:
        self._at += 1
        char = self._text[self._at]
        if found := _HEX.match(self._text, self._at):
            self._at = found.end()
            return int(found[1] or found[2], 16)
        if found := _OCTAL.match(self._text, self._at):
            self._at = found.end()
            return int(found[0], 8)
        self._at += 1
        return _C_ESCAPES.get(char, ord(char))

    def _folded(self, item: str) -> str:
        return f"(?i:{item})" if "i" in self._flags else item


def _set(ranges: Iterable[tuple[int, int]], is_negated: bool = False) -> str:
    inside = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
    return f"[{'^' if is_negated else ''}{inside}]"


def _complement(ranges: Ranges) -> Ranges:
    """All that sorted ranges leave out."""
    bounds = [-1, *(bound for each in ranges for bound in each), MAX_RUNE + 1]
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return [(after + 1, before - 1) for after, before in pairs if after + 1 < before]


def _unicode_class(name: str) -> Ranges:
    """What is in a category or script of Unicode; of scripts, only these two have something in ASCII."""
    if name == "Any":
        return [(0, MAX_RUNE)]
    if name == "Latin":
        return _POSIX["alpha"]
    if name == "Common":
        return _complement(_POSIX["alpha"])
    if len(name) > 2:
        return []
    from unicodedata import category

    return [(code, code) for code in range(128) if category(chr(code)).startswith(name)]
