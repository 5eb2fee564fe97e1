"""The replicas of a cluster directory: where they lie, and who of them leads and follows.

The metadata says which brokers have a replica, in which log dir, and who leads. Directories that it asks for and that
are not there are made, unless they were lost (lost_replicas.py); those of deleted topics and of replicas that were
moved away go. Brokers that do not run have no part in this: their directories are left as they are, and put right when
they are started.

A partition is opened when it is first asked for. Its in-sync followers then fetch what they lack, as if they had never
stopped; followers out of sync wait for ``replicate``. A leader that lost its end, to a crash or otherwise, first takes
it back from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kafkapy.backends.broker_logs import BrokerLogs, Checkpointed
from kafkapy.backends.future_replicas import recover_moves, remove_futures
from kafkapy.backends.lost_ends import LostEnds
from kafkapy.backends.replication import acting_registration, replication_settings
from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import DIRECTORY_UNASSIGNED
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterPartition, AssignReplicaToDir
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration, TopicImage
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.partition import ReplicatedPartition
from kafkapy.replication.replica import Replica


class ReplicaLogs:
    """The replicas on brokers that are alive; ``alter`` writes a change of an ISR to the metadata, ``tell``
    is told what had to be put right in a partition when it was first asked for."""

    def __init__(
        self,
        brokers: BrokerStates,
        image: Callable[[], MetadataImage],
        now: Callable[[], int],
        alter: Callable[[AlterPartition], object],
        tell: Callable[[Iterable[str]], object],
    ) -> None:
        self._logs: dict[str, BrokerLogs] = {}
        self._by_broker: dict[int, list[str]] = {}
        self._brokers = brokers
        self._image = image
        self._now = now
        self._alter = alter
        self._tell = tell
        self._partitions: dict[TopicPartition, ReplicatedPartition] = {}
        self._topic_ids: dict[TopicPartition, str] = {}

    # ---- brokers

    def add_broker(self, broker_id: int, logs: Mapping[str, BrokerLogs]) -> None:
        """A broker's logs, by directory id."""
        self._logs.update(logs)
        self._by_broker[broker_id] = list(logs)

    def remove_broker(self, broker_id: int) -> list[tuple[BrokerLogs, dict[TopicPartition, Checkpointed]]]:
        """A broker goes: its logs, which are to be closed, with what to keep of its replicas."""
        gone = [self._logs[directory] for directory in self._by_broker[broker_id]]
        kept = [(logs, self._checkpointed(logs)) for logs in gone]
        for directory in self._by_broker.pop(broker_id):
            del self._logs[directory]
        for replicated in self._partitions.values():
            replicated.broker_left(broker_id)
            replicated.replicas.pop(broker_id, None)
        return kept

    def flush(self, broker_id: int) -> None:
        """Sync all that a broker has, as it does at a clean stop."""
        for replica in self._on(broker_id):
            replica.flush()

    def crash(self, broker_id: int) -> dict[TopicPartition, tuple[int, int]]:
        """Lose what a broker has not flushed: where the logs ended that lost anything, and where they end now.

        Its high watermarks stay, as checkpoints do: those are synced when they are written. So its log dir tells what
        was committed and is gone.
        """
        lost = {}
        for replica in self._on(broker_id):
            end, high_watermark = replica.log_end_offset, replica.high_watermark
            if replica.crash(self._now()):
                lost[replica.log.partition] = end, replica.log_end_offset
                replica.high_watermark = high_watermark
        return lost

    def _on(self, broker_id: int) -> Iterator[Replica]:
        """Every replica on a broker, of partitions that are opened for it."""
        for partition in self.all_partitions():
            if broker_id in self.registration(partition).replicas:
                opened = self._partitions.get(partition) or self._opened(partition)
                yield opened.replicas[broker_id]

    def all_logs(self) -> list[BrokerLogs]:
        """The logs of all brokers."""
        return list(self._logs.values())

    def close(self) -> None:
        """Close every log with what is known of its replicas."""
        for logs in self._logs.values():
            logs.close(self._checkpointed(logs))

    def _checkpointed(self, logs: BrokerLogs) -> dict[TopicPartition, Checkpointed]:
        return {
            partition: Checkpointed(replica.high_watermark, replica.flushed)
            for partition, replicated in self._partitions.items()
            for replica in replicated.replicas.values()
            if replica.log.directory == logs.path(partition)
        }

    def in_log_dir(self, log_dir: str) -> BrokerLogs:
        """The logs of one log dir."""
        return next(logs for logs in self._logs.values() if logs.log_dir == log_dir)

    # ---- partitions

    def all_partitions(self) -> list[TopicPartition]:
        """Every partition of the metadata."""
        topics = self._image().topics
        return sorted(TopicPartition(name, number) for name, topic in topics.items() for number in topic.partitions)

    def registration(self, partition: TopicPartition) -> PartitionRegistration:
        """What the metadata says of a partition."""
        topic = self._image().topics.get(partition.topic)
        registration = topic.partitions.get(partition.partition) if topic is not None else None
        if registration is None:
            raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
        return registration

    def partition(self, partition: TopicPartition) -> ReplicatedPartition:
        """A partition, its in-sync followers where the leader is."""
        if partition not in self._partitions:
            self._settle(self._opened(partition))
        return self._partitions[partition]

    def settle(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Let in-sync followers fetch all there is, of open partitions or some of them."""
        wanted = self._partitions.keys() if partitions is None else partitions
        for partition in list(wanted):
            if partition in self._partitions:
                self._settle(self._partitions[partition])

    def replicas(
        self, partition: TopicPartition, registration: PartitionRegistration
    ) -> Iterator[tuple[int, BrokerLogs]]:
        """The brokers of a partition's replicas and the log dirs it lies in, as far as they are alive.

        Where the metadata does not say which log dir of a broker it is, it is the one that has the partition, else the
        one with the fewest partitions.
        """
        for broker_id, directory in zip(registration.replicas, registration.directories, strict=True):
            own = self._by_broker.get(broker_id, [])
            if directory in own:
                yield broker_id, self._logs[directory]
            elif own:
                yield broker_id, self._assumed(partition, [self._logs[each] for each in own])

    @staticmethod
    def _assumed(partition: TopicPartition, own: list[BrokerLogs]) -> BrokerLogs:
        if len(own) == 1:
            return own[0]
        return next((each for each in own if each.has(partition)), min(own, key=lambda each: len(each.present)))

    def unassigned(self) -> Iterator[AssignReplicaToDir]:
        """What brokers with several log dirs have to tell the controller: where the replicas lie that it left to them
        to place."""
        several = {broker_id for broker_id, own in self._by_broker.items() if len(own) > 1}
        for partition in self.all_partitions() if several else ():
            registration = self.registration(partition)
            for broker_id, directory in zip(registration.replicas, registration.directories, strict=True):
                if broker_id in several and directory == DIRECTORY_UNASSIGNED:
                    yield AssignReplicaToDir(*partition, broker_id, self.directory_of(partition, broker_id))

    def directory_of(self, partition: TopicPartition, broker_id: int) -> str:
        """The id of the log dir in which a broker has a partition."""
        logs = dict(self._of(partition))[broker_id]
        return next(directory for directory in self._by_broker[broker_id] if self._logs[directory] is logs)

    def assigned_directory(self, partition: TopicPartition, broker_id: int) -> str | None:
        """The id of the log dir in which the metadata says that a broker has a partition; None where it has none."""
        registration = _registration(self._image(), partition)
        if registration is None or broker_id not in registration.replicas:
            return None
        return registration.directory(broker_id)

    @property
    def opened_brokers(self) -> list[int]:
        """The brokers whose logs are open: those that are alive, and one that is being started."""
        return sorted(self._by_broker)

    def of_broker(self, broker_id: int) -> dict[str, BrokerLogs]:
        """The log dirs of a broker that is alive, by their ids."""
        return {directory: self._logs[directory] for directory in self._by_broker.get(broker_id, ())}

    def reopen(self, partition: TopicPartition, broker_id: int) -> None:
        """A replica lies in another log dir now, with all that it had."""
        replicated = self.partition(partition)
        high_watermark = replicated.replicas[broker_id].high_watermark
        logs = dict(self._of(partition))[broker_id]
        log = logs.log(partition, self._topic_ids[partition])
        replicated.replicas[broker_id] = Replica(broker_id, log, high_watermark, log.log_end_offset)
        replicated.followers.pop(broker_id, None)
        if replicated.leader is not None and replicated.leader.broker_id == broker_id:
            replicated.leader = None
        self._refresh(partition)

    def _opened(self, partition: TopicPartition, is_after_crash: bool = False) -> ReplicatedPartition:
        """A partition whose replicas lead and follow; where one of them lost its end, or any may have, that is taken
        back first."""
        settings, now = replication_settings(self._image(), partition.topic), self._now()
        logs = dict(self._of(partition))
        replicas = {broker_id: self._replica(broker_id, each, partition) for broker_id, each in logs.items()}
        replicated = ReplicatedPartition(
            partition, replicas, self._brokers, settings, lambda isr: self._alter_isr(replicated, isr)
        )
        self._topic_ids[partition] = self._image().topics[partition.topic].id
        registration = acting_registration(self.registration(partition), replicas, self._brokers.known)
        lost = LostEnds(registration, replicas, logs)
        self._tell(lost.put_right())
        lost.take_back(settings, now)
        self._partitions[partition] = replicated
        replicated.apply(registration, now)
        self._recall_lagging(replicated)
        if is_after_crash or lost.brokers:
            self._settle(replicated)
            self._tell(lost.outcome())
        return replicated

    def _recall_lagging(self, replicated: ReplicatedPartition) -> None:
        leader = replicated.leader
        for broker_id in self._brokers.lagging & replicated.followers.keys():
            if leader is not None and broker_id in leader.isr:
                end, since = replicated.replicas[broker_id].log_end_offset, self._brokers[broker_id].since
                leader.recall(broker_id, end, since)

    def _settle(self, replicated: ReplicatedPartition) -> None:
        if replicated.leader is not None:
            replicated.catch_up(self._now(), replicated.leader.isr)
            replicated.check_isr(self._now())

    def _of(self, partition: TopicPartition) -> Iterator[tuple[int, BrokerLogs]]:
        return self.replicas(partition, self.registration(partition))

    def _replica(self, broker_id: int, logs: BrokerLogs, partition: TopicPartition) -> Replica:
        log = logs.log(partition, self._image().topics[partition.topic].id)
        return Replica(broker_id, log, *logs.checkpointed(partition))

    def _alter_isr(self, replicated: ReplicatedPartition, isr: tuple[int, ...]) -> None:
        registration = self.registration(replicated.partition)
        if registration.leader == NO_LEADER:  # of one that only acts as the leader there is no ISR to write
            replicated.apply(replicated.registration._replace(isr=isr), self._now())
        else:
            self._sync_joining(replicated.partition, set(isr) - set(registration.isr))
            self._alter(AlterPartition(*replicated.partition, isr))

    def _sync_joining(self, partition: TopicPartition, joining: set[int]) -> None:
        """Who joins an ISR may be the one that is left of it: replicas may be removed for it in the same change."""
        for broker_id, logs in self._of(partition) if joining else ():
            if broker_id in joining:
                logs.sync(partition)

    # ---- what the metadata asks for

    def follow(self, before: MetadataImage) -> None:
        """The metadata changed: make and take away directories, and become what it says now."""
        after = self._image()
        for topic_id, topic in before.topics_by_id.items():
            if topic_id not in after.topics_by_id:
                self._delete_logs(topic, topic.partitions)
        for topic_id, topic in after.topics_by_id.items():
            known = before.topics_by_id.get(topic_id)
            if topic is not known:
                self._follow_topic(topic, known)
        are_configs_new = after.configs != before.configs
        for logs in self._logs.values() if are_configs_new else ():
            logs.update_configs()
        for partition in list(self._partitions):
            if are_configs_new or _registration(before, partition) is not _registration(after, partition):
                self._refresh(partition)

    def refresh(self) -> None:
        """Let the partitions that are open be what the metadata and the brokers say now."""
        for partition in list(self._partitions):
            self._refresh(partition)

    def _follow_topic(self, topic: TopicImage, known: TopicImage | None) -> None:
        gone: dict[int, PartitionRegistration] = {}
        for number, registration in topic.partitions.items():
            before = None if known is None else known.partitions.get(number)
            if before is not None and before.replicas == registration.replicas:
                continue
            partition = TopicPartition(topic.name, number)
            for _, logs in self.replicas(partition, registration):
                logs.log(partition, topic.id)
            removed = () if before is None else set(before.replicas) - set(registration.replicas)
            if before is not None and removed:
                directories = tuple(before.directory(broker_id) for broker_id in removed)
                gone[number] = before._replace(replicas=tuple(removed), directories=directories)
        self._delete_logs(topic, gone)

    def _delete_logs(self, topic: TopicImage, partitions: Mapping[int, PartitionRegistration]) -> None:
        gone: dict[str, list[TopicPartition]] = defaultdict(list)
        for number, registration in partitions.items():
            partition = TopicPartition(topic.name, number)
            for broker_id, logs in self.replicas(partition, registration):
                gone[logs.log_dir].append(partition)
                remove_futures(self.of_broker(broker_id), partition)
        for log_dir, deleted in gone.items():
            self.in_log_dir(log_dir).delete(deleted)

    def _refresh(self, partition: TopicPartition) -> None:
        topic, replicated = self._image().topics.get(partition.topic), self._partitions[partition]
        if topic is None or topic.id != self._topic_ids[partition] or partition.partition not in topic.partitions:
            del self._partitions[partition], self._topic_ids[partition]
            return
        replicated.settings = replication_settings(self._image(), partition.topic)
        present = dict(self._of(partition))
        for broker_id in replicated.replicas.keys() - present.keys():
            replicated.broker_left(broker_id)
            del replicated.replicas[broker_id]
        for broker_id in present.keys() - replicated.replicas.keys():
            replicated.replicas[broker_id] = self._replica(broker_id, present[broker_id], partition)
        wanted = acting_registration(topic.partitions[partition.partition], replicated.replicas, self._brokers.known)
        replicated.apply(wanted, self._now())

    # ---- at the start

    def recover_moves(self) -> Iterator[str]:
        """Finish the moves between log dirs that were as good as done, and tell of them."""
        for broker_id in self._by_broker:
            yield from recover_moves(self._image(), broker_id, self.of_broker(broker_id))

    def missing(self, logs: Sequence[BrokerLogs] | None = None) -> dict[TopicPartition, dict[int, BrokerLogs]]:
        """The replicas that are in sync or eligible and have no directory, by partition and broker, with where they
        should lie. ``logs`` are those to be looked at, by default all."""
        found: dict[TopicPartition, dict[int, BrokerLogs]] = defaultdict(dict)
        wanted = {each.log_dir for each in (self.all_logs() if logs is None else logs)}
        for partition in self.all_partitions():
            registration = self.registration(partition)
            for broker_id, each in self.replicas(partition, registration):
                is_missing = partition not in each.present and each.log_dir in wanted
                if is_missing and broker_id in registration.isr + registration.elr:
                    found[partition][broker_id] = each
        return dict(found)

    def kept_offset(self, partition: TopicPartition, broker_id: int) -> int:
        """How far a replica once went, by the checkpoints of its broker; 0 where they do not know of it."""
        return max((max(logs.checkpointed(partition)) for logs in self.of_broker(broker_id).values()), default=0)

    def recover(self, logs: Sequence[BrokerLogs] | None = None) -> Iterator[str]:
        """Directories as the metadata says and logs without torn ends; after an unclean stop every in-sync replica at
        the same end. ``logs`` are those of a broker that starts, by default all."""
        wanted = self.all_logs() if logs is None else list(logs)
        assigned: dict[str, dict[TopicPartition, str]] = defaultdict(dict)
        if any(not each.was_clean for each in wanted) or logs is not None:
            for partition in self.all_partitions():
                for _, each in self._of(partition):
                    assigned[each.log_dir][partition] = self._image().topics[partition.topic].id
        for each in wanted:
            yield from each.recover(assigned[each.log_dir], was_away=logs is not None)
        if logs is None:
            for partition in sorted({each for partitions in assigned.values() for each in partitions}):
                self._opened(partition, is_after_crash=True)


def _registration(image: MetadataImage, partition: TopicPartition) -> PartitionRegistration | None:
    topic = image.topics.get(partition.topic)
    return None if topic is None else topic.partitions.get(partition.partition)
