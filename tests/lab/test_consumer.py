"""Consumers of the lab: what they see, and where they go on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.lab.committed_offsets import CommittedOffsets
from kafkapy.log.topic_partition import TopicPartition
from tests.lab.playing import played


def test_committed_offsets_are_those_of_the_group_coordinator(tmp_path: Path) -> None:
    directory = str(tmp_path / "groups")
    offsets = CommittedOffsets(directory, ("a", "b"))
    first, second = TopicPartition("a", 0), TopicPartition("b", 0)
    assert offsets.committed("g", first) is None
    offsets.commit("g", first, 3, 0)
    offsets.commit("g", second, 7, 0)
    offsets.commit("g", first, 5, 1)
    offsets.commit("other", first, 1, 0)
    assert [offsets.committed("g", each) for each in (first, second)] == [5, 7]
    offsets.close()
    with closing(DirectoryCluster(directory)) as cluster:
        known = cluster.groups().offsets("g")
        assert {partition: each[:2] for partition, each in known.items()} == {first: (5, 1), second: (7, 0)}
        assert cluster.groups().offsets("other")[first].offset == 1


def test_a_consumer_reads_up_to_the_high_watermark(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - produce: [a, b]
        - consume: c
          assert: {consumers: {c: {position: 0, in-hand: []}}}
        - catch-up
        - consume: c
          max: 1
          assert: {consumers: {c: {position: 1, in-hand: [a]}}}
        - consume: c
          assert: {consumers: {c: {position: 2, in-hand: [a, b]}}}
        - commit: c
        - crash: c
          assert: {consumers: {c: {position: none, committed: 2, in-hand: []}}}
        - consume: late
          assert: {consumers: {late: {position: 2, committed: none, in-hand: [a, b]}}}
        """,
    )


def test_a_position_that_an_unclean_election_took_away(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - stop: 2
        - produce: a
        - consume: c
        - kill: 1
        - start: 2
        - elect: unclean
        - consume: c
          fails: OffsetOutOfRangeException
          assert: {lost: [a], consumers: {c: {position: 1, in-hand: [a]}}}
        """,
    )
