"""A cluster directory, read and written: kafkapy plays controller and brokers over Kafka's own files.

A change goes through the controller into the metadata log, then to the partition directories. A batch is appended to
the leader's log, which gives it offsets, and as it stands to the logs of the other replicas that are in sync. What a
command was told is done has been synced; ``close`` leaves every log dir as a broker's clean stop does.

Two writers never meet: every log dir is locked, with the lock that a broker takes too.
"""

from __future__ import annotations

import os
import time
import uuid
from random import Random

from kafkapy.backends.broker_logs import BrokerLogs, Environment
from kafkapy.backends.cluster import Appended
from kafkapy.backends.cluster_file import FILE_NAME, ClusterFile, decode
from kafkapy.backends.log_dir_lock import LogDirLock
from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.backends.metadata_writer import MetadataWriter
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats import meta_properties
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AllocateProducerIds, Change
from kafkapy.metadata.config_checks import checker
from kafkapy.metadata.configs.effective import BrokerLayers, describe
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage
from kafkapy.metadata.placement import Placer, place
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

HIGH_WATERMARK = -1


def read_cluster_file(directory: str) -> ClusterFile:
    """What a cluster directory is made of."""
    path = os.path.join(directory, FILE_NAME)
    with open(path, "rb") as file:
        return decode(file.read(), path)


