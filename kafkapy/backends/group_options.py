"""What a member of a group decides, out of Kafka's consumer configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int

CLIENT_ID = "console-consumer"
PROTOCOLS = ("classic", "consumer")
_CLASSIC_ONLY = ("partition.assignment.strategy", "session.timeout.ms", "heartbeat.interval.ms")
PACKAGE = "org.apache.kafka.clients.consumer."
ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
COOPERATIVE = "cooperative-sticky"
DEFAULT_ASSIGNORS = ("range", COOPERATIVE)


class GroupOptions(NamedTuple):
    """The configs of a group's members, with Kafka's defaults for its console consumer."""

    group_id: str
    protocol: str = "classic"
    client_id: str = CLIENT_ID
    instance_id: str | None = None
    rack: str | None = None
    session_timeout_ms: int = 45_000
    max_poll_interval_ms: int = 300_000
    assignors: tuple[str, ...] = DEFAULT_ASSIGNORS
    remote_assignor: str | None = None
    auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    heartbeat_interval_ms: int = 3_000

    @classmethod
    def of(cls, group_id: str, configs: Mapping[str, str]) -> GroupOptions:
        """The options that ``configs`` stand for; others are ignored, as those of connections."""
        if not group_id:
            raise KafkaError("InvalidGroupIdException", "The configured group.id should not be an empty string")
        protocol = configs.get("group.protocol", "classic").strip().lower()
        if protocol not in PROTOCOLS:
            raise _invalid("group.protocol", protocol, f"String must be one of: {', '.join(PROTOCOLS)}")
        for name in _CLASSIC_ONLY:
            if protocol == "consumer" and name in configs:
                raise KafkaError("ConfigException", f"{name} cannot be set when group.protocol=CONSUMER")
        if protocol == "classic" and configs.get("group.remote.assignor"):
            raise KafkaError("ConfigException", "group.remote.assignor cannot be set when group.protocol=CLASSIC")
        return cls(
            group_id=group_id,
            protocol=protocol,
            client_id=configs.get("client.id", CLIENT_ID),
            instance_id=configs.get("group.instance.id") or None,
            rack=configs.get("client.rack") or None,
            session_timeout_ms=_number(configs, "session.timeout.ms", 45_000),
            max_poll_interval_ms=_number(configs, "max.poll.interval.ms", 300_000),
            assignors=_assignors(configs.get("partition.assignment.strategy")),
            remote_assignor=configs.get("group.remote.assignor") or None,
            auto_commit=_boolean(configs, "enable.auto.commit", True),
            auto_commit_interval_ms=_number(configs, "auto.commit.interval.ms", 5_000),
            heartbeat_interval_ms=_number(configs, "heartbeat.interval.ms", 3_000),
        )

    @property
    def is_cooperative(self) -> bool:
        """Whether members keep, through a rebalance, what they shall have afterwards: all assignors must be for it."""
        return self.protocol == "consumer" or all(name == COOPERATIVE for name in self.assignors)


def _assignors(text: str | None) -> tuple[str, ...]:
    if text is None:
        return DEFAULT_ASSIGNORS
    names = [each.strip().removeprefix(PACKAGE) for each in text.split(",")]
    found = tuple(ASSIGNORS.get(name, name) for name in names)
    for name in found:
        if name not in ASSIGNORS.values():
            known = ", ".join((*ASSIGNORS, *ASSIGNORS.values()))
            raise _invalid("partition.assignment.strategy", name, f"kafkapy runs no Java classes; it has {known}")
    return tuple(dict.fromkeys(found))


def _number(configs: Mapping[str, str], name: str, default: int) -> int:
    if name not in configs:
        return default
    text = configs[name].strip()
    try:
        value = parse_int(text)
    except FormatError:
        raise _invalid(name, text, "Not a number of type INT") from None
    if value < 0:
        raise _invalid(name, text, "Value must be at least 0")
    return value


def _boolean(configs: Mapping[str, str], name: str, default: bool) -> bool:
    text = configs.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise _invalid(name, text, "Expected value to be either true or false")
    return text == "true"


def _invalid(name: str, text: str, why: str) -> KafkaError:
    return KafkaError("ConfigException", f"Invalid value {text} for configuration {name}: {why}")
