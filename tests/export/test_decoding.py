"""Keys and values as text, JSON and Avro, and what becomes of those that are not."""

from __future__ import annotations

import json
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.export.avro_types import arrow_type, avro_schema
from kafkapy.export.decoding import Decoding, decode, parse_decoding
from kafkapy.export.file_format import Format
from kafkapy.export.shape import LeaveOut, Shape
from kafkapy.tables.scan import Mode
from tests.export.growing import Growing, exported, request

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
            {"name": "sku", "type": "string"}, {"name": "count", "type": "int"}]}}},
        {"name": "first", "type": ["null", "Line"]},
        {"name": "tags", "type": {"type": "map", "values": "double"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "DONE"]}},
    ],
}  # fmt: skip
lines = st.fixed_dictionaries({"sku": st.text(), "count": st.integers(-(2**31), 2**31 - 1)})
orders = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "note": st.none() | st.text(),
        "lines": st.lists(lines),
        "first": st.none() | lines,
        "tags": st.dictionaries(st.text(), st.floats(allow_nan=False)),
        "state": st.sampled_from(["NEW", "DONE"]),
    }
)

UUID = b"00000000-0000-0000-0000-000000000001"


def encoded(order: Any, header: bytes = b"") -> bytes:
    stream = BytesIO()
    fastavro.schemaless_writer(stream, ORDER, order)
    return header + stream.getvalue()


@given(st.lists(orders, max_size=5), st.booleans())
def test_avro(found: list[Any], is_confluent: bool) -> None:
    decoding = Decoding("confluent" if is_confluent else "avro", json.dumps(ORDER))
    header = b"\0\0\0\0\7" if is_confluent else b""
    column, failures = decode(decoding, pa.array([*(encoded(order, header) for order in found), None], pa.binary()))
    assert failures == {}
    assert column.to_pylist(maps_as_pydicts="strict") == [*found, None]


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        ({"type": "string", "logicalType": "uuid"}, b"\x02a", "a"),
        ({"type": "string", "logicalType": "uuid"}, b"\x48" + UUID, UUID.decode()),
        ({"type": "long", "logicalType": "timestamp-nanos"}, b"\x02", 1),
        ({"type": "string", "logicalType": "date"}, b"\x02a", "a"),
        ({"type": "bytes", "logicalType": "decimal"}, b"\x02a", b"a"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2}, b"\x02a", Decimal("0.97")),
    ],
)
def test_other_logical_types_are_what_they_are_written_as(schema: Any, value: bytes, found: Any) -> None:
    record = {"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", schema]}]}
    column, failures = decode(Decoding("avro", json.dumps(record)), pa.array([b"\x02" + value], pa.binary()))
    assert failures == {}
    assert column.to_pylist() == [{"a": found}]


@given(st.lists(st.binary()))
def test_any_bytes_are_decoded_or_fail_row_by_row(values: list[bytes]) -> None:
    for decoding in (Decoding("avro", json.dumps(ORDER)), Decoding("json"), Decoding("string")):
        column, failures = decode(decoding, pa.array(values, pa.binary()))
        assert len(column) == len(values)
        assert set(failures) == {row for row, value in enumerate(column) if value.as_py() is None}


@given(st.lists(st.binary()))
def test_strings_are_javas(values: list[bytes]) -> None:
    from kafkapy.formats.java_text import java_utf8

    column, _ = decode(Decoding("string"), pa.array(values, pa.binary()))
    assert column.to_pylist() == [java_utf8(value).decode() for value in values]


