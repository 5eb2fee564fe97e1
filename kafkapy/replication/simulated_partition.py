"""One partition on brokers that can be stopped, killed, started and slowed down, with the controller that sees it.

Everything happens when it is called for and at the time that ``advance`` has come to, so that a run is the same every
time. Logs are real partition directories below one directory (``broker-1/topic-0``, ...); the metadata is an image in
memory, changed by the same controller that changes a cluster directory.

A controller that was replaced is refused by its epoch: ``apply`` takes the epoch of who wrote the records.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from random import Random

from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import AppendInfo, PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AddBroker, AlterPartition, Change, CreateTopic, ElectLeader, RemoveBroker
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.config_control import MIN_IN_SYNC_REPLICAS, topic_config
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.delta import replay
from kafkapy.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from kafkapy.metadata.image import EMPTY, MetadataImage
from kafkapy.metadata.topics_image import PartitionRegistration
from kafkapy.replication.broker_state import KILLED, LAGGING, RUNNING, STOPPED, BrokerStates
from kafkapy.replication.fetch import DelayedFetch
from kafkapy.replication.follower import Fetched
from kafkapy.replication.leader import ACKS_ALL, ReplicationSettings
from kafkapy.replication.partition import PartitionTable, ReplicatedPartition
from kafkapy.replication.replica import Replica

START_MS = 1_800_000_000_000
DEFAULT_SETTINGS = ReplicationSettings()


class SimulatedPartition:
    """A new topic of one partition on ``brokers``, in that order of assignment; the first one leads, the others have
    fetched once.

    ``configs`` are the topic's (min.insync.replicas, unclean.leader.election.enable); ``elr`` switches eligible leader
    replicas on. ``partition`` is what has the replicas and plays single messages, ``brokers`` who runs, ``image`` the
    metadata, ``now`` the time in ms.
    """

    def __init__(
        self,
        directory: str,
        brokers: Sequence[int] = (1, 2),
        topic: str = "t",
        configs: Mapping[str, str] | None = None,
        settings: ReplicationSettings = DEFAULT_SETTINGS,
        elr: bool = False,
        files: Files | None = None,
        now: int = START_MS,
    ) -> None:
        self.now = now
        self.controller_epoch = 1
        self.brokers = BrokerStates(brokers)
        self.topic_partition = TopicPartition(topic, 0)
        self._files = files or Files(sync=False)
        self.image = _image(brokers, elr)
        self._write(CreateTopic(topic, assignments=(tuple(brokers),), configs=configs or {}))
        minimum = int(topic_config(self.image, topic, MIN_IN_SYNC_REPLICAS, "1"))
        replicas = {broker_id: self._replica(directory, broker_id) for broker_id in brokers}
        self.partition = ReplicatedPartition(
            self.topic_partition,
            replicas,
            self.brokers,
            settings._replace(min_insync_replicas=minimum),
            lambda isr: self.apply(AlterPartition(topic, 0, isr)),
        )
        self.partition.apply(self.registration, self.now)
        self.fetch_round()

    @property
    def registration(self) -> PartitionRegistration:
        """The partition in the metadata."""
        return self.image.topics[self.topic_partition.topic].partitions[0]

    def table(self) -> PartitionTable:
        """Where every replica stands."""
        return self.partition.table()

    def apply(self, change: Change, controller_epoch: int | None = None) -> None:
        """A change by the controller of that epoch, by default the one in office."""
        if controller_epoch is not None and controller_epoch < self.controller_epoch:
            raise KafkaError(
                "NotControllerException",
                f"The controller of epoch {controller_epoch} is not in office: the epoch is {self.controller_epoch}.",
            )
        self._write(change)
        self.partition.apply(self.registration, self.now)

    def fail_over_controller(self) -> int:
        """Another node becomes the controller; its epoch."""
        self.controller_epoch += 1
        return self.controller_epoch

    def produce(self, batch: bytes, acks: int = ACKS_ALL) -> AppendInfo:
        """A batch to the leader; fetches that waited for it are answered. See ``is_acknowledged`` for acks=all."""
        info = self.partition.append(batch, acks, self.now)
        self.partition.complete_fetches(self.now)
        return info

    def is_acknowledged(self, info: AppendInfo, acks: int = ACKS_ALL) -> bool:
        """Whether the producer has its answer by now."""
        return acks != ACKS_ALL or self.partition.led().is_acknowledged(info.last_offset)

    def fetch(self, broker_id: int, min_bytes: int = 0) -> Fetched | DelayedFetch:
        """One fetch of one follower, with its answer, unless it waits for ``min_bytes``."""
        return self.partition.fetch(broker_id, self.now, min_bytes)

    def fetch_round(self) -> dict[int, Fetched]:
        """One fetch of every follower."""
        return self.partition.fetch_round(self.now)

    def catch_up(self) -> int:
        """Fetches until everybody knows everything; how many rounds."""
        return self.partition.catch_up(self.now)

    def flush(self, broker_id: int) -> None:
        """Let a broker sync its log: it will survive a crash."""
        self.partition.replicas[broker_id].flush()

    def stop(self, broker_id: int) -> None:
        """A controlled stop: the leaders move first, then the log is synced."""
        self._leave(broker_id, STOPPED)
        self.flush(broker_id)

    def kill(self, broker_id: int, lose_unflushed: bool = False) -> int:
        """A crash, after which the broker is fenced; how many offsets its log lost."""
        lost = self.partition.replicas[broker_id].crash(self.now) if lose_unflushed else 0
        self._leave(broker_id, KILLED)
        return lost

    def restart(self, broker_id: int, lose_unflushed: bool = False) -> int:
        """Crash and be back before the controller notices; how many offsets were lost. A leader goes on leading."""
        lost = self.partition.replicas[broker_id].crash(self.now) if lose_unflushed else 0
        self.partition.broker_left(broker_id)
        self.partition.apply(self.registration, self.now)
        return lost

    def start(self, broker_id: int) -> None:
        """A broker is back, or fetches again. It follows whoever leads; into the ISR it comes by its fetches."""
        before = self.brokers[broker_id].state
        self.brokers.set(broker_id, RUNNING, self.now)
        if before in (STOPPED, KILLED):
            self.apply(AddBroker(broker_id, unclean=before == KILLED))
            self.partition.truncate_by_epoch(broker_id, self.now)

    def lag(self, broker_id: int) -> None:
        """A broker stops fetching, until it is started."""
        self.brokers.set(broker_id, LAGGING, self.now)

    def advance(self, ms: int) -> None:
        """Time passes: who has not caught up for too long leaves the ISR. Followers that run are idle, not late."""
        self.now += ms
        self._refresh()
        self.partition.check_isr(self.now)

    def elect(self, election: str) -> None:
        """elections.PREFERRED or elections.UNCLEAN."""
        self.apply(ElectLeader(self.topic_partition.topic, 0, election))

    def close(self) -> None:
        """Let go of the files."""
        for replica in self.partition.replicas.values():
            replica.log.close(self.now)
        self._files.close()

    def _leave(self, broker_id: int, state: str) -> None:
        self.brokers.set(broker_id, state, self.now)
        self.partition.broker_left(broker_id)
        self.apply(RemoveBroker(broker_id))

    def _refresh(self) -> None:
        """Followers that fetch and have all do so all the time: their last fetch is not older than now."""
        leader = self.partition.leader
        for broker_id in self.partition.fetching():
            if leader is not None and leader.remote[broker_id].log_end_offset == leader.replica.log_end_offset:
                self.partition.fetch(broker_id, self.now)

    def _write(self, change: Change) -> None:
        controller = Controller(self.image, Random(0), lambda *_: None, live=self.brokers.alive)
        self.image = replay(self.image, controller.apply(change))

    def _replica(self, directory: str, broker_id: int) -> Replica:
        path = os.path.join(directory, f"broker-{broker_id}", str(self.topic_partition))
        self._files.mkdir(path)
        log = PartitionLog.open(
            path, self.topic_partition, LogConfig(), files=self._files, now=self.now, clean_shutdown=True
        )
        return Replica(broker_id, log)


def _image(brokers: Sequence[int], elr: bool) -> MetadataImage:
    registered = {each: BrokerRegistration(each, each, random_uuid(), (), {}, fenced=False) for each in brokers}
    features = {ELIGIBLE_LEADER_REPLICAS_VERSION: 1} if elr else {}
    return EMPTY._replace(brokers=registered, features=features)
