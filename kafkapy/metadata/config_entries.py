"""Every config of resources as an image tells it: what is set, what holds for all, and Kafka's defaults.

Only a running broker knows its server.properties and its loggers; what they would say is not in an image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kafkapy.errors import KafkaError, KafkapyError, Unsupported
from kafkapy.metadata.configs.effective import BrokerLayers, ConfigEntry, describe
from kafkapy.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC, MetadataImage

Entries = Mapping[str, list[ConfigEntry] | KafkapyError]
ReadEntries = Callable[[int, Sequence[str]], Entries]
"""What tells the configs of resources, by the number of their type and their names."""

ENTITY_TYPES = {TOPIC: "topics", BROKER: "brokers", GROUP: "groups", CLIENT_METRICS: "client-metrics"}


def config_entries(image: MetadataImage, resource_type: int, names: Sequence[str]) -> Entries:
    """The configs of each resource, sorted by name; an error for one that is not there."""
    if resource_type == BROKER_LOGGER:
        raise Unsupported("--entity-type broker-loggers", "files", "only a running broker has loggers")
    layers = BrokerLayers(cluster=image.config(BROKER, ""))
    return {name: _entries(image, resource_type, name, layers) for name in names}


def config_resources(image: MetadataImage, resource_type: int) -> list[str]:
    """The names of the resources of a type, sorted; the default of all brokers last."""
    if resource_type == TOPIC:
        return sorted(image.topics)
    if resource_type == BROKER:
        return [*map(str, sorted(image.brokers)), ""]
    return sorted(name for of, name in image.configs if of == resource_type)


def _entries(
    image: MetadataImage, resource_type: int, name: str, layers: BrokerLayers
) -> list[ConfigEntry] | KafkapyError:
    if resource_type == TOPIC and name not in image.topics:
        return KafkaError("UnknownTopicOrPartitionException", f"The topic '{name}' does not exist.")
    configs = image.config(resource_type, name)
    if resource_type == BROKER and name:
        if int(name) not in image.brokers:
            return KafkaError("BrokerIdNotRegisteredException", f"No node with id {name} found.")
        # Its own server.properties is not among its data; that a broker has its id there is certain.
        layers = BrokerLayers(configs, layers.cluster, {"node.id": name})
    return describe(ENTITY_TYPES[resource_type], name, configs, layers)
