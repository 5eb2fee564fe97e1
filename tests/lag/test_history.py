"""Lag over time against a world of which the truth is known, at every step."""

from __future__ import annotations

import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.lag.lag_events import EventKind, Span
from kafkapy.lag.lag_history import steps
from kafkapy.lag.lag_point import LagPoint, Moment
from kafkapy.lag.lag_reading import Asked, ClusterSource, LagHistory, lag_history
from kafkapy.lag.verdict import Verdict
from tests.lag.world import EVERYTHING, OFFSETS, P0, P1, T0, World

STEP = 700
GROUPS = ("a", "b")
actions = st.lists(
    st.tuples(
        st.sampled_from((0, 1, 150, 900, 1000, 2500, 20_000)),
        st.one_of(
            st.tuples(st.just("produce"), st.sampled_from((P0, P1)), st.integers(1, 5), st.integers(0, 40)),
            st.tuples(
                st.sampled_from(("commit", "commit", "commit", "rewind", "same")),
                st.sampled_from(GROUPS),
                st.sampled_from((P0, P1)),
                st.integers(0, 6),
            ),
            st.tuples(st.just("forget"), st.sampled_from(GROUPS), st.sampled_from((P0, P1))),
            st.tuples(st.just("transact"), st.sampled_from(GROUPS), st.sampled_from((P0, P1)), st.booleans()),
        ),
    ),
    min_size=1,
    max_size=40,
)


