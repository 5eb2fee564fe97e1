"""What ConfigCommand's ``--alter`` asks of a cluster, as changes; checked as the tool checks before it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.errors import KafkapyError
from kafkapy.metadata.changes import AlterClientQuotas, AlterConfigs, AlterScramCredential, Change
from kafkapy.metadata.config_description import QUOTA_TYPES, RESOURCE_TYPES
from kafkapy.metadata.config_entities import BROKER_LOGGERS, Entities
from kafkapy.metadata.config_entries import ReadEntries
from kafkapy.metadata.configs import quotas, scram
from kafkapy.metadata.configs.config_types import invalid_config
from kafkapy.metadata.image import BROKER_LOGGER, MetadataImage
from kafkapy.metadata.scram import MECHANISM_NUMBERS, new_salt

if TYPE_CHECKING:
    from random import Random

    from kafkapy.metadata.configs.effective import ConfigEntry


def alteration(
    image: MetadataImage,
    read_entries: ReadEntries,
    chosen: Entities,
    added: Mapping[str, str],
    deleted: Sequence[str],
    random: Random,
) -> list[Change]:
    """The changes; ``random`` gives new credentials their salt."""
    if chosen.type == BROKER_LOGGERS:
        _check_loggers(read_entries(BROKER_LOGGER, chosen.names)[chosen.names[0]], [*deleted, *added])
    if chosen.type in RESOURCE_TYPES:
        return [AlterConfigs(RESOURCE_TYPES[chosen.type], chosen.names[0], added, tuple(deleted))]
    named = dict(zip(chosen.types, chosen.names, strict=True))
    quotas.check_names(named, added, deleted)
    if any(name in MECHANISM_NUMBERS for name in (*added, *deleted)):
        return _credentials(image, chosen.names[0], added, deleted, random)
    return [_quotas(image, named, added, deleted)]


def _check_loggers(loggers: Sequence[ConfigEntry] | KafkapyError, named: Sequence[str]) -> None:
    if isinstance(loggers, KafkapyError):
        raise loggers
    known = {logger.name for logger in loggers}
    invalid = [name for name in named if name not in known]
    if invalid:
        raise invalid_config(f"Invalid broker logger(s): {','.join(invalid)}")


def _quotas(
    image: MetadataImage, named: Mapping[str, str], added: Mapping[str, str], deleted: Sequence[str]
) -> AlterClientQuotas:
    entity = tuple(sorted((QUOTA_TYPES[entity_type], name or None) for entity_type, name in named.items()))
    quotas.check_deleted(image.client_quotas.get(entity, {}), deleted)
    values = quotas.parse_quotas(added)
    for name, value in values.items():
        quotas.check_quota(named.keys(), name, value)
    return AlterClientQuotas(entity, values, tuple(deleted))


def _credentials(
    image: MetadataImage, user: str, added: Mapping[str, str], deleted: Sequence[str], random: Random
) -> list[Change]:
    specs = {mechanism: scram.parse_spec(mechanism, text) for mechanism, text in added.items()}
    existing = [name for name, number in MECHANISM_NUMBERS.items() if deleted and (number, user) in image.scram]
    scram.check_alteration(user, list(specs.values()), deleted, existing)
    removed = [AlterScramCredential(user, MECHANISM_NUMBERS[name], None) for name in deleted]
    made = [scram.upsertion(user, name, spec, new_salt(random)) for name, spec in specs.items()]
    return [*removed, *made]
