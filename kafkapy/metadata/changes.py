"""What can be asked of a controller: a frozen union of changes.

A change says what is wanted, never how: the controller answers with the records that do it, or a KafkaError. The same
values are what a live cluster's backend turns into requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.metadata.image import QuotaEntity
from kafkapy.metadata.security_image import ScramCredential

DEFAULT = -1


class CreateTopic(NamedTuple):
    """``assignments`` are the replicas of partition 0, 1, ...; with them the two counts stay at DEFAULT."""

    name: str
    partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignments: tuple[tuple[int, ...], ...] = ()
    configs: Mapping[str, str] = {}


class CreatePartitions(NamedTuple):
    """``partitions`` is how many the topic has afterwards; ``assignments`` are for the new ones only."""

    topic: str
    partitions: int
    assignments: tuple[tuple[int, ...], ...] | None = None


class DeleteTopic(NamedTuple):
    topic: str


class AlterConfigs(NamedTuple):
    """``resource_type`` is a number (image.TOPIC ...), ``resource`` "" for the default of all brokers or groups."""

    resource_type: int
    resource: str
    set: Mapping[str, str] = {}
    delete: tuple[str, ...] = ()


class AlterClientQuotas(NamedTuple):
    entity: QuotaEntity
    set: Mapping[str, float] = {}
    delete: tuple[str, ...] = ()


class AlterScramCredential(NamedTuple):
    """``credential`` None removes it."""

    user: str
    mechanism: int
    credential: ScramCredential | None


class AllocateProducerIds(NamedTuple):
    """A block of producer ids for a broker."""

    broker_id: int


class ElectLeader(NamedTuple):
    """``election`` is elections.PREFERRED or elections.UNCLEAN."""

    topic: str
    partition: int
    election: str


class Reassign(NamedTuple):
    """``replicas`` None cancels the reassignment under way."""

    topic: str
    partition: int
    replicas: tuple[int, ...] | None


Change = (
    CreateTopic
    | CreatePartitions
    | DeleteTopic
    | AlterConfigs
    | AlterClientQuotas
    | AlterScramCredential
    | AllocateProducerIds
    | ElectLeader
    | Reassign
)
