"""Reconciliation. That it takes Kafka's steps is tested against Kafka; here, that no partition has two readers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember, MemberState, member_of
from kafkapy.coordinator.consumer_group_records import current_assignment, member_subscription
from kafkapy.coordinator.current_assignment import CurrentAssignmentBuilder
from kafkapy.coordinator.group import ModernMember
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import GROUP, decode, encode_record
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.topics_image import TopicImage

TOPICS = {"a": "aaaaaaaaaaaaaaaaaaaaaA", "b": "bbbbbbbbbbbbbbbbbbbbbA"}
A, B = TOPICS.values()
IMAGE = EMPTY._replace(topics_by_id={topic_id: TopicImage(name, topic_id, {}) for name, topic_id in TOPICS.items()})

Targets = Mapping[str, Mapping[str, list[int]]]


def step(
    member: ConsumerGroupMember,
    target_epoch: int,
    target: Mapping[str, list[int]],
    taken: set[tuple[str, int]] = frozenset(),  # type: ignore[assignment]
    owned: Mapping[str, list[int]] | None = None,
    subscribed: tuple[str, ...] = ("a", "b"),
    is_changed: bool = False,
) -> ConsumerGroupMember:
    builder = CurrentAssignmentBuilder(
        member, target_epoch, target, subscribed, IMAGE, lambda *each: each in taken, owned
    )
    return builder.build(is_changed)


def test_a_new_member_gets_what_is_free() -> None:
    member = step(ConsumerGroupMember("m"), 2, {A: [0, 1]}, taken={(A, 1)})
    assert member == ConsumerGroupMember(
        "m", 2, 0, MemberState.UNRELEASED_PARTITIONS, assigned={A: {0: 2}}, pending_revocation={}
    )
    assert step(member, 2, {A: [0, 1]}).assigned == {A: {0: 2, 1: 2}}


def test_revoke_first_then_the_next_epoch() -> None:
    member = ConsumerGroupMember("m", 2, 0, assigned={A: {0: 2, 1: 2}})
    revoking = step(member, 3, {A: [0], B: [0]}, owned=None)
    assert revoking.state is MemberState.UNREVOKED_PARTITIONS
    assert (revoking.member_epoch, revoking.assigned) == (2, {A: {0: 2}})
    assert revoking.pending_revocation == {A: {1: 2}}
    assert step(revoking, 3, {A: [0], B: [0]}, owned={A: [0, 1]}) is revoking
    done = step(revoking, 3, {A: [0], B: [0]}, owned={A: [0]})
    assert (done.state, done.member_epoch, done.previous_member_epoch) == (MemberState.STABLE, 3, 2)
    assert done.assigned == {A: {0: 2}, B: {0: 3}}


def test_a_topic_that_is_no_longer_subscribed_goes_at_once() -> None:
    member = ConsumerGroupMember("m", 2, 0, assigned={A: {0: 2}, B: {0: 2}})
    assert step(member, 2, {A: [0], B: [0]}, subscribed=("a",)) is member
    changed = step(member, 2, {A: [0], B: [0]}, subscribed=("a",), is_changed=True)
    assert (changed.assigned, changed.pending_revocation) == ({A: {0: 2}}, {B: {0: 2}})
    given_back = step(member, 2, {A: [0], B: [0]}, subscribed=("a",), is_changed=True, owned={})
    assert (given_back.state, given_back.assigned) == (MemberState.STABLE, {A: {0: 2}})


def test_a_state_from_the_future_must_begin_anew() -> None:
    member = ConsumerGroupMember("m", 2, 0, MemberState.UNKNOWN, assigned={A: {0: 2}})
    with pytest.raises(KafkaError, match="abandon all its partitions"):
        step(member, 3, {A: [0]}, owned={A: [0]})
    assert step(member, 3, {A: [0]}, owned={}).member_epoch == 3


PARTITIONS = [(topic_id, number) for topic_id in (A, B) for number in range(3)]


@st.composite
def targets(draw: st.DrawFn) -> Targets:
    """Every partition to one of three members or to none."""
    found: dict[str, dict[str, list[int]]] = {member: {} for member in "xyz"}
    for topic_id, number in PARTITIONS:
        owner = draw(st.sampled_from(["x", "y", "z", None]))
        if owner is not None:
            found[owner].setdefault(topic_id, []).append(number)
    return found


@given(st.lists(st.one_of(targets(), st.sampled_from("xyz"), st.tuples(st.sampled_from("xyz"))), max_size=40))
def test_no_partition_ever_has_two_readers(events: list[Targets | str | tuple[str]]) -> None:
    """A target comes, a member beats without having given back what it should, or (in a tuple) after it has."""
    members = {member: ConsumerGroupMember(member) for member in "xyz"}
    reading: dict[str, set[tuple[str, int]]] = {member: set() for member in "xyz"}
    epoch, target = 2, {member: {} for member in "xyz"}  # type: ignore[var-annotated]
    for event in [*events, *"xyz" * 4, *[(member,) for member in "xyz" * 3]]:
        if isinstance(event, dict):
            epoch, target = epoch + 1, event
            continue
        (name,) = event
        has = _flat(members[name].assigned)
        if isinstance(event, tuple):
            reading[name] &= has
        owned: dict[str, list[int]] = {}
        for topic_id, number in reading[name]:
            owned.setdefault(topic_id, []).append(number)
        taken = {each for other in members.values() for each in _flat(other.assigned) | _flat(other.pending_revocation)}
        members[name] = step(members[name], epoch, target[name], taken, owned)
        reading[name] |= _flat(members[name].assigned)
        everything = [each for found in reading.values() for each in found]
        assert len(everything) == len(set(everything))
    for name, member in members.items():
        assert member.is_reconciled_to(epoch)
        assert _flat(member.assigned) == {(topic, each) for topic, found in target[name].items() for each in found}


def _flat(epochs: Mapping[str, Mapping[int, int]]) -> set[tuple[str, int]]:
    return {(topic_id, number) for topic_id, found in epochs.items() for number in found}


epochs = st.dictionaries(
    st.sampled_from([A, B]),
    st.dictionaries(st.integers(0, 9), st.integers(0, 99), min_size=1, max_size=4),
    max_size=2,
)
texts = st.text(st.characters(codec="utf-8"), max_size=6)


@given(
    st.builds(
        ConsumerGroupMember, texts, st.integers(0, 99), st.integers(-1, 99), st.sampled_from(MemberState),
        st.none() | texts, st.none() | texts, st.integers(-1, 9), texts, texts, st.frozensets(texts, max_size=3),
        st.none() | texts, st.none() | texts, epochs, epochs, st.none(),
    )
)  # fmt: skip
def test_a_member_is_what_its_records_say(member: ConsumerGroupMember) -> None:
    asked = decode(GROUP, *encode_record(GROUP, member_subscription("g", member)))
    has = decode(GROUP, *encode_record(GROUP, current_assignment("g", member)))
    assert asked.key == has.key == {"groupId": "g", "memberId": member.member_id}
    assert member_of(ModernMember(member.member_id, asked.value, None, has.value)) == member


def test_assignments_from_before_epochs_were_written() -> None:
    record = current_assignment("g", ConsumerGroupMember("m", 7, 6, assigned={A: {1: 5}}))
    assert record.value is not None
    record.value["assignedPartitions"][0]["assignmentEpochs"] = None
    assert member_of(ModernMember("m", None, None, record.value)).assigned == {A: {1: 7}}
    record.value["memberEpoch"] = -2
    assert member_of(ModernMember("m", None, None, record.value)).assigned == {A: {1: 0}}
    record.value["state"] = 9
    assert member_of(ModernMember("m", None, None, record.value)).state is MemberState.UNKNOWN
