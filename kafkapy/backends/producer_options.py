"""What a producer decides, out of Kafka's producer configs.

Idempotence is on unless it is switched off, or something that was asked for excludes it and it was not asked for by
name: acks other than all, or no retries. More than five requests in flight are refused unless it is switched off.

A config that would have records go elsewhere or otherwise than they do here is refused. Those that only say how well
the network is used, as how partitions are adapted to slow brokers, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from kafkapy.errors import FormatError, KafkaError, KafkapyError
from kafkapy.formats.compression import Codec
from kafkapy.formats.java_parsing import parse_int, parse_long

ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}
CODECS = {codec.label: codec for codec in Codec}
MAX_IN_FLIGHT = 5
IN_FLIGHT = "max.in.flight.requests.per.connection"

Value = TypeVar("Value")


class ProducerOptions(NamedTuple):
    """The configs that matter to a producer, with Kafka's defaults for its console producer; but what fails on its way
    is tried again until ``delivery.timeout.ms`` is over, where Kafka's gives up after three times (``retries``)."""

    batch_size: int = 16384
    linger_ms: int = 1000
    acks: int = -1
    codec: Codec = Codec.NONE
    level: int | None = None
    max_request_size: int = 1048576
    idempotent: bool = True
    buffer_memory: int = 32 << 20
    delivery_timeout_ms: int = 120_000
    retries: int | None = None
    max_in_flight: int = MAX_IN_FLIGHT
    ignores_keys: bool = False
    transaction_timeout_ms: int = 60_000

    @classmethod
    def of(cls, configs: Mapping[str, str]) -> ProducerOptions:
        """The options that ``configs`` stand for; others are ignored, as those of connections."""
        _refuse(configs)
        codec: Codec = _one_of(configs, "compression.type", CODECS, "none")
        acks: int = _one_of(configs, "acks", ACKS, "all")
        return cls(
            batch_size=_number(configs, "batch.size", 16384),
            linger_ms=_number(configs, "linger.ms", 1000),
            acks=acks,
            codec=codec,
            level=_level(configs, codec),
            max_request_size=_number(configs, "max.request.size", 1048576),
            idempotent=_is_idempotent(configs, acks),
            buffer_memory=_number(configs, "buffer.memory", 32 << 20),
            delivery_timeout_ms=_number(configs, "delivery.timeout.ms", 120_000),
            retries=_number(configs, "retries", 0) if "retries" in configs else None,
            max_in_flight=min(_number(configs, IN_FLIGHT, MAX_IN_FLIGHT, 1), MAX_IN_FLIGHT),
            ignores_keys=_is_true(configs, "partitioner.ignore.keys"),
            transaction_timeout_ms=_number(configs, "transaction.timeout.ms", 60_000, 1),
        )


def _refuse(configs: Mapping[str, str]) -> None:
    """What would be something else than asked for, if it was ignored."""
    if configs.get("partitioner.class", "").strip():
        raise _unusable("partitioner.class", "it names a Java class, which kafkapy cannot run: leave it out")
    if configs.get("transactional.id", "").strip():
        raise _unusable("transactional.id", "give --transactional-id, which also says where transactions end")
    if _is_true(configs, "transaction.two.phase.commit.enable"):
        raise _unusable("transaction.two.phase.commit.enable", "kafkapy ends its transactions by itself: leave it out")


def _unusable(name: str, reason: str) -> KafkapyError:
    return KafkapyError(f"{name} cannot be honoured: {reason}")


def _is_true(configs: Mapping[str, str], name: str) -> bool:
    text = configs.get(name, "false").strip().lower()
    if text not in ("true", "false"):
        raise KafkaError(
            "ConfigException",
            f"Invalid value {text} for configuration {name}: Expected value to be either true or false",
        )
    return text == "true"


def _is_idempotent(configs: Mapping[str, str], acks: int) -> bool:
    asked = configs.get("enable.idempotence")
    if asked is not None and asked.strip().lower() == "false":
        return False
    why_not = None
    if acks != -1:
        why_not = "Must set acks to all in order to use the idempotent producer."
    elif _number(configs, "retries", 1) == 0:
        why_not = "Must set retries to non-zero when using the idempotent producer."
    if why_not is not None and asked is not None:
        raise KafkaError("ConfigException", why_not)
    in_flight = _number(configs, IN_FLIGHT, MAX_IN_FLIGHT)
    if in_flight > MAX_IN_FLIGHT:
        raise KafkaError(
            "ConfigException",
            f"To use the idempotent producer, {IN_FLIGHT} must be set to at most {MAX_IN_FLIGHT}. "
            f"Current value is {in_flight}.",
        )
    return why_not is None


def _number(configs: Mapping[str, str], name: str, default: int, lowest: int = 0) -> int:
    if name not in configs:
        return default
    text = configs[name].strip()
    kind, parse = ("LONG", parse_long) if name in ("linger.ms", "buffer.memory") else ("INT", parse_int)
    try:
        value = parse(text)
    except FormatError:
        raise KafkaError(
            "ConfigException", f"Invalid value {text} for configuration {name}: Not a number of type {kind}"
        ) from None
    if value < lowest:
        raise KafkaError(
            "ConfigException", f"Invalid value {text} for configuration {name}: Value must be at least {lowest}"
        )
    return value


def _one_of(configs: Mapping[str, str], name: str, known: Mapping[str, Value], default: str) -> Value:
    text = configs.get(name, default).strip()
    if text not in known:
        raise KafkaError(
            "ConfigException",
            f"Invalid value {text} for configuration {name}: String must be one of: {', '.join(known)}",
        )
    return known[text]


def _level(configs: Mapping[str, str], codec: Codec) -> int | None:
    """``compression.CODEC.level``, where the codec has one and it is not left to the codec. All that are given must be
    levels, as topics have them."""
    named = {each: name for each in Codec if (name := f"compression.{each.label}.level") in configs}
    if not named:
        return None
    from kafkapy.metadata.configs.config_def import definition, parse_value

    keys = definition("topic")
    levels = {each: parse_value(keys[name], configs[name]) for each, name in named.items() if name in keys}
    level = levels.get(codec)
    return level if isinstance(level, int) else None
