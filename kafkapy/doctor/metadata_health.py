"""What the metadata says of partitions: who leads them, and who is in sync. The same of files and of a running cluster.

A cluster that was stopped as a whole leaves no leaders and its last in-sync replicas in the ELR. That is no problem:
the next start elects from them. So where nobody leads a partition in files, only what nobody could lead is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.replication import eligible_leaders
from kafkapy.doctor.finding import Finding, Severity
from kafkapy.metadata.image import TOPIC
from kafkapy.metadata.topic_description import PartitionDescription, describe_topics
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration


def check_metadata(cluster: Cluster, alive: Collection[int], is_live: bool, where: str) -> Iterator[Finding]:
    """Partitions that are offline or not as often there as they should be, those of a topic with the same problem
    together; ``alive`` are the brokers that run."""
    image = cluster.image()
    topics = sorted(image.topics.values(), key=lambda topic: topic.name)
    configs = cluster.config_entries(TOPIC, [topic.name for topic in topics])
    for topic in describe_topics(image, topics, configs, True):
        together: dict[tuple[Severity, str, str], list[int]] = {}
        for found in topic.partitions:
            registration = image.topics[topic.name].partitions[found.partition]
            problem = _problem(found, registration, alive, is_live)
            if problem is not None:
                remedy = _remedy(found, problem[0], where)
                together.setdefault((*problem, remedy), []).append(found.partition)
        for (severity, text, remedy), numbers in together.items():
            yield Finding(severity, _place(topic.name, numbers), text, remedy)


def _problem(
    found: PartitionDescription, registration: PartitionRegistration, alive: Collection[int], is_live: bool
) -> tuple[Severity, str] | None:
    leader = registration.leader
    is_led = leader in alive if leader != NO_LEADER else not is_live and _could_be_led(registration, alive)
    if not is_led:
        replicas = ", ".join(map(str, registration.replicas))
        return Severity.ERROR, f"offline: of the brokers {replicas}, none that runs may lead"
    if leader == NO_LEADER:
        return None
    if found.is_under_min_isr:
        text = f"{len(found.isr)} in sync, fewer than min.insync.replicas={found.min_isr}: acks=all is refused"
        return Severity.ERROR, text
    if found.is_under_replicated:
        out = sorted({*found.replicas} - {*found.isr})
        return Severity.WARNING, f"under-replicated: not in sync on {', '.join(map(str, out))}"
    return None


def _could_be_led(registration: PartitionRegistration, alive: Collection[int]) -> bool:
    return bool({*eligible_leaders(registration, registration.replicas)} & {*alive})


def _remedy(found: PartitionDescription, severity: Severity, where: str) -> str:
    start = "start the brokers that are down"
    if where.startswith("--cluster"):
        return f"{start}, then: kafkapy cluster replicate --until-caught-up {where}"
    if severity is Severity.ERROR:
        return f"{start}; what is there: kafkapy topics --describe --topic {found.topic} {where}"
    return f"{start}, or see how far they are: kafkapy log-dirs --describe --topic-list {found.topic} {where}"


def _place(topic: str, numbers: Sequence[int]) -> str:
    """``orders-0``, or ``orders partitions 0-3,7``."""
    if len(numbers) == 1:
        return f"{topic}-{numbers[0]}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return f"{topic} partitions {','.join(str(a) if a == b else f'{a}-{b}' for a, b in runs)}"
