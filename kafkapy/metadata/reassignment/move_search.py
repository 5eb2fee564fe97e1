"""The move or swap that brings one broker nearest to its bounds for the fewest bytes.

What a move gains is a concave function of the replica's size, made of straight lines that meet where a broker comes to
a bound. So its worth, gain for cost, is best at the smallest size or near such a turning point: of each broker's
replicas, which are sorted by size, only the few around those points are looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.broker_loads import TINY, BrokerLoads, Complaint, Sized

PARTNERS = 5
NEAR = 3
FAR = 60
SMALLEST = 6
SPREAD = 6
WORTH_OF_LEADERS = 0.9
"""A leader's replica is moved rather than a follower's where it is this much better."""


class Move(NamedTuple):
    """A replica that goes from one broker to another."""

    partition: TopicPartition
    source: int
    target: int


def best_moves(loads: BrokerLoads, worst: int) -> tuple[Move, ...]:
    """One move, or where none helps the two of a swap; none where nothing helps."""
    for complaint in loads.complaints(worst):
        pairs = list(_pairs(loads, worst, complaint))
        likely = _some_of_every_rack(loads, worst, pairs)
        found = _best_move(loads, likely) or _best_swap(loads, likely) or _best_move(loads, pairs)
        if found:
            return found
    return ()


def _pairs(loads: BrokerLoads, worst: int, complaint: Complaint) -> Iterator[tuple[int, int]]:
    """Who could give to whom so that the worst broker is better off; the most different first."""
    others = sorted((b for b in loads.goal.brokers if b != worst), key=lambda b: (complaint.load_of(b), b))
    if complaint.is_over:
        return ((worst, other) for other in others)
    return ((other, worst) for other in reversed(others))


def _some_of_every_rack(loads: BrokerLoads, worst: int, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found, racks = [], Counter[str | None]()
    for source, target in pairs:
        rack = loads.rule.racks[target if source == worst else source] if loads.rule.is_active else None
        racks[rack] += 1
        if racks[rack] <= PARTNERS:
            found.append((source, target))
    return found


def _best_move(loads: BrokerLoads, pairs: Iterable[tuple[int, int]]) -> tuple[Move, ...]:
    best = 0.0
    found: tuple[Move, ...] = ()
    for source, target in pairs:
        gain_of = loads.gain_by_size(source, target, 1)
        points = [0.0, *loads.turning_points(source, target)]
        for size, partition in _candidates(loads, source, target, points, NEAR):
            gain = gain_of(size)
            if gain <= TINY:
                continue
            worth = _worth(loads, gain, partition, source, loads.cost(partition, source, target))
            if worth > best:
                best, found = worth, (Move(partition, source, target),)
    return found


def _best_swap(loads: BrokerLoads, pairs: Iterable[tuple[int, int]]) -> tuple[Move, ...]:
    """A larger replica for a smaller one, where the numbers of replicas may not change."""
    best = 0.0
    found: tuple[Move, ...] = ()
    for source, target in pairs:
        gain_of = loads.gain_by_size(source, target, 0)
        points = loads.turning_points(source, target)
        for small, second in _small(loads, target, source):
            back = loads.cost(second, target, source)
            for large, first in _candidates(loads, source, target, [point + small for point in points], 1):
                gain = gain_of(large - small)
                if gain <= TINY:
                    continue
                worth = _worth(loads, gain, first, source, back + loads.cost(first, source, target))
                if worth > best:
                    best, found = worth, (Move(first, source, target), Move(second, target, source))
    return found


def _worth(loads: BrokerLoads, gain: float, partition: TopicPartition, source: int, cost: int) -> float:
    leads = loads.replicas[partition][0] == source
    return gain * (WORTH_OF_LEADERS if leads else 1.0) / max(cost, 1)


def _candidates(loads: BrokerLoads, source: int, target: int, points: Iterable[float], near: int) -> Iterator[Sized]:
    """The replicas around each of the sizes that may be moved."""
    for found in (loads.away[source], loads.home[source]):
        looked: set[int] = set()
        for point in points:
            place = bisect_left(found, (point,))
            for indexes in (range(place, min(len(found), place + FAR)), range(place - 1, max(-1, place - FAR), -1)):
                permitted = (i for i in indexes if loads.may_move(found[i][1], source, target))
                looked.update(islice(permitted, near))
        for index in sorted(looked):
            yield found[index]


def _small(loads: BrokerLoads, source: int, target: int) -> Iterator[Sized]:
    """The smallest replicas that may be moved, and some of every size."""
    for found in (loads.away[source], loads.home[source]):
        step = max(1, len(found) // SPREAD)
        for chosen, most in ((found[:FAR], SMALLEST), (found[FAR::step], SPREAD)):
            yield from islice((each for each in chosen if loads.may_move(each[1], source, target)), most)
