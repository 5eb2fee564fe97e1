"""index_entries: every line of Kafka's own dumps of indexes, and what is told of damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import DamagedFileError
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.internal_logs import milliseconds, scan_of
from tests.tables.logs import Row, rows


def dumped(path: Path) -> list[str]:
    """The entries that Kafka's tool shows; it also shows one of zeros where none was written."""
    lines = path.read_text().splitlines()
    return [line for line in lines if line.startswith(("offset:", "timestamp:", "version:"))]


def as_dumped(row: Row) -> str:
    if row["kind"] == "offset":
        return f"offset: {row['offset']} position: {row['position']}"
    if row["kind"] == "time":
        return f"timestamp: {milliseconds(row['timestamp'])} offset: {row['offset']}"
    own = [row[name] for name in ("producer_id", "first_offset", "last_offset", "last_stable_offset")]
    return "version: 0 producerId: {} firstOffset: {} lastOffset: {} lastStableOffset: {}".format(*own)


@pytest.mark.parametrize("state", ["clean", "crashed"])
def test_what_kafka_dumps(golden: Path, state: str) -> None:
    by_file: dict[str, list[str]] = {}
    for broker in (1, 2, 3):
        for row in rows(scan_of(golden, state)._replace(broker=broker), "index_entries"):
            name = Path(row["file"]).relative_to(golden).as_posix().replace("/", "__")
            by_file.setdefault(name, []).append(as_dumped(row))
            assert row["entry"] == len(by_file[name]) - 1
    checked = 0
    for path in (golden / "dumps").glob(f"{state}__*index.print.out"):
        name = path.name.removesuffix(".print.out")
        if "__cluster_metadata" in name:  # is read only where it is named
            continue
        lines = dumped(path)
        if name in by_file:
            assert lines == by_file[name]
            checked += 1
        else:
            assert len(lines) <= 1
    assert checked > 20 or state == "crashed"


def test_bounds_are_those_of_columns(golden: Path) -> None:
    scan = scan_of(golden)
    everything = rows(scan, "index_entries")
    assert {row["kind"] for row in everything} == {"offset", "time", "transaction"}
    found = rows(scan._replace(offsets=Range(100, None)), "index_entries")
    assert found == [row for row in everything if row["offset"] is not None and row["offset"] >= 100]
    latest = max(milliseconds(row["timestamp"]) or 0 for row in everything)
    found = rows(scan._replace(timestamps=Range(latest, latest + 1)), "index_entries")
    assert found == [row for row in everything if milliseconds(row["timestamp"]) == latest]
    assert found
    only = rows(scan._replace(topics=frozenset(("tx",))), "index_entries")
    assert only == [row for row in everything if row["topic"] == "tx"]
    assert rows(scan._replace(split_bytes=1), "index_entries") == everything


def test_golden_damage(golden: Path) -> None:
    scan = Scan((str(golden / "damaged"),), topics=frozenset(("index-past-end", "index-ragged", "torn-tail")))
    with pytest.raises(DamagedFileError, match=r"index-past-end-0/0{20}\.index: damaged at byte 0: entry 0 leads to"):
        rows(scan, "index_entries")
    kept = rows(scan._replace(mode=Mode.PERMISSIVE), "index_entries")
    told = [row for row in kept if row["damage"] is not None]
    assert [(row["topic"], row["kind"], row["damage_position"]) for row in told] == [
        ("index-past-end", None, 0),
        ("index-past-end", None, 12),
        ("index-ragged", None, 0),
    ]
    assert [row for row in kept if row["damage"] is None]


def entries(directory: Path, name: str, data: bytes) -> Scan:
    partition = directory / "t-0"
    partition.mkdir()
    (partition / f"{0:020d}.log").write_bytes(bytes(100))
    (partition / f"{0:020d}.{name}").write_bytes(data)
    return Scan((str(directory),), mode=Mode.PERMISSIVE)


@pytest.mark.parametrize(
    ("name", "data", "good", "position", "reason"),
    [
        ("index", "0000000100000010 0000000200000020 000000", 2, 16, "3 bytes are no entry"),
        ("index", "0000000200000010 0000000100000020", 1, 8, "entry 1 is not behind the one before it"),
        ("index", "0000000200000010 0000000300000010", 1, 8, "entry 1 is not behind the one before it"),
        ("timeindex", "000000000000000900000001 000000000000000800000002", 1, 12, "entry 1 is not behind"),
        ("txnindex", "0000" + 4 * f"{5:016x}" + "0100" + 4 * f"{6:016x}", 1, 34, "Unexpected aborted transaction"),
        ("txnindex", "0000" + 4 * f"{5:016x}" + "00", 1, 34, "1 bytes are no entry"),
    ],
)
def test_damage(tmp_path: Path, name: str, data: str, good: int, position: int, reason: str) -> None:
    kept = rows(entries(tmp_path, name, bytes.fromhex(data)), "index_entries")
    assert [row["damage"] is None for row in kept] == [True] * good + [False]
    assert kept[-1]["damage_position"] == position
    assert kept[-1]["damage"].startswith(reason)
    assert kept[-1]["damage_file"].endswith(f".{name}")


def test_space_that_was_set_aside_is_no_entry(tmp_path: Path) -> None:
    scan = entries(tmp_path, "index", bytes.fromhex("0000000100000010") + bytes(8 * 1000))
    assert [row["offset"] for row in rows(scan, "index_entries")] == [1]
