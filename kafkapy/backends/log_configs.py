"""The configs that the logs of a topic obey: its own, over those of the brokers, over Kafka's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.errors import KafkaError, UsageError
from kafkapy.log.config import LogConfig
from kafkapy.metadata.config_checks import checker
from kafkapy.metadata.configs.effective import BrokerLayers, describe
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage
from kafkapy.near_misses import missing

Assumptions = Mapping[str, Mapping[str, str]]
"""Configs that a topic does not have, by topic."""


def log_config(image: MetadataImage, topic: str, assumed: Mapping[str, str] | None = None) -> LogConfig:
    """The configs of a topic, with ``assumed`` in the place of its own."""
    own = {**image.config(TOPIC, topic), **(assumed or {})}
    entries = describe("topics", topic, own, BrokerLayers(cluster=image.config(BROKER, "")))
    return LogConfig.of({entry.name: entry.value for entry in entries if entry.value is not None})


def parse_assumptions(texts: Iterable[str], image: MetadataImage) -> Assumptions:
    """``topic:name=value`` each, with names and values that the topic could be given."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        topic, colon, config = text.partition(":")
        name, equals, value = config.partition("=")
        if not (topic and colon and name and equals):
            raise UsageError(f"--assume: '{text}' is not of the form TOPIC:CONFIG=VALUE")
        if topic not in image.topics:
            raise UsageError(f"--assume: {missing('topic', topic, image.topics)}")
        found.setdefault(topic, {})[name.strip()] = value.strip()
    for topic, configs in found.items():
        try:
            checker(image)(TOPIC, topic, {**image.config(TOPIC, topic), **configs})
        except KafkaError as error:
            refused = UsageError(f"--assume: {error}")
            refused.hint = error.hint
            raise refused from None
    return found
