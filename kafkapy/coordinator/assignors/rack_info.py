"""Racks of members and partitions, for the sticky assignors.

Racks are followed only where some are shared and not every partition has a replica on each of them.
"""

from __future__ import annotations

from kafkapy.coordinator.assignors.client_group import ClientGroup, Racks, is_rack_aware
from kafkapy.log.topic_partition import TopicPartition


class RackInfo:
    """``consumer_racks`` is empty where racks are not followed."""

    def __init__(self, group: ClientGroup) -> None:
        consumer_racks = group.consumer_racks()
        racks: Racks = {}
        if consumer_racks:
            racks = {each: group.racks.get(each, frozenset()) for each in group.topic_partitions(group.partitions)}
        self._nearby = {
            partition: sum(rack in found for rack in consumer_racks.values()) for partition, found in racks.items()
        }
        rack_aware = is_rack_aware(set(consumer_racks.values()), racks)
        self.consumer_racks = consumer_racks if rack_aware else {}
        self._racks = racks if rack_aware else {}

    def mismatch(self, consumer: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack and the partition no replica there."""
        rack = self.consumer_racks.get(consumer)
        return rack is not None and rack not in self._racks.get(partition, ())

    def match(self, consumer: str, partition: TopicPartition) -> bool:
        """Whether the member has a rack and the partition a replica there."""
        return self.consumer_racks.get(consumer) in self._racks.get(partition, ())

    def sort_by_nearby_consumers(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """The partitions that fewest members are near to first."""
        return sorted(partitions, key=lambda partition: self._nearby.get(partition, 0))

    def next_consumer(self, partition: TopicPartition, consumers: list[str], first: int) -> int | None:
        """The index of the next member near the partition, from ``first`` on and round."""
        for step in range(len(consumers)):
            index = (first + step) % len(consumers)
            if self.match(consumers[index], partition):
                return index
        return None
