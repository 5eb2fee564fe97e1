"""What came in, against every record of the same files; and when segments go, against retention itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.lag.batch_flow import BatchRow, flows, largest, of_partition, of_producer, of_topic
from kafkapy.lag.cluster_batches import Stretch, batch_rows, partition_logs, segment_rows
from kafkapy.lag.retention_forecast import SegmentRow, forecast
from kafkapy.log.config import LogConfig
from kafkapy.log.retention import Bounds, deletions
from kafkapy.log.topic_partition import TopicPartition
from tests.lag.world import P0, P1, T0, World


def fail(problem: str) -> None:
    raise AssertionError(problem)


def rows_of(cluster: LogDirsCluster, stretch: Stretch = Stretch(), measures: bool = False) -> list[BatchRow]:  # noqa: B008
    logs = [log for _, log in partition_logs(cluster, lambda _: True)]
    return [row for log in logs for row in batch_rows(log, stretch, measures, fail)]


def test_golden_partitions_have_the_records_that_are_in_them(golden: Path) -> None:
    cluster = LogDirsCluster(*(str(golden / "clean" / f"broker-{number}") for number in (1, 2, 3)))
    found = {(flow.topic, flow.partition): flow for flow in flows(rows_of(cluster, measures=True), of_partition)}
    for partition, log in partition_logs(cluster, lambda _: True):
        batches = [batch for segment in log.segments for batch in segment.read(log.log_start_offset)]
        if not batches:
            assert tuple(partition) not in found
            continue
        flow = found[tuple(partition)]
        assert flow.records == sum(len(list(batch.records())) for batch in batches)
        assert flow.bytes == sum(len(batch.data) for batch in batches)
        assert dict(flow.codecs) == Counter(batch.header.codec.label for batch in batches)
        assert (flow.compression_ratio or 0) == 1 or flow.codecs != (("none", flow.batches),)
    ratios = {topic: found[topic, 0].compression_ratio for topic in ("codec-gzip", "codec-lz4", "codec-zstd", "plain")}
    assert ratios["plain"] == 1
    assert all((ratio or 0) > 1.5 for topic, ratio in ratios.items() if topic != "plain")


def test_by_time_topic_and_producer(tmp_path: Path) -> None:
    world = World(tmp_path)
    for second in range(120):
        world.now = T0 + second * 1000
        world.produce(P0, [world.now] * 3)
        if second < 30:
            world.produce(P1, [world.now] * 2)
    rows = rows_of(world.cluster)
    minutes = flows(rows, of_partition, 60_000)
    assert [(flow.start, flow.end, flow.partition, flow.records) for flow in minutes] == [
        (T0, T0 + 60_000, 0, 180),
        (T0, T0 + 60_000, 1, 60),
        (T0 + 60_000, T0 + 120_000, 0, 180),
    ]
    assert minutes[0].rate(minutes[0].records) == 3.0
    (topic,) = flows(rows, of_topic)
    assert (topic.records, topic.batches, topic.first_timestamp, topic.last_timestamp) == (420, 150, T0, T0 + 119_000)
    assert topic.bytes == sum(path.stat().st_size for path in tmp_path.glob("orders-*/*.log"))
    (nobody,) = flows(rows, of_producer)
    assert nobody.producer_id == -1
    assert largest(minutes, 1) == [minutes[0], minutes[2]]
    part = rows_of(world.cluster, Stretch(T0 + 10_000, T0 + 20_000))
    assert Counter(row.partition for row in part) == {P0: 10, P1: 10}
    assert {row.timestamp for row in part} == {T0 + 1000 * second for second in range(10, 20)}
    assert rows_of(world.cluster, Stretch(T0 + 10**9)) == []


def test_compression_is_only_known_where_it_was_measured(tmp_path: Path) -> None:
    world = World(tmp_path)
    records = [Record(number, T0, None, b"x" * 50) for number in range(5)]
    for codec in (Codec.NONE, Codec.ZSTD):
        world.log(P0).append_as_leader(encode_batch(records, BatchOptions(codec=codec)), 0, T0)
    plain, measured = (flows(rows_of(world.cluster, measures=each), of_topic)[0] for each in (False, True))
    assert plain.compression_ratio is None
    bodies = [row.body for row in rows_of(world.cluster)]
    assert measured.compression_ratio == pytest.approx(2 * bodies[0] / sum(bodies))


def test_a_wrong_size_hides_only_the_rest_of_its_segment(tmp_path: Path) -> None:
    world = World(tmp_path)
    for second in range(60):
        world.now = T0 + second * 1000
        world.produce(P0, [world.now] * 3)
    world.close()
    whole = rows_of(LogDirsCluster(str(tmp_path)))
    segment = sorted((tmp_path / str(P0)).glob("*.log"))[1]
    data = bytearray(segment.read_bytes())
    data[8:12] = (3).to_bytes(4, "big")
    segment.write_bytes(data)
    told: list[str] = []
    cluster = LogDirsCluster(str(tmp_path))
    logs = [log for _, log in partition_logs(cluster, lambda _: True)]
    found = list(batch_rows(logs[0], Stretch(), False, told.append))
    assert len(told) == 1
    assert f"{segment}: damaged at byte 0" in told[0]
    base, following = (int(path.stem) for path in sorted((tmp_path / str(P0)).glob("*.log"))[1:3])
    assert found == [row for row in whole if not base <= row.base_offset < following]


def test_preallocated_space_is_no_damage(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0] * 3)
    world.close()
    (segment,) = (tmp_path / str(P0)).glob("*.log")
    whole = segment.read_bytes()
    segment.write_bytes(whole.ljust(1 << 20, b"\0"))
    (row,) = rows_of(LogDirsCluster(str(tmp_path)))
    assert (row.records, row.size) == (3, len(whole))
    segment.write_bytes(whole[:-1])
    told: list[str] = []
    ((_, log),) = partition_logs(LogDirsCluster(str(tmp_path)), lambda _: True)
    assert list(batch_rows(log, Stretch(), False, told.append)) == []
    assert len(told) == 1
    assert "bytes from there on are not read" in told[0]


HOUR = 3_600_000


@settings(max_examples=400)
@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(0, 100 * HOUR)), min_size=2, max_size=5),
    st.one_of(st.just(-1), st.integers(0, 150 * HOUR)),
    st.one_of(st.just(-1), st.integers(0, 1500)),
    st.integers(0, 30),
    st.sampled_from((("delete",), ("compact",), ("compact", "delete"))),
)
def test_the_oldest_segment_goes_when_retention_takes_it(
    sizes: list[tuple[int, int]], retention_ms: int, retention_bytes: int, start: int, policy: tuple[str, ...]
) -> None:
    """Nothing more is written, so that retention can be asked at any time."""
    now = T0 + 100 * HOUR
    segments = [SegmentRow(10 * number, size, T0 + at) for number, (size, at) in enumerate(sizes)]
    config = LogConfig(cleanup_policy=policy, retention_ms=retention_ms, retention_bytes=retention_bytes)
    end = 10 * len(segments)
    found = forecast(TopicPartition("t", 0), segments, config, min(start, end), 0.0, now)

    def goes(at: int) -> bool:
        return bool(deletions(segments, config, Bounds(min(start, end), end, end), at))

    if found.goes_at is None:
        assert not goes(now + 10**14)
    else:
        assert goes(found.goes_at)
        assert found.goes_at == now or not goes(found.goes_at - 1)
        assert found.size_then == found.size


def test_growth_brings_retention_bytes_nearer() -> None:
    segments = [SegmentRow(0, 400, T0), SegmentRow(10, 500, T0), SegmentRow(20, 100, T0, T0)]
    config = LogConfig(retention_ms=-1, retention_bytes=1600)
    found = forecast(P0, segments, config, 0, 100.0, T0)
    assert (found.goes_at, found.size_then, found.reason) == (T0 + 10_000, 2000, "retention.bytes=1600")
    grown = [*segments[:2], SegmentRow(20, 1100, T0)]
    assert deletions(grown, config, Bounds(0, 30, 30), T0)
    assert not deletions([*segments[:2], SegmentRow(20, 1099, T0)], config, Bounds(0, 30, 30), T0)


@pytest.mark.parametrize(
    ("configs", "rate", "expected"),
    [
        ({"segment_bytes": 1000}, 100.0, 6_000 + HOUR),  # full in six seconds
        ({"segment_ms": 4000}, 100.0, 4_000 + HOUR),  # rolled by age before
        ({}, 0.0, HOUR),  # nothing comes any more
    ],
)
def test_the_segment_that_is_written_to_has_its_latest_record_before_it(
    configs: dict[str, int], rate: float, expected: int
) -> None:
    config = LogConfig(retention_ms=HOUR, **configs)  # type: ignore[arg-type]
    found = forecast(P0, [SegmentRow(0, 400, T0, T0)], config, 0, rate, T0)
    assert found.goes_at == T0 + expected + 1


def test_segments_as_retention_sees_them(tmp_path: Path) -> None:
    world = World(tmp_path)
    for second in range(40):
        world.produce(P0, [T0 + second * 1000] * 3)
    ((_, log),) = partition_logs(world.cluster, lambda topic: topic == "orders")
    rows = segment_rows(log)
    assert sum(row.size for row in rows) == log.size
    assert [row.largest_timestamp for row in rows] == [segment.largest_timestamp for segment in log.segments]
    assert rows[0].first_timestamp is None
    assert rows[-1].first_timestamp == T0 + 1000 * (rows[-1].base_offset // 3)
