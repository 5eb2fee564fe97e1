"""lookup: its steps lead to the same record as reading does, read what they say, and follow Kafka's search."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.formats import offset_index
from kafkapy.log.lookup import BatchStep, IndexStep, Lookup, SegmentStep, lookup_offset, lookup_timestamp
from kafkapy.log.names import partition_dirs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.lookup_lines import lookup_lines
from tests.commands.running import dirs, run
from tests.golden_set import unpack

Capture = pytest.CaptureFixture[str]


def reader(path: str | Path, topic: str = "rolled", partition: int = 0) -> PartitionReader:
    return PartitionReader(str(path), TopicPartition(topic, partition))


def logs(broker: Path) -> Iterator[PartitionReader]:
    """The logs of a broker that hold something."""
    for name, path in partition_dirs(broker):
        log = reader(path, name.topic, name.partition)
        if log.log_end_offset > log.log_start_offset and name.topic != "__cluster_metadata":
            yield log


@pytest.fixture(scope="session")
def rolled(golden: Path) -> PartitionReader:
    """Three segments, with entries in every index."""
    return reader(next((golden / "clean").glob("broker-*/rolled-0")))


@pytest.mark.parametrize("name", ["golden", "zk-era"])
def test_every_offset_is_found_as_reading_finds_it(name: str) -> None:
    """Every format, every codec, compacted logs, control batches."""
    for log in logs(unpack(name) / "clean" / "broker-1"):
        records = [record for batch in log.read(log.log_start_offset) for record in batch.records()]
        for offset in range(log.log_start_offset, log.log_end_offset, max(1, len(records) // 20)):
            wanted = next((record for record in records if record.offset >= offset), None)
            assert lookup_offset(log, offset).record == wanted, (log.directory, offset)


@pytest.mark.parametrize("name", ["golden", "zk-era"])
def test_every_time_is_found_as_get_offsets_finds_it(name: str) -> None:
    for log in logs(unpack(name) / "clean" / "broker-1"):
        times = sorted({record.timestamp for batch in log.read(log.log_start_offset) for record in batch.records()})
        for timestamp in {0, *times[:: max(1, len(times) // 10)], times[-1], times[-1] + 1}:
            wanted = log.offset_for_timestamp(timestamp)
            found = lookup_timestamp(log, timestamp).record
            assert (found and found.offset) == (wanted and wanted.offset), (log.directory, timestamp)


@settings(max_examples=60)
@given(data=st.data())
def test_the_steps_of_an_offset(data: st.DataObject) -> None:
    log = reader(next((unpack("golden") / "clean").glob("broker-*/rolled-0")))
    offset = data.draw(st.integers(log.log_start_offset, log.log_end_offset - 1))
    segment, index, *batches, record = lookup_offset(log, offset).steps
    assert isinstance(segment, SegmentStep)
    assert segment.base_offset == max(each.base_offset for each in log.segments if each.base_offset <= offset)
    assert isinstance(index, IndexStep)
    (own,) = (each for each in log.segments if each.base_offset == segment.base_offset)
    assert (index.found[1:] if index.found else (own.base_offset, 0)) == own.offset_index.lookup(offset)
    assert index.bytes_read == 8 * len({probe.slot for probe in index.probes})
    assert all(isinstance(batch, BatchStep) for batch in batches)
    assert batches[0].position == own.offset_index.lookup(offset).position
    assert [batch.chosen for batch in batches] == [False] * (len(batches) - 1) + [True]
    assert [batch.bytes_read for batch in batches] == [61] * (len(batches) - 1) + [batches[-1].size]
    assert batches[-1].base_offset <= offset <= batches[-1].last_offset
    assert record.record.offset == offset


def test_a_time_goes_through_both_indexes(rolled: PartitionReader) -> None:
    middle = rolled.segments[1]
    timestamp = middle.time_index.entry(3).timestamp + 1
    steps = lookup_timestamp(rolled, timestamp).steps
    assert [(step.base_offset, step.chosen) for step in steps if isinstance(step, SegmentStep)] == [
        (rolled.segments[0].base_offset, False),
        (middle.base_offset, True),
    ]
    by_time, by_offset = (step for step in steps if isinstance(step, IndexStep))
    assert by_time.found is not None
    assert by_time.found[1:] == middle.time_index.lookup(timestamp)
    assert (by_offset.kind, by_offset.target) == ("offset", by_time.found.value)


def test_a_time_that_has_not_come(rolled: PartitionReader) -> None:
    found = lookup_timestamp(rolled, 4_000_000_000_000)
    assert found.record is None
    assert (found.index_bytes, found.log_bytes) == (12 * len(rolled.segments), 0)
    assert "There is no such record." in lookup_lines(found, "")


def test_an_index_that_lies_is_not_followed(rolled: PartitionReader, tmp_path: Path) -> None:
    log = rolled.segments[0]
    (tmp_path / "00000000000000000000.log").write_bytes(Path(log.log_path).read_bytes())
    (tmp_path / "00000000000000000000.index").write_bytes(offset_index.encode(0, [(100, 12345)]))
    found = lookup_offset(reader(tmp_path), 2000)
    assert found.record is not None
    assert found.record.offset == 2000
    assert next(step.position for step in found.steps if isinstance(step, BatchStep)) == 0
    assert any("does not agree with the index entry" in line for line in lookup_lines(found, ""))


def test_a_long_scan_is_shortened_in_text_only(rolled: PartitionReader, tmp_path: Path) -> None:
    joined = b"".join(Path(segment.log_path).read_bytes() for segment in rolled.segments)
    (tmp_path / "00000000000000000000.log").write_bytes(joined)
    found = lookup_offset(reader(tmp_path), rolled.log_end_offset - 1)
    scanned = [step for step in found.steps if isinstance(step, BatchStep)]
    lines = list(lookup_lines(found, ""))
    assert len(scanned) > 9
    assert sum(line.startswith("   at ") for line in lines) == 9
    assert f"   ... {len(scanned) - 9} more ..." in lines


def test_kafkas_search_looks_at_the_warm_end_first(tmp_path: Path) -> None:
    """8 KiB are 1024 entries; a target before them costs one look at their first, then a search in the rest."""
    (tmp_path / "00000000000000000000.log").write_bytes(b"")
    entries = [(10 * number, 100 * number) for number in range(1, 3001)]
    (tmp_path / "00000000000000000000.index").write_bytes(offset_index.encode(0, entries))
    warm, cold, before = (_probed(tmp_path, target) for target in (29_000, 15_000, 5))
    first_warm = 3000 - 1 - 1024
    assert warm[0] == first_warm
    assert min(warm) == first_warm
    assert cold[:2] == [first_warm, 0]
    assert max(cold) == first_warm
    assert before == [first_warm, 0]


def _probed(directory: Path, target: int) -> list[int]:
    from kafkapy.log.lookup import _search
    from kafkapy.log.names import INDEX_SUFFIX

    (segment,) = reader(directory).segments
    step = _search(segment, INDEX_SUFFIX, segment.offset_index, target)
    found = segment.offset_index.lookup(target)
    assert (step.found[1:] if step.found else (0, 0)) == found
    return [probe.slot for probe in step.probes]


def test_the_text(capfd: Capture, golden: Path) -> None:
    args = ("--topic", "rolled", "--partition", "0", "--offset", "5000")
    done = run(capfd, "lookup", "--log-dirs", dirs(golden), *args)
    assert done.code == 0
    assert done.lines[:4] == [
        "Looking for offset 5000 in rolled-0, which has 3 segment(s)",
        "1. Segment: 00000000000000004000.log, the last with a base offset (4000) that is not above the target; "
        "975433 bytes.",
        "2. Offset index: 00000000000000004000.index, 9 entries; binary search for relative offset 1000 (5000 - 4000):",
        "   entry 0: relative offset 499, position 113880 (low enough)",
    ]
    assert "   Found entry 2: relative offset 999, position 240759." in done.lines
    assert "3. Scan: 00000000000000004000.log from position 240759 on, batch by batch:" in done.lines
    assert "   key:   k36" in done.lines
    assert done.lines[-1] == "Bytes touched: 122132: 32 of indexes, 122100 of the log, which has 2194119."


def test_rows(capfd: Capture, golden: Path) -> None:
    args = ("--topic", "rolled", "--partition", "0", "--offset", "5000", "--output", "jsonl")
    rows = run(capfd, "lookup", "--log-dirs", dirs(golden), *args).rows
    assert [row["action"] for row in rows] == ["segment", "index", "batch", "batch", "record"]
    assert len({tuple(row) for row in rows}) == 1
    assert (rows[1]["offset"], rows[1]["position"], rows[-1]["offset"]) == (4999, 240759, 5000)


def test_a_date(capfd: Capture, golden: Path) -> None:
    args = ("--topic", "orders", "--partition", "1", "--time", "2017-07-14")
    done = run(capfd, "lookup", "--log-dirs", dirs(golden), *args)
    assert "2. Time index: 00000000000000000000.timeindex, 2 entries; binary search for timestamp 1499990400000:" in (
        done.lines
    )
    assert any(line.startswith("5. Record: offset 0, CreateTime ") for line in done.lines)


def test_an_empty_lookup_has_no_record() -> None:
    assert Lookup((), 0).record is None


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (["--topic", "rolled", "--partition", "0"], 2, "Exactly one of the following arguments is required"),
        (["--topic", "rolled", "--partition", "0", "--offset", "1", "--time", "1"], 2, "Exactly one of the following"),
        (["--topic", "rolled", "--partition", "0", "--time", "noon"], 2, "--time: 'noon' is neither epoch millis"),
        (["--topic", "rolled", "--partition", "0", "--offset", "9000"], 1, "offset 9000 is out of range: rolled-0 has"),
        (["--topic", "rolled", "--partition", "0", "--offset", "-1"], 1, "offset -1 is out of range"),
        (["--topic", "nope", "--partition", "0", "--offset", "1"], 1, "no copy of nope-0 is in the given log dirs"),
    ],
)
def test_errors(capfd: Capture, golden: Path, args: list[str], code: int, error: str) -> None:
    done = run(capfd, "lookup", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"kafkapy: {error}")
