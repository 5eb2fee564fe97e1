"""What holds for every plan, whatever the cluster."""

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.exact_plan import exact_plan, is_available, lower_bound
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.kafka_plan import kafka_plan
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.minimal_plan import distance, loads_after, minimal_plan
from kafkapy.metadata.reassignment.plan_cost import bytes_moved, plan_cost
from kafkapy.metadata.reassignment.plan_jobs import Job
from kafkapy.metadata.reassignment.plans import Planned, make_plan, rollback
from kafkapy.metadata.reassignment.rack_rule import RackRule
from kafkapy.metadata.reassignment.strategy import Strategy
from tests.metadata.reassignment.layouts import GONE, after_failures, layouts, placed

needs_solver = pytest.mark.skipif(not is_available(), reason="SciPy is not installed")
strategies = st.sampled_from([Strategy.MINIMAL, Strategy.BALANCED])


def everywhere(layout: Layout) -> Goal:
    return Goal(frozenset(layout.replicas), tuple(layout.brokers))


def named(job: Job, layout: Layout, strategy: Strategy = Strategy.MINIMAL) -> dict[TopicPartition, tuple[int, ...]]:
    return dict(make_plan(layout, job, strategy, 0.1, Random(1)).plan)


def check_sound(layout: Layout, plan: dict[TopicPartition, tuple[int, ...]], brokers: set[int]) -> None:
    for partition, after in plan.items():
        assert after, partition
        assert len(set(after)) == len(after), "a broker twice"
        assert brokers.issuperset(after)
        assert after != layout.replicas[partition], "a partition that stays is no part of a plan"


@given(layout=layouts(), tolerance=st.sampled_from([0.0, 0.1, 0.5]))
def test_any_rebalance_is_sound(layout: Layout, tolerance: float) -> None:
    plan = minimal_plan(layout, everywhere(layout)._replace(tolerance=tolerance))
    check_sound(layout, plan, set(layout.brokers))
    assert all(len(after) == len(layout.replicas[p]) for p, after in plan.items())
    assert not any(GONE in replicas for replicas in layout.after(plan).replicas.values())
    rule = RackRule(layout.brokers)
    assert all(rule.is_kept(replicas) for replicas in layout.after(plan).replicas.values())


@given(layout=layouts(gone=False), tolerance=st.sampled_from([0.0, 0.1]))
def test_a_plan_never_makes_balance_worse(layout: Layout, tolerance: float) -> None:
    rule = RackRule(layout.brokers)
    assume(all(rule.is_kept(replicas) for replicas in layout.replicas.values()))
    goal = everywhere(layout)._replace(tolerance=tolerance)
    assert distance(layout, goal, minimal_plan(layout, goal)) <= distance(layout, goal, {}) + 1e-6


@needs_solver
@given(layout=layouts(fewest=2))
@settings(max_examples=60)
def test_the_solver_is_as_balanced_as_the_heuristic_and_no_dearer(layout: Layout) -> None:
    goal = everywhere(layout)
    quick, exact = minimal_plan(layout, goal), exact_plan(layout, goal)
    check_sound(layout, exact, set(layout.brokers))
    apart, near = distance(layout, goal, quick), distance(layout, goal, exact)
    assert (near, bytes_moved(layout, exact)) <= (apart, bytes_moved(layout, quick))
    if near == 0:
        assert lower_bound(layout, goal) <= bytes_moved(layout, exact) + 1


JOBS = (
    *(Job(rebalance=True), Job(drain=frozenset({1})), Job(replication_factor=2), Job(fix_racks=True)),
    *(Job(add=frozenset({1})), Job(broker_list=(1, 2, 3, 4, 5, 6, 7)), Job(broker_list=(1, 2), rebalance=True)),
    Job(broker_list=(1, 2, 3), rebalance=True),
)


anywhere = layouts(mixed=False, fewest=2) | layouts(mixed=False, fewest=2, most=3)
"""Kafka's draw is cheap by luck mostly where there are few brokers."""


@given(layout=anywhere, job=st.sampled_from(JOBS), seed=st.integers(0, 99), down=st.booleans())
@settings(max_examples=150)
def test_minimal_never_moves_more_bytes_than_kafkas_draw(layout: Layout, job: Job, seed: int, down: bool) -> None:
    last = max(layout.brokers)
    layout = layout._replace(fenced=frozenset({last} if down and last > 2 else ()))
    try:
        theirs = bytes_moved(layout, drawn(layout, job, seed))
        planned = make_plan(layout, job, Strategy.MINIMAL, None, Random(seed))
    except KafkaError:
        return
    assert bytes_moved(layout, planned.plan) <= theirs
    if planned.rival is not None:
        assert planned.rival == (theirs, bytes_moved(layout, insisting(layout, job, seed).plan), True)
        assert planned.rival.bytes_within_tolerance > theirs


