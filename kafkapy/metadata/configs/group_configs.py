"""The configs of a group: ``GroupConfig.validate``.

Each value has to lie within bounds that the brokers set, and a session has to outlast a heartbeat. What a group does
not set itself comes from the brokers and is held to the same bounds, except for the assignment intervals: those are
looked at only where the group sets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkapy.metadata.configs.config_def import definition, parse
from kafkapy.metadata.configs.config_types import Value, check_value_sizes, invalid_config

_NONE: Mapping[str, str] = MappingProxyType({})

# The config, and the broker configs that bound it, in the order in which Kafka looks at them.
_BOUNDS = tuple(
    (name, low and f"group.{low}", f"group.{high}")
    for name, low, high in (
        ("consumer.heartbeat.interval.ms", "consumer.min.heartbeat.interval.ms", "consumer.max.heartbeat.interval.ms"),
        ("consumer.session.timeout.ms", "consumer.min.session.timeout.ms", "consumer.max.session.timeout.ms"),
        (
            "consumer.assignment.interval.ms",
            "consumer.min.assignment.interval.ms",
            "consumer.max.assignment.interval.ms",
        ),
        ("share.heartbeat.interval.ms", "share.min.heartbeat.interval.ms", "share.max.heartbeat.interval.ms"),
        ("share.session.timeout.ms", "share.min.session.timeout.ms", "share.max.session.timeout.ms"),
        ("share.record.lock.duration.ms", "share.min.record.lock.duration.ms", "share.max.record.lock.duration.ms"),
        ("share.delivery.count.limit", "share.min.delivery.count.limit", "share.max.delivery.count.limit"),
        (
            "share.partition.max.record.locks",
            "share.min.partition.max.record.locks",
            "share.max.partition.max.record.locks",
        ),
        ("share.assignment.interval.ms", "share.min.assignment.interval.ms", "share.max.assignment.interval.ms"),
        ("streams.heartbeat.interval.ms", "streams.min.heartbeat.interval.ms", "streams.max.heartbeat.interval.ms"),
        ("streams.session.timeout.ms", "streams.min.session.timeout.ms", "streams.max.session.timeout.ms"),
        ("streams.num.standby.replicas", "", "streams.max.standby.replicas"),
        ("streams.assignment.interval.ms", "streams.min.assignment.interval.ms", "streams.max.assignment.interval.ms"),
    )
)


def check_group_configs(configs: Mapping[str, str], *, broker: Mapping[str, str] = _NONE) -> None:
    """Raises a KafkaError if these cannot be all the configs of a group. ``broker`` is what is set on the brokers."""
    check_value_sizes(configs)
    keys = definition("group")
    for name in configs:
        if name not in keys:
            raise invalid_config(f"Unknown group config name: {name}")
    bounds = definition("broker")
    server = parse({name: bounds[name] for name in bounds if name.startswith("group.")}, broker)
    values = parse(keys, configs)
    for name, key in keys.items():
        if name not in configs and key.synonym:
            values[name] = server[key.synonym]
    _check_bounds(configs, values, server)
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _number(values, session) <= _number(values, heartbeat):
            raise invalid_config(f"{session} must be greater than {heartbeat}")


def _check_bounds(configs: Mapping[str, str], values: Mapping[str, Value], server: Mapping[str, Value]) -> None:
    for name, low, high in _BOUNDS:
        if name.endswith("assignment.interval.ms") and name not in configs:
            continue
        if low and _number(values, name) < _number(server, low):
            raise invalid_config(f"{name} must be greater than or equal to {low}")
        if _number(values, name) > _number(server, high):
            raise invalid_config(f"{name} must be less than or equal to {high}")


def _number(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value
