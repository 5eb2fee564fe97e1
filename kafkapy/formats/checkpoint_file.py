"""The frame of Kafka's text checkpoints: a version line, a count line, then one entry a line.

    0
    2
    orders 0 155
    orders 2 198

Invariant: the count equals the number of entries, so a file that was cut short does not pass for a whole one. A file
with no bytes, or with the version line alone, has no entries.

Kafka writes it as ``<name>.tmp``, syncs, and renames, so after a crash the old or the new text is there, whole.

Kafka lets a number that does not parse inside an entry escape as a bare NumberFormatException; here it is a malformed
line like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kafkapy.errors import FormatError
from kafkapy.formats.java_parsing import parse_int, read_lines, split_spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

VERSION = 0


def decode(data: bytes, location: str, entry: Callable[[list[str]], T]) -> list[T]:
    """The entries; ``entry`` makes one of a line's fields and raises FormatError or ValueError if it cannot."""
    lines = read_lines(data)
    if not lines:
        return []
    version = _from_line(lines[0], location, parse_int)
    if version != VERSION:
        raise FormatError(
            f"Unrecognised version:{version}, expected version: {VERSION} in checkpoint file at: {location}"
        )
    if len(lines) == 1:
        return []
    expected = _from_line(lines[1], location, parse_int)
    entries = [_from_line(line, location, lambda text: entry(split_spaces(text))) for line in lines[2:]]
    if len(entries) != expected:
        raise FormatError(
            f"Expected [{expected}] entries in checkpoint file [{location}], but found only [{len(entries)}]"
        )
    return entries


def encode(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in (VERSION, len(lines), *lines)).encode("utf-8")


def _from_line(line: str, location: str, parse: Callable[[str], T]) -> T:
    try:
        return parse(line)
    except (FormatError, ValueError):
        raise FormatError(f"Malformed line in checkpoint file [{location}]: {line}") from None
