"""Lag by looking at a cluster again and again: what every kind of cluster can tell, also one that keeps its files.

A snapshot is what the groups have committed and where the logs end at that time; the commits are asked for first, so
that none is past the end. Files tell when a commit was made. Brokers do not: what they tell is taken for a commit of
the time when it was seen, unless it is the same as before and the group has no members who could have made it. So
snapshots give a timeline too, and the same rules make rows of it. Rates are since the snapshot before.

That is for verdicts only. As the time of a commit, a row has what files tell; of a running cluster the look that saw
the offset change, and nothing where none did: it may have been committed long ago.

A coordinator that does not answer one look, as in a rolling restart, takes the rows of its groups away for that look;
what was known of them stays, and the next look goes on with it. Nor is a group gone that no broker lists, as while its
coordinator moves: a group that was seen before is asked for all the same, and gone is one that is not listed and whose
coordinator knows no commits of it.

An offset that moved while the group was empty was moved by a tool. Empty is a group that had no members at both looks,
and the same epoch or generation where that is told; a commit with a leader epoch shows that a consumer was there all
the same, for tools know none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.coordinator.group import GroupType
from kafkapy.coordinator.group_description import GroupDescription, GroupListing
from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH, OffsetAndMetadata
from kafkapy.errors import KafkaError
from kafkapy.lag.cluster_rows import Wanted, answers, log_ranges
from kafkapy.lag.lag_history import open_questions
from kafkapy.lag.lag_point import LagPoint, Moment, lag_point
from kafkapy.lag.log_answers import LogAnswers, Tell
from kafkapy.lag.timeline import WINDOW, Commit, Key, Timeline
from kafkapy.log.topic_partition import TopicPartition

Ends = dict[TopicPartition, int | None]


class _Membership(NamedTuple):
    """How many members a group has, and a number that is another whenever that changed; None is what is not known. A
    group that never had members is one of which that is not known."""

    members: int | None = None
    epoch: int | None = None


class Snapshots:
    """The snapshots that were taken; of commits and of the logs' ends a window is kept."""

    def __init__(self, wanted: Wanted, window: int = WINDOW) -> None:
        self._wanted = wanted
        self._window = window
        self._timelines: dict[Key, Timeline] = {}
        self._silent: dict[Key, Timeline] = {}  # of groups whose coordinators did not answer the last look
        self._commit_times: dict[Key, int] = {}
        self._groups: dict[str, _Membership] = {}
        self._ends: dict[int, Ends] = {}
        self.gone: set[str] = set()

    @property
    def groups(self) -> set[str]:
        """The groups that the last look saw commits of."""
        return {group for group, _ in self._timelines}

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
        points = [self._point(key, self._with_seen(key[1], found), moment) for key in sorted(self._timelines)]
        self._keep(now, {partition: log.end for partition, log in found.items()})
        return points

    def _point(self, key: Key, log: LogAnswers, moment: Moment) -> LagPoint:
        point = lag_point(*key, self._timelines[key], log, moment, self._groups.get(key[0], _Membership()).members)
        return point._replace(last_commit=self._commit_times.get(key))

    def _with_seen(self, partition: TopicPartition, found: dict[TopicPartition, LogAnswers]) -> LogAnswers:
        """What a log told now, and where it was seen to end before: timestamps of records may say something else."""
        seen = {at: ends.get(partition) for at, ends in self._ends.items()}
        return found[partition]._replace(ends={**found[partition].ends, **seen})

    def _keep(self, now: int, ends: Ends) -> None:
        self._ends[now] = ends
        while len(self._ends) > self._window + 1:
            del self._ends[min(self._ends)]
        for timeline in self._timelines.values():
            timeline.forget_before(now)

    def _look(self, cluster: Cluster, now: int, tell: Tell) -> None:
        """Take in what is committed, and how many members the groups have."""
        groups = cluster.groups()
        told = len(groups.problems)
        listings = [each for each in groups.list() if _commits(each) and self._wanted.group(each.group_id)]
        found = _memberships(cluster, listings)
        seen: dict[Key, Timeline] = {}
        silent, here = set[str](), set(found)
        known = self._silent | self._timelines
        before = {group for group, _ in known}
        asked = {*found, *before, *self._wanted.ids}  # a group that is not listed may be one that must not be seen
        for group, commits in groups.committed_offsets(sorted(asked)).items():
            if isinstance(commits, KafkaError):
                tell(f"group {group}: {commits}")
                silent.add(group)
                here.add(group)
                continue
            here.update([group] if commits else [])
            for partition, commit in commits.items():
                if self._wanted.topic(partition.topic):
                    key = group, partition
                    seen[key] = self._timeline(key, commit, now, found.get(group, _Membership()))
        self.gone = (self.gone | before) - here
        self._silent = {key: timeline for key, timeline in known.items() if key[0] in silent}
        self._timelines, self._groups = seen, found
        self._commit_times = {key: at for key, at in self._commit_times.items() if key in seen or key in self._silent}
        for problem in groups.problems[told:]:
            tell(problem)

    def _timeline(self, key: Key, commit: OffsetAndMetadata, now: int, group: _Membership) -> Timeline:
        timeline = self._timelines.get(key) or self._silent.get(key) or Timeline(now, self._window)
        last, has_time = timeline.last, commit.commit_timestamp > 0
        made = Commit(min(commit.commit_timestamp, now) if has_time else now, commit.offset)
        has_moved = last is not None and last.offset != commit.offset
        if has_time or has_moved:
            self._commit_times[key] = made.timestamp
        if last is None or has_moved or (last != made and (has_time or group.members != 0)):
            was_empty = group.members == 0 and self._groups.get(key[0]) == group
            by_tool = was_empty and commit.leader_epoch == NO_LEADER_EPOCH
            timeline.add(made.timestamp, made.offset, by_tool)
        return timeline


def _commits(listing: GroupListing) -> bool:
    """Whether a group commits offsets; a share group has its own kind of state."""
    return listing.type is not GroupType.SHARE


def _memberships(cluster: Cluster, listings: Iterable[GroupListing]) -> dict[str, _Membership]:
    """Who is in the groups, as far as that is told."""
    found = {each.group_id: _Membership() for each in listings}
    streams = [each.group_id for each in listings if each.type is GroupType.STREAMS]
    others = [each.group_id for each in listings if each.type is not GroupType.STREAMS and not each.is_simple]
    groups = cluster.groups()
    for group, other in (groups.describe_consumer_groups(others) if others else {}).items():
        if not isinstance(other, KafkaError):
            found[group] = _Membership(len(other.members), _epoch(other))
    for group, stream in (groups.describe_streams_groups(streams) if streams else {}).items():
        if not isinstance(stream, KafkaError):
            found[group] = _Membership(len(stream.members), _epoch(stream.group))
    return found


def _epoch(group: GroupDescription) -> int | None:
    return group.generation if group.group_epoch is None else group.group_epoch
