"""Lines of input as records: LineMessageReader of Kafka's console producer.

    h1:v1,h2:v2 <headers.delimiter> key <key.separator> value

Headers and key are there only where ``parse.headers`` and ``parse.key`` say so. ``headers.separator`` is a regular
expression, the other separators are text. What equals ``null.marker`` is null. With ``ignore.error`` a separator that
is missing is no error: its part of the line is not there.

Lines end at ``\\n``, ``\\r`` or ``\\r\\n``; bytes that are not UTF-8 become U+FFFD, since Java reads text. An empty
line is a record with an empty value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.record_batch import Header

BLOCK_SIZE = 1 << 20


class Line(NamedTuple):
    """What a line says."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class ReaderOptions(NamedTuple):
    """The properties of the reader."""

    parse_key: bool = False
    parse_headers: bool = False
    ignore_error: bool = False
    key_separator: str = "\t"
    headers_delimiter: str = "\t"
    headers_separator: str = ","
    headers_key_separator: str = ":"
    null_marker: str | None = None

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> ReaderOptions:
        """What the properties say; separators that could not be told apart are refused."""
        given: dict[str, bool | str] = {}
        for field in cls._fields:
            text = properties.get(field.replace("_", "."))
            if text is not None:
                given[field] = text.strip().lower() == "true" if field in cls._fields[:3] else text
        options = cls(**given)  # type: ignore[arg-type]
        options.check()
        return options

    def check(self) -> None:
        """Refuse equal separators, in Kafka's order."""
        delimiter = ("headers.delimiter", self.headers_delimiter)
        separator = ("headers.separator", self.headers_separator)
        key_separator = ("headers.key.separator", self.headers_key_separator)
        marker = ("null.marker", self.null_marker)
        pairs: list[tuple[tuple[str, str | None], tuple[str, str]]]
        pairs = [(delimiter, separator), (delimiter, key_separator), (separator, key_separator)]
        pairs += [
            (marker, other) for other in (("key.separator", self.key_separator), separator, delimiter, key_separator)
        ]
        for (name, text), (other_name, other_text) in pairs:
            if text == other_text:
                raise _error(f"{name} and {other_name} may not be equal")

    @property
    def values_only(self) -> bool:
        """Whether every line is a value and nothing else."""
        return not (self.parse_key or self.parse_headers) and self.null_marker is None


class LineMessageReader:
    """Parses lines one by one; ``line_number`` is that of the last one."""

    def __init__(self, options: ReaderOptions) -> None:
        import re

        self._options = options
        self._key_separator = _encoded(options.key_separator)
        self._headers_delimiter = _encoded(options.headers_delimiter)
        self._null_marker = None if options.null_marker is None else _encoded(options.null_marker)
        self.line_number = 0
        try:
            self._headers_separator = re.compile(options.headers_separator)
        except re.error as error:
            raise _error(f"headers.separator is an invalid regex: {error}") from None

    def parse(self, line: bytes) -> Line:
        """The record of the next line, which must be UTF-8."""
        self.line_number += 1
        options, start, headers, key = self._options, 0, None, None
        if options.parse_headers:
            headers = self._part(line, start, self._headers_delimiter, "headers delimiter")
            start += 0 if headers is None else len(headers) + len(self._headers_delimiter)
        if options.parse_key:
            key = self._part(line, start, self._key_separator, "key separator")
            start += 0 if key is None else len(key) + len(self._key_separator)
        parsed = () if headers is None or headers == self._null_marker else tuple(self._headers(headers.decode()))
        return Line(self._or_null(key), self._or_null(line[start:]), parsed)

    def _part(self, line: bytes, start: int, separator: bytes, name: str) -> bytes | None:
        end = line.find(separator, start)
        if end >= 0:
            return line[start:end]
        if self._options.ignore_error:
            return None
        raise _error(f"No {name} found on line number {self.line_number}: '{line.decode()}'")

    def _or_null(self, data: bytes | None) -> bytes | None:
        return None if data == self._null_marker else data

    def _headers(self, text: str) -> Iterator[Header]:
        for pair in self._pairs(text):
            separator = self._options.headers_key_separator
            end = pair.find(separator)
            key = pair[:end]
            if end < 0:
                if not self._options.ignore_error:
                    raise _error(f"No header key separator found in pair '{pair}' on line number {self.line_number}")
                yield Header(pair, None)
            elif key == self._options.null_marker:
                raise _error(f"Header keys should not be equal to the null marker '{key}' as they can't be null")
            else:
                yield Header(key, self._or_null(pair[end + len(separator) :].encode()))

    def _pairs(self, text: str) -> list[str]:
        """``Pattern.split``: no empty pairs at the end, none before an empty match at the start."""
        pairs, start = [], 0
        for match in self._headers_separator.finditer(text):
            if match.end() == 0 or match.start() == match.end() == len(text):
                continue
            pairs.append(text[start : match.start()])
            start = match.end()
        if not pairs:
            return [text]
        pairs.append(text[start:])
        while pairs and not pairs[-1]:
            pairs.pop()
        return pairs


def read_lines(read: Callable[[int], bytes]) -> Iterator[list[bytes]]:
    """The lines of an input, as many at a time as a read gives; ``read`` gives b"" at the end.

    A line that is not ended yet is held until it is, or the input ends.
    """
    held: list[bytes] = []
    while block := read(BLOCK_SIZE):
        end = _last_line_end(block)
        if end < 0 and not (held and held[-1].endswith(b"\r")):
            held.append(block)
            continue
        yield _split(b"".join((*held, block[: end + 1])))
        held = [block[end + 1 :]] if end + 1 < len(block) else []
    rest = b"".join(held)
    if rest:
        yield _split(rest)


def _last_line_end(block: bytes) -> int:
    """Where the last line end is that a further byte cannot change: ``\\r`` at the very end may be half of one."""
    return max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - 1))


def _split(data: bytes) -> list[bytes]:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = java_utf8(data).split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _error(message: str) -> KafkaError:
    return KafkaError("KafkaException", message)
