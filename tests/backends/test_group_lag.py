"""Lag: commits joined with members and the ends of logs, on a cluster directory with groups of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lag import (
    LagTotal,
    LogRange,
    LogRanges,
    MemberOffsets,
    OffsetState,
    group_offsets,
    lagging,
    totals,
)
from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.coordinator.group_description import GroupDescription
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.log.topic_partition import TopicPartition
from tests.group_cluster import LONG_0, O0, O1, O2, TRIMMED_0, made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return open_cluster(Selection(made(tmp_path_factory.mktemp("groups") / "cluster")))


def offsets_of(cluster: Cluster, group_id: str) -> list[MemberOffsets]:
    groups = cluster.groups()
    return group_offsets(groups.describe(group_id), groups.offsets(group_id), LogRanges(cluster))


def lags(found: list[MemberOffsets]) -> dict[TopicPartition, int | None]:
    return {state.partition: state.lag for _, states in found for state in states}


def test_lag_is_what_is_left_to_read(cluster: Cluster) -> None:
    (unassigned,) = offsets_of(cluster, "simple")
    assert unassigned.member is None
    assert lags([unassigned]) == {O0: 6, O1: 0, TRIMMED_0: 4}
    trimmed = unassigned.states[2]
    assert trimmed.committed is not None
    assert (trimmed.committed.offset, trimmed.log) == (2, LogRange(6, 10)), "what was deleted is not left to read"


def test_a_commit_past_the_end_is_ahead(cluster: Cluster) -> None:
    assert lags(offsets_of(cluster, "ahead")) == {O2: -7}


def test_members_come_first_and_the_one_with_most_partitions_before_all(cluster: Cluster) -> None:
    first, second = offsets_of(cluster, "active")
    assert first.member is not None
    assert second.member is not None
    assert (first.member.client_id, lags([first])) == ("static", {O0: 1, O1: None})
    assert (second.member.client_id, lags([second])) == ("moving", {O2: None})


def test_what_no_member_has_comes_last(cluster: Cluster) -> None:
    groups = cluster.groups()
    committed = {LONG_0: OffsetAndMetadata(1), O0: OffsetAndMetadata(9)}
    found = group_offsets(groups.describe("active"), committed, LogRanges(cluster))
    assert [member and member.client_id for member, _ in found] == ["static", "moving", None]
    assert lags(found[2:]) == {LONG_0: 1}


def test_no_lag_without_a_log(cluster: Cluster) -> None:
    group = GroupDescription("g", *cluster.groups().describe("simple")[1:])
    gone = TopicPartition("gone", 0)
    ranges = LogRanges(cluster)
    ((_, (state,)),) = group_offsets(group, {gone: OffsetAndMetadata(3)}, ranges)
    assert (state.log, state.lag) == (LogRange(None, None), None)
    assert ranges.problems == [], "a partition whose broker is not given is no damage"


def test_an_invalid_offset_is_no_commit(cluster: Cluster) -> None:
    ((_, (state,)),) = group_offsets(
        cluster.groups().describe("simple"), {O0: OffsetAndMetadata(-1)}, LogRanges(cluster)
    )
    assert state.lag is None


def test_damaged_logs_are_told(tmp_path: Path) -> None:
    directory = made(tmp_path / "cluster")
    (segment,) = tmp_path.glob("cluster/*/orders-1/*.log")
    segment.unlink()
    segment.mkdir()
    cluster = open_cluster(Selection(directory))
    ranges = LogRanges(cluster)
    found = group_offsets(cluster.groups().describe("simple"), cluster.groups().offsets("simple"), ranges)
    assert lags(found) == {O0: 6, O1: None, TRIMMED_0: 4}
    assert len(ranges.problems) == 1
    assert str(O1) in ranges.problems[0]


LAGS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(-5, 10**12)), max_size=20)


@given(LAGS)
def test_totals(pairs: list[tuple[str, int | None]]) -> None:
    """The total of all is the sum of those of topics, and counts every partition."""
    states = [
        OffsetState(TopicPartition(topic, number), None, LogRange(None, None), lag)
        for number, (topic, lag) in enumerate(pairs)
    ]
    found = totals([MemberOffsets(None, states[::2]), MemberOffsets(None, states[1::2])])
    assert bool(found) == bool(pairs)
    *topics, everything = found or [LagTotal(None, 0, 0, None)]
    assert [total.topic for total in topics] == sorted({topic for topic, _ in pairs})
    known = [max(lag, 0) for _, lag in pairs if lag is not None]
    assert everything == (None, len(pairs), len(pairs) - len(known), sum(known) if known else None)
    for column in (1, 2, 3):
        assert sum(total[column] or 0 for total in topics) == (everything[column] or 0)
    for topic, _, _, lag in topics:
        assert (lag is None) == all(each is None for name, each in pairs if name == topic)


@given(LAGS)
def test_lagging(pairs: list[tuple[str, int | None]]) -> None:
    """Only partitions with something left, and no member without any."""
    states = [
        OffsetState(TopicPartition(topic, number), None, LogRange(None, None), lag)
        for number, (topic, lag) in enumerate(pairs)
    ]
    found = lagging([MemberOffsets(None, states[::2]), MemberOffsets(None, states[1::2])])
    assert all(each.states for each in found)
    left = [state for state in states if state.lag is not None and state.lag > 0]
    assert sorted(state for _, states in found for state in states) == sorted(left)


def test_partitions_that_are_not_in_the_log_dirs_are_told_in_one_line(golden: Path) -> None:
    ranges = LogRanges(open_cluster(Selection(log_dirs=(str(golden / "clean" / "broker-1"),))))
    for name, number in (("orders", 1), ("orders", 0), ("plain", 0), ("deleted long ago", 0), ("orders", 99)):
        ranges.of(TopicPartition(name, number))
    assert ranges.of(TopicPartition("orders", 1)) == LogRange(None, None)
    assert ranges.problems == [
        "no copy of orders-1, plain-0 is in the given log dirs: their ends and lags are not known"
    ]
