"""The lines of StorageTool and FeatureCommand about features: which levels a release has, and what a level needs.

With each line comes the row that says the same, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafkapy.errors import KafkaError
from kafkapy.metadata import features
from kafkapy.metadata.features import METADATA_VERSION
from kafkapy.near_misses import hinting

Pair = tuple[str, dict[str, Any] | None]


def version_mapping(release: str | None) -> Iterator[Pair]:
    """The levels that a release's clusters begin with."""
    level = features.LATEST_PRODUCTION_LEVEL if release is None else features.metadata_version_level(release, True)
    version = release or features.metadata_version_name(level)
    yield f"{METADATA_VERSION}={level} ({version})", _level_row(METADATA_VERSION, level, version)
    for name in features.FEATURES:
        own = features.default_level(name, level)
        yield f"{name}={own}", _level_row(name, own)


def feature_dependencies(given: Iterable[str]) -> Iterator[Pair]:
    """What each ``name=level`` needs of other features."""
    for text in given:
        name, equals, level = (part.strip() for part in text.partition("="))
        if not equals:
            example = "Expected format: 'feature=version' (e.g. 'group.version=1')"
            raise _refused(f"Invalid feature format: {text}. {example}")
        if not level.lstrip("-").isdigit():
            raise _refused(f"Invalid version format: {level} for feature {name}")
        try:
            yield from dependencies(name, int(level))
        except KafkaError as error:
            if error.name == "TerseFailure":
                raise
            raise _refused(f"Feature level {level} is not supported for feature {name}") from None


def dependencies(name: str, level: int) -> Iterator[Pair]:
    """What a feature needs at a level."""
    if name == METADATA_VERSION:
        yield f"{name}={level} ({_version(level)}) has no dependencies.", _needed_row(name, level)
        return
    if name not in features.FEATURES:
        raise hinting(_refused(f"Unknown feature: {name}"), "feature", name, (*features.FEATURES, METADATA_VERSION))
    needed = features.dependencies(name, level)
    if needed:
        yield f"{name}={level} requires:", None
    else:
        yield f"{name}={level} has no dependencies.", _needed_row(name, level)
    for other, needed_level in needed:
        suffix = f" ({_version(needed_level)})" if other == METADATA_VERSION else ""
        yield f"    {other}={needed_level}{suffix}", _needed_row(name, level, other, needed_level)


def _level_row(name: str, level: int, version: str | None = None) -> dict[str, Any]:
    return {"type": "feature_level", "feature": name, "level": level, "version": version}


def _needed_row(name: str, level: int, other: str | None = None, needed: int | None = None) -> dict[str, Any]:
    row = {"type": "feature_dependency", "feature": name, "level": level}
    return row | {"needed_feature": other, "needed_level": needed}


def _version(level: int) -> str:
    try:
        return features.metadata_version_name(level)
    except KafkaError:
        raise _refused(f"Unknown {METADATA_VERSION} {level}") from None


def _refused(message: str) -> KafkaError:
    return KafkaError("TerseFailure", message)
