"""Topics as TopicCommand describes them: pure values, from the topics' registrations and configs.

A partition is under-replicated where fewer replicas are in sync than assigned (not counting those being added),
unavailable where it has no leader or one that is not live, and at or under its min ISR by the config that holds for
the topic. Who is live the cluster knows: in a cluster directory all brokers are fenced, and run all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration, TopicImage

if TYPE_CHECKING:
    from kafkapy.metadata.config_entries import Entries
    from kafkapy.metadata.configs.effective import ConfigEntry

INTERNAL_TOPICS = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state"))
MIN_ISR = "min.insync.replicas"


class PartitionDescription(NamedTuple):
    """One partition. ``known`` is False where only the name of a directory tells that it exists."""

    topic: str
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    last_known_elr: tuple[int, ...] | None
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    known: bool
    leader_is_live: bool
    min_isr: int

    @property
    def replication_factor(self) -> int:
        """The replicas that stay or go, without those that are still being added."""
        return len(self.replicas) - len(self.adding_replicas)

    @property
    def is_under_replicated(self) -> bool:
        return self.known and self.replication_factor > len(self.isr)

    @property
    def is_unavailable(self) -> bool:
        return self.known and (self.leader is None or not self.leader_is_live)

    @property
    def is_under_min_isr(self) -> bool:
        return self.known and (self.leader is None or len(self.isr) < self.min_isr)

    @property
    def is_at_min_isr(self) -> bool:
        return self.known and len(self.isr) == self.min_isr


class TopicDescription(NamedTuple):
    """One topic, with what is configured other than by default."""

    name: str
    topic_id: str | None
    partitions: tuple[PartitionDescription, ...]
    configs: tuple[ConfigEntry, ...]

    @property
    def replication_factor(self) -> int:
        return self.partitions[0].replication_factor if self.partitions else 0

    @property
    def has_overrides(self) -> bool:
        return bool(self.configs)


def describe_topics(
    live_brokers: Collection[int], topics: Iterable[TopicImage], configs: Entries, known: bool
) -> Iterator[TopicDescription]:
    """Descriptions of ``topics``, of which one without configs raises the error in their place; ``known`` says whether
    they come from metadata."""
    from kafkapy.metadata.configs.effective import overrides

    for topic in topics:
        entries = configs[topic.name]
        if isinstance(entries, KafkapyError):
            raise entries
        min_isr = int(next((entry.value for entry in entries if entry.name == MIN_ISR), None) or 1)
        partitions = tuple(
            _partition(live_brokers, topic.name, number, registration, known, min_isr)
            for number, registration in sorted(topic.partitions.items())
        )
        shown = tuple(overrides(entries)) if known else ()
        yield TopicDescription(topic.name, None if topic.id == ZERO_UUID else topic.id, partitions, shown)


def _partition(
    live_brokers: Collection[int],
    topic: str,
    number: int,
    registration: PartitionRegistration,
    known: bool,
    min_isr: int,
) -> PartitionDescription:
    leader = None if registration.leader == NO_LEADER else registration.leader
    return PartitionDescription(
        topic,
        number,
        leader,
        registration.replicas,
        registration.isr,
        registration.elr if known else None,
        registration.last_known_elr if known else None,
        registration.adding_replicas,
        registration.removing_replicas,
        known,
        leader in live_brokers,
        min_isr,
    )
