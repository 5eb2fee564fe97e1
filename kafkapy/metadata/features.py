"""The features of a cluster and their levels: metadata.version first, which decides what records may be written.

A feature has levels 0..n; 0 means off and is never written. ``metadata.version`` has no level 0: each level is a
release with a counter (``4.3-IV0`` is 30), and brokers of 4.x start at level 7. A level that a release of Kafka
brought is the default in clusters formatted at that metadata.version or later, unless a level says otherwise.

``kraft.version`` is a feature by name only: it lives in control records, not in FeatureLevelRecords.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.near_misses import hinting

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
ELIGIBLE_LEADER_REPLICAS_VERSION = "eligible.leader.replicas.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"

MINIMUM_LEVEL = 7
LATEST_PRODUCTION_LEVEL = 30

# Index 0 is level 7. The last one is known to 4.3.1 and not for production.
_VERSIONS = (
    *("3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2"),
    *("3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
    *("4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0", "4.4-IV0"),
)
LATEST_TESTING_LEVEL = MINIMUM_LEVEL + len(_VERSIONS) - 1

IBP_3_4_IV0 = 8
IBP_3_5_IV2 = 11
IBP_3_6_IV0 = 12
IBP_3_6_IV1 = 13
IBP_3_7_IV2 = 17
IBP_3_9_IV0 = 21
IBP_4_0_IV0 = 22
IBP_4_0_IV1 = 23
IBP_4_0_IV2 = 24
IBP_4_1_IV0 = 26
IBP_4_2_IV0 = 28
IBP_4_2_IV1 = 29
IBP_4_3_IV0 = 30


class FeatureVersion(NamedTuple):
    """A level, the metadata.version from which on it is the default, and what it needs."""

    level: int
    bootstrap_metadata_version: int = MINIMUM_LEVEL
    dependencies: tuple[tuple[str, int], ...] = ()


_OFF = FeatureVersion(0)

# In the order in which StorageTool lists them.
FEATURES: Mapping[str, tuple[FeatureVersion, ...]] = {
    KRAFT_VERSION: (_OFF, FeatureVersion(1, IBP_3_9_IV0)),
    TRANSACTION_VERSION: (_OFF, FeatureVersion(1, IBP_4_0_IV2), FeatureVersion(2, IBP_4_0_IV2)),
    GROUP_VERSION: (_OFF, FeatureVersion(1, IBP_4_0_IV0)),
    ELIGIBLE_LEADER_REPLICAS_VERSION: (
        _OFF,
        FeatureVersion(1, IBP_4_1_IV0, ((METADATA_VERSION, IBP_4_0_IV1),)),
    ),
    SHARE_VERSION: (_OFF, FeatureVersion(1, IBP_4_2_IV0)),
    STREAMS_VERSION: (_OFF, FeatureVersion(1, IBP_4_2_IV1)),
}


def metadata_version_name(level: int) -> str:
    """``4.3-IV0`` for 30; a level that 4.3.1 does not know raises in Kafka's words."""
    if not MINIMUM_LEVEL <= level <= LATEST_TESTING_LEVEL:
        raise KafkaError(
            "IllegalArgumentException",
            f"No MetadataVersion with feature level {level}. "
            f"Valid feature levels are from {MINIMUM_LEVEL} to {LATEST_TESTING_LEVEL}.",
        )
    return _VERSIONS[level - MINIMUM_LEVEL]


def metadata_version_level(version: str, unstable: bool = False) -> int:
    """The level of ``4.3-IV0``, or of a release such as ``4.3`` or ``4.3.1``: the last one for production in it."""
    key = ".".join(version.split(".")[:2])
    last = LATEST_TESTING_LEVEL if unstable else LATEST_PRODUCTION_LEVEL
    for level in range(last, MINIMUM_LEVEL - 1, -1):
        name = metadata_version_name(level)
        if key == name or (level <= LATEST_PRODUCTION_LEVEL and key == name.partition("-")[0]):
            return level
    names = ", ".join(_VERSIONS[: last - MINIMUM_LEVEL + 1])
    raise KafkaError(
        "IllegalArgumentException", f"Unknown metadata.version '{version}'. Supported metadata.version are: {names}"
    )


def feature_versions(name: str) -> tuple[FeatureVersion, ...]:
    versions = FEATURES.get(name)
    if versions is None:
        error = KafkaError("IllegalArgumentException", f"Feature {name} not found.")
        raise hinting(error, "feature", name, (*FEATURES, METADATA_VERSION))
    return versions


def feature_version(name: str, level: int) -> FeatureVersion:
    for version in feature_versions(name):
        if version.level == level:
            return version
    raise KafkaError("IllegalArgumentException", f"No feature:{name} with feature level {level}")


def default_level(name: str, metadata_version: int) -> int:
    """The level that a cluster formatted at that metadata.version has."""
    level = 0
    for version in feature_versions(name):
        if version.bootstrap_metadata_version > metadata_version:
            break
        level = version.level
    return level


def default_levels(metadata_version: int) -> dict[str, int]:
    """Every feature at its default, in StorageTool's order, metadata.version first."""
    return {METADATA_VERSION: metadata_version} | {name: default_level(name, metadata_version) for name in FEATURES}


def dependencies(name: str, level: int) -> tuple[tuple[str, int], ...]:
    """What ``name`` at ``level`` needs; metadata.version needs nothing."""
    if name == METADATA_VERSION:
        metadata_version_name(level)
        return ()
    return feature_version(name, level).dependencies


def validate(name: str, level: int, levels: Mapping[str, int]) -> None:
    """Refuses a level whose needs ``levels`` does not meet."""
    if level >= 1 and levels.get(METADATA_VERSION, 0) < MINIMUM_LEVEL:
        raise KafkaError(
            "IllegalArgumentException",
            f"{name} could not be set to {level} because it depends on "
            f"metadata.version={MINIMUM_LEVEL} ({metadata_version_name(MINIMUM_LEVEL)})",
        )
    for needed, needed_level in dependencies(name, level):
        if levels.get(needed, -1) < needed_level:
            raise KafkaError(
                "IllegalArgumentException",
                f"{name} could not be set to {level} because it depends on {needed} level {needed_level}",
            )


def supported_ranges() -> dict[str, tuple[int, int]]:
    """What a 4.3.1 node registers: the lowest and highest level of each feature it supports."""
    ranges = {METADATA_VERSION: (MINIMUM_LEVEL, LATEST_PRODUCTION_LEVEL)}
    return ranges | {name: (versions[0].level, versions[-1].level) for name, versions in FEATURES.items()}
