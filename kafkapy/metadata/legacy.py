"""Where new replicas went before Kafka 4.0: a start index and a shift (AdminUtils, ``--placement legacy``).

Partition p begins at broker ``p + start``; its followers stand ``shift`` further, one after the other, and the shift
grows by one each time p comes around the list, so that a broker's followers are not always the same. With racks the
list alternates between them, and a broker is passed over while its rack has a replica and another rack has none.

Racks count only where every broker has one.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkapy.errors import KafkaError
from kafkapy.metadata.placement import Draws, PlacementSpec, UsableBroker


def place(brokers: Iterable[UsableBroker], spec: PlacementSpec, random: Draws) -> list[tuple[int, ...]]:
    """The replicas of each partition; where the topic has some, they go on from the first replica of partition 0."""
    usable = sorted(broker for broker in brokers if not broker.fenced)
    _check(spec, len(usable))
    if spec.first_replica is not None:
        later = [index for index, broker in enumerate(usable) if broker.id >= spec.first_replica]
        start = shift = later[0] if later else 0
    else:
        start, shift = random.randrange(len(usable)), random.randrange(len(usable))
    return assign(usable, spec, start, shift)


def assign(brokers: list[UsableBroker], spec: PlacementSpec, start: int, shift: int) -> list[tuple[int, ...]]:
    """The assignment for a given start index and shift; ``brokers`` are sorted by id."""
    racks = {broker.id: broker.rack for broker in brokers}
    rack_aware = None not in racks.values()
    arranged = _alternate_racks(racks) if rack_aware else list(racks)
    assigned = []
    for partition in range(spec.start_partition, spec.start_partition + spec.num_partitions):
        if partition > 0 and partition % len(arranged) == 0:
            shift += 1
        first = (partition + start) % len(arranged)
        if rack_aware:
            assigned.append(_across_racks(arranged, racks, first, shift, spec.num_replicas))
        else:
            others = (arranged[_follower(first, shift, j, len(arranged))] for j in range(spec.num_replicas - 1))
            assigned.append((arranged[first], *others))
    return assigned


def _follower(first: int, shift: int, index: int, size: int) -> int:
    return (first + 1 + (shift + index) % (size - 1)) % size


def _across_racks(
    arranged: list[int], racks: dict[int, str | None], first: int, shift: int, num_replicas: int
) -> tuple[int, ...]:
    num_racks = len(set(racks.values()))
    replicas = [arranged[first]]
    racks_used = {racks[replicas[0]]}
    step = 0
    while len(replicas) < num_replicas:
        broker = arranged[_follower(first, shift * num_racks, step, len(arranged))]
        step += 1
        if broker not in replicas and (racks[broker] not in racks_used or len(racks_used) == num_racks):
            replicas.append(broker)
            racks_used.add(racks[broker])
    return tuple(replicas)


def _alternate_racks(racks: dict[int, str | None]) -> list[int]:
    """One broker of each rack in turn."""
    names = sorted({rack or "" for rack in racks.values()})
    queues = [[broker for broker in sorted(racks) if racks[broker] == name] for name in names]
    longest = max(map(len, queues))
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _check(spec: PlacementSpec, num_brokers: int) -> None:
    if spec.num_partitions <= 0:
        raise KafkaError("InvalidPartitionsException", "Number of partitions must be larger than 0.")
    if spec.num_replicas <= 0:
        raise KafkaError("InvalidReplicationFactorException", "Replication factor must be larger than 0.")
    if spec.num_replicas > num_brokers:
        raise KafkaError(
            "InvalidReplicationFactorException",
            f"Replication factor: {spec.num_replicas} larger than available brokers: {num_brokers}.",
        )
