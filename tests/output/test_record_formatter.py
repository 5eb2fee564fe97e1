"""Records as DefaultMessageFormatter prints them."""

import struct

import pytest

from kafkapy.errors import FormatError, UsageError
from kafkapy.formats.record_batch import Header, Record
from kafkapy.output.deserializers import PACKAGE, deserializer
from kafkapy.output.record_formatter import FLUSH_AT, RecordPrinter, formatter
from tests.output.draining import draining

RECORD = Record(7, 1700, b"k", b"v", (Header("h", b"1"), Header("g", None)))
BARE = Record(8, -1, None, None)
EVERYTHING = {
    f"print.{name}": "true" for name in ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key")
}


def printed(
    properties: dict[str, str], *records: Record, kind: str | None = "CreateTime", name: str = "default"
) -> bytes:
    out = bytearray()
    formatter(name, properties).write(iter(records), 3, kind, out)
    return bytes(out)


def test_values_alone() -> None:
    assert printed({}, RECORD, BARE, RECORD) == b"v\nnull\nv\n"
    assert printed({"line.separator": "|", "null.literal": "~"}, RECORD, BARE) == b"v|~|"
    assert printed({}) == b""


def test_every_column_in_kafkas_order() -> None:
    assert printed(EVERYTHING, RECORD, BARE) == (
        b"CreateTime:1700\tPartition:3\tOffset:7\tDelivery:NOT_PRESENT\tEpoch:NOT_PRESENT\th:1,g:null\tk\tv\n"
        b"CreateTime:-1\tPartition:3\tOffset:8\tDelivery:NOT_PRESENT\tEpoch:NOT_PRESENT\tNO_HEADERS\tnull\tnull\n"
    )


@pytest.mark.parametrize("name", ["timestamp", "partition", "offset", "delivery", "epoch", "headers", "key"])
def test_the_last_column_ends_the_line(name: str) -> None:
    line = printed({f"print.{name}": " TRUE", "print.value": "false"}, RECORD)
    assert line.endswith(b"\n")
    assert b"\t" not in line


def test_nothing_to_print_prints_nothing() -> None:
    assert printed({"print.value": "no"}, RECORD) == b""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("LogAppendTime", b"LogAppendTime:1700\tv\n"), (None, b"NO_TIMESTAMP\tv\n")],
)
def test_timestamp_types(kind: str | None, expected: bytes) -> None:
    assert printed({"print.timestamp": "true"}, RECORD, kind=kind) == expected


def test_separators() -> None:
    properties = {"print.key": "true", "print.headers": "true", "key.separator": "=>", "headers.separator": " & "}
    assert printed(properties, RECORD) == b"h:1 & g:null=>k=>v\n"


def test_bytes_stay_as_they_are_without_a_deserializer() -> None:
    assert printed({"print.key": "true"}, RECORD._replace(key=b"\xff\x00", value=b"\xc3")) == b"\xff\x00\t\xc3\n"


def test_deserializers() -> None:
    properties = {
        "print.key": "true",
        "print.headers": "true",
        "key.deserializer": PACKAGE + "IntegerDeserializer",
        "value.deserializer": "StringDeserializer",
        "headers.deserializer": PACKAGE + "BytesDeserializer",
    }
    record = Record(0, 0, b"\xff\xff\xff\xfe", b"\xff", (Header("h", b"\x00a\\"),))
    assert printed(properties, record) == b"h:\\x00a\\x5C\t-2\t\xef\xbf\xbd\n"


def test_an_unknown_deserializer_leaves_the_bytes_alone() -> None:
    made = formatter("default", {"value.deserializer": "com.example.Avro"})
    assert made.problems == ["Unable to instantiate a deserializer from com.example.Avro"]
    assert printed({"value.deserializer": "com.example.Avro"}, RECORD) == b"v\n"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("Integer", b"\x80\0\0\0", b"-2147483648"),
        ("Long", b"\0" * 7 + b"\x05", b"5"),
        ("Short", b"\xff\xff", b"-1"),
        ("Boolean", b"\1", b"true"),
        ("Boolean", b"\0", b"false"),
        ("UUID", b"123E4567-e89b-12d3-a456-426614174000", b"123e4567-e89b-12d3-a456-426614174000"),
        ("ByteBuffer", b"abc", b"java.nio.HeapByteBuffer[pos=0 lim=3 cap=3]"),
        ("ByteArray", b"\xff", b"\xff"),
        ("Float", struct.pack(">f", 0.1), b"0.1"),
        ("Float", struct.pack(">f", 16777216.0), b"1.6777216E7"),
        ("Float", struct.pack(">f", 3.4028235e38), b"3.4028235E38"),
        ("Float", struct.pack(">f", 1e-45), b"1.4E-45"),
        ("Float", struct.pack(">f", -2e9), b"-2.0E9"),
        ("Float", struct.pack(">f", float("inf")), b"Infinity"),
        ("Double", struct.pack(">d", 5e-324), b"4.9E-324"),
        ("Double", struct.pack(">d", 1.0), b"1.0"),
        ("Double", struct.pack(">d", 100.0), b"100.0"),
        ("Double", struct.pack(">d", 1e7), b"1.0E7"),
        ("Double", struct.pack(">d", 9999999.5), b"9999999.5"),
        ("Double", struct.pack(">d", 0.001), b"0.001"),
        ("Double", struct.pack(">d", 0.00099), b"9.9E-4"),
        ("Double", struct.pack(">d", -123456789.125), b"-1.23456789125E8"),
        ("Double", struct.pack(">d", -0.0), b"-0.0"),
        ("Double", struct.pack(">d", float("-inf")), b"-Infinity"),
        ("Double", struct.pack(">d", float("nan")), b"NaN"),
        ("Float", struct.pack(">f", float("nan")), b"NaN"),
    ],
)
def test_what_java_would_print(name: str, data: bytes, expected: bytes) -> None:
    decode = deserializer(name)
    assert decode is not None
    assert decode(data) == expected


