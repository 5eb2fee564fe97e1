"""The coordinator's ``uniform`` and ``range``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.assignors.registry import SERVER, server_assign
from kafkapy.coordinator.assignors.server_group import ServerMember, subscribed_topic_ids
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.uuid import uuid_text

A, B, C = (uuid_text(number.to_bytes(16)) for number in (100, 101, 102))
IDS = (A, B, C)


def joined(members: Mapping[str, tuple[str, ...]]) -> dict[str, ServerMember]:
    return {member: ServerMember(topics) for member, topics in members.items()}


def test_range_gives_each_topics_rest_to_the_first_members() -> None:
    assigned = server_assign("range", {A: 3, B: 3}, joined({"m1": (A, B), "m2": (A, B)}))
    assert assigned == {"m1": {A: (0, 1), B: (0, 1)}, "m2": {A: (2,), B: (2,)}}


def test_range_puts_static_members_first() -> None:
    members = {"m1": ServerMember((A,)), "m2": ServerMember((A,), "static")}
    assert server_assign("range", {A: 3}, members) == {"m1": {A: (2,)}, "m2": {A: (0, 1)}}


def test_uniform_keeps_what_members_have() -> None:
    members = {
        "m1": ServerMember((A, B), None, {A: (0, 1, 2, 3)}),
        "m2": ServerMember((A, B), None, {B: (0, 1, 2)}),
        "m3": ServerMember((A, B)),
    }
    assigned = server_assign("uniform", {A: 4, B: 3}, members, "m3")
    assert assigned == {"m1": {A: (0, 1, 2)}, "m2": {B: (0, 1)}, "m3": {A: (3,), B: (2,)}}


def test_uniform_drops_topics_nobody_wants_any_more() -> None:
    members = {"m1": ServerMember((A,), None, {A: (0,), B: (0, 1)}), "m2": ServerMember((A,))}
    assert server_assign("uniform", {A: 2, B: 2}, members) == {"m1": {A: (0,)}, "m2": {A: (1,)}}
    assert server_assign("uniform", {A: 2}, {"m1": ServerMember((), None, {A: (0,)})}) == {"m1": {}}


def test_uniform_balances_members_with_different_subscriptions() -> None:
    members = {"m1": ServerMember((A, B), None, {A: (0, 1), B: (0, 1)}), "m2": ServerMember((B,))}
    assert server_assign("uniform", {A: 2, B: 2}, members) == {"m1": {A: (0, 1)}, "m2": {B: (0, 1)}}


@pytest.mark.parametrize("name", SERVER)
def test_a_topic_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(KafkaError) as caught:
        server_assign(name, {A: 1}, joined({"m1": (A, B)}))
    assert caught.value.name == "PartitionAssignorException"


def test_edges() -> None:
    assert server_assign("uniform", {A: 1}, {}) == {}
    with pytest.raises(KafkapyError, match="unknown assignor: sticky"):
        server_assign("sticky", {}, joined({"m1": ()}))
    assert subscribed_topic_ids(["y", "x", "gone"], {"x": A, "y": B}) == (A, B)


@pytest.mark.parametrize("name", SERVER)
@given(data=st.data())
def test_every_partition_has_one_owner_through_all_changes(name: str, data: st.DataObject) -> None:
    counts = data.draw(st.fixed_dictionaries({topic: st.integers(1, 40) for topic in IDS}))
    current: dict[str, dict[str, tuple[int, ...]]] = {}
    for _ in range(3):
        wanted = data.draw(st.lists(st.sets(st.sampled_from(IDS)), min_size=1, max_size=6))
        members = {
            f"m{number}": ServerMember(tuple(sorted(each)), None, current.get(f"m{number}", {}))
            for number, each in enumerate(wanted)
        }
        current = server_assign(name, counts, members)
        found = Counter(
            (topic, each) for told in current.values() for topic, numbers in told.items() for each in numbers
        )
        everything = {(topic, number) for topic in set().union(*wanted) for number in range(counts[topic])}
        assert found == Counter(everything)
        assert all(set(told) <= set(members[member].subscribed) for member, told in current.items())


@given(counts=st.lists(st.integers(1, 8), min_size=2, max_size=5), partitions=st.integers(1, 50))
def test_uniform_stays_balanced_and_moves_only_what_it_must(counts: list[int], partitions: int) -> None:
    current: dict[str, dict[str, tuple[int, ...]]] = {}
    for count in counts:
        members = {f"m{each}": ServerMember((A,), None, current.get(f"m{each}", {})) for each in range(count)}
        assigned = server_assign("uniform", {A: partitions}, members)
        loads = [len(told.get(A, ())) for told in assigned.values()]
        assert max(loads) - min(loads) <= 1
        if count <= len(current):
            assert all(
                set(assigned[member].get(A, ())) >= set(members[member].current.get(A, ())) for member in assigned
            )
        current = assigned
