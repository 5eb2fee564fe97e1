"""Where offsets are reset to, partition by partition.

    to-earliest, to-latest      the log start, the log end
    to-offset, shift-by, from-file
                                an offset, moved into the log where it lies outside
    to-timestamp                the first record at or after a time, else the log end
    to-current                  the commit, unchanged; without one the log end
    to-group                    the commits of another group, unchanged

A partition that is reset needs a log, and a leader. Logs are looked up for many partitions at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkapy import near_misses
from kafkapy.backends.cluster import Cluster
from kafkapy.backends.group_lag import LogRange, LogRanges
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import FormatError, KafkaError, KafkapyError, UsageError
from kafkapy.formats.java_exceptions import execution_failure
from kafkapy.log.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkapy.metadata.image import MetadataImage

Commits = Mapping[TopicPartition, OffsetAndMetadata]
NO_TOPIC = "This server does not host this topic-partition."


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


class OffsetTargets:
    """Finds where partitions go. ``warnings`` is what Kafka's tools tell beside the plan; ``notes`` is what they keep
    to themselves: offsets that were moved, and what is not there."""

    def __init__(self, cluster: Cluster, target: Target) -> None:
        self._cluster = cluster
        self._target = target
        self._ranges = LogRanges(cluster)
        self._at_time: dict[TopicPartition, int | None] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []

    def look_up(self, partitions: Iterable[TopicPartition]) -> None:
        """Ask for the logs of partitions, all of which must be there."""
        wanted = list(dict.fromkeys(partitions))
        self.check_exist(wanted)
        self._ranges.learn(wanted)
        leaderless = [str(partition) for partition in wanted if partition in self._ranges.leaderless]
        if leaderless:
            raise KafkaError("LeaderNotAvailableException", f'The partitions "{",".join(leaderless)}" have no leader')
        if self._target.scenario == "to-timestamp":
            found = self._cluster.offsets([(partition, self._target.number) for partition in wanted])
            for partition, offset in zip(wanted, found, strict=True):
                if isinstance(offset, KafkaError):
                    raise execution_failure(offset)
                if isinstance(offset, KafkapyError):
                    raise offset
                self._at_time[partition] = offset

    def resets(self, wanted: Commits, committed: Commits) -> list[Reset]:
        """A plan, sorted by partition."""
        return [
            Reset(partition, committed.get(partition), new, self._ranges.of(partition))
            for partition, new in sorted(wanted.items())
        ]

    def moved(self, partitions: Iterable[TopicPartition], committed: Commits) -> Commits:
        """Where partitions that were looked up go."""
        return {each: OffsetAndMetadata(self._new(each, committed.get(each))) for each in partitions}

    def _new(self, partition: TopicPartition, commit: OffsetAndMetadata | None) -> int:
        scenario, number = self._target.scenario, self._target.number
        start, end = self._bounds(partition)
        if scenario == "to-earliest":
            return start
        if scenario == "to-timestamp":
            return self._at_timestamp(partition, end)
        if scenario == "to-offset":
            return self.clamped(partition, number)
        if scenario == "shift-by":
            if commit is None:
                text = f"Cannot shift offset for partition {partition} since there is no current committed offset"
                raise UsageError(text)
            return self.clamped(partition, commit.offset + number)
        return commit.offset if scenario == "to-current" and commit is not None else end

    def _at_timestamp(self, partition: TopicPartition, end: int) -> int:
        found = self._at_time[partition]
        if found is None:
            topic, number = partition
            self.warnings.append(
                f"Partition {number} from topic {topic} is empty. Falling back to latest known offset."
            )
        return end if found is None else found

    def clamped(self, partition: TopicPartition, offset: int) -> int:
        """An offset, moved into the log where it lies outside."""
        start, end = self._bounds(partition)
        new = min(max(offset, start), end)
        if new != offset:
            where = f"past the log's end, {end}" if offset > end else f"before the log's start, {start}"
            self.notes.append(f"{self._place(partition)}offset {offset} of {partition} is {where}: {new} is taken")
        return new

    def named(self, topics: Iterable[str]) -> list[TopicPartition]:
        """The partitions that ``t`` and ``t:0,1`` name."""
        found, missing = named_partitions(self._cluster.image(), topics)
        if missing:
            topics = self._cluster.image().topics
            self.notes += (near_misses.missing("topic", topic, topics) for topic in missing)
            raise KafkaError("UnknownTopicOrPartitionException", NO_TOPIC)
        return found

    def check_exist(self, partitions: Sequence[TopicPartition]) -> None:
        """Refuse partitions that are not there."""
        topics = self._cluster.image().topics
        unknown = {each.topic: each for each in reversed(partitions) if each.topic not in topics}
        if unknown:
            self.notes += (
                f"{self._place(each)}{near_misses.missing('topic', topic, topics)}"
                for topic, each in sorted(unknown.items())
            )
            raise execution_failure(KafkaError("UnknownTopicOrPartitionException", NO_TOPIC))
        missing = [each for each in partitions if each.partition not in topics[each.topic].partitions]
        if missing:
            named = ",".join(map(str, missing))
            error = KafkaError("UnknownTopicOrPartitionException", f'The partitions "{named}" do not exist')
            error.hint = near_misses.partition_hint(*missing[0], topics)
            raise error

    def _place(self, partition: TopicPartition) -> str:
        place = self._target.places.get(partition)
        return "" if place is None else f"{place}: "

    def _bounds(self, partition: TopicPartition) -> tuple[int, int]:
        start, end = self._ranges.of(partition)
        if start is None or end is None:
            raise KafkaError("UnknownTopicOrPartitionException", self._ranges.why_unknown(partition))
        return start, end


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
    from kafkapy.formats.java_parsing import parse_int, split

    parts = split(text, ":")
    if len(parts) != 2:
        raise UsageError(f"Invalid topic arg '{text}', expected topic name and partitions")
    topic, numbers = parts
    found = []
    for number in split(numbers, ","):
        try:
            found.append(TopicPartition(topic, parse_int(number)))
        except FormatError:
            raise UsageError(f"Invalid partition '{number}' specified in topic arg '{text}''") from None
    return found
