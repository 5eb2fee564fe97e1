from __future__ import annotations

import pytest

from kafkapy.coordinator.assignors.registry import CLIENT
from kafkapy.coordinator.assignors.simulated_group import CLASSIC, CONSUMER, SimulatedGroup, Topology
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.assignors.groups import written

EVERY = [*((name, CLASSIC) for name in CLIENT), ("uniform", CONSUMER), ("range", CONSUMER)]


def started(assignor: str, protocol: str, topics: dict[str, int], members: int) -> SimulatedGroup:
    group = SimulatedGroup(assignor, protocol, topics, Topology())
    for number in range(1, members + 1):
        group.join(f"m{number}")
    group.rebalance()
    return group


@pytest.mark.parametrize(("assignor", "protocol"), EVERY)
def test_all_partitions_are_owned_after_every_change(assignor: str, protocol: str) -> None:
    group = started(assignor, protocol, {"a": 5, "b": 3}, 3)
    for change in (
        lambda: group.leave("m2"),
        lambda: group.join("m4"),
        lambda: group.join("m5", ("b",)),
        lambda: group.set_partitions("c", 4),
        lambda: group.set_partitions("b", 6),
        lambda: group.set_partitions("a", 0),
    ):
        change()
        group.rebalance()
        owned = [partition for found in group.assignment.values() for partition in found]
        assert len(set(owned)) == len(owned) == group.partition_count
        assert tuple(group.assignment) == group.members


def test_a_cooperative_group_revokes_first() -> None:
    group = started("cooperative-sticky", CLASSIC, {"a": 4}, 1)
    group.join("m2")
    first, second = group.rebalance()
    given_up = {TopicPartition("a", 2): "m1", TopicPartition("a", 3): "m1"}
    assert (written(first.assignment), first.moved, first.revoked) == ({"m1": "a0 a1", "m2": ""}, {}, given_up)
    assert (written(second.assignment), second.moved, second.revoked) == ({"m1": "a0 a1", "m2": "a2 a3"}, given_up, {})


def test_what_a_member_leaves_behind_is_moved_but_not_revoked() -> None:
    group = started("uniform", CONSUMER, {"a": 2}, 2)
    group.leave("m1")
    (rebalance,) = group.rebalance()
    assert (rebalance.moved, rebalance.revoked) == ({TopicPartition("a", 0): "m1"}, {})
    group.leave("m2")
    assert group.rebalance()[0].assignment == {}


def test_racks() -> None:
    topology = Topology(("r1", "r2", "r3"), 2)
    assert [topology.of_member(number) for number in (0, 4)] == ["r1", "r2"]
    assert topology.of_partition(2) == {"r3", "r1"}
    assert (Topology().of_member(0), Topology().of_partition(0)) == (None, frozenset())


def test_changes_that_cannot_be() -> None:
    group = started("range", CLASSIC, {"a": 2}, 1)
    with pytest.raises(KafkapyError, match="m1 is already a member"):
        group.join("m1")
    with pytest.raises(KafkapyError, match="there is no member m2"):
        group.leave("m2")
    with pytest.raises(KafkapyError, match="a has 2 partitions"):
        group.set_partitions("a", 1)
