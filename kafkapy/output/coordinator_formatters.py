"""Records of the coordinators' topics as text: the message formatters of Kafka's console consumer, and what they share
with the lines of older Kafkas.

    {"key":{"type":1,"data":{...}},"value":{"version":4,"data":{...}}}     of a tombstone, "value":null

Kafka 4.3.1 writes nothing between two objects. Its class names do the same here; the short names end each object with a
newline. A record without a key, of a type that Kafka does not know, or of one that the formatter is not for, prints
nothing; but one of a known type is decoded first, and fails even where it would not have been printed.

A topic like ``__consumer_offsets`` has few keys and very many records, nearly all of them offset commits. So the text
of a key is kept, and an offset commit is read by hand wherever it looks as coordinators write it.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple, Protocol

from kafkapy.errors import SchemaError
from kafkapy.formats import coordinator_record
from kafkapy.formats.coordinator_record import CoordinatorRecord, UnknownRecordTypeError, decode
from kafkapy.formats.message_json import json_text, json_tree, to_json
from kafkapy.formats.message_reader import java_message
from kafkapy.formats.record_batch import Record
from kafkapy.formats.uuid import uuid_text

MOST_KEYS = 1 << 16
OFFSET_COMMIT = 1

# version, offset, leader epoch, length of the metadata (of version 4: plus 1), commit timestamp, tagged fields
_VERSION_3 = Struct(">hqiHq")
_VERSION_4 = Struct(">hqiBqB")
_WITH_TOPIC_ID = Struct(">hqiBq3s16s")
_TOPIC_ID_TAG = b"\1\0\x10"  # one field: tag 0, 16 bytes
_NO_ID = bytes(16)


class Kind(NamedTuple):
    """What a formatter is for: an area of schemas, and the types of records that it prints (None: all)."""

    area: str
    types: frozenset[int] | None = None


class PlainCommit(NamedTuple):
    """An offset commit without metadata; ``topic_id`` is 16 bytes, or none."""

    version: int
    offset: int
    leader_epoch: int
    commit_timestamp: int
    topic_id: bytes = b""


class UnreadableRecordError(SchemaError):
    """A record that does not decode, in the words of Kafka's formatters."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"Could not read record at offset {offset} due to: {reason}")
        self.offset = offset
        self.reason = reason


class Texts(Protocol):
    """What is written for a record: the text of its key, then that of its value."""

    tombstone: bytes

    def key(self, area: str, record: CoordinatorRecord) -> bytes:
        """All up to the value."""
        ...

    def commit(self, commit: PlainCommit) -> bytes:
        """The value of such a commit."""
        ...

    def value(self, area: str, record: CoordinatorRecord) -> bytes:
        """Any value that is there."""
        ...


class JsonTexts:
    """Kafka's JSON."""

    tombstone = b"null}"

    def key(self, area: str, record: CoordinatorRecord) -> bytes:
        """The object of the key, and the name of the next one."""
        data = json_tree(coordinator_record.key_schema(area, record.name), 0, record.key)
        tree = {"type": coordinator_record.record_type(area, record.name), "data": data}
        return b'{"key":%b,"value":' % utf8(json_text(tree))

    def commit(self, commit: PlainCommit) -> bytes:
        """The same as ``value``, ten times faster."""
        version, offset, epoch, timestamp, topic_id = commit
        tagged = b',"topicId":"%b"' % uuid_text(topic_id).encode() if topic_id else b""
        data = b'{"offset":%d,"leaderEpoch":%d,"metadata":"","commitTimestamp":%d%b}' % (
            offset,
            epoch,
            timestamp,
            tagged,
        )
        return b'{"version":%d,"data":%b}}' % (version, data)

    def value(self, area: str, record: CoordinatorRecord) -> bytes:
        """The object of the value."""
        assert record.version is not None
        assert record.value is not None
        data = to_json(coordinator_record.value_schema(area, record.name), record.version, record.value)
        return b'{"version":%d,"data":%b}}' % (record.version, utf8(data))


class _Key(NamedTuple):
    """A key that was met before. ``text`` is None where its records are not printed."""

    is_commit: bool
    text: bytes | None


