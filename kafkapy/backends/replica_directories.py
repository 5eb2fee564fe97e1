"""The directories of replicas, as the metadata asks for them.

Those that it asks for and that are not there are made, unless they were lost (lost_replicas.py); those of deleted
topics and of replicas that were moved away go. The metadata is written first: killed before the directories are as it
says, the next command brings them there (``recover``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.future_replicas import recover_moves, remove_futures
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs
    from kafkapy.backends.replica_places import ReplicaPlaces


class ReplicaDirectories:
    """``image`` is the metadata as it is now."""

    def __init__(self, places: ReplicaPlaces, image: Callable[[], MetadataImage]) -> None:
        self._places = places
        self._image = image

    def follow(self, before: MetadataImage) -> None:
        """The metadata changed: make and take away directories."""
        after = self._image()
        for topic_id, topic in before.topics_by_id.items():
            if topic_id not in after.topics_by_id:
                self._delete(topic, topic.partitions)
                for number in topic.partitions:
                    self._places.lost.pop(TopicPartition(topic.name, number), None)
        for topic_id, topic in after.topics_by_id.items():
            known = before.topics_by_id.get(topic_id)
            if topic is not known:
                self._follow_topic(topic, known)

    def _follow_topic(self, topic: TopicImage, known: TopicImage | None) -> None:
        gone: dict[int, PartitionRegistration] = {}
        for number, registration in topic.partitions.items():
            before = None if known is None else known.partitions.get(number)
            if before is not None and before.replicas == registration.replicas:
                continue
            partition = TopicPartition(topic.name, number)
            kept = () if before is None else before.replicas  # what these lost is not made anew by the way
            for broker_id, logs in self._places.of(partition, registration):
                if broker_id not in kept:
                    logs.log(partition, topic.id)
            removed = () if before is None else set(before.replicas) - set(registration.replicas)
            if before is not None and removed:
                directories = tuple(before.directory(broker_id) for broker_id in removed)
                gone[number] = before._replace(replicas=tuple(removed), directories=directories)
        self._delete(topic, gone)

    def _delete(self, topic: TopicImage, partitions: Mapping[int, PartitionRegistration]) -> None:
        gone: dict[str, list[TopicPartition]] = defaultdict(list)
        for number, registration in partitions.items():
            partition = TopicPartition(topic.name, number)
            for broker_id, logs in self._places.of(partition, registration):
                gone[logs.log_dir].append(partition)
                remove_futures(self._places.of_broker(broker_id), partition)
        for log_dir, deleted in gone.items():
            self._places.in_log_dir(log_dir).delete(deleted)

    # ---- at the start

    def recover_moves(self) -> Iterator[str]:
        """Finish the moves between log dirs that were as good as done, and tell of them."""
        for broker_id in self._places.brokers:
            yield from recover_moves(self._image(), broker_id, self._places.of_broker(broker_id))

    def recover(self, logs: Sequence[BrokerLogs] | None = None) -> Iterator[str]:
        """Directories as the metadata says, and logs without torn ends. ``logs`` are those of a broker that starts, by
        default all."""
        wanted = self._places.all_logs() if logs is None else list(logs)
        assigned: dict[str, dict[TopicPartition, str]] = defaultdict(dict)
        if any(not each.was_clean for each in wanted) or logs is not None:
            for partition in self._places.all_partitions():
                for _, each in self._places.of(partition):
                    assigned[each.log_dir][partition] = self._image().topics[partition.topic].id
        for each in wanted:
            yield from each.recover(assigned[each.log_dir], self._places.lost, was_away=logs is not None)