def insisting(layout: Layout, job: Job, seed: int) -> Planned:
    return make_plan(layout, job, Strategy.MINIMAL, 0.1, Random(seed))


@given(layout=layouts(gone=False, mixed=False, fewest=2, most=3), seed=st.integers(0, 99))
def test_a_plan_beside_a_cheaper_draw_is_as_balanced_as_the_draw(layout: Layout, seed: int) -> None:
    planned = make_plan(layout, Job(rebalance=True), Strategy.MINIMAL, None, Random(seed))
    if planned.rival is None:
        return
    ours = loads_after(layout, planned.goal, planned.plan)
    theirs = loads_after(layout, planned.goal, drawn(layout, Job(rebalance=True), seed))
    for mine, other, shares in (
        (ours.counts, theirs.counts, ours.count_shares),
        (ours.sizes, theirs.sizes, ours.size_shares),
    ):
        worst = max((abs(other[b] - share) / share for b, share in shares.items() if share), default=0.0)
        for broker, share in shares.items():
            # numbers of replicas are whole: a tolerance ends at the next one
            room = max(0.1, worst) * share + (1 if mine is ours.counts else 1e-3 * share)
            assert abs(mine[broker] - share) <= room + 1e-6


def test_who_names_a_tolerance_gets_it_and_is_told_of_the_cheaper_draw() -> None:
    p, q = TopicPartition("t", 0), TopicPartition("u", 0)
    layout = Layout({1: None, 2: None}, {p: (1,), q: (1,)}, {p: 100, q: 100})
    seed = next(s for s in range(99) if not bytes_moved(layout, drawn(layout, Job(rebalance=True), s)))
    usual = make_plan(layout, Job(rebalance=True), Strategy.MINIMAL, None, Random(seed))
    assert (usual.plan, usual.rival) == ({}, (0, 100, True)), "the draw leaves all where it is"
    strict = make_plan(layout, Job(rebalance=True), Strategy.MINIMAL, 0.1, Random(seed))
    assert (bytes_moved(layout, strict.plan), strict.rival) == (100, (0, 100, False))


def drawn(layout: Layout, job: Job, seed: int) -> Assignment:
    return make_plan(layout, job, Strategy.KAFKA, None, Random(seed)).plan