def test_types_go_to_avro_and_back() -> None:
    schema = pa.schema([pa.field("a", arrow_type(fastavro.parse_schema(ORDER))), ("t", pa.timestamp("us", tz="UTC"))])
    back = arrow_type(fastavro.parse_schema(avro_schema(schema)))
    assert [(field.name, field.type) for field in back] == [(field.name, field.type) for field in schema]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ("{", "is not JSON"),
        ('{"type": "record"}', "is not an Avro schema"),
        ('"nonsense"', "is not an Avro schema"),
        ('["int", "string"]', "a union of several types cannot be a column"),
        (
            '{"type": "record", "name": "T", "fields": [{"name": "t", "type": ["null", "T"]}]}',
            "T contains itself, which no column can",
        ),
        (
            '{"type": "bytes", "logicalType": "decimal", "precision": 39}',
            "a decimal of 39 digits cannot be a column: 38 are the most",
        ),
    ],
)
def test_a_schema_that_does_not_do_is_refused(tmp_path: Path, schema: str, error: str) -> None:
    (tmp_path / "s.avsc").write_text(schema)
    with pytest.raises(UsageError, match=rf"^--decode-value: .*{error}"):
        parse_decoding("--decode-value", f"avro:{tmp_path}/s.avsc")


@pytest.mark.parametrize("text", ["xml", "avro", "avro:", "string:x"])
def test_an_unknown_decoding_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="it can be string, json, avro:FILE or confluent:FILE"):
        parse_decoding("--decode-key", text)


SCHEMA = pa.schema(
    [("offset", pa.int64()), ("value", pa.binary()), ("control", pa.bool_()), ("damage", pa.string())],
)
ROWS = pa.record_batch([[1, 2, 3, 4], [b'{"a":\n1}', b"NaN", b"\0\0", None], [False, False, True, False], [None] * 4],
                       schema=SCHEMA)  # fmt: skip


def no_news(*_: object) -> None:
    raise AssertionError("nothing is left out")


def shaped(mode: Mode, leave_out: LeaveOut = no_news) -> list[dict[str, Any]]:
    shape = Shape("records", None, mode, (), (("value", Decoding("json")),))
    ((_, batch),) = shape.files(
        ROWS, pa.schema([SCHEMA.field("offset"), SCHEMA.field("value"), SCHEMA.field("damage")]), leave_out
    )
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def test_what_does_not_decode_is_damage() -> None:
    good = [{"offset": 1, "value": '{"a": 1}', "damage": None}]
    others = [{"offset": offset, "value": None, "damage": None} for offset in (3, 4)]
    left_out: list[tuple[str, int, str]] = []
    assert shaped(Mode.DROPMALFORMED, lambda *each: left_out.append(each)) == good + others
    assert left_out == [("the value is not json", 1, "offset 2: NaN is not JSON")]
    told = {"offset": 2, "value": None, "damage": "the value is not json: NaN is not JSON"}
    assert shaped(Mode.PERMISSIVE) == [*good, told, *others]
    with pytest.raises(KafkapyError, match=r"^offset 2: the value is not json: NaN is not JSON; --mode permissive"):
        shaped(Mode.FAILFAST)


def test_json_stands_as_json_in_json_lines(tmp_path: Path) -> None:
    from kafkapy.export.file_format import Compression
    from kafkapy.export.json_file import open_file

    shape = Shape("records", None, Mode.DROPMALFORMED, (), (("value", Decoding("json")),))
    schema = pa.schema([SCHEMA.field("offset"), pa.field("value", pa.string(), metadata={b"kafkapy": b"json"})])
    ((_, batch),) = shape.files(ROWS, schema, lambda *_: None)
    file = open_file(str(tmp_path / "a.json"), schema, Compression.NONE)
    file.write(batch)
    file.close()
    text = (tmp_path / "a.json").read_text()
    assert text == '{"offset":1,"value":{"a": 1}}\n{"offset":3,"value":null}\n{"offset":4,"value":null}\n'


def test_decoded_columns_in_files(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "cluster")
    growing.create("orders")
    growing.append("orders", 3)
    exported(request(growing.path, tmp_path / "out", decode_value=Decoding("string"), decode_key=Decoding("string")))
    (path,) = (tmp_path / "out").glob("part-*")
    read = pq.ParquetFile(path).read()
    assert read.column("value").to_pylist() == ["orders 0", "orders 1", "orders 2"]
    assert read.column("key").to_pylist() == ["k0", "k1", "k2"]
    with pytest.raises(KafkapyError, match="topic orders, partition 0, offset 0: the value is not json"):
        exported(request(growing.path, tmp_path / "json", Format.JSON, decode_value=Decoding("json")))
