"""The table ``records`` beside what consumers are given, over splits, bounds and damage of every kind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.errors import DamagedFileError, UsageError
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.logs import NOW, in_milliseconds, make_log, read_rows, rows

BROKERS = ("broker-1", "broker-2", "broker-3")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_log(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("name", ["clean", "crashed"])
@pytest.mark.parametrize("committed", [False, True])
def test_rows_are_what_consumers_of_a_real_brokers_log_are_given(golden: Path, name: str, committed: bool) -> None:
    paths = tuple(str(golden / name / broker) for broker in BROKERS)
    found = in_milliseconds(rows(Scan(paths, committed=committed)))
    assert found == read_rows(paths, committed)
    assert len(found) > 1000


def test_old_message_formats(golden: Path) -> None:
    paths = (str(golden / "legacy"),)
    wanted = read_rows(paths)
    found = in_milliseconds(rows(Scan(paths)))
    assert found == [{**row, "batch_position": each["batch_position"]} for row, each in zip(wanted, found, strict=True)]
    assert len(found) > 100


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("split_bytes", [1, 300, 1000, 1 << 30])
def test_splits_of_any_size_give_the_same_rows(made: str, split_bytes: int, committed: bool) -> None:
    scan = Scan((made,), split_bytes=split_bytes, committed=committed)
    assert in_milliseconds(rows(scan)) == read_rows((made,), committed)


def test_a_segment_is_split_at_its_index_entries(made: str) -> None:
    table = find_table("records")
    few, many = table.splits(Scan((made,))), table.splits(Scan((made,), split_bytes=300))
    assert len(many) > 2 * len(few)
    assert sum(split.size for split in many) == sum(split.size for split in few)


@settings(max_examples=150)
@given(data=st.data())
def test_bounds_are_exact(made: str, data: st.DataObject) -> None:
    offset = st.none() | st.integers(0, 330)
    time = st.none() | st.integers(NOW - 3000, NOW + 63_000)
    offsets, times = Range(data.draw(offset), data.draw(offset)), Range(data.draw(time), data.draw(time))
    scan = Scan((made,), offsets=offsets, timestamps=times, split_bytes=data.draw(st.sampled_from((200, 1 << 30))))
    wanted = [
        row
        for row in read_rows((made,))
        if (offsets.start is None or row["offset"] >= offsets.start)
        and (offsets.end is None or row["offset"] < offsets.end)
        and (times.start is None or row["milliseconds"] >= times.start)
        and (times.end is None or row["milliseconds"] < times.end)
    ]
    assert in_milliseconds(rows(scan)) == wanted


def test_a_narrow_range_reads_few_bytes(made: str) -> None:
    table = find_table("records")
    whole = sum(split.size for split in table.splits(Scan((made,))))
    narrow = table.splits(Scan((made,), offsets=Range(100, 110)))
    assert sum(split.size for split in narrow) < whole / 10
    late = table.splits(Scan((made,), timestamps=Range(NOW + 55_000)))
    assert sum(split.size for split in late) < whole / 3


def test_columns_in_the_order_that_was_asked(made: str) -> None:
    scan = Scan((made,), columns=("value", "offset"))
    assert [list(row) for row in rows(scan)[:1]] == [["value", "offset"]]
    assert [row["value"] for row in rows(scan)] == [row["value"] for row in read_rows((made,))]
    with pytest.raises(UsageError, match="the table records has no column ofset"):
        rows(Scan((made,), columns=("ofset",)))


def test_topics_partitions_and_brokers(golden: Path) -> None:
    paths = tuple(str(golden / "clean" / broker) for broker in BROKERS)
    everything = rows(Scan(paths))
    topic = next(row["topic"] for row in everything if not row["topic"].startswith("__"))
    one = rows(Scan(paths, topics=frozenset([topic]), partitions=frozenset([0])))
    assert one == [row for row in everything if (row["topic"], row["partition"]) == (topic, 0)]
    assert one
    first = rows(Scan(paths, broker=1))
    assert {row["topic"] for row in first} <= {row["topic"] for row in everything}
    with pytest.raises(UsageError, match="none of the log dirs belongs to broker 9"):
        rows(Scan(paths, broker=9))


def damaged(made: str, tmp_path: Path) -> tuple[str, Path, int]:
    """A copy in which one batch in the middle of the first segment has a wrong byte; its file, and where."""
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    log = min((copy / "orders-0").glob("*.log"))
    position = rows(Scan((made,), columns=("batch_position",)))[20]["batch_position"]
    data = bytearray(log.read_bytes())
    data[position + 63] ^= 0xFF
    log.write_bytes(data)
    return str(copy), log, position


def test_failfast_says_where(made: str, tmp_path: Path) -> None:
    copy, log, position = damaged(made, tmp_path)
    with pytest.raises(DamagedFileError, match=rf"{log}: damaged at byte {position}: Record is corrupt"):
        rows(Scan((copy,)))


def test_dropmalformed_steps_over(made: str, tmp_path: Path) -> None:
    copy, _, position = damaged(made, tmp_path)
    whole = rows(Scan((made,)))
    gone = {row["offset"] for row in whole[:100] if row["batch_position"] == position}
    found = rows(Scan((copy,), mode=Mode.DROPMALFORMED))
    assert found == [row for row in whole if row["offset"] not in gone]
    assert gone


def test_permissive_keeps_a_row_with_file_and_position(made: str, tmp_path: Path) -> None:
    copy, log, position = damaged(made, tmp_path)
    found = rows(Scan((copy,), mode=Mode.PERMISSIVE))
    told = [row for row in found if row["damage"] is not None]
    assert [(row["damage_file"], row["damage_position"], row["topic"], row["offset"]) for row in told] == [
        (str(log), position, "orders", None)
    ]
    assert len(found) - 1 == len(rows(Scan((copy,), mode=Mode.DROPMALFORMED)))


def test_behind_a_size_that_cannot_be_the_next_split_goes_on(made: str, tmp_path: Path) -> None:
    copy, log, position = damaged(made, tmp_path)
    data = bytearray(log.read_bytes())
    data[position + 8 : position + 12] = b"\0\0\0\1"
    log.write_bytes(data)
    coarse = rows(Scan((copy,), mode=Mode.DROPMALFORMED))
    fine = rows(Scan((copy,), mode=Mode.DROPMALFORMED, split_bytes=1))
    assert len(coarse) < len(fine) < len(rows(Scan((made,))))


def test_a_torn_write_at_the_end_is_no_damage_but_permissive_tells(made: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    log = max((copy / "orders-0").glob("*.log"))
    log.write_bytes(log.read_bytes()[:-5])
    whole = rows(Scan((made,)))
    found = rows(Scan((str(copy),)))
    assert found == whole[: len(found)]
    assert len(whole) - len(found) < 10
    told = [row for row in rows(Scan((str(copy),), mode=Mode.PERMISSIVE)) if row["damage"] is not None]
    assert [row["damage_file"] for row in told] == [str(log)]


def test_a_header_name_that_is_no_utf8_is_read_as_java_reads_it(tmp_path: Path) -> None:
    from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch

    directory = tmp_path / "t-0"
    directory.mkdir()
    batch = encode_batch([Record(0, NOW, None, b"v", (Header("abc", b"1"),))], BatchOptions())
    raw = batch[:61] + batch[61:].replace(b"abc", b"a\xffc")
    from tests.segments import repaired

    (directory / "00000000000000000000.log").write_bytes(repaired(raw))
    assert [row["headers"] for row in rows(Scan((str(tmp_path),)))] == [[{"key": "a\ufffdc", "value": b"1"}]]
