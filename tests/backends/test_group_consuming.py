"""The loop of a group: whose turn it is, when members come and go, when it commits, and what it does about failures."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafkapy.backends.cluster import LATEST, Cluster
from kafkapy.backends.consuming import UNLIMITED, Limits
from kafkapy.backends.exec_handler import Failure
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.group_subscription import Source
from kafkapy.backends.retry_topics import Origin, RetryTopics, headers_of, parse_delays
from kafkapy.backends.retrying import Counts, RetryingHandler
from kafkapy.errors import KafkapyError
from kafkapy.formats.record_batch import Record
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreatePartitions, CreateTopic
from tests.backends.groups import NOW, Collecting, FakeTime, Mortal, Scratch, changing, made, numbered, opened, produce
from tests.coordinator.transactions import Producer
from tests.faults import Killed

ALL = numbered("t", 0, 30) + numbered("t", 1, 30) + numbered("t", 2, 30)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Three partitions with 30 records each."""
    directory = made(tmp_path / "c", t=3)
    for partition in range(3):
        produce(directory, "t", partition, *numbered("t", partition, 30))
    return Scratch(directory)


ASSIGNORS = ["range", "roundrobin", "sticky", "cooperative-sticky", "range,cooperative-sticky"]
PROTOCOLS = [{"partition_assignment_strategy": name} for name in ASSIGNORS] + [{"group_protocol": "consumer"}]


@pytest.mark.parametrize("configs", PROTOCOLS, ids=lambda configs: next(iter(configs.values())))
@pytest.mark.parametrize(
    "then", [(), ("join@20", "leave:1@40", "join@41", "leave:2@70"), ("leave:1@0", "leave:2@5", "join@5")]
)
def test_every_record_once_whoever_comes_and_goes(
    scratch: Scratch, configs: dict[str, str], then: tuple[str, ...]
) -> None:
    taken = Collecting()
    told = scratch.run(taken, members=2, then=then, **configs)
    assert Counter(taken.values) == Counter(ALL)
    for partition in range(3):
        own = [value for where, value in taken.taken if where.partition == partition]
        assert own == numbered("t", partition, 30)
    assert scratch.committed() == {"t-0": 30, "t-1": 30, "t-2": 30}
    assert sum(line.startswith("group g, ") for line in told) >= 2 + len(then)


def test_rebalances_are_told(scratch: Scratch) -> None:
    """Which of two members has more than the other depends on their random ids."""
    told = scratch.run(Collecting(), members=2, then=("join@10", "leave:1@20"))
    assert told[:2] == ["group g, generation 1 (range): member 1 joined", "  member 1: t-0, t-1, t-2"]
    assert told[2] == "group g, generation 2 (range): member 2 joined"
    assert told[3:5] in (
        ["  member 1: t-0, t-1 (-t-2)", "  member 2: t-2"],
        ["  member 1: t-2 (-t-0 -t-1)", "  member 2: t-0, t-1"],
    )
    assert told[5] == "group g, generation 3 (range): member 3 joined"
    assert told[9] == "group g, generation 4 (range): member 1 left"
    assert [line.partition(":")[0] for line in told[10:]] == ["  member 2", "  member 3", "end"]


def test_members_take_turns_batch_by_batch(scratch: Scratch) -> None:
    taken = Collecting()
    scratch.run(taken, members=3)
    turns = [where.partition for where, _ in taken.taken[::10]]
    assert sorted(turns[:3]) == [0, 1, 2]
    assert turns == turns[:3] * 3


def test_events_that_did_not_happen_are_told(scratch: Scratch) -> None:
    told = scratch.run(Collecting(), then=("join@91",))
    assert told[-2:] == ["kafkapy: join@91 did not happen: there were only 90 records", "end"]


def test_the_last_member_that_leaves_ends_the_run(scratch: Scratch) -> None:
    taken = Collecting()
    scratch.run(taken, then=("leave:1@15",), limits=Limits(follow=True))
    assert taken.values == ALL[:15]
    assert scratch.committed() == {"t-0": 15, "t-1": 0, "t-2": 0}


@pytest.mark.parametrize(
    ("count", "position"),
    [
        (2, (2, -1)),  # in a batch
        (3, (4, -1)),  # after it comes a marker, then more
        (6, (10, -1)),  # two markers, with what was aborted between them
        (7, (11, 0)),  # the end
        (UNLIMITED, (11, 0)),
    ],
)
def test_ended_by_max_messages_a_run_seeks_to_the_next_record(
    tmp_path: Path, count: int, position: tuple[int, int]
) -> None:
    """As seen with Kafka 4.3.1's console consumer: where it seeks there is no leader epoch."""
    scratch = Scratch(made(tmp_path / "c", t=1))
    cluster, where = opened(scratch.directory), TopicPartition("t", 0)
    producer = Producer(cluster, "tx")
    for values, commit in ((("a", "b", "c"), True), (("d", "e", "f"), True), (("g",), False)):
        producer.send(where, *values)
        producer.end(commit)
    cluster.close()
    produce(scratch.directory, "t", 0, "h")
    scratch.run(Collecting(), limits=Limits(count, committed=True))
    found = scratch.cluster.groups().offsets("g")[where]
    assert (found.offset, found.leader_epoch) == position


