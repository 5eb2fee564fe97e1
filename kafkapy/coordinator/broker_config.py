"""Configs of the brokers that coordinators obey: what was set for all brokers, else Kafka's default."""

from __future__ import annotations

from kafkapy.metadata.configs.effective import BrokerLayers
from kafkapy.metadata.image import BROKER, MetadataImage


def broker_config(image: MetadataImage, name: str) -> int:
    """The value of a config that is a number."""
    value = BrokerLayers(cluster=image.config(BROKER, "")).values[name]
    assert isinstance(value, int)
    return value