STRING = "org.apache.kafka.common.serialization.StringDeserializer"


@pytest.mark.parametrize(
    ("encoding", "data", "expected"),
    [
        ("ISO-8859-1", b"\xfc", "ü"),
        ("UTF-16", b"\0v", "v"),
        ("utf-16", b"\xff\xfev\0", "v"),
        ("UTF-16BE", b"\0vx", "v\ufffd"),
        ("UTF-8", b"\xc0\x80", "\ufffd\ufffd"),
        ("nosuch", b"\xfc", "\udcfc"),
        ("hex", b"v", "v"),
    ],
)
def test_strings_in_another_encoding(encoding: str, data: bytes, expected: str) -> None:
    """One that is unknown leaves the bytes alone."""
    record = Record(0, 0, data, data, (Header("h", data),))
    for name, setting in (
        ("key.deserializer", "key.deserializer.key.deserializer.encoding"),
        ("value.deserializer", "value.deserializer.value.deserializer.encoding"),
        ("headers.deserializer", "headers.deserializer.value.deserializer.encoding"),
        ("value.deserializer", "value.deserializer.deserializer.encoding"),
    ):
        columns = {f"print.{each}": str(name.startswith(each)).lower() for each in ("key", "value", "headers")}
        prefix = "h:" if name.startswith("headers") else ""
        found = printed({name: STRING, setting: encoding, **columns}, record)
        assert found.decode("utf-8", "surrogateescape") == f"{prefix}{expected}\n"


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("Integer", b"abc", "Size of data received by IntegerDeserializer is not 4"),
        ("Boolean", b"\x80", "Unexpected byte received by BooleanDeserializer: -128"),
        ("UUID", b"nope", "Error parsing data into UUID"),
        ("Void", b"", "Data should be null for a VoidDeserializer."),
    ],
)
def test_what_cannot_be_deserialized(name: str, data: bytes, error: str) -> None:
    decode = deserializer(name)
    assert decode is not None
    with pytest.raises(FormatError, match=error):
        decode(data)


@pytest.mark.parametrize(
    "name",
    ["logging", "LoggingMessageFormatter", "org.apache.kafka.tools.consumer.DefaultMessageFormatter", "Default"],
)
def test_names_of_the_default_formatter(name: str) -> None:
    assert printed({}, RECORD, name=name) == b"v\n"


@pytest.mark.parametrize("name", ["no-op", "noop", "kafka.tools.NoOpMessageFormatter"])
def test_names_of_the_formatter_that_prints_nothing(name: str) -> None:
    assert printed({"print.key": "true"}, RECORD, name=name) == b""


def test_an_unknown_formatter() -> None:
    with pytest.raises(UsageError, match=r"no formatter 'com\.example\.Mine'"):
        formatter("com.example.Mine", {})


@pytest.mark.parametrize(
    "name",
    [
        "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter",
        "kafka.coordinator.group.GroupMetadataManager",
        "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter",
    ],
)
def test_what_older_kafkas_had_is_pointed_to(name: str) -> None:
    with pytest.raises(UsageError, match=r"'kafkapy consumer-offsets --format legacy'"):
        formatter(name, {})


def failing() -> tuple[dict[str, str], list[Record]]:
    properties = {"print.offset": "true", "value.deserializer": "IntegerDeserializer"}
    return properties, [Record(n, 0, None, b"\0\0\0\1" if n != 1 else b"x") for n in range(3)]


def test_a_failing_record_ends_it_and_counts() -> None:
    properties, records = failing()
    out: list[bytes] = []
    printer = RecordPrinter(formatter("default", properties), draining(out))
    with pytest.raises(FormatError, match="is not 4"):
        printer.print(records, 0, "CreateTime")
    printer.flush()
    assert (b"".join(out), printer.count) == (b"Offset:0\t1\nOffset:1\t", 2)


def test_failing_records_can_be_skipped() -> None:
    properties, records = failing()
    out: list[bytes] = []
    told: list[str] = []
    printer = RecordPrinter(formatter("default", properties), draining(out), told.append)
    printer.print(records, 0, "CreateTime")
    printer.flush()
    assert (b"".join(out), printer.count) == (b"Offset:0\t1\nOffset:1\tOffset:2\t1\n", 3)
    assert len(told) == 1


def test_output_comes_in_large_pieces() -> None:
    out: list[bytes] = []
    printer = RecordPrinter(formatter("default", {}), draining(out))
    for _ in range(20):
        printer.print([RECORD._replace(value=bytes(FLUSH_AT // 4))], 0, None)
    printer.flush()
    printer.flush()
    assert len(list(filter(None, out))) == 5
    assert printer.count == 20