def play(world: World, script: list[tuple[int, tuple[object, ...]]]) -> None:
    """Groups commit what exists; records get times up to now, never back."""
    for pause, (what, *args) in script:
        world.now += pause
        if what == "produce":
            partition, count, spread = args
            known = world.records.get(partition, [])
            first = max(known[-1] if known else T0, world.now - spread)
            world.produce(partition, [first + (world.now - first) * number // count for number in range(1, count + 1)])
            continue
        group, partition = args[:2]
        end, past = len(world.records.get(partition, ())), world.commits.get((group, partition), [])
        current = past[-1][1] if past else None
        if what == "forget":
            world.commit(group, partition, None)
        elif what == "transact":
            world.commit(group, partition, end, producer_id=7)
            world.now += 40
            world.end(7, bool(args[2]))
        else:
            moved = {"commit": int(args[2]), "rewind": -int(args[2]), "same": 0}[str(what)]
            world.commit(group, partition, min(end, max(0, (current or 0) + moved)))


def read(world: World, start: int, end: int, told: list[str] | None = None, step: int = STEP) -> LagHistory:
    problems: list[str] = [] if told is None else told
    asked = Asked(steps(start, end, step, end + 1), end + 1, span=Span(start, end))
    found = lag_history(ClusterSource(world.cluster), EVERYTHING, asked, problems.append)
    assert told is not None or problems == []
    return found


def check_point(world: World, point: LagPoint) -> None:
    assert point.topic is not None
    key = point.group, (P0 if point.partition == 0 else P1)
    at = point.timestamp
    committed, end = world.committed(key, at), world.end_at(key[1], at)
    assert committed is not None
    assert (point.committed, point.log_end, point.lag) == (committed, end, end - committed)
    assert point.time_lag_ms == world.time_lag(key, at)
    assert point.rates_since == at - STEP
    assert point.produce_rate == pytest.approx((end - world.end_at(key[1], at - STEP)) / STEP * 1000)
    before = world.committed(key, at - STEP)
    if before is None:
        assert point.consume_rate is None
    else:
        changes = [(None, before), *(each for each in world.commits[key] if at - STEP < each[0] <= at)]
        pairs = [(one, two) for (_, one), (_, two) in pairwise(changes)]
        consumed = sum(max(0, two - one) for one, two in pairs if one is not None and two is not None)
        assert point.consume_rate == pytest.approx(consumed / STEP * 1000)
    assert str(point.verdict) == world.verdict(key, at)
    window = world.window(key, at)
    assert point.last_commit == (window[-1][0] if window else None)


@settings(max_examples=60)
@given(actions)
def test_every_row_is_what_was_true_then(script: list[tuple[int, tuple[object, ...]]]) -> None:
    check_all(script)


@pytest.mark.parametrize("seed", range(40))
def test_every_row_of_a_long_history_is_what_was_true_then(seed: int) -> None:
    """With a mood for every stretch, since groups do the same for long: read on, wait, commit the same, go back."""
    rng = Random(seed)
    script: list[tuple[int, tuple[object, ...]]] = []
    for _ in range(rng.randrange(3, 8)):
        mood = rng.choice(("commit", "commit", "same", "rewind", "wait"))
        pause = rng.choice((300, 1000, 1100, 5000))
        for _ in range(rng.randrange(5, 25)):
            partition = rng.choice((P0, P0, P0, P1))
            script.append((rng.choice((0, 10, pause)), ("produce", partition, rng.randrange(1, 5), rng.randrange(40))))
            if mood == "wait" or rng.random() < 0.1:
                continue
            what = "rewind" if mood == "rewind" and rng.random() < 0.2 else "same" if mood == "same" else "commit"
            script.append((pause, (what, "a", partition, rng.randrange(0, 9))))
        if rng.random() < 0.2:
            script.append((pause, rng.choice((("forget", "a", P0), ("transact", "a", P0, rng.random() < 0.7)))))
    check_all(script)


def check_all(script: list[tuple[int, tuple[object, ...]]]) -> None:
    directory = Path(tempfile.mkdtemp())
    try:
        world = World(directory)
        play(world, script)
        start, end = T0 + (world.now - T0) // 3, world.now + 3 * STEP
        found = read(world, start, end)
        told = {(point.timestamp, point.group, point.partition) for point in found.points}
        for point in found.points:
            check_point(world, point)
        true = {
            (at, group, partition.partition)
            for group, partition in world.commits
            for at in range(start, end + 1, STEP)
            if world.committed((group, partition), at) is not None
        }
        assert told == true
        check_events(world, found, start, end)
    finally:
        shutil.rmtree(directory)


def check_events(world: World, found: LagHistory, start: int, end: int) -> None:
    moves = [event for event in found.events if event.kind in (EventKind.REWIND, EventKind.DELETE)]
    true = []
    for (group, partition), commits in world.commits.items():
        for (_, before), (at, after) in pairwise(commits):
            is_inside = before is not None and start <= at <= end
            if is_inside and (after is None or after < before):
                true.append((at, group, partition.partition, before, after))
    told = [(each.timestamp, each.group, each.partition, each.from_offset, each.to_offset) for each in moves]
    assert sorted(told, key=str) == sorted(true, key=str)
    for key in world.commits:
        stops = [
            each
            for each in found.events
            if each.kind is EventKind.STOP and (each.group, each.partition) == (key[0], key[1].partition)
        ]
        for moment in range(start, end + 1, 311):
            if world.verdict(key, moment) == "stopped":
                assert any(each.timestamp < moment and (each.until is None or moment < each.until) for each in stops)
        for each in stops:
            last = end if each.until is None else each.until - 1
            assert world.verdict(key, last) == "stopped"


def test_a_stall_lasts_from_its_first_commit_to_the_next_other_one(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0] * 5)
    for number in range(30):
        world.now += 5000
        if number % 2:
            world.produce(P0, [world.now] * 3)
        world.commit("g", P0, 4 if 10 <= number < 25 else len(world.records[P0]) - 1 if number >= 25 else 3)
    found = read(world, T0, world.now)
    stalls = [event for event in found.events if event.kind is EventKind.STALL]
    assert [(each.timestamp, each.until, each.from_offset) for each in stalls] == [
        (T0 + 5000, T0 + 55_000, 3),
        (T0 + 55_000, T0 + 130_000, 4),
    ]


def test_what_compaction_left_is_told_and_nothing_else(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(60):
        world.now += 5000
        world.produce(P0, [world.now] * 4)
        if number != 59:
            world.commit("g", P0, 2 * number)
        if number == 30:
            world.commit("old", P0, 7)
        if number == 40:
            world.compact()
    start, end = T0 + 5000, world.now
    found = read(world, start, end, step=5000)
    evidence = found.evidence["g"]
    assert not evidence.is_whole
    assert evidence.since is not None
    assert T0 + 40 * 5000 <= evidence.since <= T0 + 45 * 5000
    known = {(each.timestamp, each.group): each for each in found.points}
    for (at, group), point in known.items():
        if point.committed is not None:
            assert point.committed == world.committed((group, P0), at)
            assert point.lag == world.end_at(P0, at) - point.committed
        else:
            assert (point.lag, point.unknown, str(point.verdict)) == (None, 1, "unknown")
    for at in range(evidence.since, end + 1):
        if (at, "g") in known:
            assert known[at, "g"].committed == world.committed(("g", P0), at)
    assert known[T0 + 31 * 5000, "old"].committed == 7  # its only commit outlived compaction: known from then on
    assert known[T0 + 30 * 5000, "old"].committed is None  # nobody knows whether there was one before


def test_the_whole_log_is_evidence_from_its_begin(tmp_path: Path) -> None:
    world = World(tmp_path)
    for _ in range(40):
        world.now += 1000
        world.commit("g", P0, 0)
    found = read(world, T0, world.now)
    assert found.evidence == {"g": (T0 + 1000, True)}


def test_damage_is_told_and_what_follows_it_is_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(40):
        world.now += 5000
        world.produce(P0, [world.now])
        world.commit("g", P0, number)
    world.close()
    segments = sorted((tmp_path / str(OFFSETS)).glob("*.log"))
    data = bytearray(segments[1].read_bytes())
    data[80] ^= 0xFF
    segments[1].write_bytes(data)
    told: list[str] = []
    found = read(world, T0 + 5000, world.now, told, step=5000)
    assert len(told) == 1
    assert str(segments[1]) in told[0]
    assert not found.evidence["g"].is_whole
    late = [point for point in found.points if point.timestamp >= (found.evidence["g"].since or 0)]
    assert len(late) > 20
    for point in late:
        assert point.committed == world.committed(("g", P0), point.timestamp)


def test_damage_of_a_topic_takes_away_only_what_it_is_in_the_way_of(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(60):
        world.now += 5000
        world.produce(P0, [world.now] * 2)
        world.commit("g", P0, number)
    world.close()
    segment = sorted((tmp_path / str(P0)).glob("*.log"))[2]
    data = bytearray(segment.read_bytes())
    data[8:12] = (3).to_bytes(4, "big")
    segment.write_bytes(data)
    told: list[str] = []
    found = read(world, T0 + 5000, world.now, told, step=5000)
    assert told
    assert all(str(segment) in problem for problem in told)
    lags = [point.lag for point in found.points]
    assert 0 < lags.count(None) < 20
    for point in found.points:
        assert point.committed == world.committed(("g", P0), point.timestamp)
        if point.lag is not None:
            assert point.lag == world.end_at(P0, point.timestamp) - (point.committed or 0)


def test_records_that_retention_took_leave_the_lag_of_their_time_unknown(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(40):
        world.now += 5000
        world.produce(P0, [world.now] * 2)
        world.commit("g", P0, number)
    log = world.log(P0)
    log.increment_log_start_offset(30)
    for segment in [each for each in log.segments if each.base_offset < 20]:
        log.delete_segment(segment)
    world.close()
    found = read(world, T0 + 5000, world.now, step=5000)
    for point in found.points:
        if point.lag is not None:
            assert point.lag == world.end_at(P0, point.timestamp) - (point.committed or 0)
    assert [point.lag is None for point in found.points] == sorted(point.lag is None for point in found.points)[::-1]
    assert found.points[0].lag is None
    assert found.points[-1].lag == 41


def test_what_was_deleted_before_it_was_read_is_missed(tmp_path: Path) -> None:
    world = World(tmp_path)
    for _ in range(4):
        world.produce(P0, [T0] * 10)
    for group, offset in (("behind", 29), ("just in time", 30)):
        world.commit(group, P0, offset)
    log = world.log(P0)
    log.increment_log_start_offset(30)
    for segment in [each for each in log.segments if each.base_offset < 30]:
        log.delete_segment(segment)
    world.close()
    asked = Asked([Moment(world.now, None, True)], world.now)
    points = lag_history(ClusterSource(world.cluster), EVERYTHING, asked, pytest.fail).points
    found = {point.group: point for point in points}
    assert {group: point.lag for group, point in found.items()} == {"behind": 10, "just in time": 10}
    assert found["behind"].verdict is Verdict.MISSED
    assert found["just in time"].verdict is not Verdict.MISSED


def test_no_offsets_topic_at_all(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0])
    assert read(world, T0, T0 + STEP) == LagHistory([], [], {}, {})


def test_what_a_tool_moved_is_in_no_rate(tmp_path: Path) -> None:
    """Ten records a second are read, of which a second has two commits; then a tool skips 50."""
    world = World(tmp_path)
    for _ in range(8):
        world.produce(P0, [T0] * 15)
    world.members("g", 1)
    for number in range(1, 13):
        world.now = T0 + 500 * number
        world.commit("g", P0, 5 * number)
    world.members("g", 0)
    world.now = T0 + 6100
    world.commit("g", P0, 110)
    world.now = T0 + 6200
    world.members("g", 1)
    world.commit("g", P0, 115)  # of the same second as what the tool did
    found = read(world, T0 + 3000, T0 + 7000, step=1000)
    assert [(each.committed, each.consume_rate) for each in found.points] == [
        (30, 10.0), (40, 10.0), (50, 10.0), (60, 10.0), (115, 5.0),
    ]  # fmt: skip
    moved = [
        (each.kind, each.from_offset, each.to_offset) for each in found.events if each.from_offset != each.to_offset
    ]
    assert moved == [(EventKind.RESET, 60, 110)]
    (now,) = lag_history(ClusterSource(world.cluster), EVERYTHING, Asked([Moment(T0 + 7000)], T0 + 7001), print).points
    assert (now.rates_since, now.consume_rate) == (T0 + 500, pytest.approx(60 / 6.5))


def stops_and_stalls(found: LagHistory) -> list[tuple[int | None, EventKind, int, int, int | None]]:
    return [
        (
            each.partition,
            each.kind,
            each.timestamp - T0,
            each.from_offset,
            None if each.until is None else each.until - T0,
        )
        for each in found.events
        if each.kind in (EventKind.STOP, EventKind.STALL)
    ]


def test_what_a_tool_commits_is_no_sign_of_the_group(tmp_path: Path) -> None:
    """The group reads all of partition 0 and nothing of 1, and leaves; a tool then sets both to their begin."""
    world = World(tmp_path)
    for partition in (P0, P1):
        world.produce(partition, [T0] * 10)
    world.members("g", 1)
    for number in range(1, 3):
        world.now = T0 + 6000 * number
        world.commit("g", P0, 5 * number)
    world.commit("g", P1, 0)
    world.members("g", 0)
    world.now = T0 + 60_000
    for partition in (P0, P1):
        world.commit("g", partition, 0)
    world.now = T0 + 62_000
    found = read(world, T0 + 6000, T0 + 62_000, step=1000)
    verdicts = {(each.partition, each.timestamp - T0): str(each.verdict) for each in found.points}
    assert {verdicts[0, at] for at in range(12_000, 60_000, 1000)} == {"ok"}
    assert {verdicts[0, at] for at in range(60_000, 63_000, 1000)} == {"stopped"}
    assert {verdicts[1, at] for at in range(12_000, 63_000, 1000)} == {"stopped"}
    assert stops_and_stalls(found) == [(0, EventKind.STOP, 60_000, 0, None)]


def test_a_tool_that_moves_nothing_does_not_end_a_stop(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.produce(P0, [T0] * 10)
    world.members("g", 1)
    for number in range(1, 3):
        world.now = T0 + 6000 * number
        world.commit("g", P0, number)
    world.members("g", 0)
    world.now = T0 + 60_000
    world.commit("g", P0, 2)
    world.now = T0 + 90_000
    world.commit("g", P0, 7)
    found = read(world, T0, T0 + 100_000, step=1000)
    assert stops_and_stalls(found) == [
        (0, EventKind.STOP, 12_000, 2, 90_000),
        (0, EventKind.STOP, 90_000, 7, None),
    ]


def test_a_stop_is_dated_from_when_there_was_something_to_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(1, 4):
        world.now = T0 + 5000 * number
        world.commit("g", P1, 0)
    for number in range(20):
        world.now = T0 + 55_000 + 1000 * number
        world.produce(P1, [world.now])
    assert stops_and_stalls(read(world, T0, world.now)) == [(1, EventKind.STOP, 55_000, 0, None)]


def test_who_does_not_go_on_has_no_time_to_catch_up(tmp_path: Path) -> None:
    """Both read five a second of what has been there long: one then leaves, the other commits the same again."""
    world = World(tmp_path)
    for _ in range(20):
        world.produce(P0, [T0] * 10)
    for number in range(1, 31):
        world.now = T0 + 5000 * number
        if number < 4:
            world.commit("stops", P0, 25 * number)
        world.commit("stalls", P0, min(75, 25 * number))
    asked = Asked([Moment(world.now + 1)], world.now + 2)
    points = {each.group: each for each in lag_history(ClusterSource(world.cluster), EVERYTHING, asked, print).points}
    assert {group: str(each.verdict) for group, each in points.items()} == {"stops": "stopped", "stalls": "stalled"}
    assert (points["stops"].consume_rate or 0) > 0
    assert {each.catch_up_ms for each in points.values()} == {None}
    assert all(each.never_catches_up for each in points.values())


def test_the_first_commit_that_is_known_is_told_of_groups_without_a_row(tmp_path: Path) -> None:
    world = World(tmp_path)
    for number in range(1, 4):
        world.now = T0 + 1000 * number
        world.commit("a", P0, None if number == 1 else number)
        world.commit("b", P0, number)
    found = read(world, T0 - 5000, T0)
    assert (found.points, found.earliest) == ([], {"a": T0 + 2000, "b": T0 + 1000})
    assert found.evidence == {"a": (T0 + 1000, True), "b": (T0 + 1000, True)}
