"""The file of DeleteRecordsCommand: from which offset on each partition shall keep its records.

    {"partitions": [{"topic": "orders", "partition": 0, "offset": 25}], "version": 1}

An offset of -1 is the high watermark. ``version`` may be left out. What is wrong raises a KafkaError, in the tool's
words where it has some.
"""

from __future__ import annotations

from typing import Any

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition

VERSION = 1
EXAMPLE = '{"partitions": [{"topic": "orders", "partition": 0, "offset": 25}]}'
_FIELDS = {"topic": str, "partition": int, "offset": int}


def parse_offsets(data: bytes) -> dict[TopicPartition, int]:
    """The offset of each partition, in the order of the file."""
    document = _document(data)
    version = document.get("version", VERSION)
    if version != VERSION:
        raise _refused(f"Not supported version field value {version}")
    if "partitions" not in document:
        raise _refused("Missing partitions field")
    if not isinstance(document["partitions"], list):
        raise _refused("The partitions field is not a list")
    offsets: dict[TopicPartition, int] = {}
    duplicates: dict[TopicPartition, None] = {}
    for entry in document["partitions"]:
        partition, offset = _entry(entry)
        if partition in offsets:
            duplicates[partition] = None
        offsets[partition] = offset
    if duplicates:
        raise _refused(f"Offset json file contains duplicate topic partitions: {','.join(map(str, duplicates))}")
    return offsets


def _document(data: bytes) -> dict[str, Any]:
    import json

    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise _refused("The input string is not a valid JSON") from None
    if not isinstance(document, dict):
        raise _refused("The input string is not a JSON object")
    return document


def _entry(entry: Any) -> tuple[TopicPartition, int]:
    for field, kind in _FIELDS.items():
        if not isinstance(entry, dict) or type(entry.get(field)) is not kind:
            raise _refused(f"Each of partitions needs a topic, a partition and an offset: {field} is missing or wrong")
    return TopicPartition(entry["topic"], entry["partition"]), entry["offset"]


def _refused(message: str) -> KafkaError:
    return KafkaError("AdminOperationException", message)