def test_damage_behind_the_last_of_max_messages_is_not_met(scratch: Scratch) -> None:
    log = next(Path(scratch.directory).glob("broker-1/t-0/*.log"))
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    taken = Collecting()
    scratch.run(taken, limits=Limits(20))
    assert taken.values == ALL[:20]
    assert scratch.committed() == {"t-0": 20, "t-1": 0, "t-2": 0}


def test_without_following_the_end_is_where_it_was_at_first(scratch: Scratch) -> None:
    class Producing(Collecting):
        def handle(self, fetched: Fetched, source: Source) -> None:
            super().handle(fetched, source)
            produce(scratch.directory, "t", 0, "more")

    taken = Producing()
    scratch.run(taken, members=2)
    assert Counter(taken.values) == Counter(ALL)


def test_following_commits_in_time_and_only_when_there_is_something_to_commit(scratch: Scratch) -> None:
    time = FakeTime({200: lambda: produce(scratch.directory, "t", 1, "more")})
    commits: list[int] = []

    class Counting(Collecting):
        def settle(self, cluster: Cluster) -> None:
            commits.append(time.now_ms() - NOW)

    taken = Counting()
    scratch.run(taken, time=time, limits=Limits(follow=True, timeout_ms=30_000))
    assert taken.values == [*ALL, "more"]
    assert [round(each / 1000) for each in commits] == [5, 20, 50]


def test_partitions_and_topics_that_appear_are_read_from_their_start(scratch: Scratch) -> None:
    def grow() -> None:
        changing(scratch.directory, CreatePartitions("t", 4), CreateTopic("tt", 1, 1), CreateTopic("other", 1, 1))
        produce(scratch.directory, "t", 3, "a")
        produce(scratch.directory, "tt", 0, "b")

    taken = Collecting()
    limits = Limits(follow=True, timeout_ms=1000)
    told = scratch.run(taken, None, "t+", time=FakeTime({3: grow}), limits=limits, reset=LATEST)
    assert taken.values == ["a", "b"]
    assert told[2:] == [
        "group g, generation 2 (range): the topics changed",
        "  member 1: t-0, t-1, t-2, t-3, tt-0 (+t-3 +tt-0)",
        "end",
    ]


class Flaky:
    """A command that fails on what ``fails`` says, by value and attempt."""

    def __init__(self, fails: dict[str, int], scratch: Scratch | None = None) -> None:
        self._fails = fails
        self.tried: list[tuple[str, int]] = []

    def run(self, record: Record, origin: Origin) -> Failure | None:
        value = (record.value or b"").decode()
        self.tried.append((value, origin.attempts + 1))
        return Failure("exit code 1", b"no") if origin.attempts < self._fails.get(value, 0) else None


RETRY = RetryTopics("g", parse_delays("10s,1m"))


def execute(scratch: Scratch, command: Flaky, time: FakeTime, follow: bool = False, **options: object) -> Counts:
    handler = RetryingHandler(command, RETRY, time.now_ms)  # type: ignore[arg-type]
    limits = Limits(follow=follow, timeout_ms=200_000)
    scratch.run(handler, time=time, limits=limits, retry=RETRY, **options)  # type: ignore[arg-type]
    return handler.counts


def test_failures_wait_are_tried_again_in_time_and_end_as_dead_letters(scratch: Scratch) -> None:
    time, command = FakeTime(), Flaky({"t-0-3": 1, "t-1-4": 2, "t-2-5": 9})
    assert execute(scratch, command, time) == Counts(done=87, retried=3, dead=0)
    assert scratch.told[-2].startswith("3 records wait in retry topics, the first of them until 20")
    assert scratch.values("t.g.retry.10s") == ["t-0-3", "t-1-4", "t-2-5"]
    assert execute(scratch, command, time) == Counts()
    time.passed += 9.9
    assert execute(scratch, command, time) == Counts()
    time.passed += 0.2
    assert execute(scratch, command, time) == Counts(done=1, retried=2)
    assert scratch.told[-2].startswith("2 records wait in retry topics")
    time.passed += 61
    assert execute(scratch, command, time) == Counts(done=1, dead=1)
    assert len(scratch.told) == 3
    assert command.tried[-5:] == [("t-0-3", 2), ("t-1-4", 2), ("t-2-5", 2), ("t-1-4", 3), ("t-2-5", 3)]
    (dead,) = scratch.records("t.g.dead-letter")
    assert (dead.key, dead.value) == (b"t-2-5", b"t-2-5")
    found = {name.removeprefix("kafkapy."): value.decode() for name, value in headers_of(dead).items()}
    assert found == {
        "attempts": "3", "cause": "exit code 1", "stderr": "no",
        "topic": "t", "partition": "2", "offset": "5", "timestamp": str(NOW),
    }  # fmt: skip


