"""The texts of the record decoders: records that Kafka 4.3.1 wrote with what its DumpLogSegments printed for them,
and what it prints for records that do not decode."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.metadata_record import REMOTE_LOG_METADATA, MetadataRecord, encode
from kafkapy.formats.record_decoders import RECORD_DECODERS

# decoder, key, value, printed key, printed payload
SEEN_IN_KAFKA: list[tuple[str, str | None, str | None, str | None, str]] = [
    (
        "cluster-metadata",
        None,
        "01050200000000258e086756274e6d9a9fca03267f37f301060101",
        None,
        (
            '{"type":"PARTITION_CHANGE_RECORD","version":2,"data":{"partitionId":0,"topicId":"JY4IZ1YnTm2an8o'
            'DJn838w","eligibleLeaderReplicas":[]}}'
        ),
    ),
    (
        "cluster-metadata",
        None,
        (
            "01030200000000ff5c6d69abd942dfb1fe82929234602f02000000030200000003010100000003000000000000000002"
            "7f4abc3329b55a9fe9e0cc3c7d77c51300"
        ),
        None,
        (
            '{"type":"PARTITION_RECORD","version":2,"data":{"partitionId":0,"topicId":"_1xtaavZQt-x_oKSkjRgLw'
            '","replicas":[3],"isr":[3],"removingReplicas":[],"addingReplicas":[],"leader":3,"leaderEpoch":0,'
            '"partitionEpoch":0,"directories":["f0q8Mym1Wp_p4Mw8fXfFEw"]}}'
        ),
    ),
    (
        "cluster-metadata",
        None,
        "01110300000003000000000000000a01030101",
        None,
        (
            '{"type":"BROKER_REGISTRATION_CHANGE_RECORD","version":3,"data":{"brokerId":3,"brokerEpoch":10,"c'
            'ordonedLogDirs":[]}}'
        ),
    ),
    (
        "cluster-metadata",
        None,
        "01140000",
        None,
        '{"type":"NO_OP_RECORD","version":0,"data":{}}',
    ),
    (
        "offsets",
        "000100086e6578742d67656e00066f726465727300000001",
        "00040000000000000068ffffffff01000001a1e25bdcb1010010eb65a567ef3749f19cf1f42dc99c3b59",
        '{"type":"1","data":{"group":"next-gen","topic":"orders","partition":1}}',
        (
            '{"version":"4","data":{"offset":104,"leaderEpoch":-1,"metadata":"","commitTimestamp":17947990335'
            '21,"topicId":"62WlZ-83SfGc8fQtyZw7WQ"}}'
        ),
    ),
    (
        "offsets",
        "00010004676f6e650005706c61696e00000000",
        None,
        '{"type":"1","data":{"group":"gone","topic":"plain","partition":0}}',
        "<DELETE>",
    ),
    (
        "offsets",
        "000500086e6578742d67656e0016766561726a57564952555771514149584c6a50583941",
        "000000000872646b61666b610b2f3132372e302e302e3102076f726465727301000493e00001000100",
        '{"type":"5","data":{"groupId":"next-gen","memberId":"vearjWVIRUWqQAIXLjPX9A"}}',
        (
            '{"version":"0","data":{"instanceId":null,"rackId":null,"clientId":"rdkafka","clientHost":"/127.0'
            '.0.1","subscribedTopicNames":["orders"],"subscribedTopicRegex":"","rebalanceTimeoutMs":300000,"s'
            'erverAssignor":null,"classicMemberMetadata":null}}'
        ),
    ),
    (
        "offsets",
        "000800086e6578742d67656e0016766561726a57564952555771514149584c6a50583941",
        (
            "000000000002000000000002eb65a567ef3749f19cf1f42dc99c3b590400000000000000010000000201000d04000000"
            "0200000002000000020100"
        ),
        '{"type":"8","data":{"groupId":"next-gen","memberId":"vearjWVIRUWqQAIXLjPX9A"}}',
        (
            '{"version":"0","data":{"memberEpoch":2,"previousMemberEpoch":0,"state":0,"assignedPartitions":[{'
            '"topicId":"62WlZ-83SfGc8fQtyZw7WQ","partitions":[0,1,2],"assignmentEpochs":[2,2,2]}],"partitions'
            'PendingRevocation":[]}}'
        ),
    ),
    (
        "transaction-log",
        "000000057061792d31",
        "0001000000000000000100000000ea600000000001a1e25ba508ffffffffffffffff0100080000000000000001",
        '{"type":"0","data":{"transactionalId":"pay-1"}}',
        (
            '{"version":"1","data":{"producerId":1,"previousProducerId":1,"producerEpoch":0,"transactionTimeo'
            'utMs":60000,"transactionStatus":0,"transactionPartitions":null,"transactionLastUpdateTimestampMs'
            '":1794799019272,"transactionStartTimestampMs":-1}}'
        ),
    ),
    (
        "share-group-state",
        "0001000773686172657273ff5c6d69abd942dfb1fe82929234602f00000000",
        "000000000000000000000000000000000000020000000000000000000000000000003b020001000100040000003c",
        '{"type":"1","data":{"groupId":"sharers","topicId":"_1xtaavZQt-x_oKSkjRgLw","partition":0}}',
        (
            '{"version":"0","data":{"snapshotEpoch":0,"leaderEpoch":0,"startOffset":0,"deliveryCompleteCount"'
            ':60,"stateBatches":[{"firstOffset":0,"lastOffset":59,"deliveryState":2,"deliveryCount":1}]}}'
        ),
    ),
    (
        "offsets",
        "00020004676f6e65",
        (
            "00030008636f6e73756d657200000001000572616e6765002c72646b61666b612d35316139373232392d633666362d34"
            "3735612d613130662d633361643265386431383832000001a1e25bdd2200000001002c72646b61666b612d3531613937"
            "3232392d633666362d343735612d613130662d633361643265386431383832ffff000772646b61666b61000a2f313237"
            "2e302e302e31000493e00000afc80000001b0003000000010005706c61696e0000000000000000ffffffff0000000000"
            "190000000000010005706c61696e000000010000000000000000"
        ),
        '{"type":"2","data":{"group":"gone"}}',
        (
            '{"version":"3","data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":"rdk'
            'afka-51a97229-c6f6-475a-a10f-c3ad2e8d1882","currentStateTimestamp":1794799033634,"members":[{"me'
            'mberId":"rdkafka-51a97229-c6f6-475a-a10f-c3ad2e8d1882","groupInstanceId":null,"clientId":"rdkafk'
            'a","clientHost":"/127.0.0.1","rebalanceTimeout":300000,"sessionTimeout":45000,"subscription":{"t'
            'opics":["plain"],"userData":"","ownedPartitions":[],"generationId":-1,"rackId":""},"assignment":'
            '{"assignedPartitions":[{"topic":"plain","partitions":[0]}],"userData":""}}]}}'
        ),
    ),
]

SEGMENT_ID = {
    "topicIdPartition": {"name": "foo", "id": "_1xtaavZQt-x_oKSkjRgLw", "partition": 2},
    "id": "HcjftVMVRoGRpt8kKD3u1w",
}
SEGMENT_ID_TEXT = "RemoteLogSegmentId{topicIdPartition=_1xtaavZQt-x_oKSkjRgLw:foo-2, id=HcjftVMVRoGRpt8kKD3u1w}"
SEGMENT = {
    "remoteLogSegmentId": SEGMENT_ID,
    "startOffset": 10,
    "endOffset": 19,
    "brokerId": 1,
    "maxTimestampMs": 1000,
    "eventTimestampMs": 2000,
    "segmentLeaderEpochs": [{"leaderEpoch": 5, "offset": 15}, {"leaderEpoch": 4, "offset": 10}],
    "segmentSizeInBytes": 512,
    "customMetadata": b"abc",
    "remoteLogSegmentState": 1,
    "txnIndexEmpty": True,
}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


@pytest.mark.parametrize(("decoder", "key", "value", "key_text", "value_text"), SEEN_IN_KAFKA)
def test_what_kafka_printed(
    decoder: str, key: str | None, value: str | None, key_text: str | None, value_text: str
) -> None:
    assert RECORD_DECODERS[decoder](7, _bytes(key), _bytes(value)) == (key_text, value_text)


@pytest.mark.parametrize(
    ("decoder", "key", "value", "key_text", "value_text"),
    [
        ("offsets", "", None, "Error at offset 7, skipping. Could not read version from key's buffer.", None),
        ("offsets", "0063", None, "Unknown record type 99 at offset 7, skipping.", None),
        ("transaction-log", "0001", None, "Unknown record type 1 at offset 7, skipping.", None),
        (
            "offsets",
            "00010005",
            None,
            "Error at offset 7, skipping. Could not read record with version 1 from key's buffer due to: "
            "Error reading byte array of 5 byte(s): only 0 byte(s) available.",
            None,
        ),
        (
            "offsets",
            "000200016700",
            "000300",
            "Error at offset 7, skipping. Could not read record with version 3 from value's buffer due to: null.",
            None,
        ),
        (
            "share-group-state",
            "0000000167" + "00" * 20,
            "0009",
            "Error at offset 7, skipping. Found an unknown record version 9 for 0 type",
            None,
        ),
        ("cluster-metadata", None, None, None, "Error at 7, skipping. Error while reading frame version"),
        ("cluster-metadata", None, "01", None, "Error at 7, skipping. Error while reading type"),
        (
            "cluster-metadata",
            None,
            "05",
            None,
            "Error at 7, skipping. Could not deserialize metadata record due to unknown frame version 5"
            "(only frame version 1 is supported)",
        ),
        ("cluster-metadata", None, "808004", None, "Error at 7, skipping. Value for frame version was too large."),
        (
            "cluster-metadata",
            None,
            "016300",
            None,
            "Error at 7, skipping. org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 99",
        ),
        ("cluster-metadata", None, "010200", None, "Error at 7, skipping. Failed to deserialize record with type 2"),
        ("cluster-metadata", None, "0114000000", None, "Error at 7, skipping. Found 1 byte(s) of garbage after 20"),
        ("remote-log-metadata", None, "01", None, "Error at offset 7, skipping. Error while reading type"),
        (
            "remote-log-metadata",
            None,
            None,
            None,
            'Error at offset 7, skipping. Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value '
            'of "org.apache.kafka.common.record.internal.Record.value()" is null',
        ),
    ],
)
def test_what_kafka_prints_for_damage(
    decoder: str, key: str | None, value: str | None, key_text: str | None, value_text: str | None
) -> None:
    assert RECORD_DECODERS[decoder](7, _bytes(key), _bytes(value)) == (key_text, value_text)


@pytest.mark.parametrize("decoder", ["offsets", "transaction-log", "share-group-state"])
def test_a_missing_key_stops_the_dump(decoder: str) -> None:
    with pytest.raises(CorruptRecordError) as caught:
        RECORD_DECODERS[decoder](12, None, b"")
    assert str(caught.value) == (
        "Failed to decode message at offset 12 using the specified decoder (message had a missing key)"
    )


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (
            "RemoteLogSegmentMetadataRecord",
            SEGMENT,
            f"RemoteLogSegmentMetadata{{remoteLogSegmentId={SEGMENT_ID_TEXT}, startOffset=10, endOffset=19, "
            "brokerId=1, maxTimestampMs=1000, eventTimestampMs=2000, segmentLeaderEpochs={4=10, 5=15}, "
            "segmentSizeInBytes=512, customMetadata=Optional[CustomMetadata{3 bytes}], "
            "state=COPY_SEGMENT_FINISHED, txnIdxEmpty=true}",
        ),
        (
            "RemoteLogSegmentMetadataUpdateRecord",
            {"remoteLogSegmentId": SEGMENT_ID, "brokerId": 1, "eventTimestampMs": 5, "remoteLogSegmentState": 2},
            f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={SEGMENT_ID_TEXT}, customMetadata=Optional.empty, "
            "state=DELETE_SEGMENT_STARTED, eventTimestampMs=5, brokerId=1}",
        ),
        (
            "RemotePartitionDeleteMetadataRecord",
            {"topicIdPartition": SEGMENT_ID["topicIdPartition"], "brokerId": 1, "eventTimestampMs": 5},
            "RemotePartitionDeleteMetadata{topicPartition=_1xtaavZQt-x_oKSkjRgLw:foo-2, "
            "state=DELETE_PARTITION_MARKED, eventTimestampMs=5, brokerId=1}",
        ),
        (
            "RemoteLogSegmentMetadataSnapshotRecord",
            {"segmentId": SEGMENT_ID["id"], "segmentLeaderEpochs": [{"leaderEpoch": 0, "offset": 0}]},
            "RemoteLogSegmentMetadataSnapshot{segmentId=HcjftVMVRoGRpt8kKD3u1w, startOffset=0, endOffset=0, "
            "maxTimestampMs=0, segmentLeaderEpochs={0=0}, segmentSizeInBytes=0, customMetadata=Optional.empty, "
            "state=COPY_SEGMENT_STARTED, txnIdxEmpty=false}",
        ),
        (
            "RemoteLogSegmentMetadataRecord",
            SEGMENT | {"startOffset": -1},
            "Error at offset 7, skipping. Unexpected start offset = -1. "
            "StartOffset for a remote segment cannot be negative",
        ),
        (
            "RemoteLogSegmentMetadataRecord",
            SEGMENT | {"endOffset": 9},
            "Error at offset 7, skipping. Unexpected end offset = 9. "
            "EndOffset for a remote segment cannot be less than startOffset = 10",
        ),
        (
            "RemoteLogSegmentMetadataRecord",
            SEGMENT | {"segmentLeaderEpochs": []},
            "Error at offset 7, skipping. segmentLeaderEpochs can not be null or empty",
        ),
        (
            "RemoteLogSegmentMetadataRecord",
            SEGMENT | {"remoteLogSegmentState": 9},
            "Error at offset 7, skipping. state can not be null",
        ),
        (
            "RemotePartitionDeleteMetadataRecord",
            {"remotePartitionDeleteState": 3},
            "Error at offset 7, skipping. null",
        ),
    ],
)
def test_remote_log_metadata(name: str, value: dict[str, object], text: str) -> None:
    encoded = encode(MetadataRecord(name, 0, value), REMOTE_LOG_METADATA)
    assert RECORD_DECODERS["remote-log-metadata"](7, None, encoded) == (None, text)


@given(
    decoder=st.sampled_from(sorted(RECORD_DECODERS)),
    key=st.none() | st.binary(max_size=30),
    value=st.none() | st.binary(max_size=60),
)
def test_noise_is_printed_and_never_raises(decoder: str, key: bytes | None, value: bytes | None) -> None:
    with contextlib.suppress(CorruptRecordError):
        printed = RECORD_DECODERS[decoder](0, key, value)
        assert any(text is not None for text in printed)
