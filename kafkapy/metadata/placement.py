"""Where new replicas go: Kafka's StripedReplicaPlacer.

Brokers are grouped by rack (those without one share a nameless rack). Each rack keeps two lists, of live and of fenced
brokers, sorted, each begun at a random place; the racks are sorted and begun at a random one. A partition's leader is
the next live broker of the rack at hand; the other replicas go through the racks from there, leaving the leader's
rack out the first time around, live brokers before fenced ones. The next partition begins one rack further, and
every list one broker further. After as many partitions as there are live brokers everything is shuffled, so that
leaders do not follow each other the same way forever.

Invariant: no broker twice in a partition; replicas spread over as many racks as there are; leaders spread evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from kafkapy.errors import KafkaError


class Draws(Protocol):
    """Where random numbers come from; a ``random.Random`` is one."""

    def randrange(self, bound: int, /) -> int: ...


class UsableBroker(NamedTuple):
    id: int
    rack: str | None = None
    fenced: bool = False


class PlacementSpec(NamedTuple):
    """How many partitions to place, the first one's number, and the first replica of partition 0 if there is one."""

    start_partition: int
    num_partitions: int
    num_replicas: int
    first_replica: int | None = None


Placer = Callable[[Iterable[UsableBroker], PlacementSpec, Draws], list[tuple[int, ...]]]


def place(brokers: Iterable[UsableBroker], spec: PlacementSpec, random: Draws) -> list[tuple[int, ...]]:
    """The replicas of each partition."""
    racks = _RackList(brokers, random)
    _check(spec.num_replicas, racks)
    return [racks.place(spec.num_replicas) for _ in range(spec.num_partitions)]


def _check(num_replicas: int, racks: _RackList) -> None:
    if num_replicas <= 0:
        raise _invalid(f"Invalid replication factor {num_replicas}: the replication factor must be positive.")
    if racks.num_unfenced_brokers == 0:
        raise _invalid("All brokers are currently fenced, or have all their log directories cordoned.")
    if num_replicas > racks.num_total_brokers:
        raise _invalid(
            f"The target replication factor of {num_replicas} cannot be reached because only "
            f"{racks.num_total_brokers} broker(s) are registered or some brokers have all their log directories "
            "cordoned."
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError("InvalidReplicationFactorException", message)


class _BrokerList:
    """Brokers to take from in turn; with each new epoch (partition) the turn begins one broker later."""

    def __init__(self, brokers: Iterable[int], random: Draws) -> None:
        self._brokers = sorted(brokers)
        self._offset = random.randrange(len(self._brokers)) if self._brokers else 0
        self._index = 0
        self._epoch = 0

    def next(self, epoch: int) -> int | None:
        if not self._brokers:
            return None
        if self._epoch != epoch:
            self._epoch = epoch
            self._index = 0
            self._offset = (self._offset + 1) % len(self._brokers)
        if self._index >= len(self._brokers):
            return None
        broker = self._brokers[(self._index + self._offset) % len(self._brokers)]
        self._index += 1
        return broker

    def shuffle(self, random: Draws) -> None:
        _shuffle(self._brokers, random)


class _Rack:
    def __init__(self, brokers: list[UsableBroker], random: Draws) -> None:
        self.fenced = _BrokerList((broker.id for broker in brokers if broker.fenced), random)
        self.unfenced = _BrokerList((broker.id for broker in brokers if not broker.fenced), random)

    def next(self, epoch: int) -> int | None:
        broker = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if broker is None else broker


class _RackList:
    def __init__(self, brokers: Iterable[UsableBroker], random: Draws) -> None:
        by_rack: dict[str | None, list[UsableBroker]] = {}
        for broker in brokers:
            by_rack.setdefault(broker.rack, []).append(broker)
        names = sorted(by_rack, key=lambda name: (name is not None, name or ""))
        self.num_total_brokers = sum(map(len, by_rack.values()))
        self.num_unfenced_brokers = sum(not broker.fenced for rack in by_rack.values() for broker in rack)
        self._racks = [_Rack(by_rack[name], random) for name in names]
        self._offset = random.randrange(len(names)) if names else 0
        self._random = random
        self._epoch = 0

    def place(self, num_replicas: int) -> tuple[int, ...]:
        if self._epoch == self.num_unfenced_brokers and self.num_unfenced_brokers > 1:
            self._shuffle()
            self._epoch = 0
        if self._offset == len(self._racks):
            self._offset = 0
        leader, leader_rack = self._next_leader()
        replicas = [leader]
        rack_index = self._offset
        left_out: int | None = leader_rack
        while len(replicas) < num_replicas:
            if rack_index == left_out:
                left_out = None
            else:
                broker = self._racks[rack_index].next(self._epoch)
                if broker is not None:
                    replicas.append(broker)
            rack_index = (rack_index + 1) % len(self._racks)
        self._epoch += 1
        self._offset += 1
        return tuple(replicas)

    def _next_leader(self) -> tuple[int, int]:
        rack_index = self._offset
        while True:
            leader = self._racks[rack_index].unfenced.next(self._epoch)
            if leader is not None:
                return leader, rack_index
            rack_index = (rack_index + 1) % len(self._racks)

    def _shuffle(self) -> None:
        in_order = list(self._racks)
        _shuffle(self._racks, self._random)
        for rack in in_order:
            rack.fenced.shuffle(self._random)
            rack.unfenced.shuffle(self._random)


def _shuffle(items: list, random: Draws) -> None:  # type: ignore[type-arg]
    """``java.util.Collections.shuffle``: from the end, each swapped with one at or before it."""
    for last in range(len(items) - 1, 0, -1):
        other = random.randrange(last + 1)
        items[last], items[other] = items[other], items[last]
