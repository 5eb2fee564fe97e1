"""Plans played on metadata: what must hold after every step."""

from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from kafkapy.formats.uuid import DIRECTORY_UNASSIGNED
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.image import EMPTY, MetadataImage
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.log_dir_tally import LogDirTally
from kafkapy.metadata.reassignment.minimal_plan import minimal_plan
from kafkapy.metadata.reassignment.plan_batches import batches
from kafkapy.metadata.reassignment.plan_cost import bytes_moved, plan_cost, seconds_to_copy
from kafkapy.metadata.reassignment.plan_jobs import Job
from kafkapy.metadata.reassignment.plans import make_plan
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.reassignment.simulation import simulate
from kafkapy.metadata.reassignment.strategy import Strategy
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage
from tests.metadata.reassignment.layouts import after_failures, layouts


def image_of(layout: Layout) -> MetadataImage:
    """Metadata in which every replica is in sync and the preferred leaders lead, unless the layout knows others."""
    brokers = {
        broker: BrokerRegistration(broker, 1, "A" * 22, (), {}, rack, broker in layout.fenced)
        for broker, rack in layout.brokers.items()
    }
    topics = {}
    for name in sorted({partition.topic for partition in layout.replicas}):
        partitions = {
            partition.partition: PartitionRegistration(
                replicas,
                (DIRECTORY_UNASSIGNED,) * len(replicas),
                tuple(b for b in replicas if b in layout.in_sync.get(partition, replicas)),
                leader=layout.leaders.get(partition, -1 if layout.leaders else replicas[0]),
            )
            for partition, replicas in layout.replicas.items()
            if partition.topic == name
        }
        topics[name] = TopicImage(name, name.rjust(22, "A"), partitions)
    return EMPTY._replace(brokers=brokers, topics=topics, topics_by_id={topic.id: topic for topic in topics.values()})


def with_leaders(layout: Layout) -> Layout:
    return layout._replace(leaders={partition: replicas[0] for partition, replicas in layout.replicas.items()})


@given(layout=layouts(gone=False), size=st.none() | st.integers(1, 3))
def test_a_plan_is_played_to_its_end(layout: Layout, size: int | None) -> None:
    layout = with_leaders(layout)
    plan = minimal_plan(layout, Goal(frozenset(layout.replicas), tuple(layout.brokers), tolerance=0.0))
    parts = batches(layout, plan, size)
    steps = list(simulate(image_of(layout), layout, parts))
    names = [name for _ in parts for name in ("started", "copied", "completed")]
    assert [step.name for step in steps] == ["before", *names, "elected"]
    first, last, cost = steps[0], steps[-1], plan_cost(layout, plan)
    for step in steps:
        assert step.under_replicated == step.without_leader == step.stalled == 0
        assert sum(step.isr_sizes.values()) == len(layout.replicas)
        for broker, state in step.brokers.items():
            assert state.leaders <= state.in_sync <= state.replicas
            assert 0 <= state.disk <= cost.brokers[broker].disk_peak
    for broker, each in cost.brokers.items():
        assert first.brokers[broker].disk == each.disk_before
        assert last.brokers[broker] == (each.disk_after, each.replicas_after, each.replicas_after, each.leaders_after)
    assert sum(sum(step.pairs.values()) for step in steps) == bytes_moved(layout, plan)


@given(layout=after_failures(), job=st.sampled_from([Job(rebalance=True), Job(demote=frozenset({1}))]))
def test_who_leads_at_the_end_is_whom_the_cost_names(layout: Layout, job: Job) -> None:
    assume(layout.leaders)
    plan = make_plan(layout, job, Strategy.MINIMAL, None, Random(0)).plan
    cost = plan_cost(layout, plan)
    first, *_, last = simulate(image_of(layout), layout, [plan])
    for broker, each in cost.brokers.items():
        assert (first.brokers[broker].leaders, last.brokers[broker].leaders) == (
            each.leaders_before,
            each.leaders_after,
        )


def test_the_steps_of_one_move() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2, 3)), {partition: (1, 2)}, {partition: 100}))
    before, started, copied, completed, elected = simulate(image_of(layout), layout, [{partition: (3, 2)}])
    assert [before.brokers[b].disk for b in (1, 2, 3)] == [100, 100, 0]
    assert started.brokers[3] == (0, 1, 0, 0), "assigned and empty"
    assert started.isr_sizes == {2: 1}
    assert (started.moving, completed.moving) == (1, 0)
    assert [copied.brokers[b].disk for b in (1, 2, 3)] == [100, 100, 100]
    assert copied.pairs == {(1, 3): 100}
    assert completed.brokers[1] == (0, 0, 0, 0)
    assert completed.brokers[3] == (100, 1, 1, 1), "the old leader went, and the first of the target leads"
    assert elected.brokers == completed.brokers


def test_leaders_are_elected_at_the_end() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2)), {partition: (1, 2)}, {partition: 100}))
    steps = list(simulate(image_of(layout), layout, [{partition: (2, 1)}]))
    assert [step.brokers[1].leaders for step in steps] == [1, 1, 1, 1, 0]
    assert steps[1].moving == 0, "another order is no move"


def test_a_broker_that_is_down_stalls_what_goes_to_it() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2, 3)), {partition: (1, 2)}, {partition: 100}))
    layout = layout._replace(fenced=frozenset({3}))
    steps = list(simulate(image_of(layout), layout, [{partition: (1, 3)}]))
    assert [step.stalled for step in steps] == [0, 1, 1, 1, 0]
    assert steps[-1].brokers[3] == (0, 1, 0, 0)
    assert steps[-1].brokers[2].disk == 100, "the old replica stays"


