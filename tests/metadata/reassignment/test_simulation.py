"""Plans played on metadata: what must hold after every step."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.formats.uuid import DIRECTORY_UNASSIGNED
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.image import EMPTY, MetadataImage
from kafkapy.metadata.reassignment.goal import Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.minimal_plan import minimal_plan
from kafkapy.metadata.reassignment.plan_batches import batches
from kafkapy.metadata.reassignment.plan_cost import bytes_moved, plan_cost
from kafkapy.metadata.reassignment.simulation import simulate
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage
from tests.metadata.reassignment.layouts import layouts


def image_of(layout: Layout) -> MetadataImage:
    """Metadata in which every replica is in sync and the preferred leaders lead."""
    brokers = {
        broker: BrokerRegistration(broker, 1, "A" * 22, (), {}, rack, broker in layout.fenced)
        for broker, rack in layout.brokers.items()
    }
    topics = {}
    for name in sorted({partition.topic for partition in layout.replicas}):
        partitions = {
            partition.partition: PartitionRegistration(
                replicas, (DIRECTORY_UNASSIGNED,) * len(replicas), replicas, leader=replicas[0]
            )
            for partition, replicas in layout.replicas.items()
            if partition.topic == name
        }
        topics[name] = TopicImage(name, name.rjust(22, "A"), partitions)
    return EMPTY._replace(brokers=brokers, topics=topics, topics_by_id={topic.id: topic for topic in topics.values()})


def with_leaders(layout: Layout) -> Layout:
    return layout._replace(leaders={partition: replicas[0] for partition, replicas in layout.replicas.items()})


@given(layout=layouts(gone=False), size=st.none() | st.integers(1, 3))
@settings(deadline=None)
def test_a_plan_is_played_to_its_end(layout: Layout, size: int | None) -> None:
    layout = with_leaders(layout)
    plan = minimal_plan(layout, Goal(frozenset(layout.replicas), tuple(layout.brokers), tolerance=0.0))
    parts = batches(layout, plan, size)
    steps = list(simulate(image_of(layout), layout, parts))
    names = [name for _ in parts for name in ("started", "copied", "completed")]
    assert [step.name for step in steps] == ["before", *names, "elected"]
    first, last, cost = steps[0], steps[-1], plan_cost(layout, plan, layout.brokers)
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
    image = image_of(layout)
    behind = image.topics["t"].partitions[0]._replace(isr=(1,))
    topic = TopicImage("t", image.topics["t"].id, {0: behind})
    image = image._replace(topics={"t": topic}, topics_by_id={topic.id: topic})
    steps = list(simulate(image, layout._replace(fenced=frozenset({2})), [{partition: (2,)}]))
    assert [step.stalled for step in steps] == [0, 1, 1, 1, 0]
    assert steps[-1].brokers[1].leaders == 1


def test_a_stopped_cluster_is_played_as_if_started() -> None:
    partition = TopicPartition("t", 0)
    layout = Layout(dict.fromkeys((1, 2)), {partition: (2, 1)}, {partition: 100})
    image = image_of(layout)
    down = image.topics["t"].partitions[0]._replace(isr=(), leader=-1)
    topic = TopicImage("t", image.topics["t"].id, {0: down})
    stopped = image._replace(topics={"t": topic}, topics_by_id={topic.id: topic})
    first = next(iter(simulate(stopped, layout, [])))
    assert (first.without_leader, first.under_replicated, first.brokers[2].leaders) == (0, 0, 1)
