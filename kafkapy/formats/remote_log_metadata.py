"""The text Kafka prints for a record of __remote_log_metadata: the toString() of the class it stands for.

Kafka builds that object first and the object refuses what makes no sense, so the same checks are here, in its words.
The map of leader epochs is sorted by epoch in Kafka too.
"""

from __future__ import annotations

from kafkapy.errors import SchemaError
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord

_SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
_PARTITION_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")


def remote_log_metadata_text(record: MetadataRecord) -> str:
    """The text of a record decoded in the area REMOTE_LOG_METADATA."""
    return _TEXTS[record.name](record.value)


def _segment(value: Value) -> str:
    start, end = value["startOffset"], value["endOffset"]
    if start < 0:
        raise SchemaError(f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be negative")
    if end < start:
        raise SchemaError(
            f"Unexpected end offset = {end}. EndOffset for a remote segment cannot be less than startOffset = {start}"
        )
    leader_epochs = _leader_epochs(value)
    state = _segment_state(value)
    return (
        f"RemoteLogSegmentMetadata{{remoteLogSegmentId={_segment_id(value['remoteLogSegmentId'])}, "
        f"startOffset={start}, endOffset={end}, brokerId={value['brokerId']}, "
        f"maxTimestampMs={value['maxTimestampMs']}, eventTimestampMs={value['eventTimestampMs']}, "
        f"segmentLeaderEpochs={leader_epochs}, segmentSizeInBytes={value['segmentSizeInBytes']}, "
        f"customMetadata={_custom_metadata(value)}, state={state}, txnIdxEmpty={_bool(value['txnIndexEmpty'])}}}"
    )


def _update(value: Value) -> str:
    return (
        f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={_segment_id(value['remoteLogSegmentId'])}, "
        f"customMetadata={_custom_metadata(value)}, state={_segment_state(value)}, "
        f"eventTimestampMs={value['eventTimestampMs']}, brokerId={value['brokerId']}}}"
    )


def _partition_delete(value: Value) -> str:
    state = value["remotePartitionDeleteState"]
    if not 0 <= state < len(_PARTITION_STATES):
        raise SchemaError("null")
    return (
        f"RemotePartitionDeleteMetadata{{topicPartition={_topic_id_partition(value['topicIdPartition'])}, "
        f"state={_PARTITION_STATES[state]}, eventTimestampMs={value['eventTimestampMs']}, "
        f"brokerId={value['brokerId']}}}"
    )


def _snapshot(value: Value) -> str:
    state = _segment_state(value)
    return (
        f"RemoteLogSegmentMetadataSnapshot{{segmentId={value['segmentId']}, startOffset={value['startOffset']}, "
        f"endOffset={value['endOffset']}, maxTimestampMs={value['maxTimestampMs']}, "
        f"segmentLeaderEpochs={_leader_epochs(value)}, segmentSizeInBytes={value['segmentSizeInBytes']}, "
        f"customMetadata={_custom_metadata(value)}, state={state}, txnIdxEmpty={_bool(value['txnIndexEmpty'])}}}"
    )


_TEXTS = {
    "RemoteLogSegmentMetadataRecord": _segment,
    "RemoteLogSegmentMetadataUpdateRecord": _update,
    "RemotePartitionDeleteMetadataRecord": _partition_delete,
    "RemoteLogSegmentMetadataSnapshotRecord": _snapshot,
}


def _segment_id(value: Value) -> str:
    partition = _topic_id_partition(value["topicIdPartition"])
    return f"RemoteLogSegmentId{{topicIdPartition={partition}, id={value['id']}}}"


def _topic_id_partition(value: Value) -> str:
    return f"{value['id']}:{value['name']}-{value['partition']}"


def _segment_state(value: Value) -> str:
    state: int = value["remoteLogSegmentState"]
    if not 0 <= state < len(_SEGMENT_STATES):
        raise SchemaError("state can not be null")
    return _SEGMENT_STATES[state]


def _leader_epochs(value: Value) -> str:
    offsets = {entry["leaderEpoch"]: entry["offset"] for entry in value["segmentLeaderEpochs"]}
    if not offsets:
        raise SchemaError("segmentLeaderEpochs can not be null or empty")
    return "{" + ", ".join(f"{epoch}={offset}" for epoch, offset in sorted(offsets.items())) + "}"


def _custom_metadata(value: Value) -> str:
    data = value["customMetadata"]
    return "Optional.empty" if data is None else f"Optional[CustomMetadata{{{len(data)} bytes}}]"


def _bool(value: bool) -> str:
    return "true" if value else "false"
