"""Lag: commits joined with members and the ends of logs, on a cluster directory with groups of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lag import LagTotal, LogRange, LogRanges, MemberOffsets, OffsetState, group_offsets, totals
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
    *topics, everything = found or [LagTotal(None, 0, 0, 0)]
    assert [total.topic for total in topics] == sorted({topic for topic, _ in pairs})
    assert (
        everything == (None, *(sum(column) for column in zip(*(total[1:] for total in topics), strict=True)))
        or not pairs
    )
    assert everything.partitions == len(pairs)
    assert everything.lag == sum(lag for _, lag in pairs if lag and lag > 0)
    assert everything.without_lag == sum(lag is None for _, lag in pairs)
