"""A topic that records are to be sent to: asked for as a producer asks, so that brokers make it if they make topics.

Brokers with ``auto.create.topics.enable`` make a topic when a producer first asks for its metadata. Where they do not,
or where nobody leads it yet, that is asked again until ``max.block.ms`` is over, as Kafka's producer does.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kafkapy.backends.batch_sender import missing_topic_line
from kafkapy.backends.live.client import Client, nodes_of
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error

MAX_BLOCK_MS = 60_000
PASSING = frozenset(["UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE"])


def topic_to_write(client: Client, topic: str, tell: Callable[[str], object]) -> int:
    """How many partitions the topic has."""
    limit = int(client.config.role_settings.get("max.block.ms", MAX_BLOCK_MS))
    end = time.monotonic() + limit / 1000
    backoff_ms, told = float(client.config.retry_backoff_ms), False
    while True:
        response = client.call("Metadata", {"topics": [{"name": topic}], "allowAutoTopicCreation": True})
        client.learn(nodes_of(response))
        (found,) = response["topics"]
        code = found["errorCode"]
        if code == NONE:
            return len(found["partitions"])
        if error_code(code).name not in PASSING:
            raise _refusal(code, topic)
        if not told:
            tell(missing_topic_line(topic))
            told = True
        if time.monotonic() >= end:
            raise KafkaError("TimeoutException", f"Topic {topic} not present in metadata after {limit} ms.")
        client.wait_any([], backoff_ms)
        backoff_ms = min(backoff_ms * 2, client.config.retry_backoff_max_ms)


def _refusal(code: int, topic: str) -> KafkaError:
    name = error_code(code).name
    if name == "TOPIC_AUTHORIZATION_FAILED":
        return kafka_error(code, f"Not authorized to access topics: [{topic}]")
    if name == "INVALID_TOPIC_EXCEPTION":
        return kafka_error(code, f"Invalid topics: [{topic}]")
    return kafka_error(code)
