"""A controller's answers: the records of a change as Kafka writes them, and Kafka's messages."""

import random

import pytest

from kafkapy.errors import KafkaError
from kafkapy.metadata import legacy
from kafkapy.metadata.changes import (
    AllocateProducerIds,
    AlterClientQuotas,
    AlterConfigs,
    AlterScramCredential,
    CreatePartitions,
    CreateTopic,
    DeleteTopic,
    ElectLeader,
    Reassign,
)
from kafkapy.metadata.cluster_image import BrokerRegistration
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import BROKER, EMPTY, GROUP, TOPIC, MetadataImage
from kafkapy.metadata.security_image import ScramCredential

ID = "x1FvxV5tS-CzvP5OVrXOIw"
DIRECTORIES = {1: "WxRoNPMAhM7j3W9ehDfktg", 2: "cSovTdi5AYyY6aORg22mMw", 3: "f0q8Mym1Wp_p4Mw8fXfFEw"}
FEATURES = {"metadata.version": 30, "eligible.leader.replicas.version": 1}


def refuse_nonsense(resource_type: int, name: str, configs) -> None:
    if "nonsense" in configs:
        raise KafkaError("InvalidConfigurationException", "Unknown topic config name: nonsense")


def cluster(**changes: object) -> MetadataImage:
    brokers = {
        number: BrokerRegistration(number, number, ID, (), {}, fenced=False, directories=(directory,))
        for number, directory in DIRECTORIES.items()
    }
    return EMPTY._replace(brokers=brokers, features=FEATURES, **changes)


def controller(image: MetadataImage, **options: object) -> Controller:
    return Controller(image, random.Random(7), refuse_nonsense, new_uuid=lambda: ID, **options)


def apply(image: MetadataImage, *changes, **options: object) -> MetadataImage:
    for change in changes:
        image = replay(image, controller(image, **options).apply(change))
    return image


def refused(image: MetadataImage, change, **options: object) -> tuple[str, str]:
    with pytest.raises(KafkaError) as error:
        controller(image, **options).apply(change)
    return error.value.name, str(error.value)


def test_a_topic_is_one_batch_in_kafkas_order():
    change = CreateTopic("t", assignments=((2, 1), (3, 2)), configs={"min.insync.replicas": "2", "retention.ms": "1"})
    records = controller(cluster()).apply(change)
    names = [record.name for record in records]
    assert names == [
        "TopicRecord",
        "ConfigRecord",
        "ConfigRecord",
        "ClearElrRecord",
        "PartitionRecord",
        "PartitionRecord",
    ]
    assert records[4].version == 2
    image = replay(cluster(), records)
    partition = image.topics["t"].partitions[0]
    assert (partition.replicas, partition.isr, partition.leader) == ((2, 1), (2, 1), 2)
    assert partition.directories == (DIRECTORIES[2], DIRECTORIES[1])
    assert image.config(TOPIC, "t") == {"min.insync.replicas": "2", "retention.ms": "1"}


def test_placement_takes_every_broker_and_the_defaults():
    image = apply(cluster(), CreateTopic("t"), default_partitions=6, default_replication_factor=3)
    partitions = image.topics["t"].partitions
    assert sorted(partitions) == list(range(6))
    assert all(sorted(partition.replicas) == [1, 2, 3] for partition in partitions.values())
    assert sorted(partition.leader for partition in partitions.values()) == [1, 1, 2, 2, 3, 3]


def test_the_same_seed_places_the_same():
    change = CreateTopic("t", 9, 2)
    assert controller(cluster()).apply(change) == controller(cluster()).apply(change)


def test_legacy_placement_goes_on_where_the_topic_began():
    image = apply(cluster(), CreateTopic("t", assignments=((2, 3),)), CreatePartitions("t", 3), placer=legacy.place)
    assert [image.topics["t"].partitions[number].replicas for number in (1, 2)] == [(3, 2), (1, 3)]


