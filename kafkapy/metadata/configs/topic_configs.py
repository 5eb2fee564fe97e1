"""The configs of a topic: ``LogConfig.validate``, as the controller runs it when a topic is made or altered.

The names are checked first, then each value in the order of the definition, then the combinations: compaction lags, and
tiered storage where it is on. What a topic does not set itself comes from the brokers, and counts in the combinations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkapy.metadata.configs.config_def import definition, parse
from kafkapy.metadata.configs.config_types import Value, check_value_sizes, invalid_config, invalid_value
from kafkapy.near_misses import hinting

_NONE: Mapping[str, str] = MappingProxyType({})
_DERIVED = -2  # a local retention that follows the total retention


def check_topic_configs(
    configs: Mapping[str, str],
    *,
    existing: Mapping[str, str] = _NONE,
    defaults: Mapping[str, str] = _NONE,
    remote_storage: bool = False,
) -> None:
    """Raises a KafkaError if these cannot be all the configs of a topic.

    ``existing`` are those that it had before, ``defaults`` those that the brokers give it
    (``effective.topic_defaults``), ``remote_storage`` is the brokers' remote.log.storage.system.enable.
    """
    keys = definition("topic")
    check_value_sizes(configs)
    for name in configs:
        if name not in keys:
            raise hinting(invalid_config(f"Unknown topic config name: {name}"), "topic config", name, keys)
    values = parse(keys, {**defaults, **configs})
    _check_compaction_lags(values)
    if values["remote.storage.enable"]:
        _check_remote_storage(values, remote_storage)
    elif existing.get("remote.storage.enable", "").lower() == "true" and not values["remote.log.delete.on.disable"]:
        raise invalid_config(
            "It is invalid to disable remote storage without deleting remote data. "
            "If you want to keep the remote data and turn to read only, "
            "please set `remote.storage.enable=true,remote.log.copy.disable=true`. "
            "If you want to disable remote storage and delete all remote data, "
            "please set `remote.storage.enable=false,remote.log.delete.on.disable=true`."
        )


def _check_compaction_lags(values: Mapping[str, Value]) -> None:
    shortest, longest = _number(values, "min.compaction.lag.ms"), _number(values, "max.compaction.lag.ms")
    if shortest > longest:
        raise invalid_config(
            f"conflict topic config setting min.compaction.lag.ms ({shortest}) > max.compaction.lag.ms ({longest})"
        )


def _check_remote_storage(values: Mapping[str, Value], remote_storage: bool) -> None:
    if not remote_storage:
        raise invalid_config(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    if values["cleanup.policy"] not in ([], ["delete"]):
        raise invalid_config(
            "Remote log storage only supports topics with cleanup.policy=delete or cleanup.policy being an empty list."
        )
    # Any negative retention.bytes means no limit, of retention.ms only -1 does (and less is refused before).
    _check_local_retention(values, "retention.bytes", unlimited=_number(values, "retention.bytes") < 0)
    _check_local_retention(values, "retention.ms", unlimited=_number(values, "retention.ms") == -1)
    if values["remote.log.copy.disable"]:
        _check_equal_retention(values, "retention.bytes")
        _check_equal_retention(values, "retention.ms")


def _check_local_retention(values: Mapping[str, Value], total_name: str, *, unlimited: bool) -> None:
    local_name = f"local.{total_name}"
    total, local = _number(values, total_name), _number(values, local_name)
    if unlimited or local == _DERIVED:
        return
    if local == -1:
        raise invalid_value(local_name, local, f"Value must not be -1 as {total_name} value is set as {total}.")
    if local > total:
        raise invalid_value(local_name, local, f"Value must not be more than {total_name} property value: {total}")


def _check_equal_retention(values: Mapping[str, Value], total_name: str) -> None:
    if _number(values, f"local.{total_name}") not in (_DERIVED, _number(values, total_name)):
        raise invalid_config(
            f"When `remote.log.copy.disable` is set to true, the `local.{total_name}` and `{total_name}` "
            "must be set to the identical value because there will be no more logs copied to the remote storage."
        )


def _number(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value
