r"""``sasl.jaas.config``: a login module of Java's, and its options.

    MODULE FLAG OPTION=VALUE ... ;

is read as Java's ``StreamTokenizer`` reads it: words of letters, digits and ``. - _ $``; text in single or double
quotes with ``\`` escapes, which ends at the end of its line; ``//``, ``/* */`` and a single ``/`` begin comments. A
number without quotes is no text, so it cannot be a value.

Options hold passwords, and where a quote is missing any word may be a part of one: no error shows what it read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.errors import KafkapyError

_TOKEN = (
    r"(?P<blank>[\x00-\x20]+|/\*.*?\*/|/[^\r\n]*)"
    r"|\"(?P<double>(?:\\[^\r\n]|[^\"\\\r\n])*)(?:\"|(?=[\r\n])|\Z)"
    r"|'(?P<single>(?:\\[^\r\n]|[^'\\\r\n])*)(?:'|(?=[\r\n])|\Z)"
    r"|(?P<number>-?(?:\d[\d.]*|\.\d[\d.]*))"
    r"|(?P<word>[A-Za-z_$\xa0-\U0010ffff][A-Za-z0-9_.$\-\xa0-\U0010ffff]*)"
    r"|(?P<mark>.)"
)
_ESCAPE = r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)"
_LETTERS = {"a": "\x07", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\x0b"}
_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")


class JaasError(KafkapyError):
    """What is wrong with the text, without a word of it."""


class LoginModule(NamedTuple):
    """A login module's class and options."""

    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"<{self.simple_name}>"

    @property
    def simple_name(self) -> str:
        return self.name.rpartition(".")[2]


class _Token(NamedTuple):
    text: str | None  # of a word or a quoted text
    mark: str = ""


def parse_jaas(text: str) -> LoginModule:
    """The one login module that a client's config names."""
    tokens = _tokens(text)
    modules = []
    for token in tokens:
        if not token.text:
            raise JaasError("it does not begin with the class of a login module")
        modules.append(LoginModule(token.text, _options(tokens)))
    if len(modules) != 1:
        raise JaasError(f"there should be one login module in it, not {len(modules)}")
    return modules[0]


def _options(tokens: Iterator[_Token]) -> dict[str, str]:
    flag = next(tokens, _Token(None)).text
    if flag is None or flag.upper() not in _FLAGS:
        raise JaasError("after the login module there should be 'required'")
    options: dict[str, str] = {}
    for token in tokens:
        if token.mark == ";":
            return options
        equals, value = next(tokens, _Token(None)), next(tokens, _Token(None))
        if token.text is None or equals.mark != "=" or value.text is None:
            raise JaasError(
                f'option {len(options) + 1} is not NAME="VALUE": is a quote missing, or a backslash at a line\'s end?'
            )
        options[token.text] = value.text
    raise JaasError("a semicolon is missing at the end")


def _tokens(text: str) -> Iterator[_Token]:
    import re

    for match in re.finditer(_TOKEN, text, re.DOTALL):
        kind = match.lastgroup
        if kind in ("double", "single"):
            yield _Token(re.sub(_ESCAPE, lambda escape: _unescape(escape[1]), match[kind]))
        elif kind == "word":
            yield _Token(match["word"])
        elif kind != "blank":
            yield _Token(None, match["mark"] or "number")


def _unescape(escaped: str) -> str:
    return chr(int(escaped, 8)) if escaped.isdigit() and escaped < "8" else _LETTERS.get(escaped, escaped)
