"""The producers that partitions know, as DescribeProducers tells them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition


class ActiveProducer(NamedTuple):
    """One producer; -1 stands for a coordinator epoch or a sequence that is not known."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp: int
    current_txn_start_offset: int | None


class PartitionProducers(NamedTuple):
    """The producers of a partition by id; ``damage`` is why there may be more."""

    producers: Sequence[ActiveProducer]
    damage: str | None = None


class NotHere(KafkapyError):
    """No copy of a partition is where it is looked for."""


Producers = Mapping[TopicPartition, PartitionProducers | KafkapyError]
"""By partition; an error for one whose producers cannot be told."""