def test_nobody_goes_while_only_a_broker_that_is_down_would_stay() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2)), {partition: (1, 2)}, {partition: 100}))
    image = with_state(image_of(layout), isr=(1,))
    steps = list(simulate(image, layout._replace(fenced=frozenset({2})), [{partition: (2,)}]))
    assert [step.stalled for step in steps] == [0, 1, 1, 1, 0]
    assert steps[-1].brokers[1].leaders == 1


def with_state(image: MetadataImage, **state: object) -> MetadataImage:
    """The metadata with another state of the only partition."""
    topic = image.topics["t"]
    topic = TopicImage("t", topic.id, {0: topic.partitions[0]._replace(**state)})
    return image._replace(topics={"t": topic}, topics_by_id={topic.id: topic})


def test_who_leads_now_is_who_leads_at_first() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout(dict.fromkeys((1, 2, 3)), {partition: (1, 2)}, {partition: 100}, leaders={partition: 2})
    image = with_state(image_of(layout), leader=2)
    steps = list(simulate(image, layout, [{partition: (1, 3)}]))
    assert [[step.brokers[b].leaders for b in (1, 2, 3)] for step in steps] == [
        *([[0, 1, 0]] * 3),
        *([[1, 0, 0]] * 2),
    ]
    assert steps[2].pairs == {(2, 3): 100}


def test_of_a_partition_that_shrinks_all_that_stay_are_waited_for() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2, 3)), {partition: (1, 2, 3)}, {partition: 100}))
    behind = with_state(image_of(layout), isr=(1, 3))
    steps = list(simulate(behind, layout, [{partition: (1, 2)}]))
    assert ([step.moving for step in steps], steps[-1].isr_sizes) == ([0, 1, 1, 0, 0], {2: 1}), "who is up catches up"
    down = list(simulate(behind, layout._replace(fenced=frozenset({2})), [{partition: (1, 2)}]))
    assert [step.stalled for step in down] == [0, 1, 1, 1, 0]


def test_moves_between_log_dirs_are_played_in_the_same_steps() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2, 3)), {partition: (1, 2)}, {partition: 100}))
    plan = Reassignment({partition: (1, 3)}, {(partition, 1): "/d/b", (partition, 3): "/d/c"})
    tally = LogDirTally(layout, plan, {(partition, 1): "/d/a", (partition, 2): "/d/x"})
    steps = list(simulate(image_of(layout), layout, [plan.replicas], tally))
    assert [step.moving for step in steps] == [0, 1, 1, 0, 0]
    assert [step.log_dirs for step in steps] == [
        *([{(1, "/d/a"): 100, (1, "/d/b"): 0}] * 2),
        {(1, "/d/a"): 100, (1, "/d/b"): 100},
        *([{(1, "/d/a"): 0, (1, "/d/b"): 100}] * 2),
    ]
    assert [step.brokers[1].disk for step in steps] == [100, 100, 200, 100, 100]
    assert steps[2].pairs == {(1, 1): 100, (1, 3): 100}
    assert seconds_to_copy(steps[2].pairs, 10) == 10.0, "what stays on its broker has another throttle"


def test_new_replicas_and_those_that_go_count_in_their_log_dirs() -> None:
    a, b = TopicPartition("t", 0), TopicPartition("t", 1)
    layout = with_leaders(Layout(dict.fromkeys((1, 2)), {a: (1,), b: (2,)}, {a: 100, b: 7}))
    plan = Reassignment({a: (1,), b: (1,)}, {(a, 1): "/d/b", (b, 1): "/d/a"})
    current = {(a, 1): "/d/a", (b, 2): "/d/x"}
    steps = list(simulate(image_of(layout), layout, [plan.replicas], LogDirTally(layout, plan, current)))
    assert [tuple(step.log_dirs.values()) for step in steps] == [(100, 0), (100, 0), (107, 100), (7, 100), (7, 100)]
    back = Reassignment({a: (2,), b: (2,)}, {(a, 2): "/d/x", (b, 2): "/d/y"})
    later = list(simulate(image_of(layout), layout, [back.replicas], LogDirTally(layout, back, current)))
    assert [tuple(step.log_dirs.values()) for step in later] == [(7, 0), (7, 0), (107, 7), (100, 7), (100, 7)]


def test_a_broker_that_is_down_moves_nothing_between_its_log_dirs() -> None:
    partition = TopicPartition("t", 0)
    layout = with_leaders(Layout(dict.fromkeys((1, 2)), {partition: (1, 2)}, {partition: 100}))
    plan = Reassignment({partition: (1, 2)}, {(partition, 2): "/d/b"})
    tally = LogDirTally(layout, plan, {(partition, 2): "/d/a"})
    steps = list(simulate(image_of(layout), layout._replace(fenced=frozenset({2})), [plan.replicas], tally))
    assert [(step.moving, step.stalled) for step in steps] == [(0, 0), (1, 1), (1, 1), (1, 1), (0, 0)]
    assert steps[-1].log_dirs == {(2, "/d/a"): 100, (2, "/d/b"): 0}


def test_a_stopped_cluster_is_played_as_if_started() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout(dict.fromkeys((1, 2)), {partition: (2, 1)}, {partition: 100})
    stopped = with_state(image_of(layout), isr=(), leader=-1)
    first = next(iter(simulate(stopped, layout, [])))
    assert (first.without_leader, first.under_replicated, first.brokers[2].leaders) == (0, 0, 1)
