"""The configs of brokers: what holds where several layers set it, and which changes a running broker takes.

A broker's config comes from, highest first: what was set for it alone, what was set for all brokers, its
server.properties, and Kafka's defaults. Some configs are one thing in several units (log.roll.ms, log.roll.hours): the
first that is set counts, but a layer that sets any of them wins over all layers below.

A listener has configs of its own, ``listener.name.<listener>.<config>``. Keys and certificates can be changed on a
running broker only in that form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.errors import KafkaError
from kafkapy.metadata.configs.config_def import READ_ONLY, ConfigKey, definition, parse
from kafkapy.metadata.configs.config_types import Value, check_value_sizes

_HOUR = 60 * 60 * 1000
_MINUTE = 60 * 1000
_UNITS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_FLUSH = ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
_LISTENER_MECHANISM_CONFIGS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
_CLUSTER_LEVEL_LISTENER_CONFIGS = ("max.connections", "max.connection.creation.rate", "num.network.threads")
_SECURITY_CONFIGS = frozenset(
    f"ssl.{name}"
    for name in (
        *("keystore.type", "keystore.location", "keystore.password", "key.password", "keystore.key"),
        *("keystore.certificate.chain", "truststore.type", "truststore.location", "truststore.password"),
        "truststore.certificates",
    )
)


def synonyms(name: str, *, match_listener: bool = True) -> tuple[str, ...]:
    """The names under which a broker config may be set, the strongest first."""
    for units in _UNITS:
        if name in units:
            return units
    if name == _FLUSH[0]:
        return _FLUSH
    base = listener_base(name) if match_listener else None
    if base is None:
        return (name,)
    return (name, next((config for config in _LISTENER_MECHANISM_CONFIGS if base.endswith(config)), base))


def listener_base(name: str) -> str | None:
    """The config that ``listener.name.<listener>.<config>`` is of, or None for any other name."""
    _, dot, base = name.removeprefix("listener.name.").partition(".")
    return base if dot and name.startswith("listener.name.") else None


def broker_key(name: str) -> ConfigKey | None:
    """What the config is: one of the definition, one that is only dynamic, or that of a listener."""
    keys = definition("broker")
    return (
        keys.get(name)
        or definition("broker_quota").get(name)
        or next((keys[synonym] for synonym in synonyms(name) if synonym in keys), None)
    )


def merged(static: Mapping[str, str], *layers: Mapping[str, str]) -> dict[str, str]:
    """What is set once the dynamic layers are put onto server.properties, the lowest first."""
    configs = dict(static)
    for layer in layers:
        for name, value in layer.items():
            for synonym in synonyms(name, match_listener=False):
                configs.pop(synonym, None)
            configs[name] = value
    return configs


def with_node_id(static: Mapping[str, str]) -> dict[str, str]:
    """server.properties where broker.id and node.id stand for one another."""
    configs = dict(static)
    for name, other in (("broker.id", "node.id"), ("node.id", "broker.id")):
        if other in configs:
            configs.setdefault(name, configs[other])
    return configs


def topic_values(values: Mapping[str, Value]) -> dict[str, Value]:
    """``extractLogConfigMap``: the values that topics take over from parsed broker configs, by the topic's names."""
    found = {key.name: values[key.synonym] for key in definition("topic").values() if key.synonym}
    found["segment.ms"] = _first(values, ("log.roll.ms", 1), ("log.roll.hours", _HOUR))
    found["segment.jitter.ms"] = _first(values, ("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR))
    found["flush.ms"] = _first(values, (_FLUSH[0], 1), (_FLUSH[1], 1))
    retention = _first(
        values, ("log.retention.ms", 1), ("log.retention.minutes", _MINUTE), ("log.retention.hours", _HOUR)
    )
    found["retention.ms"] = max(retention, -1)
    return found


def _first(values: Mapping[str, Value], *units: tuple[str, int]) -> int:
    for name, milliseconds in units:
        value = values[name]
        if isinstance(value, int):
            return value * milliseconds
    raise AssertionError(f"no default for {units}")


def check_broker_configs(configs: Mapping[str, str], *, per_broker: bool, below: Mapping[str, str]) -> None:
    """Raises a KafkaError if these cannot be all the dynamic configs of a broker, or of all of them by default.

    ``below`` is what holds without them: ``merged`` of the layers beneath. A broker refuses with
    InvalidRequestException what the controller would refuse with InvalidConfigurationException.
    """
    check_value_sizes(configs)
    try:
        _check_names(configs)
        dynamic = {**definition("broker_quota"), **_dynamic_keys()}
        parse(dynamic, {listener_base(name) or name: text for name, text in configs.items()})
        if not per_broker:
            _refuse(
                (name for name in configs if _is_per_broker(name)),
                "Cannot update these configs at default cluster level, broker id must be specified",
            )
        _check_combinations(merged(below, configs))
    except KafkaError as refused:
        raise KafkaError("InvalidRequestException", str(refused)) from None


def _check_names(configs: Mapping[str, str]) -> None:
    keys = definition("broker")
    read_only = (name for name in configs if name in keys and keys[name].update_mode == READ_ONLY)
    _refuse(read_only, "Cannot update these configs dynamically")
    _refuse(
        (name for name in configs if name in _SECURITY_CONFIGS),
        "These security configs can be dynamically updated only per-listener using the listener prefix",
    )


def _refuse(names: Iterable[str], reason: str) -> None:
    refused = sorted(names)
    if refused:
        raise KafkaError("InvalidRequestException", f"{reason}: [{', '.join(refused)}]")


def _dynamic_keys() -> dict[str, ConfigKey]:
    return {name: key for name, key in definition("broker").items() if key.update_mode != READ_ONLY}


def _is_per_broker(name: str) -> bool:
    base = listener_base(name)
    if base is not None:
        return base not in _CLUSTER_LEVEL_LISTENER_CONFIGS
    key = definition("broker").get(name)
    return key is not None and key.update_mode == "per-broker"


def _check_combinations(configs: Mapping[str, str]) -> None:
    """The part of ``KafkaConfig.validateValues`` that a dynamic config can offend."""
    values = parse({name: key for name, key in definition("broker").items() if not key.required}, configs)
    topic = topic_values(values)
    _require(_at_least(topic["segment.ms"], 1), "log.roll.ms must be greater than or equal to 1")
    _require(_at_least(topic["segment.jitter.ms"], 0), "log.roll.jitter.ms must be greater than or equal to 0")
    _require(topic["retention.ms"] != 0, "log.retention.ms must be unlimited (-1) or, greater than or equal to 1")
    _check_cleaner_threads(values)


def _check_cleaner_threads(values: Mapping[str, Value]) -> None:
    buffer, threads = values["log.cleaner.dedupe.buffer.size"], values["log.cleaner.threads"]
    assert isinstance(buffer, int)
    assert isinstance(threads, int)
    if threads == 0:
        # The definition allows it; then Kafka 4.3.1 divides by it, and this is all that it says.
        raise KafkaError("InvalidRequestException", "/ by zero")
    _require(buffer // threads > 1 << 20, "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.")


def _at_least(value: Value, low: int) -> bool:
    return isinstance(value, int) and value >= low


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise KafkaError("InvalidRequestException", f"requirement failed: {message}")
