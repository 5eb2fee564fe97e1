"""What dropmalformed leaves out is told, in a line for each place while there are few."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafkapy.export.decoding import Decoding
from kafkapy.export.omitted import SHOWN, Omitted
from kafkapy.export.run import Export
from kafkapy.log.files import Files
from kafkapy.tables.engine import LocalEngine
from kafkapy.tables.scan import Mode
from tests.export.growing import Growing, held, request, rows_of


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    made = Growing(tmp_path / "cluster")
    made.create("orders")
    for count in (10, 20, 5):
        made.append("orders", count)
    return made


def log_of(growing: Growing) -> Path:
    return Path(growing.path) / "broker-1" / "orders-0" / "00000000000000000000.log"


def damaged(log: Path, batch: int, byte: int = 80) -> tuple[int, int]:
    """Flip a byte of a batch; where the batch begins and how long it is."""
    data = bytearray(log.read_bytes())
    position = 0
    for _ in range(batch):
        position += 12 + struct.unpack_from(">i", data, position + 8)[0]
    data[position + byte] ^= 1
    log.write_bytes(data)
    return position, 12 + struct.unpack_from(">i", data, position + 8)[0]


def told_by(growing: Growing, out: Path, **given: object) -> list[str]:
    lines: list[str] = []
    asked = request(growing.path, out, scan={"mode": Mode.DROPMALFORMED}, **given)
    assert Export(asked, lines.append, Files(sync=False)).run(LocalEngine()).problems == []
    return lines


def test_a_damaged_batch_is_told_once(growing: Growing, tmp_path: Path) -> None:
    log = log_of(growing)
    start, size = damaged(log, 1)
    (line,) = told_by(growing, tmp_path / "out")
    lost = f"{log}: lost bytes {start} to {start + size - 1} ({size} bytes), offsets 10 to 29: Record is corrupt "
    assert line.startswith(lost)
    assert held(tmp_path / "out") == sorted([*rows_of(orders=10), *rows_of(orders=(30, 35))])
    growing.append("orders", 3)
    assert told_by(growing, tmp_path / "out") == []


@pytest.mark.parametrize("table", ["records", "batches"])
def test_what_follows_a_size_that_cannot_be_is_told(growing: Growing, tmp_path: Path, table: str) -> None:
    log = log_of(growing)
    start, _ = damaged(log, 1, byte=8)
    (line,) = told_by(growing, tmp_path / "out", table=table)
    assert f"damaged at byte {start}: the batch has a size of " in line
    assert line.endswith(f"{log.stat().st_size - start} bytes from there on are not read")


@pytest.mark.parametrize("batch", [0, 2])
def test_the_first_and_the_last_batch_are_told(growing: Growing, tmp_path: Path, batch: int) -> None:
    log = log_of(growing)
    start, size = damaged(log, batch)
    (line,) = told_by(growing, tmp_path / "out")
    assert line.startswith(f"{log}: ")
    assert f" {start}" in line
    assert f"{size} bytes" in line


def test_rows_that_do_not_decode_are_counted(growing: Growing, tmp_path: Path) -> None:
    assert told_by(growing, tmp_path / "out", decode_value=Decoding("json")) == [
        "orders-0: left out 35 rows of which the value is not json; the first is offset 0: "
        "Expecting value: line 1 column 1 (char 0)"
    ]


def test_many_places_are_a_sum() -> None:
    whole = Omitted()
    for part in range(3):
        of_part = Omitted()
        for place in range(SHOWN - 1):
            of_part.place(f"{part} {place}")
        of_part.rows("t-0", "the key is not json", 2, f"offset {part}: why")
        whole.add(of_part)
    *lines, more, rows = whole.lines()
    assert lines == [*(f"0 {place}" for place in range(SHOWN - 1)), "1 0"]
    assert more == f"and {2 * SHOWN - 3} more damaged places like these"
    assert rows == "t-0: left out 6 rows of which the key is not json; the first is offset 0: why"
