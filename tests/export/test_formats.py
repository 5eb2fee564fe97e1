"""Every format read back: the rows of the table, whatever they were written as."""

from __future__ import annotations

import base64
import csv
import datetime
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from kafkapy.errors import KafkapyError
from kafkapy.export.decoding import Decoding
from kafkapy.export.file_format import COMPRESSIONS, Compression, Format
from kafkapy.export.row_file import open_row_file
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Mode, Scan
from tests.export.growing import Growing, exported, request

Row = dict[str, Any]


def rows_of_table(source: str, table: str = "records") -> list[Row]:
    found, scan = find_table(table), Scan((source,))
    batches = [batch for split in found.splits(scan) for batch in found.read(scan, split)]
    rows: list[Row] = pa.Table.from_batches(batches, found.schema).to_pylist()
    return rows


@pytest.fixture(scope="module")
def source(golden: Path) -> str:
    """The log dir of a real broker: every codec, transactions, headers, nulls."""
    return str(golden / "clean" / "broker-1")


def _json(path: Path) -> list[Row]:
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def _avro(path: Path) -> list[Row]:
    with open(path, "rb") as file:
        return list(fastavro.reader(file))  # type: ignore[arg-type]


READERS: dict[Format, Callable[[Path], list[Row]]] = {
    Format.PARQUET: lambda path: pq.ParquetFile(path).read().to_pylist(),
    Format.ORC: lambda path: orc.ORCFile(path).read().to_pylist(),
    Format.AVRO: _avro,
    Format.JSON: _json,
}
FORMATS = [(kind, each) for kind in READERS for each in COMPRESSIONS[kind] if (kind, each) != ("json", "zstd")]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, list):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(("kind", "compression"), FORMATS, ids=lambda each: each.value)
def test_records(source: str, tmp_path: Path, kind: Format, compression: Compression) -> None:
    summary = exported(request(source, tmp_path / "out", kind, compression=compression))
    found = [row for path in sorted((tmp_path / "out").glob("part-*")) for row in READERS[kind](path)]
    expected = rows_of_table(source)
    assert summary.rows == len(expected) > 1000
    assert sorted(found, key=_place) == (plain(expected) if kind is Format.JSON else expected)


def _place(row: Row) -> tuple[str, int, int]:
    return row["topic"], row["partition"], row["offset"]


def test_csv(source: str, tmp_path: Path) -> None:
    exported(request(source, tmp_path / "out", Format.CSV))
    found: list[Row] = []
    for path in sorted((tmp_path / "out").glob("part-*")):
        with open(path, newline="") as file:
            found += csv.DictReader(file)
    expected = rows_of_table(source)
    assert len(found) == len(expected)
    for row, wanted in zip(sorted(found, key=lambda row: (row["topic"], int(row["partition"]), int(row["offset"]))),
                           expected, strict=True):  # fmt: skip
        assert row["value"] == (plain(wanted["value"]) or "")
        assert json.loads(row["headers"]) == plain(wanted["headers"])
        assert row["timestamp"] == (plain(wanted["timestamp"]) or "")
        assert row["control"] == str(wanted["control"]).lower()


def test_a_null_is_not_an_empty_text_in_csv(tmp_path: Path) -> None:
    from kafkapy.export.csv_file import open_file

    schema = pa.schema([("key", pa.binary()), ("value", pa.string())])
    file = open_file(str(tmp_path / "a.csv"), schema, Compression.NONE)
    file.write(pa.record_batch([[None, b""], ["", None]], schema=schema))
    file.close()
    assert (tmp_path / "a.csv").read_text() == '"key","value"\n,""\n"",\n'


NESTED = pa.struct(
    [
        ("at", pa.timestamp("ms", tz="UTC")),
        ("local", pa.timestamp("us")),
        ("counts", pa.map_(pa.string(), pa.int32())),
        ("rates", pa.list_(pa.float64())),
    ]
)
NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize("kind", [Format.JSON, Format.CSV])
def test_what_is_nested_is_json(tmp_path: Path, kind: Format) -> None:
    """As it is outside: times in ISO 8601, and nothing that JSON does not have."""
    schema = pa.schema([("value", NESTED)])
    rates = [0.5, float("nan"), float("inf"), float("-inf")]
    value = {"at": NOON, "local": NOON.replace(tzinfo=None), "counts": {"a": 1}, "rates": rates}
    file = open_row_file(kind, str(tmp_path / "file"), schema, Compression.NONE)
    file.write(pa.record_batch([pa.array([value], NESTED)], schema=schema))
    file.close()
    text = (tmp_path / "file").read_text()
    found = text if kind is Format.JSON else next(csv.DictReader(text.splitlines()))["value"]
    told = {
        "at": "2026-01-01T12:00:00.000000Z",
        "local": "2026-01-01T12:00:00.000000",
        "counts": {"a": 1},
        "rates": [0.5, "NaN", "Infinity", "-Infinity"],
    }
    assert json.loads(found) == ({"value": told} if kind is Format.JSON else told)


def test_a_column_that_a_format_does_not_have(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "cluster")
    growing.create("orders")
    growing.append("orders", 3)
    times = Decoding("avro", '{"type": "int", "logicalType": "time-millis"}')
    made = request(growing.path, tmp_path / "out", Format.ORC, decode_value=times, scan={"mode": Mode.PERMISSIVE})
    with pytest.raises(KafkapyError, match=r"^orc files cannot have these columns: .*time32.*; try another --to"):
        exported(made)


def test_batches(source: str, tmp_path: Path) -> None:
    exported(request(source, tmp_path / "out", table="batches"))
    found = [row for path in sorted((tmp_path / "out").glob("part-*")) for row in READERS[Format.PARQUET](path)]
    assert sorted(found, key=str) == sorted(rows_of_table(source, "batches"), key=str)


def _files(out: Path) -> Iterator[Path]:
    return (path for path in out.rglob("part-*"))


def test_hive_directories_are_read_back(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(source, out, partition_by=("topic", "date")))
    expected = rows_of_table(source)
    days = {f"topic={row['topic']}/date={row['timestamp'].date()}" for row in expected if row["timestamp"]}
    assert {str(path.parent.relative_to(out)) for path in _files(out)} >= days
    typed = ds.partitioning(pa.schema([("topic", pa.string()), ("date", pa.string())]), flavor="hive")
    read = ds.dataset(out, format="parquet", partitioning=typed).to_table()
    found = read.select(find_table("records").schema.names).to_pylist()
    assert sorted(found, key=_place) == expected
    dates = [str(row["timestamp"].date()) for row in expected if row["timestamp"]]
    assert sorted(filter(None, read.column("date").to_pylist())) == sorted(dates)


def test_chosen_columns(source: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(source, out, partition_by=("topic", "date"), scan={"columns": ("value", "offset")}))
    assert {tuple(pq.ParquetFile(path).schema_arrow.names) for path in _files(out)} == {("value", "offset")}
    assert sum(pq.ParquetFile(path).metadata.num_rows for path in _files(out)) == len(rows_of_table(source))


def test_few_files_are_open_at_a_time(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that jump between days close files and begin others: no row is lost."""
    from kafkapy.export import work

    monkeypatch.setattr(work, "MOST_OPEN", 1)
    monkeypatch.setattr(work, "HELD_BYTES", 1000)
    out = tmp_path / "out"
    exported(request(source, out, partition_by=("date",)))
    read = [row for path in _files(out) for row in READERS[Format.PARQUET](path)]
    assert sorted(read, key=_place) == rows_of_table(source)
