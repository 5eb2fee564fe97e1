"""What a plan is to reach."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition

DEFAULT_TOLERANCE = 0.1


class Goal(NamedTuple):
    """``scope`` are the partitions that may be moved, ``brokers`` those that may have replicas of them afterwards.

    Only ``receivers`` are given replicas (None: all of ``brokers``). Without ``rebalance`` nothing moves that need not:
    replicas leave brokers that may not have them, and find a place. With it, loads are brought within ``tolerance`` of
    their shares; that of replicas and that of bytes may be wider. ``demoted`` brokers lead nothing that another replica
    can lead. What ``kept`` brokers have stays where it is, and they are given no more: those that are down, or gone.
    """

    scope: frozenset[TopicPartition]
    brokers: tuple[int, ...]
    receivers: frozenset[int] | None = None
    replication_factor: int | None = None
    rebalance: bool = True
    fix_racks: bool = True
    balance_leaders: bool = True
    tolerance: float = DEFAULT_TOLERANCE
    demoted: frozenset[int] = frozenset()
    rack_aware: bool = True
    kept: frozenset[int] = frozenset()
    replica_tolerance: float = 0.0
    byte_tolerance: float = 0.0

    @property
    def tolerance_of_replicas(self) -> float:
        """How far from its share of replicas a broker may be."""
        return max(self.tolerance, self.replica_tolerance)

    @property
    def tolerance_of_bytes(self) -> float:
        """How far from its share of bytes a broker may be."""
        return max(self.tolerance, self.byte_tolerance)

    def may_receive(self, broker: int) -> bool:
        """Whether a broker may be given replicas."""
        return broker in self.brokers and (self.receivers is None or broker in self.receivers)
