"""What the metadata says of partitions: who leads them, and who is in sync. The same of files and of a running cluster.

A cluster that was stopped as a whole leaves no leaders and its last in-sync replicas in the ELR. That is no problem:
the next start elects from them. So where nobody leads a partition in files, only what nobody could lead is told.

One broker that is down is the cause of many partitions' problems: those with the same one are one finding. Errors come
before warnings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.replication import eligible_leaders
from kafkapy.doctor.finding import Finding, Severity, errors_first, warning
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.metadata.config_entries import Entries
from kafkapy.metadata.image import TOPIC
from kafkapy.metadata.topic_description import PartitionDescription, describe_topics
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

MOST_TOPICS = 8
NEEDS_CONFIGS = "the principal needs DESCRIBE_CONFIGS of the topics"
OFFLINE, UNDER_MIN_ISR, UNDER_REPLICATED = "unavailable", "under-min-isr", "under-replicated"


class Problem(NamedTuple):
    """What partitions have in common; ``down`` are brokers with a replica that is not in sync, to be started."""

    kind: str
    severity: Severity
    text: str
    down: tuple[int, ...]


def check_metadata(
    cluster: Cluster, alive: Collection[int], fetching: Collection[int], is_live: bool, where: str
) -> Iterator[Finding]:
    """Partitions that are offline or not as often there as they should be, those with the same problem together;
    ``alive`` are the brokers that may lead, ``fetching`` those that need not be started to catch up."""
    image = cluster.image()
    topics = sorted(image.topics.values(), key=lambda topic: topic.name)
    registered = {topic.name: {**topic.partitions} for topic in topics}  # first: live_health says why
    configs = cluster.config_entries(TOPIC, [topic.name for topic in topics])
    yield from _without_configs(configs)
    known: Entries = {name: [] if isinstance(found, KafkapyError) else found for name, found in configs.items()}
    together: dict[Problem, dict[str, list[int]]] = {}
    for topic in describe_topics(alive, topics, known, True):
        for found in topic.partitions:
            registration = registered[topic.name][found.partition]
            kind = _problem(found, registration, alive, is_live)
            if kind is not None:
                problem = Problem(*kind, _down(registration, alive, fetching))
                together.setdefault(problem, {}).setdefault(topic.name, []).append(found.partition)
    findings = (_finding(problem, partitions, where) for problem, partitions in together.items())
    yield from errors_first(findings)


def _without_configs(configs: Entries) -> Iterator[Finding]:
    """Topics whose min.insync.replicas nobody tells: their partitions are looked at all the same."""
    together: dict[tuple[str, str], list[str]] = {}
    for name, found in configs.items():
        if isinstance(found, KafkapyError):
            is_refused = isinstance(found, KafkaError) and found.name.endswith("AuthorizationException")
            remedy = NEEDS_CONFIGS if is_refused else "see what the log of that broker says"
            together.setdefault((str(found), remedy), []).append(name)
    for (text, remedy), names in together.items():
        yield warning(f"configs of {_some(names)}", f"min.insync.replicas is not known: {text}", remedy)


def _problem(
    found: PartitionDescription, registration: PartitionRegistration, alive: Collection[int], is_live: bool
) -> tuple[str, Severity, str] | None:
    leader = registration.leader
    is_led = leader in alive if leader != NO_LEADER else not is_live and _could_be_led(registration, alive)
    if is_live and leader != NO_LEADER and not is_led:
        return OFFLINE, Severity.ERROR, f"offline: broker {leader}, which leads, does not answer"
    if not is_led:
        replicas = ", ".join(map(str, sorted(registration.replicas)))
        return OFFLINE, Severity.ERROR, f"offline: none of its replicas (on {replicas}) runs and may lead"
    if leader == NO_LEADER:
        return None
    if found.is_under_min_isr:
        text = f"{len(found.isr)} in sync, fewer than min.insync.replicas={found.min_isr}: acks=all is refused"
        return UNDER_MIN_ISR, Severity.ERROR, text
    if found.is_under_replicated:
        out = sorted({*found.replicas} - {*found.isr})
        return UNDER_REPLICATED, Severity.WARNING, f"under-replicated: not in sync on {', '.join(map(str, out))}"
    return None


def _down(registration: PartitionRegistration, alive: Collection[int], fetching: Collection[int]) -> tuple[int, ...]:
    """Who has to be started. The last member of an ISR may stay in it when it is gone: then nobody leads."""
    in_sync = registration.isr if registration.leader in alive else ()
    return tuple(sorted({*registration.replicas} - {*in_sync, *fetching}))


def _could_be_led(registration: PartitionRegistration, alive: Collection[int]) -> bool:
    return bool({*eligible_leaders(registration, registration.replicas)} & {*alive})


def _finding(problem: Problem, partitions: Mapping[str, Sequence[int]], where: str) -> Finding:
    """``orders-0: ...``, or of several topics ``27 partitions: ... (orders 0-2, payments 0 ...)``."""
    severity, text = problem.severity, problem.text
    remedy = _remedy(problem, [*partitions], where)
    if len(partitions) == 1:
        ((topic, numbers),) = partitions.items()
        return Finding(severity, _place(topic, numbers), text, remedy)
    named = _some([f"{topic} {_runs(numbers)}" for topic, numbers in partitions.items()])
    return Finding(severity, f"{sum(map(len, partitions.values()))} partitions", f"{text} ({named})", remedy)


def _remedy(problem: Problem, topics: Sequence[str], where: str) -> str:
    if where.startswith("--cluster"):
        start = f"kafkapy cluster start-broker {' '.join(map(str, problem.down))} {where}; " if problem.down else ""
        return f"{start}kafkapy cluster replicate --until-caught-up {where}"
    start = _start(problem.down)
    if problem.kind == UNDER_REPLICATED and len(topics) == 1:
        start = f"{start}, or " if start else ""
        return f"{start}see how far they are: kafkapy log-dirs --describe --topic-list {topics[0]} {where}"
    which = f"--topic {topics[0]}" if len(topics) == 1 else f"--{problem.kind}-partitions"
    start = f"{start}; " if start else ""
    return f"{start}what is there: kafkapy topics --describe {which} {where}"


def _start(down: Sequence[int]) -> str:
    """Neither files nor an address that does not answer tell for sure that a broker is down."""
    if not down:
        return ""
    who, are = ("broker", "it is") if len(down) == 1 else ("brokers", "they are")
    return f"start {who} {', '.join(map(str, down))} if {are} down"


def _some(names: Sequence[str]) -> str:
    """The first ones by name, and how many more there are."""
    more = len(names) - MOST_TOPICS
    return ", ".join(names[:MOST_TOPICS]) + (f" and {more} more topic{'s' if more > 1 else ''}" if more > 0 else "")


def _place(topic: str, numbers: Sequence[int]) -> str:
    """``orders-0``, or ``orders partitions 0-3,7``."""
    return f"{topic}-{numbers[0]}" if len(numbers) == 1 else f"{topic} partitions {_runs(numbers)}"


def _runs(numbers: Sequence[int]) -> str:
    """``0-3,7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
