"""Altering configs: what may be set on what, and the records of it.

Whether a value is good for its config is ``check_config``'s to say; here is what depends on the cluster: that the
resource exists, and that with eligible leader replicas (ELR) min.insync.replicas is set for topics or the whole cluster
only, for a broker's own value would make the ELR of a partition depend on its leader. A new min.insync.replicas
empties the ELRs that were reckoned with the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata.changes import AlterConfigs
from kafkapy.metadata.features import IBP_4_3_IV0, metadata_version_name
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage, config_record
from kafkapy.metadata.records import new_record

CheckConfig = Callable[[int, str, Mapping[str, str]], None]

MIN_IN_SYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"
CORDONED_LOG_DIRS = "cordoned.log.dirs"
MAX_VALUE_SIZE = 0x7FFF


def alter_configs(image: MetadataImage, change: AlterConfigs, check_config: CheckConfig) -> list[MetadataRecord]:
    records = config_changes(image, change)
    for record in records:
        _check_record(image, record)
    after = dict(image.config(change.resource_type, change.resource)) | dict(change.set)
    for name in change.delete:
        after.pop(name, None)
    check_config(change.resource_type, change.resource, after)
    _check_exists(image, change)
    return records + clear_elr_records(image, records)


def config_changes(image: MetadataImage, change: AlterConfigs) -> list[MetadataRecord]:
    """A record for each value that differs; on brokers also for those that do not, as Kafka writes them."""
    present = image.config(change.resource_type, change.resource)
    wanted: dict[str, str | None] = {**change.set, **dict.fromkeys(change.delete)}
    return [
        config_record(change.resource_type, change.resource, name, value)
        for name, value in wanted.items()
        if present.get(name) != value or change.resource_type == BROKER
    ]


def clear_elr_records(image: MetadataImage, records: Iterable[MetadataRecord]) -> list[MetadataRecord]:
    """One for each record that sets min.insync.replicas; of all topics where it is not a topic's own."""
    if not image.is_elr_enabled:
        return []
    return [
        new_record(
            "ClearElrRecord",
            0,
            {"topicName": record.value["resourceName"] if record.value["resourceType"] == TOPIC else ""},
        )
        for record in records
        if record.value["name"] == MIN_IN_SYNC_REPLICAS
    ]


def topic_config(image: MetadataImage, topic: str, name: str, default: str) -> str:
    """A topic's value: its own, else the cluster's."""
    own = image.config(TOPIC, topic).get(name)
    return image.config(BROKER, "").get(name, default) if own is None else own


def min_isr(image: MetadataImage, topic: str) -> int:
    """The topic's min.insync.replicas, but no more than it has replicas."""
    wanted = int(topic_config(image, topic, MIN_IN_SYNC_REPLICAS, "1"))
    return min(wanted, len(image.topics[topic].partitions[0].replicas))


def _check_record(image: MetadataImage, record: MetadataRecord) -> None:
    name, value = record.value["name"], record.value["value"]
    is_broker, resource = record.value["resourceType"] == BROKER, record.value["resourceName"]
    if is_broker and name == MIN_IN_SYNC_REPLICAS and image.is_elr_enabled:
        if resource:
            raise _invalid("Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
        if value is None:
            raise _invalid("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
    if is_broker and name == CORDONED_LOG_DIRS and image.metadata_version < IBP_4_3_IV0:
        raise _invalid(
            f"The {CORDONED_LOG_DIRS} configuration value cannot be set because it requires "
            f"metadata.version >= {metadata_version_name(IBP_4_3_IV0)}"
        )
    if value is not None and len(value) > MAX_VALUE_SIZE:
        raise _invalid(
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{MAX_VALUE_SIZE} bytes."
        )


def _check_exists(image: MetadataImage, change: AlterConfigs) -> None:
    resource = change.resource
    if change.resource_type == TOPIC and resource not in image.topics:
        raise KafkaError("UnknownTopicOrPartitionException", f"The topic '{resource}' does not exist.")
    if change.resource_type == BROKER and resource:
        try:
            node_id = parse_int(resource)
        except FormatError:
            raise KafkaError("InvalidRequestException", f"Invalid broker name {resource}") from None
        if node_id not in image.brokers and node_id not in image.controllers:
            raise KafkaError("BrokerIdNotRegisteredException", f"No node with id {node_id} found.")


def _invalid(message: str) -> KafkaError:
    return KafkaError("InvalidConfigurationException", message)
