"""The worked tables of Kafka's placement, and what holds for any draw."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.metadata import legacy, placement
from kafkapy.metadata.placement import PlacementSpec, UsableBroker


class Constant:
    """Draws the same number each time."""

    def __init__(self, number: int) -> None:
        self.number = number

    def randrange(self, bound: int) -> int:
        return self.number % bound


def brokers(racks: str) -> list[UsableBroker]:
    """One broker a letter, from 0; a dot has no rack."""
    return [UsableBroker(number, None if rack == "." else rack) for number, rack in enumerate(racks)]


def table(assigned: list[tuple[int, ...]]) -> str:
    return " ".join(",".join(map(str, replicas)) for replicas in assigned)


@pytest.mark.parametrize(
    ("racks", "replicas", "draw", "expected"),
    [
        (".....", 3, 0, "0,1,2 1,2,3 2,3,4 3,4,0 4,0,1"),
        (".....", 3, 1, "1,2,3 2,3,4 3,4,0 4,0,1 0,1,2"),
        ("ABCABC", 3, 0, "0,1,2 4,5,3 2,0,1 3,4,5 1,2,0 5,3,4"),
        ("ABCABC", 2, 0, "0,1 4,5 2,3 0,1 4,5 2,3"),
        ("AABBC", 3, 0, "0,2,4 3,4,1 4,0,2 1,3,4 2,4,0"),
    ],
)
def test_the_striped_tables(racks, replicas, draw, expected):
    spec = PlacementSpec(0, len(racks), replicas)
    assert table(placement.place(brokers(racks), spec, Constant(draw))) == expected


@pytest.mark.parametrize(
    ("racks", "spec", "start", "expected"),
    [
        (
            ".....",
            PlacementSpec(0, 10, 3),
            0,
            "0,1,2 1,2,3 2,3,4 3,4,0 4,0,1 0,2,3 1,3,4 2,4,0 3,0,1 4,1,2",
        ),
        ("133221", PlacementSpec(0, 7, 3), 0, "0,3,1 3,1,5 1,5,4 5,4,2 4,2,0 2,0,3 0,4,2"),
        (".....", PlacementSpec(5, 3, 2), 2, "2,1 3,2 4,3"),
    ],
)
def test_the_legacy_tables(racks, spec, start, expected):
    assert table(legacy.assign(brokers(racks), spec, start, start)) == expected


def test_legacy_goes_on_from_the_first_replica():
    assert table(legacy.place(brokers("....."), PlacementSpec(5, 3, 2, 2), Constant(0))) == "2,1 3,2 4,3"


clusters = st.lists(
    st.builds(UsableBroker, st.integers(0, 20), st.sampled_from([None, "a", "b", "c"]), st.booleans()),
    min_size=1,
    max_size=8,
    unique_by=lambda broker: broker.id,
).filter(lambda cluster: not all(broker.fenced for broker in cluster))


@given(clusters, st.integers(1, 20), st.data(), st.integers(0, 1 << 30))
def test_striped_replicas_are_distinct_led_by_the_living_and_spread(cluster, partitions, data, seed):
    replicas = data.draw(st.integers(1, len(cluster)))
    racks = {broker.id: broker.rack for broker in cluster}
    fenced = {broker.id for broker in cluster if broker.fenced}
    placed = placement.place(cluster, PlacementSpec(0, partitions, replicas), random.Random(seed))
    assert len(placed) == partitions
    for assigned in placed:
        assert len(set(assigned)) == replicas
        assert assigned[0] not in fenced
        assert len({racks[broker] for broker in assigned}) == min(replicas, len(set(racks.values())))


@given(clusters, st.integers(1, 20), st.data(), st.integers(0, 1 << 30))
def test_legacy_replicas_are_distinct_and_spread(cluster, partitions, data, seed):
    living = [broker for broker in cluster if not broker.fenced]
    replicas = data.draw(st.integers(1, len(living)))
    racks = {broker.id: broker.rack for broker in living}
    for assigned in legacy.place(cluster, PlacementSpec(0, partitions, replicas), random.Random(seed)):
        assert len(set(assigned)) == replicas
        assert set(assigned) <= set(racks)
        if None not in racks.values():
            assert len({racks[broker] for broker in assigned}) == min(replicas, len(set(racks.values())))


@pytest.mark.parametrize(
    ("cluster", "replicas", "message"),
    [
        (
            brokers("..."),
            9,
            "The target replication factor of 9 cannot be reached because only 3 broker(s) are registered or some "
            "brokers have all their log directories cordoned.",
        ),
        (brokers("..."), 0, "Invalid replication factor 0: the replication factor must be positive."),
        (
            [UsableBroker(1, None, fenced=True)],
            1,
            "All brokers are currently fenced, or have all their log directories cordoned.",
        ),
    ],
)
def test_what_cannot_be_placed(cluster, replicas, message):
    with pytest.raises(KafkaError) as refused:
        placement.place(cluster, PlacementSpec(0, 1, replicas), Constant(0))
    assert (refused.value.name, str(refused.value)) == ("InvalidReplicationFactorException", message)


def test_what_legacy_cannot_place():
    with pytest.raises(KafkaError, match=r"Replication factor: 4 larger than available brokers: 3\."):
        legacy.place(brokers("..."), PlacementSpec(0, 1, 4), Constant(0))
