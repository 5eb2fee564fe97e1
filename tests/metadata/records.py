"""Metadata records as a controller could write them, in any order that makes sense, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from kafkapy.formats.metadata_record import MetadataRecord, decode, encode
from kafkapy.metadata.topics_image import PartitionRegistration, partition_record, topic_record

TOPIC_IDS = ("x1FvxV5tS-CzvP5OVrXOIw", "62WlZ-83SfGc8fQtyZw7WQ", "EdDWA8cGTfqOVQL701Azhg")
ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
LEVEL = 30

brokers = st.integers(0, 5)
replicas = st.lists(brokers, min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def partitions(draw: st.DrawFn) -> PartitionRegistration:
    assigned = draw(replicas)
    subset = st.lists(st.sampled_from(assigned), unique=True).map(tuple)
    isr = draw(subset)
    return PartitionRegistration(
        assigned,
        draw(st.sampled_from([(ZERO_ID,) * len(assigned), TOPIC_IDS[: len(assigned)]])),
        isr,
        elr=draw(subset),
        last_known_elr=draw(subset),
        leader=isr[0] if isr else -1,
        leader_recovery_state=draw(st.integers(0, 1)),
        leader_epoch=draw(st.integers(0, 9)),
        partition_epoch=draw(st.integers(0, 9)),
    )


@st.composite
def _topic(draw: st.DrawFn, index: int) -> list[MetadataRecord]:
    records = [topic_record(f"topic-{index}", TOPIC_IDS[index])]
    for partition_id, partition in enumerate(draw(st.lists(partitions(), min_size=1, max_size=3))):
        records.append(partition_record(TOPIC_IDS[index], partition_id, partition, LEVEL))
    for isr, leader in draw(st.lists(st.tuples(replicas, brokers), max_size=2)):
        change = {"partitionId": 0, "topicId": TOPIC_IDS[index], "isr": list(isr), "leader": leader}
        records.append(MetadataRecord("PartitionChangeRecord", 2, change))
    if draw(st.booleans()):
        records.append(
            MetadataRecord("ClearElrRecord", 0, {"topicName": draw(st.sampled_from(["", f"topic-{index}"]))})
        )
    if draw(st.integers(0, 3)) == 0:
        records.append(MetadataRecord("RemoveTopicRecord", 0, {"topicId": TOPIC_IDS[index]}))
    return records


def _record(name: str, /, **fields: st.SearchStrategy) -> st.SearchStrategy[MetadataRecord]:
    return st.fixed_dictionaries(fields).map(lambda value: MetadataRecord(name, 0, value))


_names = st.sampled_from(["a", "b", ""])
_numbers = st.integers(0, 1 << 40)
_bytes = st.binary(max_size=4)
_entities = st.lists(
    st.fixed_dictionaries(
        {"entityType": st.sampled_from(["user", "client-id"]), "entityName": st.none() | st.sampled_from(["x", "y"])}
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda entity: entity["entityType"],
)
loose_records = st.one_of(
    _record(
        "ConfigRecord",
        resourceType=st.sampled_from([2, 4, 32]),
        resourceName=_names,
        name=_names,
        value=st.none() | st.text(max_size=3),
    ),
    _record("FeatureLevelRecord", name=st.sampled_from(["group.version", "x"]), featureLevel=st.integers(0, 2)),
    _record("ClientQuotaRecord", entity=_entities, key=_names, value=st.floats(0, 9, width=32), remove=st.booleans()),
    _record("ProducerIdsRecord", brokerId=brokers, brokerEpoch=_numbers, nextProducerId=_numbers),
    _record(
        "UserScramCredentialRecord",
        name=_names,
        mechanism=st.integers(1, 2),
        salt=_bytes,
        storedKey=_bytes,
        serverKey=_bytes,
        iterations=st.integers(4096, 8192),
    ),
    _record("RemoveUserScramCredentialRecord", name=_names, mechanism=st.integers(1, 2)),
    _record(
        "AccessControlEntryRecord",
        id=st.sampled_from(TOPIC_IDS),
        resourceType=st.integers(2, 6),
        resourceName=_names,
        patternType=st.integers(3, 4),
        principal=_names,
        host=_names,
        operation=st.integers(2, 12),
        permissionType=st.integers(2, 3),
    ),
    _record(
        "DelegationTokenRecord",
        owner=_names,
        requester=_names,
        renewers=st.lists(_names, max_size=2),
        issueTimestamp=_numbers,
        maxTimestamp=_numbers,
        expirationTimestamp=_numbers,
        tokenId=_names,
    ),
    _record("RemoveDelegationTokenRecord", tokenId=_names),
    _record(
        "RegisterBrokerRecord",
        brokerId=brokers,
        incarnationId=st.sampled_from(TOPIC_IDS),
        brokerEpoch=_numbers,
        rack=st.none() | _names,
        fenced=st.booleans(),
        features=st.just([{"name": "f", "minSupportedVersion": 0, "maxSupportedVersion": 2}]),
        endPoints=st.just([{"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0}]),
    ),
    _record("UnregisterBrokerRecord", brokerId=brokers, brokerEpoch=_numbers),
    _record("RegisterControllerRecord", controllerId=brokers, incarnationId=st.sampled_from(TOPIC_IDS)),
    _record("NoOpRecord"),
)


@st.composite
def histories(draw: st.DrawFn) -> list[MetadataRecord]:
    """The records of a log, each as it comes out of the log: every field there."""
    level = MetadataRecord("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": LEVEL})
    records = [level, *draw(st.lists(loose_records, max_size=20))]
    for index in range(draw(st.integers(0, len(TOPIC_IDS)))):
        records += draw(_topic(index))
    records += draw(st.lists(loose_records, max_size=10))
    return [decode(encode(record)) for record in records]
