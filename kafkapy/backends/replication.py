"""Who leads a partition of a cluster directory, where the metadata does not say it or a crash came in between; and by
which settings its replicas are kept in sync."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkapy.errors import KafkaError
from kafkapy.metadata.config_control import MIN_IN_SYNC_REPLICAS, topic_config
from kafkapy.metadata.image import BROKER, MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.near_misses import listed
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.leader import ReplicationSettings
from kafkapy.replication.replica import Replica

REPLICA_LAG_TIME_MAX_MS = "replica.lag.time.max.ms"


def replication_settings(image: MetadataImage, topic: str) -> ReplicationSettings:
    """What the configs of a topic and of the brokers say."""
    lag = image.config(BROKER, "").get(REPLICA_LAG_TIME_MAX_MS, "30000")
    return ReplicationSettings(int(topic_config(image, topic, MIN_IN_SYNC_REPLICAS, "1")), int(lag))


def acting_registration(
    registration: PartitionRegistration, replicas: Mapping[int, Replica], known: Collection[int]
) -> PartitionRegistration:
    """The registration by which ``replicas``, those on brokers that are alive, lead and follow.

    Real brokers that were stopped leave partitions without a leader. Nobody has written in the epoch that began then,
    so whom they would elect may, and all replicas are brought up with it: no record of the metadata log has to say so.
    ``known`` are all brokers of the directory: where one of them might have more than those alive, nobody leads.
    """
    if registration.leader in replicas:
        return registration
    leader = NO_LEADER
    if registration.leader == NO_LEADER:
        eligible = eligible_leaders(registration, known)
        leader = farthest(replicas, [broker_id for broker_id in eligible if broker_id in replicas])
    isr = tuple(broker_id for broker_id in registration.replicas if broker_id in replicas)
    return registration._replace(leader=leader, isr=registration.isr if leader == NO_LEADER else isr)


def eligible_leaders(registration: PartitionRegistration, known: Collection[int]) -> list[int]:
    """Who may lead a partition without a leader, alive or not."""
    for candidates in (registration.isr, registration.elr, registration.last_known_elr, registration.replicas):
        eligible = [broker_id for broker_id in candidates if broker_id in known]
        if eligible:
            return eligible
    return []


def why_not_led(registration: PartitionRegistration, brokers: BrokerStates) -> str:
    """What to say beside Kafka's words of an election under way, where none is: who does not run, and who may lead."""
    down = {*registration.replicas} - brokers.alive
    who = f"broker {listed(down)} does" if len(down) == 1 else f"brokers {listed(down)} do"
    waited_for = down.intersection(eligible_leaders(registration, brokers.known))
    start = f"'kafkapy cluster start-broker {min(waited_for)}' starts one that may lead, " if waited_for else ""
    return f"no election is under way: {who} not run; {start}'kafkapy cluster status' shows all"


def hinting_none_runs(error: KafkaError, brokers: BrokerStates) -> KafkaError:
    """What Kafka says of a topic that has nowhere to be, with how to start a broker where none runs."""
    if error.name == "InvalidReplicationFactorException" and not brokers.alive:
        start = f"'kafkapy cluster start-broker {min(brokers.known)}' starts one"
        error.hint = f"no broker runs: {start}, 'kafkapy cluster status' shows all"
    return error


def farthest(replicas: Mapping[int, Replica], candidates: Collection[int]) -> int:
    """The first of the candidates whose log reaches farthest: by the last epoch, then by its end."""
    return max(candidates, key=lambda broker_id: reach(replicas[broker_id]), default=NO_LEADER)


def reach(replica: Replica) -> tuple[int, int]:
    """How far a log reaches beside others: its last epoch, then its end."""
    return -1 if replica.latest_epoch is None else replica.latest_epoch, replica.log_end_offset
