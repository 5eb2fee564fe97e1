"""What plans cost, and how they are cut into batches."""

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.minimal_plan import minimal_plan
from kafkapy.metadata.reassignment.plan_batches import batches
from kafkapy.metadata.reassignment.plan_cost import bytes_moved, log_dir_moves, plan_cost
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.output.plan_lines import cost_lines
from tests.metadata.reassignment.layouts import layouts

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


def test_a_small_plan() -> None:
    layout = Layout({1: "x", 2: "x", 3: "y"}, {A: (1, 2), B: (2, 3)}, {A: 100, B: 10}, leaders={A: 2, B: 2})
    cost = plan_cost(layout, {A: (1, 3), B: (3, 2)})
    assert (cost.partitions, cost.replicas_moved, cost.bytes_moved, cost.leaders_moved) == (2, 1, 100, 2)
    assert cost.pairs == {(2, 3): 100}, "the leader is fetched from"
    assert (cost.rack_violations_before, cost.rack_violations_after) == (1, 0)
    assert cost.brokers[3]._asdict() == {
        "bytes_in": 100,
        "bytes_out": 0,
        "disk_before": 10,
        "disk_peak": 110,
        "disk_after": 110,
        "replicas_before": 1,
        "replicas_after": 2,
        "leaders_before": 0,
        "leaders_after": 1,
    }
    assert cost.brokers[2].disk_peak == 110
    assert cost.brokers[2].disk_after == 10
    assert cost.seconds(50) == 2.0


def test_leaders_are_those_who_lead() -> None:
    """Broker 1 was down and is back: it is preferred, and leads nothing until it is elected."""
    layout = Layout({1: None, 2: None}, {A: (1, 2), B: (1, 2)}, {}, leaders={A: 2, B: 2})
    unelected = plan_cost(layout, {})
    assert (unelected.partitions, unelected.leaders_moved, unelected.imbalance_after.leaders) == (0, 0, 1.0)
    cost = plan_cost(layout, {A: (1, 2)})
    assert (cost.partitions, cost.replicas_moved, cost.leaders_moved) == (1, 0, 1), "--execute elects it"
    assert (cost.imbalance_before.leaders, cost.imbalance_after.leaders) == (1.0, 0.0)
    assert [(each.leaders_before, each.leaders_after) for each in cost.brokers.values()] == [(0, 1), (2, 1)]


def test_balance_is_of_the_brokers_that_are_up_and_not_emptied() -> None:
    """A drain of one topic leaves its broker the other, so it has a share still; one of everything does not."""
    t = {TopicPartition("t", number): (1 + number % 3,) for number in range(102)}
    u = {TopicPartition("u", number): (3,) for number in range(2)}
    layout = Layout(dict.fromkeys((1, 2, 3)), {**t, **u}, {})
    of_one_topic = dict(zip(u, ((1,), (2,)), strict=True))
    cost = plan_cost(layout, of_one_topic)
    assert (cost.counted_before, cost.counted_after) == ((1, 2, 3), (1, 2, 3))
    assert [each.leaders_after for each in cost.brokers.values()] == [35, 35, 34]
    share = 104 / 3
    assert cost.imbalance_after.leaders == cost.imbalance_after.replicas == (share - 34) / share
    of_everything = {p: (1 + n % 2,) for n, p in enumerate(p for p, found in layout.replicas.items() if 3 in found)}
    cost = plan_cost(layout, of_everything)
    assert (cost.counted_before, cost.counted_after) == ((1, 2, 3), (1, 2))
    assert cost.imbalance_after == (0.0, 0.0, 0.0)
    down = plan_cost(layout._replace(fenced=frozenset({3})), {})
    assert (down.counted_after, down.imbalance_after) == ((1, 2), (0.0, 0.0, 0.0)), "what it has is no part of shares"


def test_who_cannot_lead_is_not_counted_as_a_leader() -> None:
    behind = Layout({1: None, 2: None}, {A: (2, 1)}, {}, leaders={A: 2}, in_sync={A: frozenset({2})})
    assert plan_cost(behind, {A: (1, 2)}).leaders_moved == 0
    down = Layout({1: None, 2: None, 3: None}, {A: (2, 1)}, {A: 5}, leaders={A: 2}, fenced=frozenset({1}))
    cost = plan_cost(down, {A: (1, 3)})
    assert (cost.leaders_moved, cost.brokers[3].leaders_after) == (1, 1), "the old leader goes, the new replica leads"
    assert cost.pairs == {(2, 3): 5}


def test_the_table_of_a_large_cluster_fits_a_terminal() -> None:
    brokers = dict.fromkeys(range(100, 130))
    replicas = {TopicPartition("t", n): (100 + n % 30, 100 + (n + 1) % 30) for n in range(10_000)}
    layout = Layout(brokers, replicas, dict.fromkeys(replicas, 1_499_000_000))
    plan = {partition: (100 + (found[1] - 99) % 30, found[0]) for partition, found in replicas.items()}
    lines = list(cost_lines(layout, plan_cost(layout, plan), 1_000_000))
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "and 10 brokers with less to do (--output table shows all)"


def test_moves_between_log_dirs_are_counted_by_themselves() -> None:
    a, b = TopicPartition("t", 0), TopicPartition("t", 1)
    layout = Layout(dict.fromkeys((1, 2)), {a: (1,), b: (2,)}, {a: 7, b: 9})
    current = {(a, 1): "/one", (b, 2): "/two"}
    plan = Reassignment({a: (1,), b: (2,)}, {(a, 1): "/other", (b, 2): "/two/"})
    assert log_dir_moves(layout, plan, current) == {(a, 1): 7}
    assert log_dir_moves(layout, Reassignment({a: (2,)}, {(a, 2): "/two"}), current) == {}, "that is a new replica"


def test_nothing_costs_nothing() -> None:
    layout = Layout({1: None}, {A: (1,)}, {A: 100})
    cost = plan_cost(layout, {})
    assert (cost.partitions, cost.bytes_moved, cost.seconds(1), cost.pairs) == (0, 0, 0.0, {})
    assert cost.imbalance_before == cost.imbalance_after == (0.0, 0.0, 0.0)


@given(layout=layouts())
def test_sums_agree(layout: Layout) -> None:
    plan = minimal_plan(layout, Goal(frozenset(layout.replicas), tuple(layout.brokers), tolerance=0.0))
    cost = plan_cost(layout, plan)
    assert sum(each.bytes_in for each in cost.brokers.values()) == cost.bytes_moved == bytes_moved(layout, plan)
    assert sum(each.bytes_out for each in cost.brokers.values()) == cost.bytes_moved
    for broker, each in cost.brokers.items():
        assert each.disk_after <= each.disk_peak == each.disk_before + each.bytes_in
        assert each.disk_after == layout.after(plan).bytes_on().get(broker, 0)


@given(layout=layouts(), size=st.none() | st.integers(1, 4), limit=st.none() | st.integers(0, 2000))
def test_batches_are_the_plan_and_keep_their_limits(layout: Layout, size: int | None, limit: int | None) -> None:
    plan = minimal_plan(layout, Goal(frozenset(layout.replicas), tuple(layout.brokers), tolerance=0.0))
    parts = batches(layout, plan, size, limit)
    assert [p for part in parts for p in part] == sorted(plan)
    assert all(parts)
    assert size is None or all(len(part) <= size for part in parts)
    for part in parts:
        assert (
            limit is None
            or bytes_moved(layout, part) <= limit
            or len([p for p in part if bytes_moved(layout, {p: part[p]})]) == 1
        )
    if size is None and limit is None:
        assert len(parts) <= 1
