"""Fetch responses taken apart by hand give what the generic decoder gives, at every version."""

from __future__ import annotations

import pytest

from kafkapy.backends.live.exchange import decode_response, response_schema
from kafkapy.backends.live.fetch_response import decode_fetch_response
from kafkapy.errors import SchemaError
from kafkapy.formats.message import encode
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch

TOPIC_ID = "CaUX4RH0QiigHStL8Srgqw"


def batches(*bases: int) -> bytes:
    return b"".join(
        encode_batch([Record(base, 1, None, b"v"), Record(base + 1, 2, b"k", b"w")], BatchOptions(base_offset=base))
        for base in bases
    )


def response(version: int, records: bytes | None) -> bytes:
    fields = {
        "responses": [
            {
                **({"topicId": TOPIC_ID} if version >= 13 else {"topic": "orders"}),
                "partitions": [
                    {
                        "partitionIndex": 3,
                        "errorCode": 0,
                        "highWatermark": 9,
                        "lastStableOffset": 7,
                        "abortedTransactions": [{"producerId": 5, "firstOffset": 2}],
                        "records": records,
                        **({"currentLeader": {"leaderId": 2, "leaderEpoch": 4}} if version >= 12 else {}),
                    },
                    {"partitionIndex": 4, "errorCode": 6, "highWatermark": -1, "records": None},
                ],
            }
        ],
    }
    return encode(response_schema("Fetch"), version, fields)


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version(version: int) -> None:
    body = memoryview(response(version, batches(0, 2, 4)))
    generic = decode_response("Fetch", version, body)["responses"][0]["partitions"]
    found = decode_fetch_response(version, body)
    first, second = found.partitions
    assert found.error_code == 0
    assert (first.topic, first.partition) == (TOPIC_ID if version >= 13 else "orders", 3)
    assert (first.high_watermark, first.last_stable_offset, first.aborted) == (9, 7, [(5, 2)])
    assert bytes(first.records) == bytes(generic[0]["records"])
    assert first.leader == ((2, 4) if version >= 12 else None)
    assert (second.error_code, bytes(second.records), second.aborted) == (6, b"", [])


def test_batches_from_an_offset_on_without_the_one_that_is_cut_off() -> None:
    body = memoryview(response(17, batches(0, 2, 4) + batches(6)[:-3]))
    data = decode_fetch_response(17, body).partitions[0]
    assert [batch.header.base_offset for batch in data.batches(3)] == [2, 4]
    assert data.next_offset(3) == 6
    assert [record.value for batch in data.batches(0) for record in batch.records()] == [b"v", b"w"] * 3


def test_nothing_new_stays_where_it_was() -> None:
    data = decode_fetch_response(17, memoryview(response(17, b""))).partitions[0]
    assert data.next_offset(3) == 3
    assert list(data.batches(3)) == []


@pytest.mark.parametrize("version", [11, 17])
def test_a_response_that_ends_too_early_is_an_error(version: int) -> None:
    body = response(version, batches(0))
    for size in range(len(body) - 20):
        with pytest.raises(SchemaError, match="ends too early"):
            decode_fetch_response(version, memoryview(body)[:size])