def test_a_cluster_directory_says_who_lives():
    fenced = {number: broker._replace(fenced=True) for number, broker in cluster().brokers.items()}
    image = cluster()._replace(brokers=fenced)
    assert refused(image, CreateTopic("t", 1, 1)) == (
        "InvalidReplicationFactorException",
        "Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log "
        "directories cordoned.",
    )
    assert apply(image, CreateTopic("t", 1, 3), live=DIRECTORIES).topics["t"].partitions[0].isr


def test_a_fenced_broker_gets_replicas_but_is_not_in_the_isr():
    image = apply(cluster(), CreateTopic("t", 1, 3), live={1, 2})
    partition = image.topics["t"].partitions[0]
    assert sorted(partition.replicas) == [1, 2, 3]
    assert sorted(partition.isr) == [1, 2]


EXISTING = (CreateTopic("a.b", assignments=((1, 2), (2, 1))), CreateTopic("t", assignments=((1, 2), (2, 3))))


@pytest.mark.parametrize(
    ("change", "name", "message"),
    [
        (CreateTopic("t", 1, 1), "TopicExistsException", "Topic 't' already exists."),
        (CreateTopic("a.b", 1, 1), "TopicExistsException", "Topic 'a.b' already exists."),
        (CreateTopic("a_b", 1, 1), "InvalidTopicException", "Topic 'a_b' collides with existing topic: a.b"),
        (
            CreateTopic("a b", 1, 1),
            "InvalidTopicException",
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' "
            "and '-'",
        ),
        (CreateTopic("", 1, 1), "InvalidTopicException", "Topic name is invalid: the empty string is not allowed"),
        (CreateTopic("..", 1, 1), "InvalidTopicException", "Topic name is invalid: '..' is not allowed"),
        (
            CreateTopic("x" * 250, 1, 1),
            "InvalidTopicException",
            f"Topic name is invalid: the length of '{'x' * 250}' is longer than the max allowed length 249",
        ),
        (
            CreateTopic("n", 1, 9),
            "InvalidReplicationFactorException",
            "Unable to replicate the partition 9 time(s): The target replication factor of 9 cannot be reached "
            "because only 3 broker(s) are registered or some brokers have all their log directories cordoned.",
        ),
        (
            CreateTopic("n", 1, 0),
            "InvalidReplicationFactorException",
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            CreateTopic("n", 0, 1),
            "InvalidPartitionsException",
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            CreateTopic("n", 10_001, 1),
            "PolicyViolationException",
            "Excessively large number of partitions per request.",
        ),
        (
            CreateTopic("n", 1, 1, configs={"nonsense": "1"}),
            "InvalidConfigurationException",
            "Unknown topic config name: nonsense",
        ),
        (
            CreateTopic("n", assignments=((1, 1),)),
            "InvalidReplicaAssignmentException",
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            CreateTopic("n", assignments=((1, 9),)),
            "InvalidReplicaAssignmentException",
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            CreateTopic("n", assignments=((1, 2), (3,))),
            "InvalidReplicaAssignmentException",
            "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent with "
            "previous partitions, which have 2 replica(s).",
        ),
        (
            CreateTopic("n", assignments=((),)),
            "InvalidReplicaAssignmentException",
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            CreateTopic("n", 3, assignments=((1,),)),
            "InvalidRequestException",
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (CreatePartitions("t", 2), "InvalidPartitionsException", "Topic already has 2 partition(s)."),
        (
            CreatePartitions("t", 1),
            "InvalidPartitionsException",
            "The topic t currently has 2 partition(s); 1 would not be an increase.",
        ),
        (
            CreatePartitions("t", 4, ((1, 2),)),
            "InvalidReplicaAssignmentException",
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            CreatePartitions("nope", 4),
            "UnknownTopicOrPartitionException",
            "This server does not host this topic-partition.",
        ),
        (DeleteTopic("nope"), "UnknownTopicOrPartitionException", "This server does not host this topic-partition."),
        (
            AlterConfigs(TOPIC, "nope", {"retention.ms": "1"}),
            "UnknownTopicOrPartitionException",
            "The topic 'nope' does not exist.",
        ),
        (AlterConfigs(BROKER, "9", {"x": "1"}), "BrokerIdNotRegisteredException", "No node with id 9 found."),
        (AlterConfigs(BROKER, "one", {"x": "1"}), "InvalidRequestException", "Invalid broker name one"),
        (
            AlterConfigs(BROKER, "1", {"min.insync.replicas": "2"}),
            "InvalidConfigurationException",
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        ),
        (
            AlterConfigs(BROKER, "", delete=("min.insync.replicas",)),
            "InvalidConfigurationException",
            "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
        ),
        (
            AlterConfigs(TOPIC, "t", {"x": "y" * 32768}),
            "InvalidConfigurationException",
            "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes.",
        ),
        (
            AlterConfigs(TOPIC, "t", {"nonsense": "1"}),
            "InvalidConfigurationException",
            "Unknown topic config name: nonsense",
        ),
        (
            AlterScramCredential("u", 1, None),
            "ResourceNotFoundException",
            "Attempt to delete a user credential that does not exist",
        ),
        (ElectLeader("nope", 0, "PREFERRED"), "UnknownTopicOrPartitionException", "No such topic as nope"),
        (ElectLeader("t", 7, "PREFERRED"), "UnknownTopicOrPartitionException", "No such partition as t-7"),
        (
            ElectLeader("t", 0, "PREFERRED"),
            "ElectionNotNeededException",
            "Leader election not needed for topic partition.",
        ),
        (Reassign("nope", 0, (1,)), "UnknownTopicOrPartitionException", "Unable to find a topic named nope."),
        (Reassign("t", 7, (1,)), "UnknownTopicOrPartitionException", "Unable to find partition t:7."),
        (
            Reassign("t", 0, None),
            "NoReassignmentInProgressException",
            "No partition reassignment is in progress.",
        ),
    ],
)
def test_kafkas_messages(change, name, message):
    assert refused(apply(cluster(), *EXISTING), change) == (name, message)


def test_configs_are_written_only_where_they_differ():
    image = apply(cluster(), *EXISTING, AlterConfigs(TOPIC, "t", {"retention.ms": "1", "segment.ms": "2"}))
    change = AlterConfigs(TOPIC, "t", {"retention.ms": "1", "max.message.bytes": "3"}, ("segment.ms", "absent"))
    records = controller(image).apply(change)
    assert [(record.value["name"], record.value["value"]) for record in records] == [
        ("max.message.bytes", "3"),
        ("segment.ms", None),
    ]
    assert replay(image, records).config(TOPIC, "t") == {"retention.ms": "1", "max.message.bytes": "3"}


def test_a_new_min_isr_clears_the_elr():
    image = apply(cluster(), *EXISTING)
    topic = controller(image).apply(AlterConfigs(TOPIC, "t", {"min.insync.replicas": "2"}))
    assert topic[-1].value == {"topicName": "t"}
    everywhere = controller(image).apply(AlterConfigs(BROKER, "", {"min.insync.replicas": "2"}))
    assert everywhere[-1].value == {"topicName": ""}
    assert len(controller(image).apply(AlterConfigs(GROUP, "g", {"share.auto.offset.reset": "earliest"}))) == 1


def test_a_deleted_topic_takes_its_configs_along():
    change = CreateTopic("n", 2, 1, configs={"retention.ms": "1"})
    image = apply(cluster(), change, DeleteTopic("n"))
    assert (image.topics, image.configs) == ({}, {})


def test_quotas_scram_and_producer_ids():
    entity = (("client-id", "c"),)
    credential = ScramCredential(b"salt", b"stored", b"server", 4096)
    image = apply(
        cluster(),
        AlterClientQuotas(entity, {"producer_byte_rate": 1.0, "consumer_byte_rate": 2.0}),
        AlterClientQuotas(entity, {"producer_byte_rate": 1.0}, ("consumer_byte_rate", "request_percentage")),
        AlterScramCredential("u", 1, credential),
        AllocateProducerIds(2),
        AllocateProducerIds(3),
    )
    assert image.client_quotas == {entity: {"producer_byte_rate": 1.0}}
    assert image.scram == {(1, "u"): credential}
    assert image.producer_ids.next_producer_id == 2000
    assert not apply(image, AlterScramCredential("u", 1, None)).scram
