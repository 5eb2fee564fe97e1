"""Lag by looking again: what changed between two looks is what they tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import KafkaError
from kafkapy.lag.cluster_rows import Wanted
from kafkapy.lag.snapshots import Snapshots
from kafkapy.lag.verdict import Verdict
from tests.lag.world import EVERYTHING, P0, P1, T0, World


def fail(problem: str) -> None:
    raise AssertionError(problem)


def test_rates_are_since_the_look_before(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.now = T0 + 1000
    world.produce(P0, [world.now] * 5 + [world.now])
    world.commit("g", P0, 2)
    snapshots = Snapshots(EVERYTHING)
    (first,) = snapshots.take(world.cluster, T0 + 2000, fail)
    assert (first.committed, first.log_end, first.lag, first.time_lag_ms) == (2, 6, 4, 1000)
    world.now = T0 + 9000
    world.produce(P0, [T0] * 7)  # of an old time: what was seen counts, not what timestamps say
    world.produce(P0, [world.now] * 3)
    world.commit("g", P0, 12)
    (second,) = snapshots.take(world.cluster, T0 + 12_000, fail)
    assert (second.rates_since, second.produce_rate, second.consume_rate) == (T0 + 2000, 1.0, 1.0)
    assert (second.lag, second.catch_up_ms, second.never_catches_up) == (4, None, True)
    world.now = T0 + 13_000
    world.commit("g", P0, 14)
    (third,) = snapshots.take(world.cluster, T0 + 14_000, fail)
    assert (third.produce_rate, third.consume_rate, third.lag, third.catch_up_ms) == (0.0, 1.0, 2, 2000)


def test_verdicts_by_the_commits_that_were_seen(tmp_path: Path) -> None:
    world = World(tmp_path)
    snapshots = Snapshots(EVERYTHING)
    found = []
    for number in range(1, 12):
        world.now = T0 + number * 5000
        world.produce(P0, [world.now] * 10)
        world.commit("slow", P0, 5 * number)
        world.commit("stuck", P0, 3)
        if number < 4:
            world.commit("dies", P0, 2 * number)
        found.append({each.group: each.verdict for each in snapshots.take(world.cluster, world.now + 100, fail)})
    assert found[0] == dict.fromkeys(("slow", "stuck", "dies"), Verdict.UNKNOWN)
    assert found[-1] == {"slow": Verdict.FALLING_BEHIND, "stuck": Verdict.STALLED, "dies": Verdict.STOPPED}


def test_a_look_at_records_of_a_moment_ago_is_no_alarm(tmp_path: Path) -> None:
    """A group that read everything, and left."""
    world = World(tmp_path)
    world.members("g", 1)
    world.commit("g", P0, 0)
    world.members("g", 0)
    world.now = T0 + 60_000
    world.produce(P0, [world.now] * 10)
    snapshots = Snapshots(EVERYTHING)
    found = [snapshots.take(world.cluster, world.now + after, fail)[0].verdict for after in (103, 5000, 5001)]
    assert found == [Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.STOPPED]


def test_what_is_known_of_a_group_outlasts_a_look_that_its_coordinator_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = KafkaError("CoordinatorNotAvailableException", "The coordinator is not available.")
    world = World(tmp_path)
    snapshots = Snapshots(EVERYTHING)
    for number in range(1, 12):
        world.now = T0 + number * 5000
        world.produce(P0, [world.now] * 10)
        world.commit("slow", P0, 5 * number)
        told: list[str] = []
        cluster = world.cluster
        if number == 10:
            monkeypatch.setattr(cluster.groups(), "committed_offsets", lambda asked: dict.fromkeys(asked, error))
        points = snapshots.take(cluster, world.now + 100, told.append)
        assert (len(points), told) == ((0, [f"group slow: {error}"]) if number == 10 else (1, []))
    assert points[0].verdict is Verdict.FALLING_BEHIND


def test_a_group_that_no_broker_lists_is_not_gone_before_its_coordinator_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0] * 5)
    world.commit("moves", P0, 2)
    snapshots = Snapshots(EVERYTHING)
    seen = []
    for number in range(4):
        cluster = world.cluster
        if number > 1:
            world.commit("moves", P0, None if number == 2 else 3)
            cluster = world.cluster
        if number < 3:
            monkeypatch.setattr(cluster.groups(), "list", list if number else cluster.groups().list)
        points = snapshots.take(cluster, T0 + 1 + number, fail)
        seen.append(([each.committed for each in points], snapshots.gone))
    assert seen == [([2], set()), ([2], set()), ([], {"moves"}), ([3], set())]


def test_filters_and_what_is_deleted(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0])
    world.commit("a", P0, 0)
    world.commit("a", P1, 0)
    world.commit("b", P0, 0)
    snapshots = Snapshots(Wanted(lambda group: group == "a", lambda topic: topic == "orders"))
    points = snapshots.take(world.cluster, T0 + 1, fail)
    assert [(each.group, each.partition) for each in points] == [("a", 0), ("a", 1)]
    world.commit("a", P0, None)
    assert [each.partition for each in snapshots.take(world.cluster, T0 + 2, fail)] == [1]


def test_a_topic_that_is_gone_has_no_lag(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.commit("g", P1._replace(topic="gone"), 5)
    world.close()
    for path in (tmp_path / "gone-1").iterdir():
        path.unlink()
    (tmp_path / "gone-1").rmdir()
    (point,) = Snapshots(EVERYTHING).take(world.cluster, T0 + 1, fail)
    assert (point.committed, point.log_end, point.lag, point.verdict) == (5, None, None, Verdict.UNKNOWN)


def test_a_look_that_only_begins_is_what_the_next_one_compares_with(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0] * 10)
    world.commit("g", P0, 2)
    snapshots = Snapshots(EVERYTHING)
    snapshots.begin(world.cluster, T0 + 1000, fail)
    world.now = T0 + 2000
    world.produce(P0, [world.now] * 6)
    world.commit("g", P0, 5)
    (point,) = snapshots.take(world.cluster, T0 + 4000, fail)
    assert (point.rates_since, point.produce_rate, point.consume_rate, point.lag) == (T0 + 1000, 2.0, 1.0, 11)


def test_the_time_of_a_commit_that_nobody_tells_is_not_known_until_it_changes(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.tells_times = False
    world.produce(P0, [T0] * 10)
    world.commit("g", P0, 2)
    snapshots = Snapshots(EVERYTHING)
    found = []
    for number, offset in enumerate((2, 2, 5, 5, None, 5), 1):
        world.commit("g", P0, offset)
        found += [each.last_commit for each in snapshots.take(world.cluster, T0 + 1000 * number, fail)]
    assert found == [None, None, T0 + 3000, T0 + 3000, None]  # what was taken back and made again is new


def test_the_time_of_a_commit_is_what_files_tell(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.commit("g", P0, 2)
    (point,) = Snapshots(EVERYTHING).take(world.cluster, T0 + 5000, fail)
    assert point.last_commit == T0


@pytest.mark.parametrize(
    ("came_between", "leader_epoch", "rate"),
    [
        (False, -1, 0.0),  # nobody was there: a tool
        (True, -1, 50.0),  # somebody came and left, as the generation tells
        (False, 3, 50.0),  # only a consumer knows the epoch
    ],
)
def test_what_a_tool_moved_was_not_read(tmp_path: Path, came_between: bool, leader_epoch: int, rate: float) -> None:
    world = World(tmp_path)
    for _ in range(5):
        world.produce(P0, [T0] * 15)
    world.members("g", 1)
    world.commit("g", P0, 10)
    world.members("g", 0)
    snapshots = Snapshots(EVERYTHING)
    snapshots.take(world.cluster, T0 + 1000, fail)
    if came_between:
        world.members("g", 1)
        world.members("g", 0)
    world.now = T0 + 1500
    world.commit("g", P0, 60, leader_epoch=leader_epoch)
    (point,) = snapshots.take(world.cluster, T0 + 2000, fail)
    assert (point.committed, point.consume_rate) == (60, rate)


def test_a_watch_that_goes_on_keeps_no_more_than_a_window(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.tells_times = False
    world.produce(P0, [T0] * 5)
    world.commit("g", P0, 2)
    cluster, snapshots = world.cluster, Snapshots(EVERYTHING, window=3)
    kept = []
    for number in range(12):
        (point,) = snapshots.take(cluster, T0 + 2000 * number, fail)
        kept += [len(each.changes()) for each in snapshots._timelines.values()]
        assert point.consume_rate == (0.0 if number else None)
    assert kept == [1, 2, *[3] * 10]
