"""A plan played on a copy of the metadata, through the states that a real cluster goes through.

For each batch of partitions three steps:

    started     replicas = target + removing; the new replicas are assigned and empty
    copied      they have all the data and are about to join the ISR: the most disk that is needed
    completed   they joined it; in the same record the old replicas went, and a leader that went was replaced

and one at the end, ``elected``: the preferred leaders of the plan's partitions take over, whoever led before. A batch
is done before the next begins. Replicas that go to another log dir of their broker are played in the same steps
(log_dir_tally.py).

A new replica on a broker that is down never joins, without a leader nobody does, nobody goes before one that stays is
in sync, or all that stay where there are to be fewer, and a broker that is down moves nothing between its log dirs:
such partitions stay as they are, ``stalled``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import ElectLeader, Reassign
from kafkapy.metadata.config_control import min_isr
from kafkapy.metadata.delta import replay
from kafkapy.metadata.elections import PREFERRED, Cluster, Target, partition_change
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.log_dir_tally import LogDirTally, Replica
from kafkapy.metadata.reassignment.plan_cost import copied_bytes
from kafkapy.metadata.replication_control import elect_leader, reassign
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration, TopicImage


class BrokerState(NamedTuple):
    """What a broker has after a step."""

    disk: int
    replicas: int
    in_sync: int
    leaders: int


class Step(NamedTuple):
    """``isr_sizes`` tells how many partitions have an ISR of each size, ``pairs`` what was copied in this step, from a
    broker to itself where it went to another log dir; ``log_dirs`` is the disk of each log dir that takes part."""

    batch: int
    name: str
    moving: int
    stalled: int
    under_replicated: int
    without_leader: int
    isr_sizes: dict[int, int]
    brokers: dict[int, BrokerState]
    pairs: dict[tuple[int, int], int]
    log_dirs: dict[tuple[int, str], int]


def simulate(
    image: MetadataImage, layout: Layout, plan: Iterable[Assignment], log_dirs: LogDirTally | None = None
) -> Iterator[Step]:
    """The steps of a plan that comes in batches, behind one of how things are before."""
    return _Simulation(image, layout, log_dirs or LogDirTally(layout)).steps(list(plan))


class _Simulation:
    def __init__(self, image: MetadataImage, layout: Layout, log_dirs: LogDirTally) -> None:
        self._layout = layout
        self._image = image if layout.leaders else _as_started(image)
        live = frozenset(layout.brokers).difference(layout.fenced)
        self._cluster = Cluster(image.brokers, live, image.metadata_version, image.is_elr_enabled)
        self._tally = _Tally(layout)
        self._log_dirs = log_dirs
        for name, topic in self._image.topics.items():
            for number, partition in topic.partitions.items():
                self._tally.count(TopicPartition(name, number), partition, 1)

    def steps(self, plan: list[Assignment]) -> Iterator[Step]:
        yield self._step(0, "before", 0, 0, {})
        for number, batch in enumerate(plan, 1):
            yield from self._batch(number, batch)
        self._replay(self._elections(partition for batch in plan for partition in batch))
        yield self._step(len(plan), "elected", 0, 0, {})

    def _batch(self, number: int, batch: Assignment) -> Iterator[Step]:
        self._replay(self._started(batch))
        reassigned = [p for p in batch if self._registration(p).is_reassigning]
        ready = [p for p in reassigned if self._can_catch_up(p)]
        moves = self._log_dirs.of(batch)
        movable = [replica for replica in moves if replica[1] in self._cluster.live]
        moving = len({*reassigned, *(partition for partition, _ in moves)})
        waiting = {*reassigned}.difference(ready) | {partition for partition, _ in {*moves}.difference(movable)}
        yield self._step(number, "started", moving, len(waiting), {})
        yield self._step(number, "copied", moving, len(waiting), self._copy(batch, ready, movable))
        self._complete(ready, movable)
        yield self._step(number, "completed", len(waiting), len(waiting), {})

    def _copy(
        self, batch: Assignment, ready: list[TopicPartition], movable: list[Replica]
    ) -> dict[tuple[int, int], int]:
        """Let replicas get their data; the bytes that go from broker to broker."""
        copied = Counter(copied_bytes(self._layout, {partition: batch[partition] for partition in ready}))
        for partition in ready:
            found = self._registration(partition)
            self._tally.fill(partition, found)
            self._log_dirs.added(partition, found.adding_replicas)
        for replica in movable:
            self._tally.copy(replica[1], self._log_dirs.moves[replica])
            self._log_dirs.copied(replica)
            copied[replica[1], replica[1]] += self._log_dirs.moves[replica]
        return dict(sorted(copied.items()))

    def _complete(self, ready: list[TopicPartition], movable: list[Replica]) -> None:
        """Let replicas that have their data take over, and the old ones go."""
        for partition in ready:
            self._log_dirs.removed(partition, self._registration(partition).removing_replicas)
        self._replay(map(self._joined, ready))
        for replica in movable:
            self._tally.copy(replica[1], -self._log_dirs.moves[replica])
            self._log_dirs.swapped(replica)

    def _started(self, batch: Assignment) -> Iterator[MetadataRecord]:
        for partition, replicas in batch.items():
            yield from reassign(self._image, self._cluster, Reassign(*partition, replicas))

    def _can_catch_up(self, partition: TopicPartition) -> bool:
        found = self._registration(partition)
        awaited = _awaited(found)
        remaining = {*found.isr, *awaited}.difference(found.removing_replicas)
        return found.leader != NO_LEADER and bool(remaining) and awaited <= {*found.isr, *self._cluster.live}

    def _joined(self, partition: TopicPartition) -> MetadataRecord:
        """The record that brings those that are awaited into the ISR, and so ends the reassignment."""
        found = self._registration(partition)
        target = Target(isr=found.isr + tuple(b for b in found.replicas if b in _awaited(found) - {*found.isr}))
        topic = self._image.topics[partition.topic]
        isr = min_isr(self._image, partition.topic)
        record = partition_change(topic.id, partition.partition, found, self._cluster, min_isr=isr, target=target)
        assert record is not None, "a reassignment under way always has something to change"
        return record

    def _elections(self, partitions: Iterable[TopicPartition]) -> Iterator[MetadataRecord]:
        for partition in partitions:
            found = self._registration(partition)
            preferred = found.preferred_replica
            if found.leader != preferred and preferred in found.isr and preferred in self._cluster.live:
                yield from elect_leader(self._image, self._cluster, ElectLeader(*partition, PREFERRED))

    def _replay(self, records: Iterable[MetadataRecord]) -> None:
        before, made = self._image, list(records)
        self._image = replay(before, made)
        for record in made:
            topic = before.topics_by_id[record.value["topicId"]]
            partition = TopicPartition(topic.name, record.value["partitionId"])
            self._tally.count(partition, topic.partitions[partition.partition], -1)
            self._tally.count(partition, self._registration(partition), 1)

    def _registration(self, partition: TopicPartition) -> PartitionRegistration:
        return self._image.topics[partition.topic].partitions[partition.partition]

    def _step(self, batch: int, name: str, moving: int, stalled: int, pairs: dict[tuple[int, int], int]) -> Step:
        tally = self._tally
        isr_sizes = {size: count for size, count in sorted(tally.isr_sizes.items()) if count}
        without = tally.leaders[NO_LEADER]
        urp, brokers, log_dirs = tally.under_replicated, tally.brokers(), self._log_dirs.disks()
        return Step(batch, name, moving, stalled, urp, without, isr_sizes, brokers, pairs, log_dirs)


class _Tally:
    """Sums over all partitions, kept up to date partition by partition."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._filled: set[tuple[TopicPartition, int]] = set()
        self._disk, self._replicas, self._in_sync = Counter[int](), Counter[int](), Counter[int]()
        self.leaders = Counter[int]()
        self.isr_sizes = Counter[int]()
        self.under_replicated = 0

    def count(self, partition: TopicPartition, found: PartitionRegistration, sign: int) -> None:
        """Add a partition, or take it away as it was added; replicas that are being added have nothing yet."""
        for broker in found.replicas:
            self._replicas[broker] += sign
            self._in_sync[broker] += sign * (broker in found.isr)
            has_data = broker not in found.adding_replicas or (partition, broker) in self._filled
            self._disk[broker] += sign * has_data * self._layout.size(partition)
        self.leaders[found.leader] += sign
        self.isr_sizes[len(found.isr)] += sign
        # as Kafka counts: who is being added is not missed yet
        self.under_replicated += sign * (len(found.isr) < len(found.replicas) - len(found.adding_replicas))

    def fill(self, partition: TopicPartition, found: PartitionRegistration) -> None:
        """The new replicas of a partition got its data."""
        self._filled.update((partition, broker) for broker in found.adding_replicas)
        for broker in found.adding_replicas:
            self._disk[broker] += self._layout.size(partition)

    def copy(self, broker: int, size: int) -> None:
        """A broker has a replica in two log dirs, or with less than nothing not any more."""
        self._disk[broker] += size

    def brokers(self) -> dict[int, BrokerState]:
        return {
            broker: BrokerState(self._disk[broker], self._replicas[broker], self._in_sync[broker], self.leaders[broker])
            for broker in sorted({*self._layout.brokers, *(b for b, n in self._replicas.items() if n)})
        }


def _awaited(found: PartitionRegistration) -> set[int]:
    """Who must be in sync before a reassignment ends: the new replicas, of a partition that shrinks all that stay."""
    if len(found.adding_replicas) < len(found.removing_replicas):
        return set(found.replicas).difference(found.removing_replicas)
    return set(found.adding_replicas)


def _as_started(image: MetadataImage) -> MetadataImage:
    """A cluster that is stopped has no leaders; here all its brokers came up and every replica caught up."""

    def started(partition: PartitionRegistration) -> PartitionRegistration:
        up = tuple(broker for broker in partition.replicas if broker in image.brokers)
        return partition._replace(isr=up, elr=(), last_known_elr=(), leader=up[0] if up else NO_LEADER)

    topics = {
        name: TopicImage(name, topic.id, {number: started(each) for number, each in topic.partitions.items()})
        for name, topic in image.topics.items()
    }
    return image._replace(topics=topics, topics_by_id={topic.id: topic for topic in topics.values()})
