"""What balance is: the load each broker should have, and how far from it is near enough.

The ideal is an equal share, as far as racks allow: where every partition must have a replica in a rack, the brokers of
a small rack have more than those of a large one, whatever is moved. So the share of a rack is what an equal share would
give it, but no less than what must be there and no more than what may.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import ceil, floor
from typing import NamedTuple

from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.rack_rule import RackRule


class Bounds(NamedTuple):
    """The least and the most of something that a broker should have."""

    low: Mapping[int, float]
    high: Mapping[int, float]


def ideal_shares(rule: RackRule, brokers: Iterable[int], items: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Each broker's share of ``items``: pairs of a replication factor and the weight of one replica."""
    sizes = Counter(rule.racks[broker] if rule.is_active else None for broker in brokers)
    least: dict[str | None, float] = defaultdict(float)
    most: dict[str | None, float] = defaultdict(float)
    total = 0.0
    weights: dict[int, float] = defaultdict(float)
    for replication_factor, weight in items:
        weights[replication_factor] += weight
    for replication_factor, weight in weights.items():
        total += replication_factor * weight
        cap = rule.cap(replication_factor)
        room = {rack: min(size, cap) for rack, size in sizes.items()}
        for rack in sizes:
            most[rack] += room[rack] * weight
            least[rack] += max(0, replication_factor - sum(room.values()) + room[rack]) * weight
    shares = _water_level(sizes, least, most, total)
    return {broker: shares[rule.racks[broker] if rule.is_active else None] for broker in brokers}


def _water_level(
    sizes: Mapping[str | None, int], least: Mapping[str | None, float], most: Mapping[str | None, float], total: float
) -> dict[str | None, float]:
    """The share of a broker in each rack, all equal but for the bounds of their racks."""

    def shares(level: float) -> dict[str | None, float]:
        return {rack: min(max(level * size, least[rack]), most[rack]) / size for rack, size in sizes.items()}

    low, high = 0.0, total + 1
    for _ in range(100):
        middle = (low + high) / 2
        if sum(share * sizes[rack] for rack, share in shares(middle).items()) < total:
            low = middle
        else:
            high = middle
    return shares(high)


def without_giants(shares: Mapping[int, float], items: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Shares of bytes, where some replicas alone are larger than a share: their brokers are over it whatever is done,
    so the others' share is what is left."""
    largest = sorted((size for factor, size in items for _ in range(factor)), reverse=True)
    left, brokers = sum(shares.values()), len(shares)
    for size in largest:
        if brokers <= 1 or size <= left / brokers:
            break
        left, brokers = left - size, brokers - 1
    average = sum(shares.values()) / len(shares) if shares else 0
    return {broker: share * (left / brokers) / average if average else 0.0 for broker, share in shares.items()}


def whole_bounds(shares: Mapping[int, float], tolerance: float) -> Bounds:
    """Bounds of numbers that are whole."""
    return Bounds(
        {broker: floor(share * (1 - tolerance) + 1e-6) for broker, share in shares.items()},
        {broker: ceil(share * (1 + tolerance) - 1e-6) for broker, share in shares.items()},
    )


def bounds(shares: Mapping[int, float], tolerance: float) -> Bounds:
    """Bounds of bytes."""
    return Bounds(
        {broker: share * (1 - tolerance) for broker, share in shares.items()},
        {broker: share * (1 + tolerance) for broker, share in shares.items()},
    )


class Imbalance(NamedTuple):
    """How far the broker that is farthest from its share is from it, in parts of the share (0.1 is 10%).

    Shares are of what the counted brokers have together; what others have, such as are down, is no part of it.
    """

    replicas: float
    leaders: float
    bytes: float


def imbalance(layout: Layout, rule: RackRule) -> Imbalance:
    """How far the brokers of ``rule`` are from their shares."""
    chosen = sorted(rule.racks)
    held = [(sum(broker in rule.racks for broker in found), layout.size(p)) for p, found in layout.replicas.items()]
    leaders = {broker: count for broker, count in layout.leader_counts().items() if broker in rule.racks}
    return Imbalance(
        farthest(layout.replica_counts(), ideal_shares(rule, chosen, ((number, 1) for number, _ in held))),
        farthest(leaders, dict.fromkeys(chosen, sum(leaders.values()) / max(1, len(chosen)))),
        farthest(layout.bytes_on(), ideal_shares(rule, chosen, held)),
    )


def farthest(found: Mapping[int, int], shares: Mapping[int, float]) -> float:
    """How far the broker that is farthest from its share is from it, in parts of the share."""
    return max((abs(found.get(b, 0) - share) / share for b, share in shares.items() if share > 0), default=0.0)
