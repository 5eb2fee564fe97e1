"""Which records a consumer hands out: positions, limits, control records, damage, and waiting for more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkapy.backends.cluster import EARLIEST, LATEST
from kafkapy.backends.consumed_partitions import partitions_of
from kafkapy.backends.consuming import Consumer, follow, is_committed, limited
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.start_position import StartAt
from kafkapy.errors import CorruptRecordError, KafkaError, KafkapyError, UsageError
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import Header, Record
from kafkapy.log.batch import Batch
from kafkapy.log.batch_records import batch_records
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.backends.memory_cluster import MemoryCluster

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
BEGINNING = StartAt(EARLIEST, EARLIEST)


def record(offset: int) -> Record:
    return Record(offset, 1000 + offset, None, b"v%d" % offset)


@pytest.fixture
def cluster() -> MemoryCluster:
    made = MemoryCluster()
    made.apply(CreateTopic("t", 2), CreateTopic("tt", 1), CreateTopic("__consumer_offsets", 1))
    made.put(P0, [record(0), record(1), record(2)])
    made.put(P0, [record(3)], control=True)
    made.put(P0, [record(4), record(7)], codec=Codec.GZIP)
    made.put(P1, [record(0)])
    return made


def offsets(fetched: object) -> list[tuple[int, int]]:
    return [(each.partition.partition, found.offset) for each in fetched for found in each.records]  # type: ignore[attr-defined]


def consumer(cluster: MemoryCluster, start: StartAt = BEGINNING, *partitions: TopicPartition) -> Consumer:
    made = Consumer(cluster, partitions or (P0, P1))
    assert made.seek(start) == []
    return made


def test_partitions_in_order_without_control_records(cluster: MemoryCluster) -> None:
    made = consumer(cluster)
    assert offsets(made.poll()) == [(0, 0), (0, 1), (0, 2), (0, 4), (0, 7), (1, 0)]
    assert offsets(made.poll()) == []
    cluster.put(P0, [record(8)])
    assert offsets(made.poll()) == [(0, 8)]


@pytest.mark.parametrize(
    ("start", "expected"), [(2, [2, 4, 7]), (3, [4, 7]), (5, [7]), (8, []), (LATEST, []), (EARLIEST, [0, 1, 2, 4, 7])]
)
def test_records_before_the_start_are_left_out(cluster: MemoryCluster, start: int, expected: list[int]) -> None:
    assert [offset for _, offset in offsets(consumer(cluster, StartAt(start, LATEST), P0).poll())] == expected


def test_an_offset_that_is_not_there_is_reset(cluster: MemoryCluster) -> None:
    cluster.delete_records(P0, 1)
    made = Consumer(cluster, [P0])
    assert made.seek(StartAt(9, EARLIEST)) == [
        "Fetch position 9 is out of range for partition t-0, resetting offset to 1"
    ]
    assert [offset for _, offset in offsets(made.poll())] == [1, 2, 4, 7]
    assert made.seek(StartAt(0, LATEST)) == [
        "Fetch position 0 is out of range for partition t-0, resetting offset to 8"
    ]
    assert offsets(made.poll()) == []
    with pytest.raises(KafkaError, match="Fetch position 0 is out of range for partition t-0"):
        made.seek(StartAt(0, None))


def test_a_damaged_batch_ends_its_partition_and_no_other(cluster: MemoryCluster) -> None:
    whole = offsets(consumer(cluster).poll())
    batch = cluster.batches[P0][2]
    cluster.batches[P0][2] = Batch(batch.header, 0, batch.data[:-1] + bytes([batch.data[-1] ^ 1]))
    told: list[str] = []
    made = Consumer(cluster, [P0, P1], tell=told.append)
    made.seek(StartAt(EARLIEST, EARLIEST))
    assert offsets(made.poll()) == [(0, 0), (0, 1), (0, 2), *(each for each in whole if each[0] == 1)]
    assert not made.is_whole
    (line,) = told
    assert line.startswith(
        "t-0 is read only up to offset 4: Record batch for partition t-0 at offset 4 is invalid, cause: Record is corr"
    )
    assert offsets(made.poll()) == []
    assert told == [line]


def test_a_damaged_end_is_told_once(cluster: MemoryCluster) -> None:
    whole = offsets(consumer(cluster).poll())
    cluster.damages[P0] = "file: damaged at byte 9"
    told: list[str] = []
    made = Consumer(cluster, [P0, P1], tell=told.append)
    made.seek(StartAt(EARLIEST, EARLIEST))
    assert offsets(made.poll()) == whole
    assert offsets(made.poll()) == []
    assert (told, made.is_whole) == (["t-0 is read only up to offset 8: file: damaged at byte 9"], False)


def test_a_limit_that_ends_before_the_damage_does_not_ask_for_it(cluster: MemoryCluster) -> None:
    cluster.damages[P0] = "file: damaged at byte 9"
    made = consumer(cluster)
    assert len(offsets(limited(made.poll(), 2))) == 2
    assert made.is_whole


@pytest.mark.parametrize(("limit", "count"), [(-1, 6), (0, 0), (-2, 0), (1, 1), (3, 3), (4, 4), (99, 6)])
def test_a_limit_cuts_inside_a_batch(cluster: MemoryCluster, limit: int, count: int) -> None:
    assert len(offsets(limited(consumer(cluster).poll(), limit))) == count


def test_a_limit_reads_no_further_than_it_must() -> None:
    def endless() -> object:
        yield Fetched(P0, "CreateTime", [record(0)])
        yield None
        yield Fetched(P0, "CreateTime", [record(1)])
        pytest.fail("read on")

    assert len(list(limited(endless(), 2))) == 3  # type: ignore[arg-type]


class Time:
    """A clock that a pause moves on; ``then`` is what happens after some pauses."""

    def __init__(self, then: dict[int, object]) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self._then = then

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        action = self._then.get(len(self.pauses))
        if action is not None:
            action()  # type: ignore[operator]


def test_following_pauses_and_ends_when_nothing_has_come_for_long_enough(cluster: MemoryCluster) -> None:
    time = Time({2: lambda: cluster.put(P0, [record(8)])})
    found = list(follow(consumer(cluster, StartAt(LATEST, LATEST)), 250, time.clock, time.sleep))
    assert offsets(each for each in found if each is not None) == [(0, 8)]
    assert time.pauses == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.05])
    assert found[-1] is None


class Leaderless(MemoryCluster):
    """Nobody leads P1 before ``is_led``."""

    is_led = False

    def offsets(self, asked: Sequence[tuple[TopicPartition, int]]) -> list[int | KafkapyError | None]:
        error = KafkaError("LeaderNotAvailableException", "There is no leader")
        found = super().offsets(asked)
        return [
            error if partition == P1 and not self.is_led else offset
            for (partition, _), offset in zip(asked, found, strict=True)
        ]


@pytest.fixture
def leaderless() -> Leaderless:
    made = Leaderless()
    made.apply(CreateTopic("t", 2))
    made.put(P0, [record(0)])
    made.put(P1, [record(0)])
    return made


def test_who_follows_waits_for_a_leader(leaderless: Leaderless) -> None:
    told: list[str] = []
    made = Consumer(leaderless, (P0, P1), tell=told.append)
    assert made.seek(BEGINNING, is_patient=True) == []
    assert not made.is_whole
    time = Time({12: lambda: setattr(leaderless, "is_led", True)})
    found = list(follow(made, 2_500, time.clock, time.sleep))
    assert offsets(each for each in found if each is not None) == [(0, 0), (1, 0)]
    assert told == [
        "t-1 is not read until it has a leader: There is no leader",
        "t-1 has a leader now: read from offset 0 on",
    ]
    assert made.is_whole


def test_who_does_not_follow_waits_for_no_leader(leaderless: Leaderless) -> None:
    told: list[str] = []
    made = Consumer(leaderless, (P0, P1), tell=told.append)
    made.seek(BEGINNING)
    assert offsets(made.poll()) == [(0, 0)]
    assert told == ["t-1 is not read: There is no leader"]
    assert not made.is_whole


def test_which_partitions_are_meant(cluster: MemoryCluster) -> None:
    image = cluster.image()
    assert partitions_of(image, "t", None, None) == [P0, P1]
    assert partitions_of(image, "t", None, 1) == [P1]
    assert partitions_of(image, None, "t.?", None) == [P0, P1, TopicPartition("tt", 0)]
    assert partitions_of(image, None, ".*", None) == [P0, P1, TopicPartition("tt", 0)]
    assert partitions_of(image, None, ".*offsets", None, exclude_internal=False) == [
        TopicPartition("__consumer_offsets", 0)
    ]
    assert partitions_of(image, None, "nosuch", None) == []
    with pytest.raises(KafkaError, match="Topic 'nosuch' does not exist"):
        partitions_of(image, "nosuch", None, None)
    with pytest.raises(KafkaError, match="Topic 't' has no partition 2: it has 2"):
        partitions_of(image, "t", None, 2)
    with pytest.raises(UsageError, match="is an invalid regex"):
        partitions_of(image, None, "(", None)


@pytest.mark.parametrize(
    ("offset", "beginning", "reset", "expected"),
    [
        (None, False, None, StartAt(LATEST, LATEST)),
        (None, True, None, StartAt(EARLIEST, EARLIEST)),
        (None, True, "earliest", StartAt(EARLIEST, EARLIEST)),
        (None, False, "earliest", StartAt(EARLIEST, EARLIEST)),
        ("Earliest", False, None, StartAt(EARLIEST, LATEST)),
        ("LATEST", False, None, StartAt(LATEST, LATEST)),
        ("42", False, "none", StartAt(42, None)),
    ],
)
def test_where_to_start(offset: str | None, beginning: bool, reset: str | None, expected: StartAt) -> None:
    assert StartAt.of(offset, beginning, reset) == expected


@pytest.mark.parametrize("offset", ["foo", "-3", "", "9223372036854775808", "1_0"])
def test_offsets_that_cannot_be(offset: str) -> None:
    with pytest.raises(UsageError, match=f"The provided offset value '{offset}' is incorrect"):
        StartAt.of(offset, False, None)


def test_configs_that_cannot_be() -> None:
    with pytest.raises(
        UsageError, match=r"Can't simultaneously specify --from-beginning and 'auto\.offset\.reset=latest'"
    ):
        StartAt.of(None, True, "latest")
    with pytest.raises(UsageError, match=r"Invalid value x for configuration auto\.offset\.reset"):
        StartAt.of(None, False, "x")
    with pytest.raises(UsageError, match=r"Invalid value x for configuration isolation\.level: String must be one"):
        is_committed("x")
    assert (is_committed(None), is_committed("read_uncommitted"), is_committed("read_committed")) == (0, 0, 1)


@pytest.mark.parametrize("codec", list(Codec))
def test_the_kernel_gives_the_same_records(codec: Codec) -> None:
    cluster = MemoryCluster()
    headers = (Header("é", b"1"), Header("", None))
    records = [
        Record(
            5 + n, 1000 - n, b"k" if n % 3 else None, None if n % 5 == 0 else b"v%d" % n, headers if n % 7 == 0 else ()
        )
        for n in range(5000)
    ]
    cluster.put(P0, records, codec=codec, producer_id=1, producer_epoch=0, base_sequence=2)
    batch = cluster.batches[P0][0]
    assert list(batch_records(batch)) == list(batch.records())
    cut = Batch(batch.header._replace(record_count=4999), 0, batch.data)
    with pytest.raises(CorruptRecordError, match="records still remaining"):
        list(batch_records(cut))


def test_old_message_formats(zk_era: Path) -> None:
    cluster = LogDirsCluster(*(str(zk_era / "clean" / f"broker-{n}") for n in (1, 2)))
    kinds = {}
    for partition in partitions_of(cluster.image(), None, ".*", None):
        made = Consumer(cluster, [partition])
        made.seek(BEGINNING)
        for fetched in made.poll():
            kinds.setdefault(fetched.timestamp_type, fetched)
            assert all(found.offset >= 0 for found in fetched.records)
    assert set(kinds) >= {None, "CreateTime"}
