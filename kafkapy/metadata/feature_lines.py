"""The lines of StorageTool and FeatureCommand about features: which levels a release has, and what a level needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.errors import KafkaError
from kafkapy.metadata import features
from kafkapy.metadata.features import METADATA_VERSION


def version_mapping(release: str | None) -> Iterator[str]:
    """The levels that a release's clusters begin with."""
    level = features.LATEST_PRODUCTION_LEVEL if release is None else features.metadata_version_level(release, True)
    yield f"{METADATA_VERSION}={level} ({release or features.metadata_version_name(level)})"
    for name in features.FEATURES:
        yield f"{name}={features.default_level(name, level)}"


def feature_dependencies(given: Iterable[str]) -> Iterator[str]:
    """What each ``name=level`` needs of other features."""
    for text in given:
        name, equals, level = (part.strip() for part in text.partition("="))
        if not equals:
            example = "Expected format: 'feature=version' (e.g. 'group.version=1')"
            raise _refused(f"Invalid feature format: {text}. {example}")
        if not level.lstrip("-").isdigit():
            raise _refused(f"Invalid version format: {level} for feature {name}")
        try:
            yield from dependency_lines(name, int(level))
        except KafkaError as error:
            if error.name == "TerseFailure":
                raise
            raise _refused(f"Feature level {level} is not supported for feature {name}") from None


def dependency_lines(name: str, level: int) -> Iterator[str]:
    """What a feature needs at a level."""
    if name == METADATA_VERSION:
        yield f"{name}={level} ({_version(level)}) has no dependencies."
        return
    if name not in features.FEATURES:
        raise _refused(f"Unknown feature: {name}")
    needed = features.dependencies(name, level)
    yield f"{name}={level} requires:" if needed else f"{name}={level} has no dependencies."
    for other, needed_level in needed:
        suffix = f" ({_version(needed_level)})" if other == METADATA_VERSION else ""
        yield f"    {other}={needed_level}{suffix}"


def _version(level: int) -> str:
    try:
        return features.metadata_version_name(level)
    except KafkaError:
        raise _refused(f"Unknown {METADATA_VERSION} {level}") from None


def _refused(message: str) -> KafkaError:
    return KafkaError("TerseFailure", message)
