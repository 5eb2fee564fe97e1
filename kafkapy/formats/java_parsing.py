"""Text as Java's standard library parses it, for the files that Kafka keeps as text.

Python's own habits differ just enough to matter: ``int`` takes underscores and spaces, ``str.split`` and
``str.splitlines`` know more separators.
"""

from __future__ import annotations

from kafkapy.errors import FormatError

_SPACES = {ord(space): " " for space in "\t\n\x0b\f\r"}
_LONGEST_NUMBER = 1000


def parse_short(text: str) -> int:
    """``Short.parseShort``, the same as ``parse_int`` with 16 bits."""
    return _parse(text, 15)


def parse_int(text: str) -> int:
    """``Integer.parseInt``: an optional sign and decimal digits that fit 32 bits, else a FormatError in its words."""
    return _parse(text, 31)


def parse_long(text: str) -> int:
    """``Long.parseLong``, the same with 64 bits."""
    return _parse(text, 63)


def _parse(text: str, bits: int) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER:
        value = -int(digits) if text[0] == "-" else int(digits)
        if -(1 << bits) <= value < 1 << bits:
            return value
    raise FormatError(f'For input string: "{text}"')


def split(text: str, separator: str) -> list[str]:
    """``String.split``: what is empty at the end does not count, but for the one part that an empty text is."""
    parts = text.split(separator)
    while text and parts and not parts[-1]:
        parts.pop()
    return parts


def read_lines(data: bytes) -> list[str]:
    """The lines of UTF-8 text as ``BufferedReader.readLine`` finds them: an empty last line does not count."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text at byte {error.start}") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def split_spaces(line: str) -> list[str]:
    r"""``Pattern.compile("\\s+").split(line)``: a leading space gives a leading empty field, a trailing one nothing."""
    line = line.translate(_SPACES)
    fields = [field for field in line.split(" ") if field]
    return ["", *fields] if line.startswith(" ") else fields