@given(layout=layouts(gone=False, mixed=False), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_kafkas_plan_is_never_both_cheaper_and_as_balanced(layout: Layout, seed: int) -> None:
    job = Job(rebalance=True)
    planned = make_plan(layout, job, Strategy.MINIMAL, 0.1, Random(seed))
    theirs = kafka_plan(layout, planned.goal, Random(seed))
    rule = RackRule(layout.brokers)
    assume(all(rule.is_kept(after) for after in theirs.values()))
    ours = (distance(layout, planned.goal, planned.plan), bytes_moved(layout, planned.plan))
    assert distance(layout, planned.goal, theirs) > ours[0] or bytes_moved(layout, theirs) >= ours[1]


@pytest.mark.parametrize("factor", [1, 2, 3])
@pytest.mark.parametrize("racks", [(None,), ("a", "b"), ("a", "b", "c")])
@pytest.mark.parametrize("strategy", [Strategy.MINIMAL, Strategy.BALANCED])
def test_clusters_of_some_size_are_balanced_for_fewer_bytes_than_kafkas(
    factor: int, racks: tuple[str | None, ...], strategy: Strategy
) -> None:
    brokers = {broker: racks[broker % len(racks)] for broker in range(1, 7)}
    random = Random(5)
    layout = placed(brokers, 8, 12, factor, [int(random.lognormvariate(0, 1) * 1000) for _ in range(96)])
    planned = make_plan(layout, Job(rebalance=True), strategy, 0.1, Random(3))
    assert bytes_moved(layout, planned.plan) < bytes_moved(layout, kafka_plan(layout, planned.goal, Random(3)))
    after = plan_cost(layout, planned.plan).imbalance_after
    most = 0.1 if strategy is Strategy.MINIMAL else 0.01
    assert after.bytes <= most + 1e-6
    # numbers of replicas are whole: a tolerance ends at the next one
    assert after.replicas < 0.1 + len(brokers) / (96 * factor)
    assert after.leaders < 0.1 + len(brokers) / 96


@given(layout=layouts(gone=False), strategy=strategies)
def test_rollback_is_what_was_there(layout: Layout, strategy: Strategy) -> None:
    plan = named(Job(rebalance=True), layout, strategy)
    assert layout.after(plan).after(rollback(layout, plan)) == layout


@given(layout=layouts(fewest=2), drained=st.integers(1, 2))
def test_a_drain_moves_what_the_broker_has_and_nothing_else(layout: Layout, drained: int) -> None:
    held = {p for p, replicas in layout.replicas.items() if drained in replicas}
    try:
        plan = named(Job(drain=frozenset({drained})), layout)
    except KafkaError:
        rest = len(layout.brokers) - 1
        assert any(len({b for b in layout.replicas[p] if b != GONE}) > rest for p in held)
        return
    check_sound(layout, plan, {*layout.brokers, GONE} - {drained})
    assert set(plan) == held
    assert bytes_moved(layout, plan) == sum(layout.size(p) for p in held)
    for partition, after in plan.items():
        assert set(layout.replicas[partition]) - {drained} < set(after)
        if layout.replicas[partition][0] != drained:
            assert len(set(after)) == len(layout.replicas[partition])


def test_what_a_drained_broker_led_is_led_by_all_others() -> None:
    """A broker that is about to lead a partition anyway does not count that one against itself."""
    replicas = {0: (1, 2), 1: (3, 4), 2: (1, 2), 3: (1, 3)}
    layout = Layout(
        {1: "a", 2: "a", 3: "b", 4: "b", 5: "c"},
        {TopicPartition("t", number): found for number, found in replicas.items()},
        {TopicPartition("t", 2): 1000},
    )
    after = layout.after(named(Job(drain=frozenset({1})), layout)).replicas
    assert sorted(found[0] for found in after.values()) == [2, 3, 4, 5]


@given(layout=layouts())
def test_a_broker_that_is_gone_can_be_drained(layout: Layout) -> None:
    assume(any(GONE in replicas for replicas in layout.replicas.values()))
    plan = named(Job(drain=frozenset({GONE})), layout)
    assert set(plan) == {p for p, replicas in layout.replicas.items() if GONE in replicas}
    assert not any(GONE in after for after in plan.values())


@given(layout=layouts(gone=False), factor=st.integers(1, 7))
def test_a_replication_factor_adds_or_removes_what_it_must(layout: Layout, factor: int) -> None:
    assume(factor <= len(layout.brokers))
    plan = named(Job(replication_factor=factor), layout)
    check_sound(layout, plan, set(layout.brokers))
    for partition, before in layout.replicas.items():
        after = layout.after(plan).replicas[partition]
        assert len(after) == factor
        assert set(before).issubset(after) or set(after).issubset(before)
        assert after[0] == before[0], "the leader stays"
    rule = RackRule(layout.brokers)
    for partition, after in plan.items():
        if rule.is_kept(layout.replicas[partition]) and len(after) > len(layout.replicas[partition]):
            assert rule.is_kept(after)


@given(layout=layouts(gone=False))
def test_a_new_broker_is_the_only_one_that_gets_anything(layout: Layout) -> None:
    new = max(layout.brokers) + 1
    rack = next(iter(layout.brokers.values()))
    grown = layout._replace(brokers={**layout.brokers, new: rack})
    plan = named(Job(add=frozenset({new})), grown)
    check_sound(grown, plan, set(grown.brokers))
    for partition, after in plan.items():
        assert set(after) - set(grown.replicas[partition]) <= {new}


@given(layout=layouts(), demoted=st.integers(1, 3))
def test_a_demotion_moves_no_byte(layout: Layout, demoted: int) -> None:
    assume(demoted in layout.brokers)
    plan = named(Job(demote=frozenset({demoted})), layout)
    assert bytes_moved(layout, plan) == 0
    for partition, after in layout.after(plan).replicas.items():
        assert sorted(after) == sorted(layout.replicas[partition])
        if set(after) - {demoted, GONE}:
            assert after[0] != demoted


@given(layout=after_failures(), demoted=st.integers(1, 2))
def test_a_demoted_broker_leads_nothing_that_another_can_lead_now(layout: Layout, demoted: int) -> None:
    plan = named(Job(demote=frozenset({demoted})), layout)
    after = layout.after(plan)
    assert bytes_moved(layout, plan) == 0
    for partition, replicas in layout.replicas.items():
        if any(layout.can_lead(partition, broker) for broker in replicas if broker != demoted):
            assert after.leader(partition) != demoted
        if set(replicas) - {demoted}:
            assert after.replicas[partition][0] != demoted, "nor when the others are up and in sync again"
    assert all(
        partition in plan for partition in layout.replicas if after.leader(partition) != layout.leader(partition)
    )


@given(layout=after_failures(), strategy=strategies)
def test_a_plan_names_only_what_it_changes(layout: Layout, strategy: Strategy) -> None:
    plan = named(Job(rebalance=True), layout, strategy)
    for partition, after in plan.items():
        moved = layout.elected(partition, after) != layout.leader(partition)
        assert after != layout.replicas[partition] or moved, "a partition that stays is no part of a plan"


def test_leaders_that_a_failure_moved_are_given_back() -> None:
    partitions = [TopicPartition("t", number) for number in range(12)]
    replicas = {p: (1 + p.partition % 3, 1 + (p.partition + 1) % 3) for p in partitions}
    layout = Layout(dict.fromkeys((1, 2, 3)), replicas, dict.fromkeys(partitions, 1000))
    lost = {p: r[1] if r[0] == 1 else r[0] for p, r in layout.replicas.items()}
    layout = layout._replace(leaders=lost)
    plan = named(Job(rebalance=True), layout)
    assert plan == {p: r for p, r in layout.replicas.items() if r[0] == 1}
    assert layout.after(plan).leader_counts() == {1: 4, 2: 4, 3: 4}
    demoted = named(Job(demote=frozenset({2})), layout)
    assert layout.after(demoted).leader_counts()[2] == 0
    assert plan_cost(layout, demoted).leaders_moved == layout.leader_counts()[2] > 4


def test_leaders_stand_in_for_who_is_down_and_are_balanced_as_such() -> None:
    partitions = [TopicPartition("t", number) for number in range(6)]
    layout = Layout(
        dict.fromkeys((1, 2, 3)),
        dict.fromkeys(partitions, (3, 1, 2)),
        dict.fromkeys(partitions, 5),
        leaders=dict.fromkeys(partitions, 1),
        fenced=frozenset({3}),
    )
    after = layout.after(named(Job(rebalance=True), layout))
    assert after.leader_counts() == {1: 4, 2: 2, 3: 0}, "3 a broker; a tenth off that is a whole leader"
    assert sum(replicas[0] == 3 for replicas in after.replicas.values()) == 4, "those whose leader stays keep the order"


def test_of_fewer_replicas_one_in_sync_stays() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout(
        dict.fromkeys((1, 2)),
        {partition: (1, 2)},
        {},
        leaders={partition: 2},
        in_sync={partition: frozenset({2})},
    )
    assert named(Job(replication_factor=1), layout) == {partition: (2,)}


@given(layout=layouts(gone=False))
def test_racks_are_fixed_and_nothing_else_is_touched(layout: Layout) -> None:
    rule = RackRule(layout.brokers)
    plan = named(Job(fix_racks=True), layout)
    assert set(plan) == {p for p, replicas in layout.replicas.items() if not rule.is_kept(replicas)}
    assert all(rule.is_kept(after) for after in plan.values())


def test_brokers_that_are_down_keep_what_they_have_and_get_nothing() -> None:
    layout = placed(dict.fromkeys(range(1, 6)), 4, 5, 2, [1000])._replace(fenced=frozenset({4}))
    held = {p for p, replicas in layout.replicas.items() if 4 in replicas}
    for job in (Job(drain=frozenset({1})), Job(rebalance=True), Job(replication_factor=3)):
        after = layout.after(named(job, layout)).replicas
        assert {p for p, replicas in after.items() if 4 in replicas} == held


def test_of_fewer_replicas_one_that_is_up_stays() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout(dict.fromkeys((1, 2, 3)), {partition: (3, 1)}, {partition: 5}, fenced=frozenset({3}))
    assert named(Job(replication_factor=1), layout) == {partition: (1,)}


def test_racks_give_way_before_a_broker_gets_what_it_may_not_receive() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout({1: "a", 2: "a", 3: "b"}, {partition: (1, 2)}, {partition: 5})
    assert named(Job(fix_racks=True), layout) in ({partition: (1, 3)}, {partition: (2, 3)})
    assert named(Job(fix_racks=True, broker_list=(1, 2)), layout) == {}
    assert named(Job(rebalance=True, broker_list=(1, 2)), layout) == {}


def test_empty_partitions_count_as_replicas() -> None:
    layout = Layout(
        {1: None, 2: None}, {TopicPartition("t", number): (1,) for number in range(10)}, dict.fromkeys((), 0)
    )
    plan = named(Job(rebalance=True), layout)
    assert sorted(layout.after(plan).replica_counts().values()) == [4, 6]
    assert sorted(layout.after(named(Job(rebalance=True), layout, Strategy.BALANCED)).replica_counts().values()) == [
        5,
        5,
    ]
    assert bytes_moved(layout, plan) == 0


def test_leaders_of_a_balanced_cluster_stay() -> None:
    layout = placed(dict.fromkeys(range(1, 5)), 4, 8, 3, [1000])
    assert named(Job(rebalance=True), layout) == {}


def test_no_replica_of_a_leader_moves_where_a_follower_does_as_well() -> None:
    partitions = [TopicPartition("t", number) for number in range(12)]
    layout = Layout(
        dict.fromkeys((1, 2, 3)),
        {p: ((1, 2), (2, 1))[p.partition % 2] for p in partitions},
        dict.fromkeys(partitions, 100),
    )
    plan = minimal_plan(layout, everywhere(layout)._replace(balance_leaders=False))
    assert plan_cost(layout, plan).leaders_moved == 0
    assert layout.after(plan).replica_counts() == {1: 8, 2: 8, 3: 8}


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (Job(drain=frozenset({9})), "Unknown broker id 9"),
        (Job(add=frozenset({9})), "Unknown broker id 9"),
        (Job(demote=frozenset({9})), "Unknown broker id 9"),
        (Job(replication_factor=0), "Replication factor must be at least 1, not 0"),
        (Job(replication_factor=3), "t0-0 needs 3 replicas, but only 2 brokers may have one."),
        (Job(rebalance=True, broker_list=(1, 7)), "Unknown broker id 7"),
    ],
)
def test_what_cannot_be_is_refused(job: Job, message: str) -> None:
    layout = placed({1: None, 2: None}, 1, 1, 1, [10])
    with pytest.raises(KafkaError) as refused:
        named(job, layout)
    assert str(refused.value) == message


