"""Where the offsets of a group are reset to: the plan, which ``--execute`` commits and ``--dry-run`` only shows.

    to-earliest, to-latest      the log start, the log end
    to-offset, shift-by, from-file
                                an offset, moved into the log where it lies outside
    to-timestamp                the first record at or after a time, else the log end
    to-current                  the commit, unchanged; without one the log end
    to-group                    the commits of another group, unchanged

A plan needs a log for every partition in it. All groups are planned before the first is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lag import LogRange, LogRanges
from kafkapy.coordinator.group import GroupState
from kafkapy.coordinator.group_describer import state_of
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import FormatError, KafkaError, UsageError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

Commits = Mapping[TopicPartition, OffsetAndMetadata]
NO_TOPIC = "This server does not host this topic-partition."


class Scope(NamedTuple):
    """Which partitions: those of ``topics`` (``t`` or ``t:0,1``), or all that the group committed."""

    topics: Sequence[str] = ()
    all_topics: bool = False


class Target(NamedTuple):
    """Where to: the name of the scenario's option, with its number, group, or offsets for each group, and where a file
    names each partition."""

    scenario: str
    number: int = 0
    group: str = ""
    offsets: Mapping[str, Mapping[TopicPartition, int]] = {}
    places: Mapping[TopicPartition, str] = {}


class Reset(NamedTuple):
    """One partition of a plan."""

    partition: TopicPartition
    committed: OffsetAndMetadata | None
    new: OffsetAndMetadata
    log: LogRange


class OffsetReset:
    """Plans resets of groups. ``warnings`` is what Kafka's tool tells beside the plan, ``errors`` names the groups that
    have none; ``notes`` is what Kafka's tool keeps to itself: offsets that were moved, and what is not there."""

    def __init__(self, cluster: Cluster, scope: Scope, target: Target) -> None:
        self._cluster = cluster
        self._scope = scope
        self._target = target
        self._ranges = LogRanges(cluster)
        self.warnings: list[str] = []
        self.errors: list[str] = []
        self.notes: list[str] = []

    def plan(self, group_id: str) -> list[Reset]:
        """Every partition that would be reset, sorted; none of a group that has members."""
        state = self._state(group_id)
        if state not in (None, GroupState.EMPTY, GroupState.DEAD):
            self.errors.append(
                f"Assignments can only be reset if the group '{group_id}' is inactive, "
                f"but the current state is {state}."
            )
            return []
        committed = self._cluster.groups().offsets(group_id)
        wanted = self._wanted(group_id, committed)
        return [
            Reset(partition, committed.get(partition), new, self._range(partition))
            for partition, new in sorted(wanted.items())
        ]

    def _state(self, group_id: str) -> GroupState | None:
        """None for a group that is not there yet: its first commit makes it."""
        group = self._cluster.groups().store.group(group_id)
        return None if group is None else state_of(group)

    def _wanted(self, group_id: str, committed: Commits) -> Commits:
        scenario = self._target.scenario
        partitions = self._partitions(committed)
        if scenario == "from-file":
            return self._from_file(group_id)
        if scenario == "to-group":
            return self._copied(partitions)
        return {each: self._new(scenario, each, committed.get(each)) for each in partitions}

    def _from_file(self, group_id: str) -> Commits:
        found = self._target.offsets.get(group_id)
        if found is None:
            self.errors.append(f"No reset plan for group {group_id} found")
            return {}
        self._check_exist(found)
        return {each: OffsetAndMetadata(self._clamped(each, offset)) for each, offset in found.items()}

    def _new(self, scenario: str, partition: TopicPartition, commit: OffsetAndMetadata | None) -> OffsetAndMetadata:
        start, end = self._bounds(partition)
        if scenario == "to-earliest":
            return OffsetAndMetadata(start)
        if scenario == "to-timestamp":
            return OffsetAndMetadata(self._at_timestamp(partition, end))
        if scenario == "to-offset":
            return OffsetAndMetadata(self._clamped(partition, self._target.number))
        if scenario == "shift-by":
            if commit is None:
                raise UsageError(
                    f"Cannot shift offset for partition {partition} since there is no current committed offset"
                )
            return OffsetAndMetadata(self._clamped(partition, commit.offset + self._target.number))
        is_kept = scenario == "to-current" and commit is not None
        return OffsetAndMetadata(commit.offset if is_kept and commit else end)

    def _at_timestamp(self, partition: TopicPartition, end: int) -> int:
        found = self._cluster.offset(partition, self._target.number)
        if found is None:
            topic, number = partition
            self.warnings.append(
                f"Partition {number} from topic {topic} is empty. Falling back to latest known offset."
            )
        return end if found is None else found

    def _copied(self, partitions: Iterable[TopicPartition]) -> Commits:
        groups, other = self._cluster.groups(), self._target.group
        offsets = groups.offsets(other)
        if not offsets:
            groups.describe(other)  # a group that is not there is told apart from one that has nothing to copy
        scope = set(partitions) if self._scope.topics else offsets
        self._check_exist(offsets)
        return {each: commit for each, commit in offsets.items() if each in scope}

    def _partitions(self, committed: Commits) -> list[TopicPartition]:
        found, missing = named_partitions(self._cluster.image(), self._scope.topics)
        if self._scope.all_topics:
            found = list(committed)
        elif missing:
            self.notes += (f"there is no topic {topic}" for topic in missing)
            raise KafkaError("UnknownTopicOrPartitionException", NO_TOPIC)
        self._check_exist(found)
        return found

    def _check_exist(self, partitions: Iterable[TopicPartition]) -> None:
        topics = self._cluster.image().topics
        partitions = list(partitions)
        unknown = {each.topic: each for each in reversed(partitions) if each.topic not in topics}
        if unknown:
            self.notes += (f"{self._place(each)}there is no topic {topic}" for topic, each in sorted(unknown.items()))
            name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
            raise KafkaError("RuntimeException", f"java.util.concurrent.ExecutionException: {name}: {NO_TOPIC}")
        missing = [str(each) for each in partitions if each.partition not in topics[each.topic].partitions]
        if missing:
            raise KafkaError("UnknownTopicOrPartitionException", f'The partitions "{",".join(missing)}" do not exist')

    def _clamped(self, partition: TopicPartition, offset: int) -> int:
        start, end = self._bounds(partition)
        new = min(max(offset, start), end)
        if new != offset:
            where = f"past the log's end, {end}" if offset > end else f"before the log's start, {start}"
            self.notes.append(f"{self._place(partition)}offset {offset} of {partition} is {where}: {new} is taken")
        return new

    def _place(self, partition: TopicPartition) -> str:
        place = self._target.places.get(partition)
        return "" if place is None else f"{place}: "

    def _bounds(self, partition: TopicPartition) -> tuple[int, int]:
        start, end = self._range(partition)
        if start is None or end is None:
            raise KafkaError("UnknownTopicOrPartitionException", f"no log of {partition} can be read")
        return start, end

    def _range(self, partition: TopicPartition) -> LogRange:
        return self._ranges.of(partition)


def named_partitions(image: MetadataImage, topics: Iterable[str]) -> tuple[list[TopicPartition], list[str]]:
    """The partitions that ``t`` and ``t:0,1`` name, and the topics without numbers that are not there."""
    found = [partition for topic in topics if ":" in topic for partition in parse_topic_partitions(topic)]
    whole = [topic for topic in topics if ":" not in topic]
    for topic in whole:
        if topic in image.topics:
            found += (TopicPartition(topic, number) for number in sorted(image.topics[topic].partitions))
    return list(dict.fromkeys(found)), [topic for topic in whole if topic not in image.topics]


def parse_topic_partitions(text: str) -> list[TopicPartition]:
    """The partitions that ``t:0,1`` names; a UsageError in Kafka's words for anything else."""
    topic, *numbers = _java_split(text, ":")
    if len(numbers) != 1:
        raise UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    found = []
    for number in _java_split(numbers[0], ","):
        try:
            found.append(TopicPartition(topic, parse_int(number)))
        except FormatError:
            raise UsageError(f"Invalid partition '{number}' specified in topic arg '{text}''") from None
    return found


def _java_split(text: str, separator: str) -> list[str]:
    """Java's split leaves out what is empty at the end."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts
