"""FeatureCommand's ``upgrade``, ``downgrade`` and ``disable``: which feature is to get which level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkaError, UsageError
from kafkapy.formats.java_parsing import parse_short
from kafkapy.metadata import features
from kafkapy.metadata.features import METADATA_VERSION

UPGRADE = 1
SAFE_DOWNGRADE = 2
UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    """``upgrade_type`` says what else than an upgrade is meant."""

    feature: str
    level: int
    upgrade_type: int = UPGRADE


def updates_to_release(release: str, upgrade_type: int) -> list[FeatureUpdate]:
    """All features at the levels of a release; an upgrade leaves those out that the release has not yet."""
    level = _level(release)
    levels = features.default_levels(level)
    return [
        FeatureUpdate(name, each, upgrade_type)
        for name, each in levels.items()
        if name == METADATA_VERSION or upgrade_type != UPGRADE or each > 0
    ]


def updates_of(metadata: str | None, given: Iterable[str], upgrade_type: int) -> list[FeatureUpdate]:
    """``metadata`` is a release whose metadata.version is meant, ``given`` are texts such as ``group.version=1``."""
    updates = [] if metadata is None else [FeatureUpdate(METADATA_VERSION, _level(metadata), upgrade_type)]
    updates += [_update(text, upgrade_type) for text in given]
    return _once(updates)


def _update(text: str, upgrade_type: int) -> FeatureUpdate:
    name, level = parse_name_and_level(text)
    if level == 0 and upgrade_type == UPGRADE:
        raise UsageError(
            "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the provided "
            "maxVersionLevel:0 is < 1."
        )
    if level < 0:
        raise UsageError("Cannot specify a negative version level.")
    return FeatureUpdate(name, level, upgrade_type)


def disabling(names: Iterable[str], upgrade_type: int) -> list[FeatureUpdate]:
    """Features at level 0."""
    return _once([FeatureUpdate(name, 0, upgrade_type) for name in names])


def parse_name_and_level(text: str) -> tuple[str, int]:
    """``group.version=1``."""
    name, equals, level = text.partition("=")
    if not equals:
        raise UsageError(f"Can't parse feature=level string {text}: equals sign not found.")
    try:
        return name.strip(), parse_short(level.strip())
    except FormatError:
        raise UsageError(
            f"Can't parse feature=level string {text}: unable to parse {level.strip()} as a short."
        ) from None


def _level(release: str) -> int:
    try:
        return features.metadata_version_level(release, unstable=True)
    except KafkaError as error:
        raise UsageError(str(error)) from None


def _once(updates: Sequence[FeatureUpdate]) -> list[FeatureUpdate]:
    seen: set[str] = set()
    for update in updates:
        if update.feature in seen:
            raise UsageError(f"Feature {update.feature} was specified more than once.")
        seen.add(update.feature)
    return list(updates)