class CoordinatorRecordMessageFormatter:
    """The texts of each record, with ``end`` behind them."""

    def __init__(self, kind: Kind, texts: Texts, end: bytes = b"", skips_unknown: bool = True) -> None:
        """``skips_unknown``: whether a type that nobody knows is nothing, as for Kafka, or an error."""
        self.problems: list[str] = []
        self._kind = kind
        self._texts = texts
        self._end = end
        self._skips_unknown = skips_unknown
        self._keys: dict[bytes, _Key | None] = {}

    def write(self, records: Iterator[Record], partition: int, timestamp_type: str | None, out: bytearray) -> None:
        """Append the texts; of a record that cannot be read nothing is written."""
        keys, end = self._keys, self._end
        for record in records:
            if record.key is None:
                continue
            try:
                key = keys[record.key] if record.key in keys else self._key(record.key)
                if key is None:
                    continue
                value = self._value(key, record.key, record.value)
            except SchemaError as error:
                raise UnreadableRecordError(record.offset, java_message(error)) from None
            if key.text is not None:
                out += key.text
                out += value
                out += end

    def _key(self, data: bytes) -> _Key | None:
        """The key, which is remembered; None for a type that is skipped because nobody knows it."""
        area, types = self._kind
        key = None
        try:
            record = decode(area, data, None)
            record_type = coordinator_record.record_type(area, record.name)
            is_commit = area == coordinator_record.GROUP and record_type == OFFSET_COMMIT
            key = _Key(is_commit, self._texts.key(area, record) if types is None or record_type in types else None)
        except UnknownRecordTypeError:
            if not self._skips_unknown:
                raise
        if len(self._keys) >= MOST_KEYS:
            self._keys.clear()
        self._keys[data] = key
        return key

    def _value(self, key: _Key, key_data: bytes, data: bytes | None) -> bytes:
        if data is None:
            return self._texts.tombstone
        if key.is_commit and (commit := plain_commit(data)) is not None:
            return self._texts.commit(commit)
        record = decode(self._kind.area, key_data, data)
        return b"" if key.text is None else self._texts.value(self._kind.area, record)


def coordinator_formatter(name: str) -> CoordinatorRecordMessageFormatter | None:
    """The formatter of a class, or of a short name without its dashes; None where there is none."""
    if name in KINDS:
        return CoordinatorRecordMessageFormatter(KINDS[name], JsonTexts())
    if name in SHORT_NAMES:
        return CoordinatorRecordMessageFormatter(KINDS[SHORT_NAMES[name]], JsonTexts(), b"\n")
    return None


KINDS = {
    "OffsetsMessageFormatter": Kind(coordinator_record.GROUP, frozenset((0, OFFSET_COMMIT))),
    "GroupMetadataMessageFormatter": Kind(coordinator_record.GROUP, frozenset((2,))),
    "TransactionLogMessageFormatter": Kind(coordinator_record.TRANSACTION),
    "ShareGroupMessageFormatter": Kind(coordinator_record.GROUP, frozenset(range(10, 16))),
    "ShareGroupStateMessageFormatter": Kind(coordinator_record.SHARE),
}
"""By the names of Kafka's classes."""

SHORT_NAMES = {
    "offsets": "OffsetsMessageFormatter",
    "groupmetadata": "GroupMetadataMessageFormatter",
    "transactionlog": "TransactionLogMessageFormatter",
    "sharegroup": "ShareGroupMessageFormatter",
    "sharegroupstate": "ShareGroupStateMessageFormatter",
}


def plain_commit(value: bytes) -> PlainCommit | None:
    """An offset commit of version 3 or 4 without metadata, as nearly all are; None for any other."""
    if len(value) == _WITH_TOPIC_ID.size:
        version, offset, epoch, length, timestamp, tags, topic_id = _WITH_TOPIC_ID.unpack(value)
        if (version, length, tags) == (4, 1, _TOPIC_ID_TAG) and topic_id != _NO_ID:
            return PlainCommit(version, offset, epoch, timestamp, topic_id)
    elif len(value) == _VERSION_3.size:
        version, offset, epoch, length, timestamp = _VERSION_3.unpack(value)
        if version == 4:
            _, _, _, length, timestamp, tags = _VERSION_4.unpack(value)
            return PlainCommit(version, offset, epoch, timestamp) if (length, tags) == (1, 0) else None
        if version == 3 and length == 0:
            return PlainCommit(version, offset, epoch, timestamp)
    return None


def utf8(text: str) -> bytes:
    """Text as Java encodes it."""
    return text.encode("utf-8", "replace")
