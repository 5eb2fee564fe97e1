"""The rows that lag is made of, out of a cluster: what ``__consumer_offsets`` holds, and what logs answer.

A partition that cannot be read has no answers, and is told as a problem; so is damage, which takes away the answers
that it is in the way of. In ``__consumer_offsets`` reading goes on behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lag import LogRange, LogRanges
from kafkapy.backends.replicas import whole_copy
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, partition_for
from kafkapy.coordinator.offset_records import OffsetKey
from kafkapy.errors import DamagedFileError, FormatError, KafkaError, Unsupported
from kafkapy.lag.commit_log import CommitLog, Row
from kafkapy.lag.commits import Evidence, Members, OffsetCommit, effective
from kafkapy.lag.log_answers import NO_LOG, LogAnswers, Questions, Tell
from kafkapy.lag.read_answers import read_answers
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.log.batch import Batch

HINT = "two looks need no such right (leave out --at, --history and --plot), nor do files (--log-dirs)"
_NO_RIGHT = "TopicAuthorizationException"

Matches = Callable[[str], bool]


class Wanted(NamedTuple):
    """Which groups and topics. Where ``ids`` names the groups, only the partitions that keep them are read."""

    group: Matches
    topic: Matches
    ids: frozenset[str] = frozenset()


class CommitHistory:
    """What ``__consumer_offsets`` tells: iterate over ``commits``, then the rest is whole. ``earliest`` is when the
    first commit was made that each group has in the log."""

    def __init__(self, cluster: Cluster, wanted: Wanted, tell: Tell) -> None:
        self._cluster = cluster
        self._wanted = wanted
        self._tell = tell
        self.evidence: dict[int, Evidence] = {}
        self.members: list[Members] = []
        self.earliest: dict[str, int] = {}

    def commits(self) -> Iterator[OffsetCommit]:
        """What was committed, partition by partition of the log."""
        for number in self.partitions():
            yield from self.commits_of(number)

    def commits_of(self, number: int) -> Iterator[OffsetCommit]:
        """What was committed, as one partition of the log tells."""
        partition = TopicPartition(CONSUMER_OFFSETS, number)
        log = CommitLog(str(partition), self._wants, self._tell)
        try:
            for commit in effective(self._rows(log, self._cluster.salvage(partition, self._tell))):
                if commit.offset is not None:
                    self.earliest.setdefault(commit.group, commit.timestamp)
                yield commit
        except KafkaError as error:
            if error.name == _NO_RIGHT:
                raise _unreadable("a user who may not read it") from None
            self._tell(f"{partition}: {error}")
        self.evidence[number] = log.evidence

    def _rows(self, log: CommitLog, batches: Iterator[Batch]) -> Iterator[Row]:
        for row in log.rows(batches):
            if isinstance(row, Members):
                self.members.append(row)
            yield row

    def _wants(self, key: OffsetKey) -> bool:
        return self._wanted.group(key.group_id) and self._wanted.topic(key.partition.topic)

    def partitions(self) -> list[int]:
        """The partitions of the log that are to be read."""
        topic = self._cluster.image().topics.get(CONSUMER_OFFSETS)
        if topic is None:
            if self._has_groups():
                raise _unreadable("a user who may not see it")
            return []
        if not self._wanted.ids or not self._cluster.has_metadata:
            return sorted(topic.partitions)
        return sorted({partition_for(each, len(topic.partitions)) for each in self._wanted.ids})

    def _has_groups(self) -> bool:
        """Whether there are groups, by another word than the topic's: also one that may not be seen is there."""
        groups = self._cluster.groups()
        named = groups.committed_offsets(sorted(self._wanted.ids)) if self._wanted.ids else {}
        return bool(groups.list()) or any(isinstance(each, KafkaError) for each in named.values())


def evidence_of(cluster: Cluster, groups: Iterable[str], by_partition: Mapping[int, Evidence]) -> dict[str, Evidence]:
    """How far back the commits of groups are known."""
    topic = cluster.image().topics.get(CONSUMER_OFFSETS)
    if topic is None:
        return {group: Evidence() for group in groups}
    count, unknown = max(topic.partitions) + 1, Evidence(is_whole=False)
    return {group: by_partition.get(partition_for(group, count), unknown) for group in groups}


def _unreadable(who: str) -> Unsupported:
    return Unsupported(f"reading {CONSUMER_OFFSETS}", who, HINT)


def answers(
    cluster: Cluster, asked: Mapping[TopicPartition, Questions], now: int, tell: Tell
) -> dict[TopicPartition, LogAnswers]:
    """What logs answer; at ``now`` and later they end where they end."""
    known = log_ranges(cluster, asked, tell)
    there = {partition: each for partition, each in asked.items() if known[partition].end is not None}
    try:
        found = _read(cluster, there, known, now, tell)
    except Unsupported:  # nobody has the files of a running cluster: its brokers are asked, all at once
        from kafkapy.lag.asked_answers import asked_answers

        found = asked_answers(cluster, there, known, now, tell)
    return {partition: found.get(partition, NO_LOG) for partition in asked}


def log_ranges(cluster: Cluster, partitions: Iterable[TopicPartition], tell: Tell) -> dict[TopicPartition, LogRange]:
    """Where logs begin and end now; which are not here is told, but for those of topics that are gone."""
    ranges = LogRanges(cluster)
    ranges.learn(partitions)
    for problem in ranges.problems:
        tell(problem)
    return {partition: ranges.of(partition) for partition in partitions}


def _read(
    cluster: Cluster,
    asked: Mapping[TopicPartition, Questions],
    known: Mapping[TopicPartition, LogRange],
    now: int,
    tell: Tell,
) -> dict[TopicPartition, LogAnswers]:
    found: dict[TopicPartition, LogAnswers] = {}
    for partition, each in asked.items():
        try:
            reader = whole_copy(cluster.copies(partition))
            if reader is not None:
                found[partition] = read_answers(reader, known[partition], each, now, tell)
        except (KafkaError, FormatError, DamagedFileError, OSError) as error:
            tell(f"{partition}: {error}")
    return found
