"""Lag by looking at a cluster again and again: what every kind of cluster can tell, also one that keeps its files.

A snapshot is what the groups have committed and where the logs end at that time; the commits are asked for first, so
that none is past the end. Files tell when a commit was made. Brokers do not: what they tell is taken for a commit of
the time when it was seen, unless it is the same as before and the group has no members who could have made it. So
snapshots give a timeline too, and the same rules make rows of it. Rates are since the snapshot before.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.backends.cluster import Cluster
from kafkapy.coordinator.group import GroupType
from kafkapy.coordinator.group_description import GroupListing
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.lag.cluster_rows import Wanted, answers, log_ranges
from kafkapy.lag.lag_history import open_questions
from kafkapy.lag.lag_point import LagPoint, Moment, lag_point
from kafkapy.lag.log_answers import LogAnswers, Tell
from kafkapy.lag.timeline import WINDOW, Commit, Key, Timeline
from kafkapy.log.topic_partition import TopicPartition

Ends = dict[TopicPartition, int | None]


class Snapshots:
    """The snapshots that were taken; of commits and of the logs' ends a window is kept."""

    def __init__(self, wanted: Wanted, window: int = WINDOW) -> None:
        self._wanted = wanted
        self._window = window
        self._timelines: dict[Key, Timeline] = {}
        self._members: dict[str, int | None] = {}
        self._ends: dict[int, Ends] = {}

    def begin(self, cluster: Cluster, now: int, tell: Tell) -> None:
        """Look now, for the next look to have something to compare with."""
        self._look(cluster, now, tell)
        ranges = log_ranges(cluster, {partition for _, partition in self._timelines}, tell)
        self._keep(now, {partition: log.end for partition, log in ranges.items()})

    def take(self, cluster: Cluster, now: int, tell: Tell) -> list[LagPoint]:
        """Look now, and say how it stands."""
        self._look(cluster, now, tell)
        moment = Moment(now, max(self._ends, default=None), is_now=True)
        asked = {
            partition: each._replace(moments=each.moments - self._ends.keys())
            for partition, each in open_questions(self._timelines, [moment]).items()
        }
        found = answers(cluster, asked, now, tell)
        points = [
            lag_point(group, partition, timeline, self._with_seen(partition, found), moment, self._members.get(group))
            for (group, partition), timeline in sorted(self._timelines.items())
        ]
        self._keep(now, {partition: log.end for partition, log in found.items()})
        return points

    def _with_seen(self, partition: TopicPartition, found: dict[TopicPartition, LogAnswers]) -> LogAnswers:
        """What a log told now, and where it was seen to end before: timestamps of records may say something else."""
        seen = {at: ends.get(partition) for at, ends in self._ends.items()}
        return found[partition]._replace(ends={**found[partition].ends, **seen})

    def _keep(self, now: int, ends: Ends) -> None:
        self._ends[now] = ends
        while len(self._ends) > self._window + 1:
            del self._ends[min(self._ends)]

    def _look(self, cluster: Cluster, now: int, tell: Tell) -> None:
        """Take in what is committed, and how many members the groups have."""
        groups = cluster.groups()
        told = len(groups.problems)
        listings = [each for each in groups.list() if _commits(each) and self._wanted.group(each.group_id)]
        self._members = _member_counts(cluster, listings)
        seen: dict[Key, Timeline] = {}
        asked = {*self._members, *self._wanted.ids}  # a group that is not listed may be one that must not be seen
        for group, commits in groups.committed_offsets(sorted(asked)).items():
            if isinstance(commits, KafkaError):
                tell(f"group {group}: {commits}")
                continue
            for partition, commit in commits.items():
                if self._wanted.topic(partition.topic):
                    seen[group, partition] = self._timeline(group, partition, commit, now)
        self._timelines = seen
        for problem in groups.problems[told:]:
            tell(problem)

    def _timeline(self, group: str, partition: TopicPartition, commit: OffsetAndMetadata, now: int) -> Timeline:
        timeline = self._timelines.get((group, partition)) or Timeline(now, self._window)
        last, has_time = timeline.last, commit.commit_timestamp > 0
        made = Commit(min(commit.commit_timestamp, now) if has_time else now, commit.offset)
        is_old = last is not None and last.offset == commit.offset and not has_time and self._members.get(group) == 0
        if last != made and not is_old:
            timeline.add(*made)
        return timeline


def _commits(listing: GroupListing) -> bool:
    """Whether a group commits offsets; a share group has its own kind of state."""
    return listing.type is not GroupType.SHARE


def _member_counts(cluster: Cluster, listings: Iterable[GroupListing]) -> dict[str, int | None]:
    """How many members groups have; None where that is not known, or they never had any."""
    counts: dict[str, int | None] = {each.group_id: None for each in listings}
    streams = [each.group_id for each in listings if each.type is GroupType.STREAMS]
    others = [each.group_id for each in listings if each.type is not GroupType.STREAMS and not each.is_simple]
    groups = cluster.groups()
    described = {
        **(groups.describe_consumer_groups(others) if others else {}),
        **(groups.describe_streams_groups(streams) if streams else {}),
    }
    counts.update((group, len(each.members)) for group, each in described.items() if not isinstance(each, KafkaError))
    return counts
