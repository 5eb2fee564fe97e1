from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Record, decode_header, encode_batch, is_valid
from kafkapy.log.batch import read_records
from kafkapy.log.config import LogConfig
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.log.validation import Assignment, RecordValidationError, assign, check_batch

NOW = 1_700_000_000_000
PARTITION = TopicPartition("t", 3)
GIVEN = Assignment(offset=100, leader_epoch=7, now=NOW)


def records(*timestamps: int, key: bytes | None = b"k") -> list[Record]:
    return [Record(n, time, key, b"value %d" % n) for n, time in enumerate(timestamps)]


def stored(data: bytes, config: LogConfig = LogConfig()) -> bytes:  # noqa: B008
    header = decode_header(data)
    check_batch(data, header, PARTITION, config, Origin.CLIENT)
    result, header = assign(data, header, PARTITION, config, GIVEN)
    assert header == decode_header(result)
    assert is_valid(result, header)
    assert header.base_offset == 100
    assert header.partition_leader_epoch == 7
    return result


def refusal(data: bytes, config: LogConfig = LogConfig()) -> tuple[str, str]:  # noqa: B008
    with pytest.raises(KafkaError) as error:
        stored(data, config)
    return error.value.name, str(error.value)


def contents(data: bytes) -> list[tuple[int, int, bytes | None, bytes | None]]:
    return [record[:4] for record in read_records(decode_header(data), data)]


@pytest.mark.parametrize("codec", list(Codec))
def test_offsets_are_given_in_place(codec: Codec) -> None:
    data = encode_batch(records(NOW, NOW + 1), BatchOptions(codec=codec))
    result = stored(data)
    assert result[16:] == data[16:]
    assert [record[0] for record in contents(result)] == [100, 101]


