"""Records as lines: DefaultMessageFormatter of Kafka's console consumer.

The columns stand in a fixed order, with ``key.separator`` between them and ``line.separator`` after the last:

    CreateTime:ts   LogAppendTime:ts where the broker's clock gave it, NO_TIMESTAMP for messages of magic 0
    Partition:p
    Offset:o
    Delivery:NOT_PRESENT, Epoch:NOT_PRESENT   the tool drops both before it formats
    headers         k:v,k:v or NO_HEADERS
    key, value      the bytes as they are, unless a deserializer is named

Null is ``null.literal``, and a deserializer is given that, too. A record that cannot be deserialized leaves the
columns before the failure written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from kafkapy.errors import FormatError, UsageError
from kafkapy.formats.record_batch import Record
from kafkapy.output.deserializers import Deserializer, deserializer

PACKAGES = ("org.apache.kafka.tools.consumer.group.share.", "org.apache.kafka.tools.consumer.", "kafka.tools.")
SHORT_NAMES = (
    "default", "logging", "no-op", "offsets", "group-metadata", "transaction-log", "share-group", "share-group-state",
)  # fmt: skip
DEFAULT_FORMATTER = "default"
BEFORE_KAFKA_4 = "kafka.coordinator."
NOT_PRESENT = b"NOT_PRESENT"

FLUSH_AT = 1 << 18

Tell = Callable[[str], object]
Column = Callable[[Record], bytes]


class Formatter(Protocol):
    """What makes bytes of records."""

    problems: list[str]
    """What its properties ask for and is not there; it works without."""

    def write(self, records: Iterator[Record], partition: int, timestamp_type: str | None, out: bytearray) -> None:
        """Append what is printed of each record; a FormatError leaves ``records`` after the one that failed."""
        ...


def formatter(name: str, properties: Mapping[str, str]) -> Formatter:
    """The formatter of a class, with its package or without, or of a short name."""
    short = name
    for package in PACKAGES:
        short = short.removeprefix(package)
    made = _made(short, properties) or _made(short.lower().replace("-", ""), properties)
    if made is None and name.startswith(BEFORE_KAFKA_4):
        raise UsageError(
            f"no formatter '{name}': Kafka 4 no longer has it; for its lines run 'kafkapy consumer-offsets --format "
            "legacy', for those of its successors use --formatter offsets, group-metadata or transaction-log"
        )
    if made is None:
        raise UsageError(f"no formatter '{name}': kafkapy runs no Java classes; use one of {', '.join(SHORT_NAMES)}")
    return made


def _made(name: str, properties: Mapping[str, str]) -> Formatter | None:
    if name in _FORMATTERS:
        return _FORMATTERS[name](properties)
    from kafkapy.output.coordinator_formatters import coordinator_formatter

    return coordinator_formatter(name)


class Style(NamedTuple):
    """The properties of the default formatter."""

    timestamp: bool = False
    partition: bool = False
    offset: bool = False
    delivery: bool = False
    epoch: bool = False
    headers: bool = False
    key: bool = False
    value: bool = True
    key_separator: bytes = b"\t"
    line_separator: bytes = b"\n"
    headers_separator: bytes = b","
    null_literal: bytes = b"null"

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Style:
        """What ``print.*`` and the separators say; a switch that is not ``true`` is off."""
        given: dict[str, bool | bytes] = {}
        for field in cls._fields[:8]:
            if (text := properties.get(f"print.{field}")) is not None:
                given[field] = text.strip().lower() == "true"
        for field in cls._fields[8:]:
            if (text := properties.get(field.replace("_", "."))) is not None:
                given[field] = text.encode("utf-8", "surrogateescape")
        return cls(**given)  # type: ignore[arg-type]


class DefaultMessageFormatter:
    """The columns that its properties switch on."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._style = Style.of(properties)
        self._key = self._deserializer(properties, "key.deserializer", "key")
        self._value = self._deserializer(properties, "value.deserializer", "value")
        self._header = self._deserializer(properties, "headers.deserializer", "value")
        self._only_values = self._style.value and not any(self._style[:7]) and self._value is None

    def write(self, records: Iterator[Record], partition: int, timestamp_type: str | None, out: bytearray) -> None:
        """Append the columns of each record."""
        if self._only_values:
            null, end = self._style.null_literal, self._style.line_separator
            # an empty piece at the end gives the last record its separator, too
            out += end.join([*(null if record.value is None else record.value for record in records), b""])
            return
        columns = self._columns(partition, timestamp_type)
        for record in records:
            for column in columns:
                out += column(record)

    def _columns(self, partition: int, timestamp_type: str | None) -> list[Column]:
        """The columns of a batch's records, each with the separator after it."""
        style, columns = self._style, list[Column]()
        if style.timestamp:
            columns.append(_timestamp(timestamp_type))
        if style.partition:
            columns.append(_constant(b"Partition:%d" % partition))
        if style.offset:
            columns.append(lambda record: b"Offset:%d" % record.offset)
        if style.delivery:
            columns.append(_constant(b"Delivery:" + NOT_PRESENT))
        if style.epoch:
            columns.append(_constant(b"Epoch:" + NOT_PRESENT))
        if style.headers:
            columns.append(self._headers)
        if style.key:
            columns.append(lambda record: self._payload(record.key, self._key))
        if style.value:
            columns.append(lambda record: self._payload(record.value, self._value))
        separator, end = _constant(style.key_separator), _constant(style.line_separator)
        return [part for column in columns for part in (column, end if column is columns[-1] else separator)]

    def _headers(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return self._style.headers_separator.join(
            header.key.encode() + b":" + self._payload(header.value, self._header) for header in record.headers
        )

    def _payload(self, data: bytes | None, decode: Deserializer | None) -> bytes:
        data = self._style.null_literal if data is None else data
        return data if decode is None else decode(data)

    def _deserializer(self, properties: Mapping[str, str], name: str, kind: str) -> Deserializer | None:
        """What a property names; it is configured by those that begin with its name."""
        if not properties.get(name):
            return None
        encoding = properties.get(f"{name}.deserializer.encoding")
        found = deserializer(properties[name], properties.get(f"{name}.{kind}.deserializer.encoding", encoding))
        if found is None:  # Kafka, too, goes on with the bytes as they are
            self.problems.append(f"Unable to instantiate a deserializer from {properties[name]}")
        return found


class NoOpMessageFormatter:
    """Prints nothing; the records are counted all the same."""

    def __init__(self, _: Mapping[str, str]) -> None:
        self.problems: list[str] = []

    def write(self, records: Iterator[Record], partition: int, timestamp_type: str | None, out: bytearray) -> None:
        """Append nothing."""


def _constant(text: bytes) -> Column:
    return lambda _: text


def _timestamp(timestamp_type: str | None) -> Column:
    if timestamp_type is None:
        return _constant(b"NO_TIMESTAMP")
    template = timestamp_type.encode() + b":%d"
    return lambda record: template % record.timestamp


# LoggingMessageFormatter prints the same, and logs each record at a level that the tool's log has switched off
_FORMATTERS: dict[str, Callable[[Mapping[str, str]], Formatter]] = {
    "DefaultMessageFormatter": DefaultMessageFormatter,
    "LoggingMessageFormatter": DefaultMessageFormatter,
    "NoOpMessageFormatter": NoOpMessageFormatter,
    DEFAULT_FORMATTER: DefaultMessageFormatter,
    "logging": DefaultMessageFormatter,
    "noop": NoOpMessageFormatter,
}


class RecordPrinter:
    """Formats records into large pieces, counts them, and decides what a failing one means."""

    def __init__(self, formatter: Formatter, drain: Callable[[bytearray], object], skipped: Tell | None = None) -> None:
        """``drain`` writes what it is given and takes it out of there; ``skipped`` is told of a record that cannot be
        formatted; without it, that is an error."""
        self._formatter = formatter
        self._drain = drain
        self._skipped = skipped
        self._out = bytearray()
        self.count = 0

    def print(self, records: list[Record], partition: int, timestamp_type: str | None) -> None:
        """Print records; one that fails counts, too, and what was made of it stays."""
        left = iter(records)
        failing = True
        while failing:
            try:
                self._formatter.write(left, partition, timestamp_type, self._out)
                failing = False
            except FormatError as error:
                if self._skipped is None:
                    self.count += len(records) - len(list(left))
                    raise
                self._skipped(f"Error processing message, skipping this message: {error}")
        self.count += len(records)
        if len(self._out) >= FLUSH_AT:
            self.flush()

    def flush(self) -> None:
        """Hand on all that was formatted, be it nothing: whoever waits for more then hears that nobody reads."""
        self._drain(self._out)
