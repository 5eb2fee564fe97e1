"""The topics that coordinators keep their state in, as a broker makes them when they are first needed.

Both are compacted: the newest record of a key is the state. The number of partitions is never changed, since it decides
which partition a key is in.
"""

from __future__ import annotations

from kafkapy.coordinator.java_hash import java_hash
from kafkapy.metadata.changes import CreateTopic

TRANSACTION_STATE = "__transaction_state"
CONSUMER_OFFSETS = "__consumer_offsets"

PARTITIONS = 50
REPLICATION_FACTOR = 3
TRANSACTION_STATE_MIN_ISR = 2
SEGMENT_BYTES = 100 * 1024 * 1024
MIN_INT = -(1 << 31)


def creation(topic: str, brokers: int) -> CreateTopic:
    """The change that makes an internal topic; a smaller cluster than Kafka asks for gets fewer copies."""
    copies = min(REPLICATION_FACTOR, brokers)
    return CreateTopic(topic, PARTITIONS, copies, configs=_configs(topic, copies))


def partition_for(key: str, partitions: int) -> int:
    """The partition that keeps the state of a group or a transactional id."""
    value = java_hash(key)
    return 0 if value == MIN_INT else abs(value) % partitions  # Java's abs has no answer for the least int


def _configs(topic: str, copies: int) -> dict[str, str]:
    configs = {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": str(SEGMENT_BYTES)}
    if topic == TRANSACTION_STATE:
        # a state that was lost or is half there could end one transaction in two ways
        configs["compression.type"] = "uncompressed"
        configs["min.insync.replicas"] = str(min(TRANSACTION_STATE_MIN_ISR, copies))
        configs["unclean.leader.election.enable"] = "false"
    return configs
