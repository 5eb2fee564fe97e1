"""OffsetCommit records of ``__consumer_offsets``, decoded by hand: there are a hundred of them for every other record.

    key    int16 1, string group, string topic, int32 partition (strings: int16 size, UTF-8)
    value  int16 version, int64 offset, [3+ int32 leader epoch], string metadata, int64 commit timestamp,
           [only 1: int64 expire timestamp]; from 4 on the metadata is a compact string, and tagged fields follow, of
           which 0 is the topic's id

Values are decoded here in versions 3 and 4. What else there is (other versions, long metadata,
damage, bytes behind a key, text that is not UTF-8) is left to the general decoder, which gives the same for what both
can read, and finds the words for what cannot be read.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from kafkapy.coordinator.offset_and_metadata import NO_EXPIRE_TIMESTAMP, OffsetAndMetadata
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, encode_record
from kafkapy.formats.message_reader import decode_utf8
from kafkapy.formats.uuid import ZERO_UUID, uuid_text
from kafkapy.log.topic_partition import TopicPartition

RECORD_NAME = "OffsetCommit"
TYPES = (b"\0\0", b"\0\1")

REPLACEMENT = "\ufffd"

_PREFIX = b"\0\1"
_EMPTY_KEY = _PREFIX + bytes(2 + 2 + 4)

_HEAD = Struct(">hqi")  # version, offset, leader epoch
_TIMESTAMP = Struct(">q")
_NO_TAGS = b"\0"
_TOPIC_ID_TAG = b"\1\0\x10"  # one tag, which is 0 and has 16 bytes
_LONGEST_ONE_BYTE_SIZE = 0x7F

_topic_id = lru_cache(maxsize=4096)(uuid_text)


class OffsetKey(NamedTuple):
    """What an offset is committed for."""

    group_id: str
    partition: TopicPartition


def decode_key(key: bytes) -> OffsetKey | None:
    """The key of an OffsetCommit record; None where it does not have the usual form."""
    names = _group_and_topic(key[:-4])
    if names is None:
        return None
    group_id, topic = names
    return OffsetKey(group_id, TopicPartition(topic, int.from_bytes(key[-4:], "big", signed=True)))


@lru_cache(maxsize=4096)
def _group_and_topic(key: bytes) -> tuple[str, str] | None:
    """The names in a key without its partition, which the partitions of a topic share."""
    if len(key) < len(_EMPTY_KEY) - 4 or key[:2] != _PREFIX:
        return None
    group_end = 4 + int.from_bytes(key[2:4], "big", signed=True)
    topic_start = group_end + 2
    topic_end = topic_start + int.from_bytes(key[group_end:topic_start], "big", signed=True)
    if group_end < 4 or topic_end < topic_start or topic_end != len(key):
        return None
    group_id, topic = decode_utf8(key[4:group_end]), decode_utf8(key[topic_start:])
    # several malformed texts become the same, and so do their keys
    return None if REPLACEMENT in group_id + topic else (group_id, topic)


def canonical(key: bytes, value: bytes | None) -> tuple[bytes, OffsetKey]:
    """The key of any record of an offset, in the usual form. A SchemaError for damage, of the value also where the key
    is of the type that Kafka 0.8 wrote: its values have one version only."""
    names = decode(GROUP, key, value).key
    found = OffsetKey(names["group"], TopicPartition(names["topic"], names["partition"]))
    return encode_record(GROUP, CoordinatorRecord(RECORD_NAME, names))[0], found


def decode_value(value: bytes) -> OffsetAndMetadata:
    """What was committed. A SchemaError for damage and for versions of a newer Kafka."""
    found = None
    if value[:2] == b"\0\4":
        found = _version_4(value)
    elif value[:2] == b"\0\3":
        found = _version_3(value)
    return _general(value) if found is None else found


def _version_4(value: bytes) -> OffsetAndMetadata | None:
    start = _HEAD.size + 1
    size = value[_HEAD.size] if len(value) > start else 0
    end = _HEAD.size + size  # the size is written as one more
    tags = value[end + _TIMESTAMP.size :]
    if not 0 < size <= _LONGEST_ONE_BYTE_SIZE or not tags:
        return None
    topic_id = ZERO_UUID
    if tags != _NO_TAGS:
        if tags[:3] != _TOPIC_ID_TAG or len(tags) != len(_TOPIC_ID_TAG) + 16:
            return None
        topic_id = _topic_id(tags[3:])
    _, offset, leader_epoch = _HEAD.unpack_from(value)
    (timestamp,) = _TIMESTAMP.unpack_from(value, end)
    metadata = decode_utf8(value[start:end]) if size > 1 else ""
    return OffsetAndMetadata(offset, leader_epoch, metadata, timestamp, NO_EXPIRE_TIMESTAMP, topic_id)


def _version_3(value: bytes) -> OffsetAndMetadata | None:
    start = _HEAD.size + 2
    end = start + int.from_bytes(value[_HEAD.size : start], "big", signed=True)
    if end < start or len(value) != end + _TIMESTAMP.size:
        return None
    _, offset, leader_epoch = _HEAD.unpack_from(value)
    (timestamp,) = _TIMESTAMP.unpack_from(value, end)
    return OffsetAndMetadata(offset, leader_epoch, decode_utf8(value[start:end]), timestamp)


def _general(value: bytes) -> OffsetAndMetadata:
    message = decode(GROUP, _EMPTY_KEY, value).value
    assert message is not None
    return OffsetAndMetadata(
        message["offset"],
        message["leaderEpoch"],
        message["metadata"],
        message["commitTimestamp"],
        message["expireTimestamp"],
        message["topicId"],
    )
