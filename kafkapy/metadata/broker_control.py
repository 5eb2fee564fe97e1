"""What the controller makes of brokers that go and come, and of the ISRs that leaders ask for.

A broker that goes leaves every ISR; where it led, the first live replica of the ISR in assignment order does, then one
of the ELR; where there is none the partition has no leader, or, with unclean.leader.election.enable, any live replica.
A broker that comes leads the partitions without a leader for which it is eligible; into an ISR it comes by the leader's
request, when it has caught up.

A replica whose files are gone is as one of a broker that lost its disk: it is neither in the ISR nor in the ELR until
it has fetched all anew. Its broker runs on, so this is told of single partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkapy.errors import KafkaError
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata.changes import AddBroker, AlterPartition, LoseReplicas, RemoveBroker
from kafkapy.metadata.config_control import UNCLEAN_LEADER_ELECTION_ENABLE, min_isr, topic_config
from kafkapy.metadata.elections import ONLINE, UNCLEAN, Cluster, Target, partition_change
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.topics_image import NO_LEADER, RECOVERED, RECOVERING, PartitionRegistration, TopicImage, merge

Concerns = Callable[[PartitionRegistration], bool]


def alter_partition(image: MetadataImage, cluster: Cluster, change: AlterPartition) -> list[MetadataRecord]:
    topic = image.topics.get(change.topic)
    partition = None if topic is None else topic.partitions.get(change.partition)
    if topic is None or partition is None:
        raise KafkaError("UnknownTopicOrPartitionException", "This server does not host this topic-partition.")
    if not set(change.isr) <= set(partition.replicas) or partition.leader not in change.isr:
        place = f"{change.topic}-{change.partition}"
        raise KafkaError("InvalidRequestException", f"{list(change.isr)} cannot be the ISR of {place}")
    ineligible = [broker_id for broker_id in change.isr if broker_id not in cluster.live]
    if ineligible:
        raise KafkaError("IneligibleReplicaException", f"Replicas {ineligible} are not eligible to join the ISR.")
    target = Target(isr=change.isr, leader_recovery_state=RECOVERED)
    record = partition_change(
        topic.id,
        change.partition,
        partition,
        cluster,
        min_isr=min_isr(image, topic.name),
        election=_election(image, topic.name),
        target=target,
    )
    return [] if record is None else [record]


def lose_replicas(image: MetadataImage, cluster: Cluster, change: LoseReplicas) -> list[MetadataRecord]:
    topic = image.topics[change.topic]
    partition = topic.partitions[change.partition]
    isr = tuple(broker_id for broker_id in partition.isr if broker_id not in change.brokers)
    target = Target(isr=isr, unclean_shutdown_replicas=change.brokers)
    if not isr and {*partition.elr} <= {*change.brokers}:
        target = target._replace(isr=(change.survivor,), leader_recovery_state=RECOVERING)
    record = partition_change(
        topic.id,
        change.partition,
        partition,
        cluster._replace(live=frozenset(cluster.live) - {*change.brokers}),
        min_isr=min_isr(image, topic.name),
        election=_election(image, topic.name),
        target=target,
    )
    return [] if record is None else [record]


def remove_broker(image: MetadataImage, cluster: Cluster, change: RemoveBroker) -> list[MetadataRecord]:
    gone = change.broker_id
    rest = cluster._replace(live=frozenset(cluster.live) - {gone})
    if change.unclean and image.is_elr_enabled:
        return list(_updates(image, rest, lambda each: gone in each.isr or gone in each.elr, gone, unclean=(gone,)))
    return list(_updates(image, rest, lambda partition: gone in partition.isr or gone == partition.leader, gone))


def add_broker(image: MetadataImage, cluster: Cluster, change: AddBroker) -> list[MetadataRecord]:
    """After an unclean stop first without the broker in ISRs and ELRs, then with it."""
    came, records = change.broker_id, []
    topics = image.topics
    if change.unclean and image.is_elr_enabled:
        records = remove_broker(image, cluster, RemoveBroker(came, unclean=True))
        topics = _replayed(image, records)
    with_it = cluster._replace(live=frozenset(cluster.live) | {came})
    after = image._replace(topics=topics)
    return [*records, *_updates(after, with_it, lambda partition: partition.leader == NO_LEADER)]


def _updates(
    image: MetadataImage, cluster: Cluster, concerns: Concerns, gone: int | None = None, unclean: tuple[int, ...] = ()
) -> Iterator[MetadataRecord]:
    """A record for each partition that is concerned and changes when ``gone`` is not in its ISR any more."""
    for topic in image.topics.values():
        for number, partition in topic.partitions.items():
            if concerns(partition):
                isr = tuple(broker_id for broker_id in partition.isr if broker_id != gone)
                record = partition_change(
                    topic.id,
                    number,
                    partition,
                    cluster,
                    min_isr=min_isr(image, topic.name),
                    election=_election(image, topic.name),
                    target=Target(isr=isr, unclean_shutdown_replicas=unclean),
                )
                if record is not None:
                    yield record


def _replayed(image: MetadataImage, records: list[MetadataRecord]) -> dict[str, TopicImage]:
    """The topics after some PartitionChangeRecords."""
    topics = dict(image.topics)
    names = {topic.id: topic.name for topic in topics.values()}
    for record in records:
        topic, number = topics[names[record.value["topicId"]]], record.value["partitionId"]
        partitions = dict(topic.partitions) | {number: merge(topic.partitions[number], record.value)}
        topics[topic.name] = topic._replace(partitions=partitions)
    return topics


def _election(image: MetadataImage, topic: str) -> str:
    return UNCLEAN if topic_config(image, topic, UNCLEAN_LEADER_ELECTION_ENABLE, "false") == "true" else ONLINE
