"""What a group has read of each partition, and how much is left: commits joined with members and with the logs' ends.

The lag is what a consumer that goes on from its commit still has to read. A commit before the log start points at
records that retention has deleted: nothing of them is left to read, so the lag counts from the log start, where Kafka's
tool counts records that nobody can read any more. There is no lag where nothing was committed or no log is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkapy.backends.cluster import EARLIEST, LATEST, Cluster
from kafkapy.coordinator.group_description import GroupDescription, MemberDescription
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition

INVALID_OFFSET = -1
Answer = int | KafkapyError | None


class LogRange(NamedTuple):
    """Where a log begins and ends; None where no copy of it is here, or records at the end are lost."""

    start: int | None
    end: int | None


class OffsetState(NamedTuple):
    """A partition that a group committed or is assigned."""

    partition: TopicPartition
    committed: OffsetAndMetadata | None
    log: LogRange
    lag: int | None


class MemberOffsets(NamedTuple):
    """The partitions of a member; those that no member has are under None."""

    member: MemberDescription | None
    states: list[OffsetState]


class LagTotal(NamedTuple):
    """The lag of a topic, or of all (None): what the partitions whose lag is known add up to, None where none is."""

    topic: str | None
    partitions: int
    unknown: int
    lag: int | None


class LogRanges:
    """Where logs begin and end, each looked up once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[TopicPartition, LogRange] = {}
        self._missing: list[TopicPartition] = []
        self._leaderless: list[TopicPartition] = []
        self._unreadable: dict[TopicPartition, str] = {}

    @property
    def problems(self) -> list[str]:
        """Which logs could not be read so far, and which partitions that there are have no leader or no copy here."""
        problems = [*self._unreadable.values()]
        if self._leaderless:
            problems.append(f"nobody leads {_names(self._leaderless)}")
        if self._missing:
            problems.append(f"no copy of {_names(self._missing, f' is in {self._cluster.where}')}")
        return problems

    @property
    def leaderless(self) -> frozenset[TopicPartition]:
        """Which partitions nobody leads, of those that were looked up."""
        return frozenset(self._leaderless)

    def of(self, partition: TopicPartition) -> LogRange:
        """Where a partition's log begins and ends."""
        if partition not in self._known:
            self.learn([partition])
        return self._known[partition]

    def why_unknown(self, partition: TopicPartition) -> str:
        """Why nobody knows where a log begins and ends."""
        return self._unreadable.get(partition) or f"no copy of {partition} is in {self._cluster.where}"

    def learn(self, partitions: Iterable[TopicPartition]) -> None:
        """Look up many logs at once."""
        wanted = [partition for partition in sorted(set(partitions)) if partition not in self._known]
        asked = [(partition, spec) for partition in wanted for spec in (EARLIEST, LATEST)]
        answers = iter(self._cluster.offsets(asked))
        for partition in wanted:
            self._known[partition] = self._range(partition, next(answers), next(answers))

    def _range(self, partition: TopicPartition, start: Answer, end: Answer) -> LogRange:
        if isinstance(start, KafkapyError) or isinstance(end, KafkapyError):
            self._note(partition, start if isinstance(start, KafkapyError) else end)
            return LogRange(None, None)
        lost = self._cluster.loss(partition)
        if lost is not None:
            self._unreadable[partition] = f"{partition}: {lost}: its end and lag are not known"
            return LogRange(None, None)
        return LogRange(start, end)

    def _note(self, partition: TopicPartition, error: Answer) -> None:
        name = error.name if isinstance(error, KafkaError) else None
        if name == "LeaderNotAvailableException":
            self._leaderless.append(partition)
        elif name != "UnknownTopicOrPartitionException":
            self._unreadable[partition] = f"{partition}: {error}"
        elif self._exists(partition):
            self._missing.append(partition)

    def _exists(self, partition: TopicPartition) -> bool:
        """Commits outlive their topics."""
        topic = self._cluster.image().topics.get(partition.topic)
        return topic is not None and partition.partition in topic.partitions


def _names(partitions: list[TopicPartition], what: str = "") -> str:
    """The partitions, then what is said of them, and what comes of it."""
    unknown = "their ends and lags are" if len(partitions) > 1 else "its end and lag are"
    return f"{', '.join(map(str, sorted(partitions)))}{what}: {unknown} not known"


def group_offsets(
    description: GroupDescription, committed: Mapping[TopicPartition, OffsetAndMetadata], ranges: LogRanges
) -> list[MemberOffsets]:
    """The partitions of a group in the order of Kafka's tool: the members with most partitions first."""
    members = sorted((each for each in description.members if each.assignment), key=lambda each: -len(each.assignment))
    found = [MemberOffsets(each, _states(each.assignment, committed, ranges)) for each in members]
    assigned = {partition for member in members for partition in member.assignment}
    unassigned = [partition for partition in committed if partition not in assigned] if assigned else committed
    if unassigned:
        found.append(MemberOffsets(None, _states(unassigned, committed, ranges)))
    return found


def lagging(offsets: Iterable[MemberOffsets]) -> list[MemberOffsets]:
    """Only the partitions of which something is left to read."""
    found = (MemberOffsets(member, [each for each in states if (each.lag or 0) > 0]) for member, states in offsets)
    return [each for each in found if each.states]


def totals(offsets: Iterable[MemberOffsets]) -> list[LagTotal]:
    """The lag of each topic, then of all. A commit past the end of its log takes nothing away from the others."""
    topics: dict[str, list[int | None]] = {}
    for _, states in offsets:
        for partition, _, _, lag in states:
            topics.setdefault(partition.topic, []).append(lag)
    found = [_total(topic, lags) for topic, lags in sorted(topics.items())]
    return [*found, _total(None, [lag for lags in topics.values() for lag in lags])] if found else []


def _total(topic: str | None, lags: list[int | None]) -> LagTotal:
    known = [max(lag, 0) for lag in lags if lag is not None]
    return LagTotal(topic, len(lags), len(lags) - len(known), sum(known) if known else None)


def _states(
    partitions: Iterable[TopicPartition], committed: Mapping[TopicPartition, OffsetAndMetadata], ranges: LogRanges
) -> list[OffsetState]:
    found = []
    for partition in sorted(partitions):
        commit, log = committed.get(partition), ranges.of(partition)
        found.append(OffsetState(partition, commit, log, _lag(commit, log)))
    return found


def _lag(commit: OffsetAndMetadata | None, log: LogRange) -> int | None:
    if commit is None or commit.offset == INVALID_OFFSET or log.end is None:
        return None
    return log.end - max(commit.offset, log.start or 0)
