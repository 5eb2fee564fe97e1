"""What TopicCommand calls under-replicated, unavailable, at or under min ISR; and which topics a pattern means."""

from __future__ import annotations

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.config_entries import config_entries
from kafkapy.metadata.image import BROKER, EMPTY, TOPIC, MetadataImage
from kafkapy.metadata.topic_description import PartitionDescription, describe_topics
from kafkapy.metadata.topic_selection import select_topics
from kafkapy.metadata.topics_image import PartitionRegistration, TopicImage
from kafkapy.output.topic_lines import partition_line, topic_line, unknown_partition_line

TOPIC_ID = "4L6g3nShT-eMCtK--X86sw"


def broker(broker_id: int) -> BrokerRegistration:
    """Fenced, as all are in a cluster directory: who is live is told beside the image."""
    return BrokerRegistration(broker_id, 1, ZERO_UUID, (), {}, None, True, False, ())


def image(partition: PartitionRegistration, **configs: str) -> MetadataImage:
    topic = TopicImage("t", TOPIC_ID, {0: partition})
    return EMPTY._replace(
        brokers={number: broker(number) for number in (1, 2, 3)},
        topics={"t": topic},
        configs={(TOPIC, "t"): {name.replace("_", "."): value for name, value in configs.items()}},
    )


def described(at: MetadataImage, known: bool = True, live: tuple[int, ...] = (1, 2, 3)) -> PartitionDescription:
    (topic,) = describe_topics(live, at.topics.values(), config_entries(at, TOPIC, ["t"]), known)
    (partition,) = topic.partitions
    return partition


def partition(isr: tuple[int, ...], leader: int, **others: tuple[int, ...]) -> PartitionRegistration:
    return PartitionRegistration((1, 2, 3), (ZERO_UUID,) * 3, isr, leader=leader, **others)


@pytest.mark.parametrize(
    ("registration", "min_isr", "under_replicated", "unavailable", "under_min_isr", "at_min_isr"),
    [
        (partition((1, 2, 3), 1), "1", False, False, False, False),
        (partition((1, 2, 3), 1), "3", False, False, False, True),
        (partition((1, 2), 1), "2", True, False, False, True),
        (partition((1,), 1), "2", True, False, True, False),
        (partition((2,), 2), "1", True, True, False, True),
        (partition((), -1, elr=(1,)), "1", True, True, True, False),
        (partition((1, 2), 1, adding_replicas=(3,)), "1", False, False, False, False),
    ],
)
def test_states(
    registration: PartitionRegistration,
    min_isr: str,
    under_replicated: bool,
    unavailable: bool,
    under_min_isr: bool,
    at_min_isr: bool,
) -> None:
    found = described(image(registration, min_insync_replicas=min_isr), live=(1, 3))
    assert found.is_under_replicated == under_replicated
    assert found.is_unavailable == unavailable
    assert found.is_under_min_isr == under_min_isr
    assert found.is_at_min_isr == at_min_isr


def test_min_isr_of_the_whole_cluster_holds_where_the_topic_has_none() -> None:
    at = image(partition((1, 2), 1))
    assert described(at._replace(configs={(BROKER, ""): {"min.insync.replicas": "2"}})).is_at_min_isr
    assert described(at).min_isr == 1


def test_what_is_not_known_is_in_no_state() -> None:
    found = described(image(PartitionRegistration((), (), ())), known=False)
    assert not found.is_under_replicated
    assert not found.is_unavailable
    assert not found.is_under_min_isr
    assert not found.is_at_min_isr
    assert (found.elr, found.last_known_elr) == (None, None)


def test_a_topic_shows_what_is_not_by_default() -> None:
    at = image(partition((1,), 1), retention_ms="5")
    entries = config_entries(at, TOPIC, ["t"])
    (topic,) = describe_topics((1, 2, 3), at.topics.values(), entries, True)
    assert [(config.name, config.value) for config in topic.configs] == [("retention.ms", "5")]
    assert topic.has_overrides
    assert topic.replication_factor == 3
    (unknown,) = describe_topics((1, 2, 3), at.topics.values(), entries, False)
    assert unknown.configs == ()


def test_a_topic_without_id_has_none() -> None:
    at = image(partition((1,), 1))
    without_id = at.topics["t"]._replace(id=ZERO_UUID)
    (topic,) = describe_topics((1, 2, 3), [without_id], config_entries(at, TOPIC, ["t"]), True)
    assert topic.topic_id is None
    line = topic_line("t", topic.topic_id, 1, 3, [])
    assert line == "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: "


def test_lines() -> None:
    assert partition_line("t", 0, None, (1, 2), (), (1,), (2,)) == (
        "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: \tElr: 1\tLastKnownElr: 2"
    )
    assert partition_line("t", 0, 1, (1, 2), (1,), (), (), ((2,), (3,))) == (
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tAdding Replicas: 2\tRemoving Replicas: 3"
        "\tElr: \tLastKnownElr: "
    )
    assert unknown_partition_line("t", 4).count("unknown") == 5


NAMES = ("__consumer_offsets", "a", "a.b", "ab", "b")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, NAMES),
        ("a", ("a",)),
        ("a.b", ("a.b",)),
        ("a.*", ("a", "a.b", "ab")),
        ("a, b", ("a", "b")),
        ("'a|b'", ("a", "b")),
        ("[ab]", ("a", "b")),
        ("", ()),
    ],
)
def test_patterns_match_whole_names(pattern: str | None, expected: tuple[str, ...]) -> None:
    at = EMPTY._replace(topics={name: TopicImage(name, TOPIC_ID, {}) for name in reversed(NAMES)})
    assert tuple(topic.name for topic in select_topics(at, pattern)) == expected


def test_internal_topics_and_ids() -> None:
    at = EMPTY._replace(topics={name: TopicImage(name, f"id-{name}", {}) for name in NAMES})
    assert [topic.name for topic in select_topics(at, None, exclude_internal=True)] == list(NAMES[1:])
    assert [topic.name for topic in select_topics(at, "b", "id-a")] == ["a"]
    assert select_topics(at, "a", "no-such-id") == []
    with pytest.raises(KafkaError, match="is an invalid regex"):
        select_topics(at, "a(")