def test_following_sleeps_until_a_retry_is_due(scratch: Scratch) -> None:
    time, command = FakeTime(), Flaky({"t-0-3": 2})
    assert execute(scratch, command, time, follow=True) == Counts(done=90, retried=2)
    assert command.tried[-2:] == [("t-0-3", 2), ("t-0-3", 3)]
    assert time.passed == pytest.approx(270, abs=2)
    assert scratch.told[-1] == "end"


def test_retry_topics_have_the_partitions_of_their_topic_and_room_for_headers(scratch: Scratch) -> None:
    changing(scratch.directory, CreateTopic("big", 2, 1, configs={"max.message.bytes": "3000000"}))
    value = "x" * 1_450_000  # and the key
    produce(scratch.directory, "big", 1, value)
    execute(scratch, Flaky({value: 1}), FakeTime(), topic="big")
    assert scratch.values("big.g.retry.10s") == [value]


def test_a_record_that_fits_nowhere_stops_the_run_and_nothing_is_committed(scratch: Scratch) -> None:
    changing(scratch.directory, CreateTopic("t.g.retry.10s", 1, 1, configs={"max.message.bytes": "100"}))
    with pytest.raises(KafkapyError, match=r"cannot go to t\.g\.retry\.10s-0: .*; raise its max\.message\.bytes"):
        execute(scratch, Flaky({"t-2-5": 1}), FakeTime())
    assert scratch.committed() == {"t-0": 0, "t-1": 0, "t-2": 0, "t.g.retry.10s-0": 0}


def test_delays_of_an_earlier_run_are_not_forgotten(scratch: Scratch) -> None:
    time = FakeTime()
    execute(scratch, Flaky({"t-0-3": 1}), time)
    time.passed += 11
    command = Flaky({})
    other = RetryTopics("g", parse_delays("5s"))
    scratch.run(RetryingHandler(command, other, time.now_ms), time=time, retry=other)  # type: ignore[arg-type]
    assert command.tried == [("t-0-3", 2)]


def test_a_delay_queue(scratch: Scratch) -> None:
    time, command = FakeTime(), Flaky({})
    execute(scratch, command, time)
    changing(scratch.directory, CreateTopic("t.g.retry.1m", 1, 1))
    produce(scratch.directory, "t.g.retry.1m", 0, "later")
    time.passed += 59
    assert execute(scratch, command, time) == Counts()
    time.passed += 2
    assert execute(scratch, command, time) == Counts(done=1)
    assert command.tried[-1] == ("later", 1)


def test_patterns_do_not_feed_groups_with_the_failures_of_others(scratch: Scratch) -> None:
    for group_id in ("g", "h", "g", "h"):
        topics = RetryTopics(group_id, parse_delays("10s"))
        handler = RetryingHandler(Flaky(dict.fromkeys(ALL, 9)), topics, FakeTime().now_ms)  # type: ignore[arg-type]
        scratch.run(handler, None, ".*", group_id=group_id, retry=topics)
    assert sorted(scratch.values("t.g.retry.10s")) == sorted(scratch.values("t.h.retry.10s")) == sorted(ALL)
    names = {name.rpartition("-")[0] for name in os.listdir(f"{scratch.directory}/broker-1") if name.startswith("t")}
    assert names == {"t", "t.g.retry.10s", "t.h.retry.10s"}


@settings(
    phases=(Phase.generate,),
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    kills=st.lists(st.integers(0, 120), min_size=1, max_size=4),
    fails=st.dictionaries(st.sampled_from(ALL), st.integers(1, 4), max_size=6),
    protocol=st.sampled_from(["classic", "consumer"]),
    data=st.randoms(use_true_random=False),
)
def test_killed_anywhere_nothing_is_lost(
    tmp_path_factory: pytest.TempPathFactory, kills: list[int], fails: dict[str, int], protocol: str, data: object
) -> None:
    """Runs that are killed at any write, with what was not synced lost; then one that is not."""
    directory = made(tmp_path_factory.mktemp("killed") / "c", t=3)
    for partition in range(3):
        produce(directory, "t", partition, *numbered("t", partition, 30))
    time, command = FakeTime(), Flaky(fails)
    for kill_at in kills:
        files = Mortal(kill_at, data)  # type: ignore[arg-type]
        try:
            execute(Scratch(directory, lambda files=files: files), command, time, group_protocol=protocol)  # type: ignore[misc]
        except Killed:
            files.lose_unsynced()
        time.passed += 7
    scratch = Scratch(directory)
    for _ in range(3):
        execute(scratch, command, time, group_protocol=protocol)
        time.passed += 100
    done = {value for value, attempt in command.tried if attempt > fails.get(value, 0)}
    dead = set(scratch.values("t.g.dead-letter"))
    assert done | dead == set(ALL)
    assert dead == {value for value, often in fails.items() if often > 2}
    assert not [line for line in scratch.told if "wait" in line]
