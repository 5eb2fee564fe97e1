"""The JSON of messages is Jackson's, character for character, and Python's json reads back what was put in."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.errors import SchemaError
from kafkapy.formats.message import decode, encode
from kafkapy.formats.message_json import java_double, json_text, json_tree, to_json
from kafkapy.formats.schema import Schema, schemas
from tests.formats.message_values import EVERY_VERSION, EVERY_VERSION_IDS, message_values

METADATA = schemas("metadata")
GROUP = schemas("group_coordinator")


@pytest.mark.parametrize(
    ("schema", "version", "value", "text"),
    [
        (
            METADATA["PartitionRecord"],
            2,
            {"partitionId": 1, "replicas": [1, 2], "eligibleLeaderReplicas": [], "leaderRecoveryState": 0},
            '{"partitionId":1,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","replicas":[1,2],"isr":[],"removingReplicas":[],'
            '"addingReplicas":[],"leader":-1,"leaderEpoch":-1,"partitionEpoch":-1,"directories":[],'
            '"eligibleLeaderReplicas":[]}',
        ),
        (
            METADATA["UserScramCredentialRecord"],
            0,
            {"name": "bob", "mechanism": 1, "salt": b"\x00\xff\xfe", "storedKey": b"a", "iterations": 4096},
            '{"name":"bob","mechanism":1,"salt":"AP/+","storedKey":"YQ==","serverKey":"","iterations":4096}',
        ),
        (
            METADATA["ClientQuotaRecord"],
            0,
            {"entity": [{"entityType": "user", "entityName": None}], "key": "producer_byte_rate", "value": 1024.0},
            '{"entity":[{"entityType":"user","entityName":null}],"key":"producer_byte_rate","value":1024.0,'
            '"remove":false}',
        ),
        (
            GROUP["ConsumerGroupMemberMetadataValue"],
            0,
            {"classicMemberMetadata": None},
            '{"instanceId":"","rackId":"","clientId":"","clientHost":"","subscribedTopicNames":[],'
            '"subscribedTopicRegex":"","rebalanceTimeoutMs":-1,"serverAssignor":"","classicMemberMetadata":null}',
        ),
        (
            GROUP["OffsetCommitValue"],
            1,
            {"offset": 3, "metadata": "m", "commitTimestamp": 5},
            '{"offset":3,"metadata":"m","commitTimestamp":5,"expireTimestamp":-1}',
        ),
        (METADATA["NoOpRecord"], 0, {}, "{}"),
    ],
)
def test_text(schema: Schema, version: int, value: dict[str, Any], text: str) -> None:
    assert to_json(schema, version, value) == text
    assert to_json(schema, version, decode(schema, version, encode(schema, version, value))) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ('a"b\\c/d', '"a\\"b\\\\c/d"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ("\x00\x1f\x7f", '"\\u0000\\u001F\x7f"'),
        ("é\u2028😀", '"é\u2028😀"'),
    ],
)
def test_escapes_are_jacksons(text: str, escaped: str) -> None:
    assert json_text(text) == escaped


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (123.25, "123.25"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (-1.5e300, "-1.5E300"),
        (5e-324, "4.9E-324"),
        (1e22, "1.0E22"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_printed_as_java_prints_them(value: float, text: str) -> None:
    assert java_double(value) == text


def test_numbers_that_json_lacks_become_strings() -> None:
    assert json_text([float("nan"), float("inf")]) == '["NaN","Infinity"]'


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_keep_their_value(value: float) -> None:
    assert float(java_double(value)) == value


def test_a_field_that_the_version_lacks_must_be_at_its_default() -> None:
    with pytest.raises(SchemaError, match=r"^Attempted to write a non-default directories at version 0$"):
        to_json(METADATA["PartitionChangeRecord"], 0, {"directories": []})


@pytest.mark.parametrize(("schema", "version"), EVERY_VERSION, ids=EVERY_VERSION_IDS)
@settings(max_examples=5)
@given(data=st.data())
def test_every_message_is_json(schema: Schema, version: int, data: st.DataObject) -> None:
    tree = json_tree(schema, version, data.draw(message_values(schema, version)))
    assert json.loads(json_text(tree)) == _without_bytes(tree)


def _without_bytes(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _without_bytes(child) for name, child in node.items()}
    if isinstance(node, list):
        return [_without_bytes(child) for child in node]
    if isinstance(node, float) and node in (float("inf"), float("-inf")):
        return java_double(node)
    return base64.b64encode(node).decode() if isinstance(node, bytes) else node
