"""Which partitions went from whom to whom while the general sticky assignor balances.

If a partition of a topic is to go from B to A after another one of that topic went from A to B, that one goes back
instead: no two members trade partitions of a topic. Which one goes back, if several went, is the first of a HashSet.
"""

from __future__ import annotations

from kafkapy.coordinator.assignors.java_hash_map import JavaHashMap, partition_hash
from kafkapy.log.topic_partition import TopicPartition

Pair = tuple[str, str]


class PartitionMovements:
    """Each partition's movement from its first owner to its present one, also by topic and pair of members."""

    def __init__(self) -> None:
        self._moved: dict[TopicPartition, Pair] = {}
        self._by_topic: dict[str, dict[Pair, JavaHashMap[TopicPartition, None]]] = {}

    def move(self, partition: TopicPartition, source: str, target: str) -> None:
        """Note that the partition went; one that is back where it began has not moved."""
        earlier = self._moved.get(partition)
        if earlier is not None:
            self._forget(partition, earlier)
            source = earlier[0]
            if source == target:
                return
        pair = source, target
        self._moved[partition] = pair
        pairs = self._by_topic.setdefault(partition.topic, {})
        if pair not in pairs:
            pairs[pair] = JavaHashMap(partition_hash)
        pairs[pair][partition] = None

    def actual(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """The partition to move instead of this one, or this one."""
        if partition in self._moved:
            source = self._moved[partition][0]
        opposite = self._by_topic.get(partition.topic, {}).get((target, source))
        return next(iter(opposite)) if opposite else partition

    def _forget(self, partition: TopicPartition, pair: Pair) -> None:
        del self._moved[partition]
        pairs = self._by_topic[partition.topic]
        del pairs[pair][partition]
        if not pairs[pair]:
            del pairs[pair]