class DirectoryCluster(LogDirsCluster):
    """A cluster directory that this process alone may write, until ``close``."""

    def __init__(
        self, directory: str, files: Files | None = None, now: int | None = None, seed: int | None = None
    ) -> None:
        cluster = read_cluster_file(directory)
        self._log_dirs = [os.path.join(directory, path) for broker in cluster.brokers for path in broker.log_dirs]
        super().__init__(*self._log_dirs)
        self._locks = self._lock()
        self._files = files or Files()
        self._now = int(time.time() * 1000) if now is None else now
        self._random = Random(seed)
        self.placer: Placer = place
        self._metadata = MetadataWriter([os.path.join(directory, b.log_dirs[0]) for b in cluster.brokers], self._files)
        environment = Environment(self._files, self._now, self._config_of)
        self._logs = {
            _directory_id(log_dir): BrokerLogs(log_dir, self._epoch_of(broker.id), environment)
            for broker in cluster.brokers
            for log_dir in (os.path.join(directory, path) for path in broker.log_dirs)
        }
        self._by_broker = {
            broker.id: [_directory_id(os.path.join(directory, path)) for path in broker.log_dirs]
            for broker in cluster.brokers
        }
        self.recovered = [*self._metadata.recovered, *(line for logs in self._logs.values() for line in logs.recover())]

    def image(self) -> MetadataImage:
        """The metadata as this process has written it."""
        return self._metadata.image

    def apply(self, *changes: Change) -> None:
        """Make all changes or none: their records go into one batch."""
        image, records = self.image(), []
        for change in changes:
            controller = Controller(image, self._random, checker(image), live=set(self._by_broker), placer=self.placer)
            made = controller.apply(change)
            records += made
            if len(changes) > 1:
                from kafkapy.metadata.delta import replay

                image = replay(image, made)
        if not records:
            return
        before = self.image()
        self._metadata.append(records, self._now)
        self._follow(before)

    def append(self, partition: TopicPartition, batch: bytes, acks: int = -1) -> Appended:
        """Append to the leader and to every replica in sync."""
        registration = self._registration(partition)
        leader, followers = self._replica_logs(partition, registration)
        info = leader.append_as_leader(batch, registration.leader_epoch, self._now)
        if not info.duplicate:
            for follower in followers:
                follower.append_as_follower(info.data, self._now)
        return Appended(info.first_offset, info.last_offset, info.duplicate)

    def new_producer_id(self) -> int:
        """The first id of a new block: the ids of a block that a process did not use are never used again."""
        first = max(self.image().producer_ids.next_producer_id, 0)
        self.apply(AllocateProducerIds(min(self._by_broker)))
        return first

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset of every replica."""
        registration = self._registration(partition)
        leader, followers = self._replica_logs(partition, registration)
        target = leader.log_end_offset if before == HIGH_WATERMARK else before
        if not 0 <= target <= leader.log_end_offset:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Cannot increment the log start offset to {target} of partition {partition} since it is larger than "
                f"the high watermark {leader.log_end_offset}",
            )
        for log in (leader, *followers):
            log.increment_log_start_offset(target, log.log_end_offset)
        return leader.log_start_offset

    def flush(self) -> None:
        """Bring what was appended to disk."""
        for logs in self._logs.values():
            logs.flush()

    def close(self) -> None:
        """Leave every log dir as a clean stop does, and let others write."""
        for logs in self._logs.values():
            logs.close()
        self._files.close()
        for lock in self._locks:
            lock.release()

    def _lock(self) -> list[LogDirLock]:
        locks: list[LogDirLock] = []
        try:
            for log_dir in self._log_dirs:
                locks.append(LogDirLock(log_dir))
        except KafkapyError:
            for lock in locks:
                lock.release()
            raise
        return locks

    def _epoch_of(self, broker_id: int) -> int:
        registration = self.image().brokers.get(broker_id)
        return -1 if registration is None else registration.epoch

    def _config_of(self, partition: TopicPartition) -> LogConfig:
        if partition.topic == METADATA_TOPIC:
            return LogConfig()
        image = self.image()
        layers = BrokerLayers(cluster=image.config(BROKER, ""))
        entries = describe("topics", partition.topic, image.config(TOPIC, partition.topic), layers)
        return LogConfig.of({entry.name: entry.value for entry in entries if entry.value is not None})

    def _follow(self, before: MetadataImage) -> None:
        """Make the directories of new partitions, and take away those of deleted topics."""
        after = self.image()
        for topic in after.topics.values():
            known = before.topics_by_id.get(topic.id)
            for number, registration in topic.partitions.items():
                if known is None or number not in known.partitions:
                    partition = TopicPartition(topic.name, number)
                    for logs in self._replicas(registration):
                        logs.log(partition, topic.id)
        for topic in before.topics.values():
            if topic.id not in after.topics_by_id:
                for number, registration in topic.partitions.items():
                    for logs in self._replicas(registration):
                        logs.delete(TopicPartition(topic.name, number), uuid.uuid4().hex)

    def _registration(self, partition: TopicPartition) -> PartitionRegistration:
        topic = self.image().topics.get(partition.topic)
        registration = topic.partitions.get(partition.partition) if topic is not None else None
        if registration is None:
            raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
        return registration

    def _replicas(self, registration: PartitionRegistration) -> list[BrokerLogs]:
        """The log dirs of a partition's replicas, in the order of the assignment."""
        found = []
        for broker_id, directory in zip(registration.replicas, registration.directories, strict=True):
            own = self._by_broker.get(broker_id, [])
            if own:
                found.append(self._logs[directory if directory in own else own[0]])
        return found

    def _replica_logs(
        self, partition: TopicPartition, registration: PartitionRegistration
    ) -> tuple[PartitionLog, list[PartitionLog]]:
        """The leader's log, and those of the followers that end where it does."""
        topic_id = self.image().topics[partition.topic].id
        logs = [replica.log(partition, topic_id) for replica in self._replicas(registration)]
        if registration.leader != NO_LEADER and registration.leader in registration.replicas:
            leader = logs[registration.replicas.index(registration.leader)]
        else:
            leader = max(logs, key=lambda log: log.log_end_offset)
        return leader, [log for log in logs if log is not leader and log.log_end_offset == leader.log_end_offset]


def _directory_id(log_dir: str) -> str:
    with open(os.path.join(log_dir, meta_properties.FILE_NAME), "rb") as file:
        directory_id = meta_properties.decode(file.read()).directory_id
    if directory_id is None:
        raise KafkapyError(f"{log_dir}: meta.properties has no directory.id")
    return directory_id
