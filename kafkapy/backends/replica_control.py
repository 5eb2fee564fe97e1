"""What is asked of a cluster about its replicas: elections, moves between brokers, moves between log dirs.

Whoever runs the moves differs. Real brokers go on with what was begun, whether anybody waits or not. A cluster
directory has no brokers that would, so waiting there is playing them (directory_replica_control.py). Log dirs are only
read: what is under way can be told, nothing can be begun.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.election_losses import ElectionLoss
    from kafkapy.errors import KafkaError
    from kafkapy.metadata.changes import AlterConfigs
    from kafkapy.metadata.image import MetadataImage
    from kafkapy.metadata.reassignment.layout import Assignment
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment

ReplicaDirs = dict[tuple[TopicPartition, int], str]
"""The log dir of a partition's replica on a broker."""
Lags = dict[tuple[TopicPartition, int], int]
"""How many offsets a partition's replica on a broker lacks; without those of which it cannot be known."""
Copied = Callable[[int], None]
"""Is told how many more bytes were copied."""
Tell = Callable[[str], object]


class Places(NamedTuple):
    """In which log dirs replicas are, and to which they are being moved."""

    current: ReplicaDirs
    future: ReplicaDirs


class ReplicaControl(Protocol):
    """What commands ask."""

    @property
    def goes_on(self) -> bool:
        """Whether moves that were begun go on while nobody waits for them."""
        ...

    @property
    def knows_topics(self) -> bool:
        """Whether the cluster's image has the topics: controllers that are asked directly do not tell of them."""
        ...

    def elect(
        self, election: str, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, KafkaError | None]:
        """Elect leaders, each partition for itself; None asks for all, and tells only of those that need it."""
        ...

    def await_elected(self, election: str, partitions: Collection[TopicPartition]) -> None:
        """Wait until the metadata shows the leaders that were elected."""
        ...

    def election_losses(self, before: MetadataImage) -> list[ElectionLoss]:
        """What unclean elections since ``before`` have lost, as far as that can be known."""
        ...

    def under_way(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, PartitionRegistration]:
        """The reassignments under way, sorted; of some partitions, or all."""
        ...

    def places(self, partitions: Collection[TopicPartition] | None = None) -> Places:
        """The log dirs of replicas on brokers that are up."""
        ...

    def lags(self, under_way: Mapping[TopicPartition, PartitionRegistration]) -> Lags:
        """How far the new replicas of reassignments under way are behind their leaders."""
        ...

    def simulated(self, plan: Assignment) -> MetadataImage:
        """The metadata that a plan is played on."""
        ...

    def check(self, plan: Reassignment, additional: bool, tell: Tell) -> None:
        """Refuse what cannot be executed; ``tell`` hears what would help."""
        ...

    def check_accepted(self, plan: Assignment, allow_factor_change: bool) -> None:
        """Refuse what the controller would refuse, as far as that is known before it is asked."""
        ...

    def begin(self, plan: Reassignment, allow_factor_change: bool) -> None:
        """Begin to move partitions between brokers. What is under way or done already stays as it is."""
        ...

    def begin_log_dir_moves(
        self, log_dirs: Mapping[tuple[TopicPartition, int], str], timeout_ms: int
    ) -> Iterator[ReplicaDirs]:
        """Begin to move replicas between log dirs, back to where one lies to give a move up. Those that have begun are
        handed out together; a replica that is not there yet is waited for."""
        ...

    def complete(self, plan: Reassignment, copied: Copied) -> dict[TopicPartition, str]:
        """Wait until all moves of a plan are complete; those that cannot get there, and why. What new replicas have at
        the beginning counts as ``copied``, too."""
        ...

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        """Take reassignments under way back."""
        ...

    def throttle_clearing(self, brokers: Iterable[int], topics: Iterable[str]) -> list[AlterConfigs]:
        """What takes the throttles of brokers and topics away."""
        ...
