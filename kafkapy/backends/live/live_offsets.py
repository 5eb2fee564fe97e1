"""Offsets of partitions: ListOffsets, one request for each leader.

An offset by name is asked for as a negative timestamp; some of the names need a version of the request that older
brokers do not have, which is then said in the words of Kafka's client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkapy.backends.cluster import EARLIEST_LOCAL, EARLIEST_PENDING_UPLOAD, LATEST_TIERED, MAX_TIMESTAMP
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.exchange import request_schema
from kafkapy.backends.live.partition_leaders import LeaderRequest
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition

API = "ListOffsets"
MIN_VERSIONS = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
CONSUMER = -1  # the replica id of who is none
READ_UNCOMMITTED = 0
NO_OFFSET = -1


def list_offsets(client: Client, asked: Sequence[tuple[TopicPartition, int]]) -> list[int | KafkapyError | None]:
    """The offset that each name or timestamp stands for; None where a partition has none, an error where it cannot be
    asked."""
    common = {
        "replicaId": CONSUMER,
        "isolationLevel": READ_UNCOMMITTED,
        "timeoutMs": client.config.api_timeout_ms,
    }
    request = LeaderRequest(API, common, _fields, _offset, lambda node, spec: _refusal(client, node, spec))
    return request.ask(client, asked)


def _fields(spec: int) -> Value:
    return {"timestamp": spec}


def _offset(partition: Value) -> int | None:
    offset: int = partition["offset"]
    return None if offset == NO_OFFSET else offset


def _refusal(client: Client, node: int, spec: int) -> KafkaError | None:
    if spec not in MIN_VERSIONS:
        return None
    schema = request_schema(API)
    assert schema.api_key is not None
    return too_old(client.versions(node), schema.api_key, MIN_VERSIONS[spec], schema.valid_versions.high)


def too_old(versions: Mapping[int, tuple[int, int]], key: int, wanted: int, latest: int) -> KafkaError | None:
    """The error of Kafka's client where a broker lacks a version of ListOffsets."""
    low, high = versions.get(key, (0, -1))
    if high >= wanted:
        return None
    return KafkaError(
        "UnsupportedVersionException",
        f"The node does not support LIST_OFFSETS with version in range [{wanted},{latest}]. "
        f"The supported range is [{low},{high}].",
    )
