"""Elections and moves of a running cluster, each as requests in a module of its own.

Moves go on by themselves: who does not wait has only begun them, as Kafka's tool does. The controller is asked what is
under way, but brokers hear of changes a moment later: before the metadata of one is gone by after a change, it is asked
until it knows of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import LATEST
from kafkapy.backends.live.live_reassignments import Targets, alter_reassignments, list_reassignments
from kafkapy.backends.plan_checks import EXISTING, check_brokers, check_partitions, refusal, terse
from kafkapy.backends.replica_control import Copied, Lags, Places, ReplicaDirs, Tell
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.reassignment.throttles import BROKER_THROTTLES, TOPIC_THROTTLES
from kafkapy.metadata.reassignment.verification import is_going_on
from kafkapy.metadata.topics_image import PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.election_losses import ElectionLoss
    from kafkapy.backends.live.live_cluster import LiveCluster

SETTLES_S = 10.0
PAUSE_S = 0.05


class LiveReplicaControl:
    """Asks the controller, and each broker for its log dirs."""

    goes_on = True

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._client = cluster.client

    @property
    def knows_topics(self) -> bool:
        """Controllers that are asked directly do not tell of topics."""
        return self._client.controller() is None

    def elect(
        self, election: str, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, KafkaError | None]:
        from kafkapy.backends.live.live_elections import elect

        try:
            return elect(self._client, election, partitions)
        finally:
            self._cluster.forget_metadata()

    def await_elected(self, election: str, partitions: Collection[TopicPartition]) -> None:
        from kafkapy.backends.leader_election import are_elected

        self._until(lambda image: are_elected(image, election, partitions))

    def election_losses(self, before: MetadataImage) -> list[ElectionLoss]:
        """Brokers do not tell what was in the logs of those that are down."""
        return []

    def under_way(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionRegistration]:
        """With leader and ISR, where brokers are asked; controllers do not tell them."""
        found = list_reassignments(self._client, partitions)
        if not found or not self.knows_topics:
            return found
        known = {partition: _registration(self._cluster.image(), partition) for partition in found}
        return {
            partition: state if (told := known[partition]) is None else state._replace(isr=told.isr, leader=told.leader)
            for partition, state in found.items()
        }

    def places(self, partitions: Collection[TopicPartition] | None = None) -> Places:
        from kafkapy.backends.live.live_log_dirs import describe_log_dirs

        if partitions is not None and not partitions:
            return Places({}, {})
        found = Places({}, {})
        for log_dir in describe_log_dirs(self._client, None, partitions):
            for replica in log_dir.replicas:
                if log_dir.broker_id is not None:
                    into = found.future if replica.is_future else found.current
                    into[replica.partition, log_dir.broker_id] = log_dir.path
        return found

    def lags(self, under_way: Mapping[TopicPartition, PartitionRegistration]) -> Lags:
        """By the ends of logs: the offsetLag of DescribeLogDirs is measured from the high watermark that a follower
        keeps, which is never above its own end, so it is 0 while it is catching up."""
        from kafkapy.backends.live.replica_ends import ReplicaEnd, replica_ends

        live = self._cluster.live_brokers
        new = [(partition, broker) for partition, state in under_way.items() for broker in state.adding_replicas]
        led = [(partition, state.leader) for partition, state in under_way.items()]
        # leaders are asked last, so that what arrives meanwhile is lacking rather than too much
        ends, led_ends = (
            replica_ends(self._client, [each for each in held if each[1] in live], LATEST) for held in (new, led)
        )
        leaders = {partition: end.offset for (partition, _), end in led_ends.items() if isinstance(end, ReplicaEnd)}
        return {
            (partition, broker): max(0, leaders[partition] - end.offset)
            for (partition, broker), end in ends.items()
            if isinstance(end, ReplicaEnd) and partition in leaders
        }

    def simulated(self, plan: Assignment) -> MetadataImage:
        """Without what no move depends on, and with the configs of the plan's topics only."""
        from kafkapy.backends.live.live_configs import own_configs

        topics = sorted({partition.topic for partition in plan})
        own = own_configs(self._client, TOPIC, topics)
        configs = {(TOPIC, topic): found for topic, found in own.items() if found}
        configs[BROKER, ""] = own_configs(self._client, BROKER, [""])[""]
        return self._cluster.image()._replace(configs=configs, client_quotas={}, acls={}, scram={})

    def check(self, plan: Reassignment, additional: bool, tell: Tell) -> None:
        under_way = list_reassignments(self._client)
        if under_way and not additional and not is_going_on(under_way, plan.replicas):
            raise terse(EXISTING)
        image = self._cluster.image()
        check_brokers(image, self._cluster.live_brokers, plan.replicas)
        check_partitions(image, plan.replicas)
        if plan.log_dirs:
            self._check_log_dirs(plan)

    def _check_log_dirs(self, plan: Reassignment) -> None:
        brokers = {broker for _, broker in plan.log_dirs}
        down = brokers.difference(self._cluster.live_brokers)
        known = {(each.broker_id, each.path) for each in self._cluster.log_dirs(brokers - down)}
        for (partition, broker), path in sorted(plan.log_dirs.items()):
            if broker in down or (broker, path) not in known:
                why = f"broker {broker} is down" if broker in down else f"Log dir {path} is not found in the config."
                raise KafkaError("AdminCommandFailedException", f"Failed to alter dir for {partition}-{broker}: {why}")

    def check_accepted(self, plan: Assignment, allow_factor_change: bool) -> None:
        """Only the controller itself knows."""

    def begin(self, plan: Reassignment, allow_factor_change: bool) -> None:
        refused = self._alter(dict(plan.replicas), allow_factor_change)
        if refused:
            raise refusal("Error reassigning partition(s):", refused)

    def begin_log_dir_moves(
        self, log_dirs: Mapping[tuple[TopicPartition, int], str], timeout_ms: int
    ) -> Iterator[ReplicaDirs]:
        from kafkapy.backends.live.live_log_dir_moves import begin_moves

        return begin_moves(self._client, log_dirs, timeout_ms)

    def complete(self, plan: Reassignment, copied: Copied) -> dict[TopicPartition, str]:
        from kafkapy.backends.live.live_move_progress import MoveProgress

        stalled = MoveProgress(self._client, plan, copied).wait()
        self._cluster.forget_metadata()
        self._settle({partition: each for partition, each in plan.replicas.items() if partition not in stalled})
        return stalled

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        if not partitions:
            return
        before = list_reassignments(self._client, partitions)
        refused = self._alter(dict.fromkeys(partitions))
        if refused:
            plural = "" if len(refused) == 1 else "s"
            raise refusal(f"Error cancelling partition reassignment{plural} for:", refused)
        self._settle(
            {
                partition: tuple(broker for broker in state.replicas if broker not in state.adding_replicas)
                for partition, state in before.items()
            }
        )

    def throttle_clearing(self, brokers: Iterable[int], topics: Iterable[str]) -> list[AlterConfigs]:
        """All of them: to look first whether one is set would be as many requests."""
        return [
            *(AlterConfigs(BROKER, str(broker), delete=BROKER_THROTTLES) for broker in sorted(brokers)),
            *(AlterConfigs(TOPIC, topic, delete=TOPIC_THROTTLES) for topic in sorted(topics)),
        ]

    def _alter(self, targets: Targets, allow_factor_change: bool = True) -> dict[TopicPartition, KafkaError]:
        try:
            return alter_reassignments(self._client, targets, allow_factor_change)
        finally:
            self._cluster.forget_metadata()

    def _settle(self, expected: Assignment) -> None:
        """Wait until the brokers know of the replicas that partitions have by now."""
        if self.knows_topics:
            self._until(lambda image: _have_replicas(image, expected))

    def _until(self, holds: Callable[[MetadataImage], bool]) -> None:
        """Wait until brokers know of a change, but not for ever: somebody may have made another one meanwhile."""
        end = time.monotonic() + SETTLES_S
        while not holds(self._cluster.image()) and time.monotonic() < end:
            time.sleep(PAUSE_S)
            self._cluster.forget_metadata()


def _have_replicas(image: MetadataImage, expected: Assignment) -> bool:
    known = {partition: _registration(image, partition) for partition in expected}
    return all(found is None or found.replicas == expected[partition] for partition, found in known.items())


def _registration(image: MetadataImage, partition: TopicPartition) -> PartitionRegistration | None:
    topic = image.topics.get(partition.topic)
    return None if topic is None else topic.partitions.get(partition.partition)