def test_too_few_brokers_for_the_replicas_say_which_topics_have_too_many() -> None:
    layout = placed({1: None, 2: None, 3: None}, 12, 1, 3, [10])
    with pytest.raises(KafkaError) as refused:
        named(Job(drain=frozenset({3})), layout)
    assert str(refused.value) == "t0-0 needs 3 replicas, but only 2 brokers may have one."
    assert refused.value.hint == (
        "this applies to the topics t0, t1, t10, t11, t2, t3, t4, t5, t6, t7 and 2 more: name others with "
        "--topics-to-move-json-file, or these, to lower their replication factor first, with --generate "
        "--set-replication-factor 2"
    )
    only = Job(topics=frozenset({"t1"}), replication_factor=2)
    assert len(named(only, layout)) == 1


def test_racks_that_only_some_brokers_have_are_refused_in_kafkas_words() -> None:
    layout = placed({1: "a", 2: "b"}, 1, 2, 1, [10])._replace(brokers={1: "a", 2: None})
    message = "Not all brokers have rack information. Add --disable-rack-aware"
    for strategy in Strategy:
        with pytest.raises(KafkaError, match=message):
            make_plan(layout, Job(frozenset({"t0"}), (1, 2)), strategy, 0.1, Random(1))
        make_plan(layout, Job(frozenset({"t0"}), (1, 2), rack_aware=False), strategy, 0.1, Random(1))


@given(layout=layouts(gone=False, fewest=2), drained=st.integers(1, 2), seed=st.integers(0, 9))
@settings(max_examples=50)
def test_kafkas_strategy_places_whole_topics(layout: Layout, drained: int, seed: int) -> None:
    try:
        planned = make_plan(layout, Job(drain=frozenset({drained})), Strategy.KAFKA, 0.1, Random(seed))
    except KafkaError:
        return
    topics = {p.topic for p, replicas in layout.replicas.items() if drained in replicas}
    assert set(planned.plan) == {p for p in layout.replicas if p.topic in topics}
    for partition, after in planned.plan.items():
        assert drained not in after
        assert len(set(after)) == len(layout.replicas[TopicPartition(partition.topic, 0)])
