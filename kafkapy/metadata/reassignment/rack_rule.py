"""How the replicas of a partition may be spread over racks.

Replicas go to as many racks as there are, as evenly as the racks' sizes allow: the most that one rack may have is the
smallest number with which all replicas find a place. Where a broker has no rack, there is no rule, as in Kafka.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping


class RackRule:
    """The rule for a set of brokers."""

    def __init__(self, brokers: Mapping[int, str | None]) -> None:
        self.racks = dict(brokers)
        self.is_active = bool(brokers) and None not in brokers.values() and len(set(brokers.values())) > 1
        self._sizes = Counter(brokers.values())
        self._caps: dict[int, int] = {}

    def cap(self, replication_factor: int) -> int:
        """The most replicas of a partition that one rack may have."""
        if replication_factor not in self._caps:
            self._caps[replication_factor] = self._smallest_cap(replication_factor)
        return self._caps[replication_factor]

    def _smallest_cap(self, replication_factor: int) -> int:
        if not self.is_active:
            return replication_factor
        for cap in range(1, replication_factor):
            if sum(min(size, cap) for size in self._sizes.values()) >= replication_factor:
                return cap
        return replication_factor

    def allows(self, replicas: Iterable[int], added: int) -> bool:
        """Whether a broker may be added to the other replicas of a partition."""
        others = list(replicas)
        if added in others:
            return False
        if not self.is_active:
            return True
        rack = self.racks[added]
        beside = sum(self.racks.get(other) == rack for other in others)
        return beside < self.cap(len(others) + 1)

    def is_kept(self, replicas: Iterable[int]) -> bool:
        """Whether replicas are spread as they should be; brokers that are not known count as a rack each."""
        placed = list(replicas)
        if not self.is_active:
            return True
        known = Counter(self.racks[broker] for broker in placed if broker in self.racks)
        return max(known.values(), default=0) <= self.cap(len(placed))
