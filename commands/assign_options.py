"""What ``kafkapy assign`` is told: topics, members and changes, and the group that they make."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kafkapy.coordinator.assignors.registry import CLIENT, SERVER
from kafkapy.coordinator.assignors.simulated_group import CLASSIC, CONSUMER, SimulatedGroup, Topology
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.near_misses import did_you_mean
from kafkapy.output.assign_lines import Step

START, JOIN, LEAVE, TOPIC = "start", "join", "leave", "topic"
CHANGE_FORMS = "join:MEMBER[=TOPIC,...], leave:MEMBER or topic:NAME:COUNT"
MOST_MEMBERS = 1000
MOST_PARTITIONS = 10_000


class Change(NamedTuple):
    """``name`` is that of a member or a topic; ``topics`` are those that a joining member wants (None: all)."""

    text: str
    kind: str
    name: str
    topics: tuple[str, ...] | None = None
    partition_count: int = 0


def parse_change(text: str) -> Change:
    """One ``--then``."""
    kind, _, rest = text.partition(":")
    if kind == JOIN and rest:
        member, topics = _parse_member(rest, "--then")
        return Change(text, JOIN, member, topics)
    if kind == LEAVE and rest:
        return Change(text, LEAVE, rest)
    if kind == TOPIC and rest:
        topic, count = _parse_topic(rest, "--then", 0)
        return Change(text, TOPIC, topic, None, count)
    raise UsageError(f"--then: '{text}' is not one of {CHANGE_FORMS}")


def new_group(
    assignor: str,
    protocol: str | None,
    topics: str,
    members: str,
    racks: str | None,
    replication_factor: int,
    changes: Sequence[Change],
) -> SimulatedGroup:
    """The group before its first rebalance."""
    protocol = _protocol(assignor, protocol)
    if racks is not None and protocol == CONSUMER:
        raise UsageError("--racks: the assignors of the consumer protocol do not look at racks")
    named_racks = _split(racks, "--racks", ",") if racks is not None else []
    if replication_factor > max(1, len(named_racks)):
        raise UsageError("--replication-factor: there are fewer --racks than that")
    counts = _parse_topics(topics)
    group = SimulatedGroup(assignor, protocol, counts, Topology(named_racks, replication_factor))
    for member, wanted in _parse_members(members):
        _apply(group, Change(members, JOIN, member, wanted), "--members")
    _check_subscriptions(members, counts, changes)
    return group


def steps(group: SimulatedGroup, changes: Sequence[Change]) -> list[Step]:
    """The first division, and what each change brings."""
    made = [Step(0, START, group.partition_count, group.rebalance())]
    for number, change in enumerate(changes, 1):
        _apply(group, change, f"--then {change.text}")
        made.append(Step(number, change.text, group.partition_count, group.rebalance()))
    return made


def _apply(group: SimulatedGroup, change: Change, option: str) -> None:
    try:
        if change.kind == JOIN:
            group.join(change.name, change.topics)
        elif change.kind == LEAVE:
            group.leave(change.name)
        else:
            group.set_partitions(change.name, change.partition_count)
    except KafkapyError as error:
        raise UsageError(f"{option}: {error}") from None


def _protocol(assignor: str, protocol: str | None) -> str:
    if protocol is None:
        protocol = CLASSIC if assignor in CLIENT else CONSUMER
    known: dict[str, Iterable[str]] = {CLASSIC: CLIENT, CONSUMER: SERVER}
    if protocol not in known:
        raise UsageError(f"--group-protocol: '{protocol}' is neither {CLASSIC} nor {CONSUMER}")
    if assignor not in (*CLIENT, *SERVER):
        known_names = dict.fromkeys((*CLIENT, *SERVER))
        end = did_you_mean(assignor, known_names)
        raise UsageError(f"--assignor: '{assignor}' is not one of {', '.join(known_names)}{end}")
    if assignor not in known[protocol]:
        raise UsageError(f"--assignor: the {protocol} protocol has {', '.join(known[protocol])}, not {assignor}")
    return protocol


def _check_subscriptions(members: str, topics: Iterable[str], changes: Sequence[Change]) -> None:
    """A topic that never comes is a slip of the pen."""
    known = {*topics, *(change.name for change in changes if change.kind == TOPIC)}
    wanted = [(member, topic) for member, own in _parse_members(members) for topic in own or ()]
    wanted += [(change.name, topic) for change in changes for topic in change.topics or ()]
    for member, topic in wanted:
        if topic not in known:
            raise UsageError(f"{member} subscribes to {topic}, which is neither in --topics nor added by --then")


def _parse_topics(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for part in _split(text, "--topics", ","):
        name, count = _parse_topic(part, "--topics", 1)
        if name in counts:
            raise UsageError(
                f"--topics: {name} is given twice; for a topic that grows later, give --then topic:{name}:COUNT"
            )
        counts[name] = count
    return counts


def _parse_members(text: str) -> list[tuple[str, tuple[str, ...] | None]]:
    if text.lstrip("+-").isdecimal():
        count = int(text) if text.isdecimal() else 0
        if not 0 < count <= MOST_MEMBERS:
            raise UsageError(f"--members: {text} is not between 1 and {MOST_MEMBERS}")
        return [(f"m{number}", None) for number in range(1, count + 1)]
    return [_parse_member(part, "--members") for part in _split(text, "--members", ";")]


def _parse_member(text: str, option: str) -> tuple[str, tuple[str, ...] | None]:
    name, equals, topics = text.partition("=")
    if not name:
        raise UsageError(f"{option}: '{text}' names no member")
    if not equals:
        return name, None
    return name, tuple(dict.fromkeys(_split(topics, option, ","))) if topics else ()


def _parse_topic(text: str, option: str, least: int) -> tuple[str, int]:
    name, _, count = text.rpartition(":")
    if not name or not count.isdecimal() or not least <= int(count) <= MOST_PARTITIONS:
        raise UsageError(f"{option}: '{text}' is not NAME:COUNT with a count from {least} to {MOST_PARTITIONS}")
    return name, int(count)


def _split(text: str, option: str, separator: str) -> list[str]:
    parts = text.split(separator)
    if not all(parts):
        raise UsageError(f"{option}: an empty name in '{text}'")
    return parts
