"""The replicas of a cluster directory that are open: who of them leads and follows, on brokers that are alive.

A partition is opened when it is first asked for. Who lost its end, to a crash or otherwise, first takes it back
(lost_ends.py). Then the in-sync followers fetch what they lack, as if they had never stopped; followers out of sync
wait for ``replicate``.

Who joins an ISR has synced its log before: replicas may be removed for it in the same change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kafkapy.backends.broker_logs import BrokerLogs, Checkpointed
from kafkapy.backends.lost_ends import LostEnds
from kafkapy.backends.replica_places import ReplicaPlaces, find_registration
from kafkapy.backends.replication import acting_registration, replication_settings, why_not_led
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.partition import ReplicatedPartition
from kafkapy.replication.replica import Replica


class ReplicaLogs:
    """``alter`` writes a change of an ISR to the metadata; ``tell`` is told what had to be put right in a partition
    when it was first asked for."""

    def __init__(
        self,
        places: ReplicaPlaces,
        brokers: BrokerStates,
        image: Callable[[], MetadataImage],
        now: Callable[[], int],
        alter: Callable[[AlterPartition], object],
        tell: Callable[[Iterable[str]], object],
    ) -> None:
        self._places = places
        self._brokers = brokers
        self._image = image
        self._now = now
        self._alter = alter
        self._tell = tell
        self._partitions: dict[TopicPartition, ReplicatedPartition] = {}
        self._topic_ids: dict[TopicPartition, str] = {}

    # ---- partitions

    def partition(self, partition: TopicPartition) -> ReplicatedPartition:
        """A partition, its in-sync followers where the leader is."""
        if partition not in self._partitions:
            self._settle(self._opened(partition))
        return self._partitions[partition]

    def why_not_led(self, partition: TopicPartition) -> str:
        """What to do about a partition that nobody leads."""
        return why_not_led(self._places.registration(partition), self._brokers)

    def settle(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Let in-sync followers fetch all there is, of open partitions or some of them."""
        wanted = self._partitions.keys() if partitions is None else partitions
        for partition in list(wanted):
            if partition in self._partitions:
                self._settle(self._partitions[partition])

    def open_all_after_crash(self) -> None:
        """Let the in-sync replicas of every partition come to the same end, and tell of each that did not have it."""
        for partition in self._places.usable_partitions():
            if any(self._places.of(partition)):
                self._opened(partition, is_after_crash=True)

    def reopen(self, partition: TopicPartition, broker_id: int) -> None:
        """A replica lies in another log dir now, with all that it had."""
        replicated = self.partition(partition)
        high_watermark = replicated.replicas[broker_id].high_watermark
        logs = dict(self._places.of(partition))[broker_id]
        log = logs.log(partition, self._topic_ids[partition])
        replicated.replicas[broker_id] = Replica(broker_id, log, high_watermark, log.log_end_offset)
        replicated.followers.pop(broker_id, None)
        if replicated.leader is not None and replicated.leader.broker_id == broker_id:
            replicated.leader = None
        self._refresh(partition)

    def _opened(self, partition: TopicPartition, is_after_crash: bool = False) -> ReplicatedPartition:
        """A partition whose replicas lead and follow; where one of them lost its end, or any may have, that is taken
        back first."""
        if partition in self._places.lost:
            raise KafkaError("KafkaStorageException", self._places.lost[partition])
        settings, now = replication_settings(self._image(), partition.topic), self._now()
        logs = dict(self._places.of(partition))
        replicas = {broker_id: self._replica(broker_id, each, partition) for broker_id, each in logs.items()}
        replicated = ReplicatedPartition(
            partition, replicas, self._brokers, settings, lambda isr: self._alter_isr(replicated, isr)
        )
        registered = self._places.registration(partition)
        registration = acting_registration(registered, replicas, self._brokers.known)
        is_acting = registration.leader not in (NO_LEADER, registered.leader)
        lost = LostEnds(registration, is_acting, replicas, logs)
        self._tell(lost.put_right())
        lost.take_back(settings, now)
        self._partitions[partition] = replicated
        self._topic_ids[partition] = self._image().topics[partition.topic].id
        replicated.apply(registration, now)
        self._recall_lagging(replicated)
        if is_after_crash or lost.is_any:
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

    def _replica(self, broker_id: int, logs: BrokerLogs, partition: TopicPartition) -> Replica:
        log = logs.log(partition, self._image().topics[partition.topic].id)
        return Replica(broker_id, log, *logs.checkpointed(partition))

    def _alter_isr(self, replicated: ReplicatedPartition, isr: tuple[int, ...]) -> None:
        registration = self._places.registration(replicated.partition)
        if registration.leader == NO_LEADER:  # of one that only acts as the leader there is no ISR to write
            replicated.apply(replicated.registration._replace(isr=isr), self._now())
        else:
            self._sync_joining(replicated.partition, set(isr) - set(registration.isr))
            self._alter(AlterPartition(*replicated.partition, isr))

    def _sync_joining(self, partition: TopicPartition, joining: set[int]) -> None:
        for broker_id, logs in self._places.of(partition) if joining else ():
            if broker_id in joining:
                logs.sync(partition)

    # ---- what changes meanwhile

    def follow(self, before: MetadataImage) -> None:
        """The metadata changed, and directories are as it says: let open partitions be what it says, too."""
        after = self._image()
        are_configs_new = after.configs != before.configs
        for logs in self._places.all_logs() if are_configs_new else ():
            logs.update_configs()
        for partition in list(self._partitions):
            if are_configs_new or find_registration(before, partition) is not find_registration(after, partition):
                self._refresh(partition)

    def refresh(self) -> None:
        """Let the partitions that are open be what the metadata and the brokers say now."""
        for partition in list(self._partitions):
            self._refresh(partition)

    def _refresh(self, partition: TopicPartition) -> None:
        topic, replicated = self._image().topics.get(partition.topic), self._partitions[partition]
        if topic is None or topic.id != self._topic_ids[partition] or partition.partition not in topic.partitions:
            del self._partitions[partition], self._topic_ids[partition]
            return
        replicated.settings = replication_settings(self._image(), partition.topic)
        present = dict(self._places.of(partition))
        for broker_id in replicated.replicas.keys() - present.keys():
            replicated.broker_left(broker_id)
            del replicated.replicas[broker_id]
        for broker_id in present.keys() - replicated.replicas.keys():
            replicated.replicas[broker_id] = self._replica(broker_id, present[broker_id], partition)
        wanted = acting_registration(topic.partitions[partition.partition], replicated.replicas, self._brokers.known)
        replicated.apply(wanted, self._now())

    # ---- brokers that go, and the end

    def remove_broker(self, broker_id: int) -> list[tuple[BrokerLogs, dict[TopicPartition, Checkpointed]]]:
        """A broker goes: its logs, which are to be closed, with what to keep of its replicas."""
        kept = [(logs, self._checkpointed(logs)) for logs in self._places.remove_broker(broker_id)]
        for replicated in self._partitions.values():
            replicated.broker_left(broker_id)
            replicated.replicas.pop(broker_id, None)
        return kept

    def flush_broker(self, broker_id: int) -> None:
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
        for partition in self._places.usable_partitions():
            if broker_id in self._places.registration(partition).replicas:
                opened = self._partitions.get(partition) or self._opened(partition)
                yield opened.replicas[broker_id]

    def flush(self) -> None:
        """Bring what was appended to disk."""
        for logs in self._places.all_logs():
            logs.flush()

    def close(self) -> None:
        """Close every log with what is known of its replicas, and leave the marks of a clean stop."""
        for logs in self._places.all_logs():
            logs.close(self._checkpointed(logs))
        for logs in self._places.all_logs():
            logs.mark_clean()

    def _checkpointed(self, logs: BrokerLogs) -> dict[TopicPartition, Checkpointed]:
        return {
            partition: Checkpointed(replica.high_watermark, replica.flushed)
            for partition, replicated in self._partitions.items()
            for replica in replicated.replicas.values()
            if replica.log.directory == logs.path(partition)
        }
