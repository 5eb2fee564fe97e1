"""The brokers, topics, producer and consumers of a running scenario, below one scratch directory.

Every topic has one partition, on the real logs ``broker-N/TOPIC-0``; a step about a broker concerns all of them. Time
stands still unless a step says otherwise.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.lab.committed_offsets import CommittedOffsets
from kafkapy.lab.consumer import Consumer
from kafkapy.lab.produced import ACKNOWLEDGED, WAITING, Produced
from kafkapy.lab.scenario import Setup, Step
from kafkapy.lab.view import LabView, PartitionView, logged
from kafkapy.replication.fetch import FetchResponse
from kafkapy.replication.leader import ReplicationSettings
from kafkapy.replication.simulated_partition import START_MS, SimulatedPartition


class StepError(KafkapyError):
    """A step that makes no sense in the state that the scenario is in."""


class UnderWay(NamedTuple):
    """An answer to a FETCH that has left the leader of that epoch and has not arrived."""

    response: FetchResponse
    leader_epoch: int


class Laboratory:
    """What steps act on."""

    def __init__(self, directory: str, setup: Setup) -> None:
        settings = ReplicationSettings(
            replica_lag_time_max_ms=setup.replica_lag_time_max_ms, leader_epochs=setup.leader_epochs
        )
        self.setup = setup
        self.topics = {
            topic: SimulatedPartition(
                directory, replicas, topic, setup.configs, settings, setup.eligible_leader_replicas
            )
            for topic, replicas in setup.topics.items()
        }
        self.produced: list[Produced] = []
        self.next_sequence: dict[str, int] = {}
        self.under_way: dict[tuple[str, int], UnderWay] = {}
        self.consumers: dict[str, Consumer] = {}
        self.offsets = CommittedOffsets(os.path.join(directory, "groups"), setup.topics)

    @property
    def now(self) -> int:
        return next(iter(self.topics.values())).now

    @property
    def controller_epoch(self) -> int:
        return next(iter(self.topics.values())).controller_epoch

    def partition(self, step: Step) -> SimulatedPartition:
        """The partition that a step acts on."""
        return self.topics[step.topic or next(iter(self.topics))]

    def partitions(self, step: Step) -> list[SimulatedPartition]:
        """The partition that a step names, else all."""
        return [self.topics[step.topic]] if step.topic else list(self.topics.values())

    def partitions_on(self, broker_id: int) -> list[SimulatedPartition]:
        """The partitions that have a replica on a broker."""
        return [each for each in self.topics.values() if broker_id in each.partition.replicas]

    def state_of(self, broker_id: int) -> str:
        """running, lagging, stopped or killed."""
        return self.partitions_on(broker_id)[0].brokers[broker_id].state

    def require_state(self, broker_id: int, *states: str) -> None:
        """Refuse a step for a broker that is in another state."""
        state = self.state_of(broker_id)
        if state not in states:
            raise StepError(f"broker {broker_id} is {state}; it must be {' or '.join(states)}")

    def broker_left(self, broker_id: int) -> None:
        """A broker's process is gone: with it the answers it waited for, and those that it owed."""
        self.under_way = {key: each for key, each in self.under_way.items() if key[1] != broker_id}
        for produced in self.produced:
            produced.broker_crashed(broker_id)

    def settle(self) -> None:
        """After a step: who waits for an acknowledgement may have it."""
        for produced in self.produced:
            produced.look(self.topics[produced.topic])

    def view(self) -> LabView:
        """Everything as it is now."""
        return LabView(
            {topic: self._partition_view(topic, partition) for topic, partition in self.topics.items()},
            {name: consumer.view() for name, consumer in self.consumers.items()},
            self.controller_epoch,
            self.now - START_MS,
        )

    def close(self) -> None:
        """Let go of the files."""
        self.offsets.close()
        for partition in self.topics.values():
            partition.close()

    def _partition_view(self, topic: str, simulated: SimulatedPartition) -> PartitionView:
        replicas, leader = simulated.partition.replicas, simulated.partition.leader
        logs = {broker_id: logged(replica) for broker_id, replica in replicas.items()}
        mine = [each for each in self.produced if each.topic == topic]
        acknowledged = [record for each in mine if each.state == ACKNOWLEDGED for record in each.records]
        # without a leader nobody can tell what is lost
        present = acknowledged if leader is None else [(each.offset, each.value) for each in logs[leader.broker_id]]
        return PartitionView(
            simulated.table(),
            logs,
            () if leader is None else tuple(each.request.replica_id for each in leader.purgatory),
            tuple(value for each in mine if each.state == WAITING for value in each.values),
            tuple(value for _, value in acknowledged),
            tuple(record[1] for record in acknowledged if record not in present),
        )
