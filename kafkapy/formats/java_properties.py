r"""Java's .properties text, as ``java.util.Properties`` reads and writes it.

Reading: bytes are ISO-8859-1. ``#`` and ``!`` begin a comment line. A line that ends in an odd number of backslashes
goes on in the next, whose leading blanks are dropped. The key ends at the first bare ``=``, ``:`` or blank; blanks
around one separator are dropped, blanks at the end of the value are kept. ``\t \n \r \f \uXXXX`` are escapes, any
other escaped character is itself. The last of equal keys wins.

Writing: an empty comment, the date, then ``key=value`` lines with ``= : # !`` and backslash escaped, and every blank of
a key and the first of a value. Kafka writes through a UTF-8 writer and reads bytes, so non-ASCII text does not come
back the same; that is Kafka's, and kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

_BLANKS = " \t\f"
_READ_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITE_ESCAPES = str.maketrans(
    {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\", "=": "\\=", ":": "\\:", "#": "\\#", "!": "\\!"}
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def load(data: bytes) -> dict[str, str]:
    """``Properties.load(InputStream)``."""
    properties = {}
    for line in _logical_lines(data.decode("latin-1")):
        key_end, value_start = _split(line)
        properties[_unescape(line[:key_end])] = _unescape(line[value_start:])
    return properties


def store(properties: Mapping[str, str], date: datetime) -> str:
    """``Properties.store(Writer, "")``, in the order of ``properties``; Java's own order is that of a hash map."""
    lines = [f"{_escape(key, all_blanks=True)}={_escape(value)}" for key, value in properties.items()]
    return "".join(f"{line}\n" for line in ("#", f"#{java_date(date)}", *lines))


def java_date(date: datetime) -> str:
    """``Date.toString``: English names whatever the locale, and the zone that ``date`` carries."""
    day, month = _DAYS[date.weekday()], _MONTHS[date.month - 1]
    return f"{day} {month} {date.day:02} {date:%H:%M:%S} {date.tzname()} {date.year}"


def _logical_lines(text: str) -> Iterator[str]:
    logical = ""
    for natural in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = natural.lstrip(_BLANKS)
        if not logical and line[:1] in ("#", "!"):
            continue
        logical += line
        if (len(line) - len(line.rstrip("\\"))) % 2 == 1:
            logical = logical[:-1]
        elif logical:
            yield logical
            logical = ""
    # What is left ended in a backslash; where that was all, Java would make an entry of nothing, which is dropped.
    if logical:
        yield logical


def _split(line: str) -> tuple[int, int]:
    """Where the key ends and where the value starts."""
    key_end = 0
    while key_end < len(line) and line[key_end] not in "=: \t\f":
        key_end += 2 if line[key_end] == "\\" else 1
    value_start = key_end
    separated = False
    while value_start < len(line):
        if line[value_start] in "=:" and not separated:
            separated = True
        elif line[value_start] not in _BLANKS:
            break
        value_start += 1
    return key_end, value_start


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out = []
    characters = iter(text)
    for character in characters:
        if character != "\\":
            out.append(character)
            continue
        escaped = next(characters, "")
        out.append(_unicode_escape(characters) if escaped == "u" else _READ_ESCAPES.get(escaped, escaped))
    # Java's strings are UTF-16: two escapes may be the halves of one character.
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unicode_escape(characters: Iterator[str]) -> str:
    digits = "".join(next(characters, "") for _ in range(4))
    if len(digits) < 4 or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
        raise FormatError("Malformed \\uxxxx encoding.")
    return chr(int(digits, 16))


def _escape(text: str, *, all_blanks: bool = False) -> str:
    escaped = text.translate(_WRITE_ESCAPES)
    if all_blanks:
        return escaped.replace(" ", "\\ ")
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