@pytest.mark.parametrize("target", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("source", list(Codec))
def test_the_topics_codec_wins(source: Codec, target: str) -> None:
    options = BatchOptions(codec=source, producer_id=5, producer_epoch=2, base_sequence=9, transactional=True)
    result = stored(encode_batch(records(NOW, NOW - 5), options), LogConfig(compression_type=target))
    header = decode_header(result)
    assert header.codec.label == target.replace("uncompressed", "none")
    assert header[9:13] == (5, 2, 9, 2)
    assert header.is_transactional
    assert [record[:2] for record in contents(result)] == [(100, NOW), (101, NOW - 5)]


def test_log_append_time() -> None:
    config = LogConfig(message_timestamp_type="LogAppendTime")
    result = stored(encode_batch(records(5, 10**15)), config)
    assert decode_header(result).is_log_append_time
    assert decode_header(result).base_timestamp == 5
    assert [record[1] for record in contents(result)] == [NOW, NOW]
    packed = stored(encode_batch(records(5, 6)), config._replace(compression_type="zstd"))
    assert [record[1] for record in contents(packed)] == [NOW, NOW]


def test_a_producer_may_not_set_log_append_time() -> None:
    data = encode_batch(records(NOW), BatchOptions(log_append_time=NOW))
    with pytest.raises(RecordValidationError) as error:
        stored(data, LogConfig(message_timestamp_type="LogAppendTime"))
    assert error.value.name == "InvalidTimestampException"
    assert error.value.record_errors[0].message == (
        f"Invalid timestamp type in message DefaultRecord(offset=0, timestamp={NOW}, key=1 bytes, value=7 bytes). "
        "Producer should not set timestamp type to LogAppendTime."
    )


def test_timestamps_have_bounds() -> None:
    config = LogConfig(message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=50)
    stored(encode_batch(records(NOW - 1000, NOW + 50, -1)), config)
    with pytest.raises(RecordValidationError) as error:
        stored(encode_batch(records(NOW, NOW + 51, NOW - 1001)), config)
    assert str(error.value) == "One or more records have been rejected due to invalid timestamp"
    assert [wrong.batch_index for wrong in error.value.record_errors] == [1, 2]
    assert error.value.record_errors[0].message == (
        f"Timestamp {NOW + 51} of message with offset 1 is out of range. The timestamp should be within "
        f"[{NOW - 1000}, {NOW + 50}]"
    )


def test_an_hour_ahead_is_the_default_bound() -> None:
    stored(encode_batch(records(NOW + 3_600_000, 0)))
    assert refusal(encode_batch(records(NOW + 3_600_001)))[0] == "InvalidTimestampException"


def test_compacted_topics_need_keys() -> None:
    config = LogConfig(cleanup_policy=("compact", "delete"))
    stored(encode_batch(records(NOW)), config)
    assert refusal(encode_batch(records(NOW, NOW, key=None)), config) == (
        "InvalidRecordException",
        "One or more records have been rejected due to 2 record errors in total, and only showing the first three "
        "errors at most: [RecordError(batchIndex=0, message='Compacted topic cannot accept message without key in "
        "topic partition t-3'), RecordError(batchIndex=1, message='Compacted topic cannot accept message without key "
        "in topic partition t-3')]",
    )


@given(st.lists(st.sampled_from([b"", b"k", b"k" * 200, None]), min_size=1, max_size=6), st.sampled_from(list(Codec)))
def test_one_record_without_a_key_is_enough(keys: list[bytes | None], codec: Codec) -> None:
    config = LogConfig(cleanup_policy=("compact",))
    made = [Record(n, NOW - 10**n, key, None if n % 2 else b"v" * 300) for n, key in enumerate(keys)]
    data = encode_batch(made, BatchOptions(codec=codec))
    if None not in keys:
        stored(data, config)
        return
    with pytest.raises(RecordValidationError) as error:
        stored(data, config)
    assert [wrong.batch_index for wrong in error.value.record_errors] == [n for n, k in enumerate(keys) if k is None]


def test_a_batch_that_is_too_large() -> None:
    data = encode_batch(records(NOW))
    stored(data, LogConfig(max_message_bytes=len(data)))
    assert refusal(data, LogConfig(max_message_bytes=len(data) - 1)) == (
        "RecordTooLargeException",
        f"The record batch size in the append to t-3 is {len(data)} bytes which exceeds the maximum configured value "
        f"of {len(data) - 1}).",
    )


def test_a_batch_that_grows_too_large_when_it_is_packed_anew() -> None:
    data = encode_batch([Record(0, NOW, b"k", bytes(5000))], BatchOptions(codec=Codec.ZSTD))
    name, message = refusal(data, LogConfig(max_message_bytes=1000, compression_type="uncompressed"))
    assert name == "RecordTooLargeException"
    assert message.startswith("Message batch size is 50")


def test_damage_is_refused() -> None:
    data = bytearray(encode_batch(records(NOW)))
    data[-1] ^= 1
    assert refusal(bytes(data)) == (
        "CorruptRecordException",
        f"Record is corrupt (stored crc = {decode_header(data).crc}) in topic partition t-3.",
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            encode_batch([Record(4, NOW, b"k", b"v")], BatchOptions(base_offset=4)),
            "The baseOffset of the record batch in the append to t-3 should be 0, but it is 4",
        ),
        (
            encode_batch(records(NOW), BatchOptions(control=True)),
            "Clients are not allowed to write control records in topic partition t-3",
        ),
        (
            encode_batch(records(NOW), BatchOptions(last_offset_delta=3)),
            "Inconsistent batch offset range [0, 3] and count of records 1 in topic partition t-3",
        ),
        (encode_batch([]), "Invalid reported count for record batch: 0 in topic partition t-3"),
        (
            encode_batch(records(NOW), BatchOptions(producer_id=4)),
            "Invalid sequence number -1 in record batch with producerId 4 in topic partition t-3",
        ),
    ],
)
def test_what_a_client_may_not_send(data: bytes, message: str) -> None:
    assert refusal(data) == ("InvalidRecordException", message)


def test_configs_are_read_from_their_names() -> None:
    configs = {
        "cleanup.policy": "compact, DELETE",
        "segment.bytes": "1048576",
        "min.cleanable.dirty.ratio": "0.25",
        "compression.type": "zstd",
        "follower.replication.throttled.replicas": "*",
    }
    config = LogConfig.of(configs)
    assert config.compact
    assert config.delete
    assert (config.segment_bytes, config.min_cleanable_dirty_ratio, config.compression_type) == (1048576, 0.25, "zstd")
    assert LogConfig.of({}) == LogConfig()
    assert LogConfig.of({"cleanup.policy": ""}).cleanup_policy == ()
    assert LogConfig.of({"internal.segment.bytes": "99"}).segment_bytes == 99
    assert config._replace(max_compaction_lag_ms=5).max_segment_ms == 5
