"""Who leads each partition of some topics, for those who send records or fetch them.

What was learnt is kept until ``refresh`` asks anew. A topic that is deleted and made again has another id: whoever was
in the middle of it must not go on in the new one, so the first id that was seen counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.backends.live.client import Client, nodes_of
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, code_of, kafka_error
from kafkapy.log.topic_partition import TopicPartition


class Leader(NamedTuple):
    """A broker, and the epoch since which it leads."""

    node: int
    epoch: int


class Leaders:
    """The leaders as the last Metadata response told them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._found: dict[TopicPartition, Leader | KafkaError] = {}
        self._errors: dict[str, KafkaError] = {}

    def refresh(self, topics: Iterable[str]) -> None:
        """Ask about topics."""
        asked = sorted(set(topics))
        fields = {"topics": [{"name": name} for name in asked], "allowAutoTopicCreation": False}
        response = self._client.call("Metadata", fields)
        self._client.learn(nodes_of(response))
        for topic in response["topics"]:
            self._learn(topic)

    def know(self, partition: TopicPartition, leader: Leader) -> None:
        """Take note of what another response told."""
        found = self._found.get(partition)
        if leader.node >= 0 and isinstance(found, Leader) and found.epoch < leader.epoch:
            self._found[partition] = leader

    def of(self, partition: TopicPartition) -> Leader | KafkaError:
        """Who leads a partition, or why nobody does."""
        error = self._errors.get(partition.topic)
        if error is not None:
            return error
        return self._found.get(partition) or kafka_error(code_of("UNKNOWN_TOPIC_OR_PARTITION"))

    def topic_id(self, topic: str) -> str:
        """The id of a topic that was found."""
        return self._ids[topic]

    def name(self, topic: str) -> str | None:
        """The name of a topic by its id, or by its name; None for one that was not asked for."""
        return topic if topic in self._ids else self._names.get(topic)

    def _learn(self, topic: dict[str, object]) -> None:
        name, code, topic_id = topic["name"], topic["errorCode"], topic["topicId"]
        assert isinstance(name, str)
        assert isinstance(code, int)
        assert isinstance(topic_id, str)
        self._errors.pop(name, None)
        if code == NONE and self._ids.setdefault(name, topic_id) != topic_id:
            code = code_of("UNKNOWN_TOPIC_ID")
        if code != NONE:
            self._errors[name] = kafka_error(code)
            return
        self._names[topic_id] = name
        for partition in topic["partitions"]:  # type: ignore[attr-defined]
            where = TopicPartition(name, partition["partitionIndex"])
            leads = Leader(partition["leaderId"], partition["leaderEpoch"])
            self._found[where] = leads if leads.node >= 0 else kafka_error(code_of("LEADER_NOT_AVAILABLE"))
