"""Where the replicas of partitions lie in a cluster directory, and keeping them alike.

The metadata says which brokers have a replica and in which log dir. A follower that is behind its leader is brought to
the same end before either is written; directories that the metadata asks for and that are not there are made, and those
of deleted topics go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from kafkapy.backends.broker_logs import BrokerLogs
from kafkapy.backends.replication import catch_up, choose_leader
from kafkapy.errors import KafkaError
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage

Led = tuple[PartitionLog, list[PartitionLog]]


class ReplicaLogs:
    """The logs of a cluster's replicas: ``logs`` by directory id, ``by_broker`` the directory ids of each broker."""

    def __init__(
        self,
        logs: Mapping[str, BrokerLogs],
        by_broker: Mapping[int, Sequence[str]],
        image: Callable[[], MetadataImage],
        now: Callable[[], int],
    ) -> None:
        self._logs = logs
        self._by_broker = by_broker
        self._image = image
        self._now = now
        self._led: dict[TopicPartition, Led] = {}

    def forget(self) -> None:
        """The metadata changed: leaders are looked up again."""
        self._led.clear()

    def recover(self) -> Iterator[str]:
        """Directories as the metadata says, logs without torn ends, and every replica where its leader is."""
        assigned: dict[str, dict[TopicPartition, str]] = defaultdict(dict)
        unclean = any(not logs.was_clean for logs in self._logs.values())
        for topic in self._image().topics.values() if unclean else ():
            for number, registration in topic.partitions.items():
                partition = TopicPartition(topic.name, number)
                for _, logs in self.replicas(partition, registration):
                    assigned[logs.log_dir][partition] = topic.id
        for logs in self._logs.values():
            yield from logs.recover(assigned[logs.log_dir])
        for partition in sorted({partition for partitions in assigned.values() for partition in partitions}):
            leader, followers = self._logs_of(partition)
            for follower in followers:
                done = catch_up(follower, leader, self._now())
                if done is not None:
                    yield f"{follower.directory}: {done}"

    def follow(self, before: MetadataImage) -> None:
        """Make the directories of new partitions, and take away those of deleted topics."""
        after = self._image()
        for topic_id, topic in before.topics_by_id.items():
            if topic_id not in after.topics_by_id:
                self._delete_logs(topic)
        for topic_id, topic in after.topics_by_id.items():
            known = before.topics_by_id.get(topic_id)
            if topic is not known:
                self._make_logs(topic, known)
        if after.configs != before.configs:
            for logs in self._logs.values():
                logs.update_configs()

    def _delete_logs(self, topic: TopicImage) -> None:
        gone: dict[str, list[TopicPartition]] = defaultdict(list)
        for number, registration in topic.partitions.items():
            partition = TopicPartition(topic.name, number)
            for _, logs in self.replicas(partition, registration):
                gone[logs.log_dir].append(partition)
        for log_dir, partitions in gone.items():
            self.in_log_dir(log_dir).delete(partitions)

    def _make_logs(self, topic: TopicImage, known: TopicImage | None) -> None:
        for number, registration in topic.partitions.items():
            if known is None or number not in known.partitions:
                partition = TopicPartition(topic.name, number)
                for _, logs in self.replicas(partition, registration):
                    logs.log(partition, topic.id)

    def in_log_dir(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return next(logs for logs in self._logs.values() if logs.log_dir == log_dir)

    def registration(self, partition: TopicPartition) -> PartitionRegistration:
        """What the metadata says of a partition."""
        topic = self._image().topics.get(partition.topic)
        registration = topic.partitions.get(partition.partition) if topic is not None else None
        if registration is None:
            raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
        return registration

    def replicas(
        self, partition: TopicPartition, registration: PartitionRegistration
    ) -> Iterator[tuple[int, BrokerLogs]]:
        """The brokers of a partition's replicas and the log dirs it lies in, as far as they are in this directory.

        Where the metadata does not say which log dir of a broker it is, it is the one that has the partition.
        """
        for broker_id, directory in zip(registration.replicas, registration.directories, strict=True):
            own = self._by_broker.get(broker_id, [])
            if directory in own:
                yield broker_id, self._logs[directory]
            elif own:
                yield broker_id, self._logs[next((each for each in own if self._logs[each].has(partition)), own[0])]

    def led(self, partition: TopicPartition) -> Led:
        """The leader's log, and those of the followers, which end where it does."""
        if partition not in self._led:
            leader, followers = self._logs_of(partition)
            for follower in followers:
                catch_up(follower, leader, self._now())
            self._led[partition] = leader, followers
        return self._led[partition]

    def _logs_of(self, partition: TopicPartition) -> Led:
        registration = self.registration(partition)
        topic_id = self._image().topics[partition.topic].id
        logs = [(broker_id, own.log(partition, topic_id)) for broker_id, own in self.replicas(partition, registration)]
        if not logs:
            raise KafkaError("LeaderNotAvailableException", f"no broker of this directory has a replica of {partition}")
        leader = choose_leader(registration, logs)
        return leader, [log for _, log in logs if log is not leader]
