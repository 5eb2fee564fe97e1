"""What ``NAME=VALUE`` options beside configs take: properties of the console tools, and settings of their clients.

Settings that only the other one of consumers and producers has are left out, and so are passwords: a command line is
no place for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.completion.values import Asked

_PRODUCER, _CONSUMER = "console-producer", "console-consumer"
_SWITCH = ("true", "false")
_DESERIALIZED = ("key.deserializer", "value.deserializer", "headers.deserializer")
_OF_PRODUCERS = frozenset(
    (
        *("acks", "batch.size", "buffer.memory", "compression.gzip.level", "compression.lz4.level", "compression.type"),
        *("compression.zstd.level", "delivery.timeout.ms", "enable.idempotence", "linger.ms", "max.block.ms"),
        *("max.in.flight.requests.per.connection", "max.request.size", "metadata.max.idle.ms"),
        *("transaction.timeout.ms",),
    )
)
_OF_CONSUMERS = frozenset(
    (
        *("auto.commit.interval.ms", "auto.offset.reset", "client.rack", "enable.auto.commit"),
        *("exclude.internal.topics", "fetch.max.bytes", "fetch.max.wait.ms", "fetch.min.bytes", "group.id"),
        *("group.instance.id", "group.protocol", "group.remote.assignor", "heartbeat.interval.ms", "isolation.level"),
        *("max.partition.fetch.bytes", "max.poll.interval.ms", "max.poll.records", "partition.assignment.strategy"),
        *("session.timeout.ms",),
    )
)
_FEW_VALUES = {
    "acks": ("all", "-1", "0", "1"),
    "auto.offset.reset": ("earliest", "latest", "none", "by_duration:"),
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "compression.type": ("none", "gzip", "snappy", "lz4", "zstd"),
    "group.protocol": ("classic", "consumer"),
    "group.remote.assignor": ("uniform", "range"),
    "isolation.level": ("read_uncommitted", "read_committed"),
    "sasl.mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"),
    "security.protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "ssl.keystore.type": ("PEM", "PKCS12", "JKS"),
    "ssl.truststore.type": ("PEM", "PKCS12", "JKS"),
}


def properties(asked: Asked) -> Iterable[str]:
    """Those of the console producer's reader, or of the console consumer's formatter."""
    return _properties(asked)


def property_values(asked: Asked) -> Iterable[str]:
    """The values of such a property, where they are few."""
    return _properties(asked).get(asked.of, ())


def settings(asked: Asked) -> Iterable[str]:
    """Those of a producer, or of a consumer, that kafkapy looks at."""
    from kafkapy.backends.live.client_settings import settings as all_settings

    own = _OF_PRODUCERS if _is_producer(asked) else _OF_CONSUMERS
    used = {name for name, each in all_settings().items() if each.decision == "used" and each.type != "PASSWORD"}
    return sorted(own | used)


def setting_values(asked: Asked) -> Iterable[str]:
    """The values of a setting, where they are few."""
    from kafkapy.backends.live.client_settings import settings as all_settings

    setting = all_settings().get(asked.of)
    return _SWITCH if setting is not None and setting.type == "BOOLEAN" else _FEW_VALUES.get(asked.of, ())


def _properties(asked: Asked) -> dict[str, tuple[str, ...]]:
    if _is_producer(asked):
        from kafkapy.backends.line_reader import ReaderOptions

        return {name.replace("_", "."): _values(default) for name, default in ReaderOptions()._asdict().items()}
    from kafkapy.output.deserializers import NAMES
    from kafkapy.output.record_formatter import Style

    style = Style()._asdict().items()
    switches = {f"print.{name}": _SWITCH for name, default in style if isinstance(default, bool)}
    texts = {name.replace("_", "."): () for name, default in style if not isinstance(default, bool)}
    return {**switches, **texts, **dict.fromkeys(_DESERIALIZED, NAMES)}


def _values(default: object) -> tuple[str, ...]:
    return _SWITCH if isinstance(default, bool) else ()


def _is_producer(asked: Asked) -> bool:
    return asked.line.command((_PRODUCER, _CONSUMER)) == _PRODUCER
