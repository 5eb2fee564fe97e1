"""Quotas of users, clients and ips: which there are, and which values they take.

A quota is a double whatever its type says; the type only bounds it and forbids fractions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafkapy.errors import FormatError, KafkaError, UsageError
from kafkapy.metadata.configs.config_def import definition
from kafkapy.metadata.configs.config_types import invalid_config, parse_double
from kafkapy.metadata.scram import MECHANISM_NUMBERS

_LARGEST = {"INT": (2.0**31 - 1, "an INT"), "LONG": (2.0**63, "a LONG")}
_FRACTION = 1e-6


def check_names(entity: Mapping[str, str], added: Collection[str], deleted: Collection[str]) -> None:
    """Raises a UsageError, in ConfigCommand's words, if an entity cannot have configs of these names.

    ``entity`` has a name, or "" for the default, by its types: users, clients or both, or ips.
    """
    if "ips" in entity:
        _check_ip_names([*added, *deleted])
        return
    _check_user_and_client_names("clients" in entity, added, deleted)
    credentials = [name for name in (*added, *deleted) if name in MECHANISM_NUMBERS]
    if credentials and not all(entity.values()):
        raise UsageError(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
            "using --bootstrap-server."
        )
    if credentials and len(credentials) < len(added) + len(deleted):
        raise UsageError(
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using --bootstrap-server."
        )


def _check_ip_names(names: Iterable[str]) -> None:
    unknown = [name for name in names if name not in definition("ip_quota")]
    if unknown:
        raise UsageError(
            "Only connection quota configs can be added for 'ips' using --bootstrap-server. "
            f"Unexpected config names: {','.join(unknown)}"
        )


def _check_user_and_client_names(of_clients: bool, added: Iterable[str], deleted: Iterable[str]) -> None:
    kinds, entity = ("quota", "clients") if of_clients else ("quota and SCRAM credential", "users")
    for verb, collection, names in (("added", "Set", added), ("deleted", "ArrayBuffer", deleted)):
        unknown = [name for name in names if not _is_known(name, of_clients)]
        if unknown:
            raise UsageError(
                f"Only {kinds} configs can be {verb} for '{entity}' using --bootstrap-server. "
                f"Unexpected config names: {collection}({', '.join(unknown)})"
            )


def _is_known(name: str, of_clients: bool) -> bool:
    return name in definition("client_quota") or (name in MECHANISM_NUMBERS and not of_clients)


def parse_quotas(configs: Mapping[str, str]) -> dict[str, float]:
    """The values of ``--add-config``."""
    quotas = {}
    for name, text in configs.items():
        try:
            quotas[name] = parse_double(text)
        except FormatError:
            raise UsageError(f"Cannot parse quota configuration value for {name}: {text}") from None
    return quotas


def check_deleted(existing: Collection[str], deleted: Iterable[str]) -> None:
    """Only a quota that is set can be deleted."""
    invalid = [name for name in deleted if name not in existing]
    if invalid:
        raise invalid_config(f"Invalid config(s): {','.join(invalid)}")


def check_quota(entity_types: Collection[str], name: str, value: float) -> None:
    """Raises the KafkaError with which the controller refuses a quota."""
    import math

    key = definition("ip_quota" if "ips" in entity_types else "client_quota").get(name)
    if key is None:
        raise _invalid_request(f"Invalid configuration key {name}")
    if value <= 0.0:
        raise _invalid_request(f"Quota {name} must be greater than 0")
    if key.type == "DOUBLE":
        return
    largest, words = _LARGEST[key.type]
    if value > largest:
        raise _invalid_request(f"Proposed value for {name} is too large for {words}.")
    if math.fmod(value, 1.0) > _FRACTION:
        raise _invalid_request(f"{name} cannot be a fractional value.")


def _invalid_request(message: str) -> KafkaError:
    return KafkaError("InvalidRequestException", message)
