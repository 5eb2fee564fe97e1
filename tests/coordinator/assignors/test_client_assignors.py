"""``range`` and ``roundrobin``, and what holds for every assignor of classic groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.assignors.member_subscription import MemberSubscription
from kafkapy.coordinator.assignors.registry import CLIENT, client_assign, user_data
from kafkapy.coordinator.consumer_protocol import Subscription
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.assignors.groups import TOPICS, check_whole, spread, subscribed, written


def test_range_gives_each_topics_rest_to_the_first_members() -> None:
    assigned = client_assign("range", {"a": 3, "b": 3}, subscribed(m1="ab", m2="ab"))
    assert written(assigned) == {"m1": "a0 a1 b0 b1", "m2": "a2 b2"}


def test_roundrobin_deals_all_topics_in_one_row() -> None:
    assigned = client_assign("roundrobin", {"a": 3, "b": 3}, subscribed(m1="ab", m2="ab"))
    assert written(assigned) == {"m1": "a0 a2 b1", "m2": "a1 b0 b2"}


def test_roundrobin_passes_over_members_without_the_topic() -> None:
    assigned = client_assign("roundrobin", {"a": 1, "b": 2, "c": 3}, subscribed(m1="a", m2="ab", m3="abc"))
    assert written(assigned) == {"m1": "a0", "m2": "b0", "m3": "b1 c0 c1 c2"}


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_static_members_come_first(name: str) -> None:
    members = subscribed(m1="a", m2="a", m3="a")
    members["m3"] = members["m3"]._replace(group_instance_id="z")
    assert written(client_assign(name, {"a": 1}, members)) == {"m1": "", "m2": "", "m3": "a0"}


def on_racks(**racks: str) -> dict[str, MemberSubscription]:
    return {member: MemberSubscription(Subscription(("a", "b"), rack_id=rack)) for member, rack in racks.items()}


def test_range_follows_racks_within_the_quotas() -> None:
    racks = {TopicPartition("a", number): {f"r{2 - number // 2}"} for number in range(4)}
    assigned = client_assign("range", {"a": 4}, on_racks(m1="r1", m2="r2"), racks)
    assert written(assigned) == {"m1": "a2 a3", "m2": "a0 a1"}


def test_range_keeps_topics_alike_before_it_follows_racks() -> None:
    racks = {TopicPartition("a", 0): {"r1"}, TopicPartition("a", 1): {"r2"}}
    racks |= {TopicPartition("b", 0): {"r2"}, TopicPartition("b", 1): {"r1"}}
    assigned = client_assign("range", {"a": 2, "b": 2}, on_racks(m1="r1", m2="r2"), racks)
    assert written(assigned) == {"m1": "a0 b0", "m2": "a1 b1"}


@pytest.mark.parametrize("name", CLIENT)
def test_topics_that_do_not_exist_are_left_out(name: str) -> None:
    assert written(client_assign(name, {"a": 1}, subscribed(m1="ax"))) == {"m1": "a0"}
    assert client_assign(name, {"a": 1}, {}) == {}


def test_unknown_names_and_assignors_without_user_data() -> None:
    with pytest.raises(KafkapyError, match="unknown assignor: none"):
        client_assign("none", {}, subscribed(m1="a"))
    assert user_data("range", (), 1) is None


@pytest.mark.parametrize("name", CLIENT)
@given(data=st.data())
def test_each_partition_has_one_owner_who_wants_it(name: str, data: st.DataObject) -> None:
    topics = data.draw(TOPICS)
    wanted = data.draw(st.lists(st.sets(st.sampled_from(sorted(topics)), min_size=1), min_size=1, max_size=8))
    members = subscribed(**{f"m{number}": "".join(sorted(each)) for number, each in enumerate(wanted)})
    check_whole(topics, members, client_assign(name, topics, members))


@pytest.mark.parametrize("name", ["roundrobin", "sticky", "cooperative-sticky"])
@given(topics=TOPICS, count=st.integers(1, 9))
def test_equal_members_differ_by_one_at_most(name: str, topics: dict[str, int], count: int) -> None:
    members = subscribed(**{f"m{number}": "".join(topics) for number in range(count)})
    assert spread(client_assign(name, topics, members)) <= 1
