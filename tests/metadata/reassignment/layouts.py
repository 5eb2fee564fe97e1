"""Small clusters for Hypothesis: any racks, sizes, replication factors, also mixed in a topic, also of nothing."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.placement import PlacementSpec, UsableBroker, place
from kafkapy.metadata.reassignment.layout import Layout

GONE = 99

sizes = st.sampled_from([0, 0, 1, 7, 100, 1000, 10**6]) | st.integers(0, 1000)


@st.composite
def layouts(draw: st.DrawFn, *, fewest: int = 1, most: int = 7, gone: bool = True, mixed: bool = True) -> Layout:
    """A layout of some brokers; with ``gone`` some replicas are on a broker that is not there any more."""
    brokers = range(1, draw(st.integers(fewest, most)) + 1)
    racks = draw(st.sampled_from([[None], ["a"], ["a", "b"], ["a", "b", "c"]]))
    named: dict[int, str | None] = {broker: draw(st.sampled_from(racks)) for broker in brokers}
    hosts = [*brokers, GONE] if gone and draw(st.booleans()) else [*brokers]
    replicas, weights = {}, {}
    for topic in range(draw(st.integers(1, 3))):
        factor = draw(st.integers(1, len(brokers)))
        for number in range(draw(st.integers(1, 4))):
            partition = TopicPartition(f"t{topic}", number)
            own = draw(st.integers(1, len(brokers))) if mixed and draw(st.booleans()) else factor
            replicas[partition] = tuple(draw(st.permutations(hosts))[:own])
            weights[partition] = draw(sizes)
    return Layout(named, replicas, weights)


@st.composite
def after_failures(draw: st.DrawFn) -> Layout:
    """A layout in which some brokers are down, some replicas behind, and anybody leads who can."""
    layout = draw(layouts(gone=False, fewest=2))
    fenced = draw(st.sets(st.sampled_from(sorted(layout.brokers)), max_size=len(layout.brokers) - 1))
    in_sync, leaders = {}, {}
    for partition, replicas in layout.replicas.items():
        behind = draw(st.sets(st.sampled_from(replicas), max_size=len(replicas) - 1))
        in_sync[partition] = frozenset(replicas) - behind
        able = sorted(in_sync[partition] - fenced)
        if able:
            leaders[partition] = draw(st.sampled_from(able))
    return layout._replace(fenced=frozenset(fenced), in_sync=in_sync, leaders=leaders)


def placed(
    brokers: dict[int, str | None], topics: int, partitions: int, factor: int, sizes: list[int], seed: int = 1
) -> Layout:
    """Topics as Kafka would have placed them, with sizes in turn."""
    random = Random(seed)
    usable = [UsableBroker(broker, rack) for broker, rack in brokers.items()]
    replicas = {}
    for topic in range(topics):
        for number, found in enumerate(place(usable, PlacementSpec(0, partitions, factor), random)):
            replicas[TopicPartition(f"t{topic}", number)] = found
    return Layout(brokers, replicas, {p: sizes[i % len(sizes)] for i, p in enumerate(sorted(replicas))})
