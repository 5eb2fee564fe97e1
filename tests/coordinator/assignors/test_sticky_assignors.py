"""``sticky`` and ``cooperative-sticky`` from rebalance to rebalance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.assignors.cooperative_sticky_assignor import member_data as cooperative_data
from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import client_assign, user_data
from kafkapy.coordinator.assignors.sticky_assignor import member_data
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.assignors.groups import TOPICS, check_whole, spread, subscribed, written


def owning(name: str, topics: str, owned: str | None, generation: int = 1) -> MemberSubscription:
    """A member that had partitions such as ``a0 b1``; None for a new one."""
    partitions = None if owned is None else tuple(TopicPartition(each[0], int(each[1:])) for each in owned.split())
    if partitions is None:
        generation = -1
    told = (partitions or ()) if name == "cooperative-sticky" else ()
    data = user_data(name, partitions, generation)
    return MemberSubscription(Subscription(tuple(topics), data, told, generation))


def test_what_a_leaving_member_had_goes_to_the_others() -> None:
    topics = {"a": 2, "b": 2, "c": 2, "d": 2}
    first = client_assign("sticky", topics, subscribed(m0="abcd", m1="abcd", m2="abcd"))
    assert written(first) == {"m0": "a0 b1 d0", "m1": "a1 c0 d1", "m2": "b0 c1"}
    left = {member: owning("sticky", "abcd", written(first)[member]) for member in ("m0", "m2")}
    second = client_assign("sticky", topics, left)
    assert written(second) == {"m0": "a0 d0 b1 a1", "m2": "b0 c1 c0 d1"}


def test_a_cooperative_member_gets_only_what_nobody_has() -> None:
    name = "cooperative-sticky"
    members = {"m1": owning(name, "a", "a0 a1 a2"), "m2": owning(name, "a", "a3"), "m3": owning(name, "a", None)}
    assert written(client_assign(name, {"a": 5}, members)) == {"m1": "a0 a1", "m2": "a3 a4", "m3": ""}
    members["m1"] = owning(name, "a", "a0 a1", 2)
    members["m2"] = owning(name, "a", "a3 a4", 2)
    assert written(client_assign(name, {"a": 5}, members)) == {"m1": "a0 a1", "m2": "a3 a4", "m3": "a2"}


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_the_higher_generation_has_the_partition(name: str) -> None:
    members = {"m1": owning(name, "a", "a0", 1), "m2": owning(name, "a", "a0 a1", 2)}
    assert written(client_assign(name, {"a": 3}, members)) == {"m1": "a2", "m2": "a0 a1"}


def test_of_two_with_one_generation_neither_keeps_the_partition() -> None:
    name = "cooperative-sticky"
    members = {"m1": owning(name, "a", "a0", 1), "m2": owning(name, "a", "a0", 1)}
    assert written(client_assign(name, {"a": 2}, members)) == {"m1": "", "m2": "a1"}


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_kafka_overlooks_a_first_member_that_wants_nothing(name: str) -> None:
    assert written(client_assign(name, {"a": 2}, subscribed(m1="", m2="a"))) == {"m1": "a0", "m2": "a1"}
    assert written(client_assign(name, {"a": 2}, subscribed(m1="a", m2=""))) == {"m1": "a0 a1", "m2": ""}


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_kafkas_assignor_fails_on_a_topic_made_anew_with_fewer_partitions(name: str) -> None:
    members = {"m1": owning(name, "ab", "a3 b0"), "m2": owning(name, "ab", "b1")}
    with pytest.raises(KafkaError) as caught:
        client_assign(name, {"a": 1, "b": 2}, members)
    assert caught.value.name == "IllegalStateException"


def test_user_data() -> None:
    partitions = (TopicPartition("b", 0), TopicPartition("a", 1), TopicPartition("b", 2))
    data = user_data("sticky", partitions, 7)
    assert data is not None
    assert data.hex() == "00000002 000161 00000001 00000001 000162 00000002 00000000 00000002 00000007".replace(" ", "")
    told = member_data(Subscription((), data))
    assert (sorted(told.partitions), told.generation) == (sorted(partitions), 7)
    assert member_data(Subscription((), data[:-4])).generation is None
    assert member_data(Subscription((), data[:-5])) == ((), -1)
    assert member_data(Subscription((), b"")) == ((), None)
    assert user_data("sticky", None, -1) is None
    assert user_data("cooperative-sticky", (), 7) == b"\0\0\0\7"


@pytest.mark.parametrize(("data", "generation"), [(None, None), (b"\0\0\0\5", 5), (b"\0", -1)])
def test_an_old_cooperative_client_tells_its_generation_in_its_user_data(
    data: bytes | None, generation: int | None
) -> None:
    assert cooperative_data(Subscription((), data)).generation == generation
    assert cooperative_data(Subscription((), data, (), 9)).generation == 9


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@given(topics=TOPICS, counts=st.lists(st.integers(1, 7), min_size=2, max_size=4))
def test_equal_members_stay_balanced_and_move_no_more_than_they_must(
    name: str, topics: dict[str, int], counts: list[int]
) -> None:
    """Members come and go; at most what the others had, or what the new ones get, moves."""
    owned: dict[str, str] = {}
    letters = "".join(topics)
    for generation, count in enumerate(counts, 1):
        members = {
            f"m{number}": owning(name, letters, owned.get(f"m{number}"), generation - 1) for number in range(count)
        }
        assigned = client_assign(name, topics, members)
        if name == "cooperative-sticky":
            kept = {member: owning(name, letters, told, generation) for member, told in written(assigned).items()}
            again = client_assign(name, topics, kept)
            assert all(set(again[member]) >= set(found) for member, found in assigned.items())
            assigned = again
        check_whole(topics, members, assigned)
        assert spread(assigned) <= 1
        stayed = [member for member in assigned if member in owned]
        lost = sum(len(set(owned[member].split()) - set(written(assigned)[member].split())) for member in stayed)
        if stayed and count <= len(owned):
            assert lost == 0
        owned = written(assigned)
