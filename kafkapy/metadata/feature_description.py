"""The features of a cluster as FeatureCommand describes them.

What a node supports it said when it registered; what is in force are the levels in the metadata log, and for
kraft.version, which lives in control records, the level found there. The epoch is the offset of the image.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.metadata.features import KRAFT_VERSION, METADATA_VERSION, metadata_version_name
from kafkapy.metadata.image import MetadataImage
from kafkapy.near_misses import hinting_number


class FeatureDescription(NamedTuple):
    """One feature, with levels as numbers."""

    feature: str
    min_supported: int
    max_supported: int
    finalized: int
    epoch: int | None

    @property
    def line(self) -> str:
        lowest, highest, level = (
            level_text(self.feature, each) for each in (self.min_supported, self.max_supported, self.finalized)
        )
        return (
            f"Feature: {self.feature:40}  SupportedMinVersion: {lowest:15}  SupportedMaxVersion: {highest:15}  "
            f"FinalizedVersionLevel: {level:15}  Epoch: {'-' if self.epoch is None else self.epoch}"
        )


def describe_features(image: MetadataImage, kraft_version: int, node_id: int | None = None) -> list[FeatureDescription]:
    """By name; of the broker or controller ``node_id``, else of the first node that registered."""
    nodes = {controller.id: controller.supported_features for controller in image.controllers.values()}
    nodes.update((broker.id, broker.supported_features) for broker in image.brokers.values())
    if node_id is not None and node_id not in nodes:
        raise hinting_number(no_such_node(node_id), "node", node_id, nodes)
    if not nodes:
        return []
    supported = nodes[min(nodes) if node_id is None else node_id]
    finalized = {**image.features, KRAFT_VERSION: kraft_version}
    return [
        FeatureDescription(name, lowest, highest, finalized.get(name, 0), image.provenance.offset)
        for name, (lowest, highest) in sorted(supported.items())
    ]


def no_such_node(node_id: int) -> KafkaError:
    """What is said of a node that is not there."""
    return KafkaError("BrokerIdNotRegisteredException", f"No node with id {node_id} found.")


def level_text(feature: str, level: int) -> str:
    """metadata.version by its name, every other level as a number."""
    if feature != METADATA_VERSION:
        return str(level)
    try:
        return metadata_version_name(level)
    except KafkaError:
        return f"UNKNOWN {level}"
