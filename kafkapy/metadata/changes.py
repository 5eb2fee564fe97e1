"""What can be asked of a controller: a frozen union of changes.

A change says what is wanted, never how: the controller answers with the records that do it, or a KafkaError. The same
values are what a live cluster's backend turns into requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.metadata.acls import AclFilter
from kafkapy.metadata.image import QuotaEntity
from kafkapy.metadata.security_image import Acl, ScramCredential

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
    """``credential`` None removes it; ``salted_password`` is what its keys were made of."""

    user: str
    mechanism: int
    credential: ScramCredential | None
    salted_password: bytes = b""


class CreateAcl(NamedTuple):
    acl: Acl


class DeleteAcls(NamedTuple):
    """Every ACL that the filter means."""

    filter: AclFilter


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


class AssignReplicaToDir(NamedTuple):
    """The log dir, by its id, in which a broker keeps or is about to keep its replica."""

    topic: str
    partition: int
    broker_id: int
    directory: str


class AlterPartition(NamedTuple):
    """The ISR that the leader of a partition wants."""

    topic: str
    partition: int
    isr: tuple[int, ...]


class LoseReplicas(NamedTuple):
    """The files of a partition's replicas on ``brokers`` are gone: these leave ISR and ELR. Where nobody is left in
    either, ``survivor``, who has the most of the other replicas, is the ISR, and leads as soon as it may."""

    topic: str
    partition: int
    brokers: tuple[int, ...]
    survivor: int


class RemoveBroker(NamedTuple):
    """A broker is fenced, or goes by a controlled stop: it leaves every ISR, and its leaders move. ``unclean``: it is
    known by now that it did not stop in good order, so with eligible leader replicas it is no such replica any more."""

    broker_id: int
    unclean: bool = False


class AddBroker(NamedTuple):
    """A broker is back: it leads what nobody else could. ``unclean``: it was not stopped in good order, so that, with
    eligible leader replicas, it may lead only what it catches up with first."""

    broker_id: int
    unclean: bool = False


Change = (
    CreateTopic
    | CreatePartitions
    | DeleteTopic
    | AlterConfigs
    | AlterClientQuotas
    | AlterScramCredential
    | CreateAcl
    | DeleteAcls
    | AllocateProducerIds
    | ElectLeader
    | Reassign
    | AssignReplicaToDir
    | AlterPartition
    | LoseReplicas
    | RemoveBroker
    | AddBroker
)
