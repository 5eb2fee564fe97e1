"""Records into batches, batches to a cluster: sizes, partitions, sequences, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.backends.line_producer import LineProducer
from kafkapy.backends.line_reader import Line, ReaderOptions
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import OpenBatch, RecordAccumulator, encode_payload
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.compression import Codec
from kafkapy.formats.murmur2 import partition_for_key
from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.formats.varint import read_varint
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.backends.memory_cluster import MemoryCluster

NOW = 1_700_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


def producer(
    cluster: MemoryCluster, options: ProducerOptions | None = None, **more: object
) -> tuple[LineProducer, list[str], Clock]:
    told: list[str] = []
    clock = Clock()
    made = LineProducer(
        cluster,
        "t",
        options or ProducerOptions(),
        more.pop("reader", ReaderOptions()),  # type: ignore[arg-type]
        clock=clock,
        random=Random(1),
        tell=told.append,
        **more,  # type: ignore[arg-type]
    )
    return made, told, clock


def with_topic(partitions: int = 1, **more: int) -> MemoryCluster:
    cluster = MemoryCluster(**more)
    cluster.apply(CreateTopic("t", partitions))
    return cluster


def values(cluster: MemoryCluster, partitions: int = 1) -> list[list[bytes | None]]:
    return [[record.value for record in cluster.records(TopicPartition("t", n))] for n in range(partitions)]


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=200), st.sampled_from([0, 1, 63, 64, 70_000]))
def test_a_run_of_values_is_encoded_as_any_records_are(lines: list[bytes], later: int) -> None:
    batch = OpenBatch(NOW)
    assert batch.add_values(lines[:5], 0, NOW, 1 << 20) == len(lines[:5])
    batch.add_values(lines, len(lines[:5]), NOW + later, 1 << 20)
    stamps = [NOW if number < 5 else NOW + later for number in range(len(lines))]
    records = [Record(n, stamp, None, line) for n, (stamp, line) in enumerate(zip(stamps, lines, strict=True))]
    assert batch.body == encode_batch(records, BatchOptions())[61:]
    assert batch.size == len(batch.body)


@given(
    st.lists(
        st.builds(
            Line,
            st.none() | st.binary(max_size=90),
            st.none() | st.binary(max_size=90),
            st.lists(st.builds(Header, st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3).map(tuple),
        ),
        min_size=1,
    )
)
def test_records_of_any_shape(lines: list[Line]) -> None:
    batch = OpenBatch(NOW)
    assert all(batch.add(encode_payload(line), NOW + n, 1 << 20) for n, line in enumerate(lines))
    records = [Record(n, NOW + n, line.key, line.value, line.headers) for n, line in enumerate(lines)]
    assert batch.body == encode_batch(records, BatchOptions())[61:]


def test_offset_deltas_beyond_every_table() -> None:
    lines = [b"x"] * 20_000
    batch = OpenBatch(NOW)
    assert batch.add_values(lines, 0, NOW, 1 << 30) == len(lines)
    records = [Record(n, NOW, None, b"x") for n in range(len(lines))]
    assert batch.body == encode_batch(records, BatchOptions())[61:]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=300), st.integers(0, 5000), st.integers(1, 3))
def test_batches_are_as_large_as_they_may_be_and_no_larger(sizes: list[int], batch_size: int, partitions: int) -> None:
    sent: list[OpenBatch] = []
    accumulator = RecordAccumulator(
        partitions, ProducerOptions(batch_size=batch_size), Random(0), lambda _, batch: sent.append(batch) or 1.0
    )
    lines = [bytes(size) for size in sizes]
    for start in range(0, len(lines), 90):
        accumulator.append_values(lines[start : start + 90], NOW)
    accumulator.drain()
    assert sum(batch.count for batch in sent) == len(lines)
    assert accumulator.oldest is None
    for batch, following in pairwise(sent):
        assert batch.count == 1 or 61 + batch.size <= batch_size
        length, start = read_varint(following.body, 0)
        longest = start + length + 3  # its offset delta and its length may take more bytes in the batch before
        assert 61 + batch.size + longest > batch_size


def test_one_partition_keeps_the_order_and_counts_sequences() -> None:
    cluster = with_topic()
    made, told, _ = producer(cluster)
    lines = [b"%d" % n for n in range(5000)]
    for start in range(0, 5000, 700):
        made.send(lines[start : start + 700])
    made.pause()
    assert values(cluster) == [lines]
    batches = cluster.batches[TopicPartition("t", 0)]
    assert len(batches) > 3
    assert {(batch.header.producer_id, batch.header.producer_epoch) for batch in batches} == {(8, 0)}
    assert batches[1].header.base_sequence == batches[0].header.record_count
    assert (told, cluster.flushed, made.failures) == ([], 1, 0)


def test_keys_go_where_murmur2_says() -> None:
    cluster = with_topic(5)
    made, _, _ = producer(cluster, reader=ReaderOptions(parse_key=True))
    made.send([b"k%d\tv%d" % (n, n) for n in range(100)])
    made.pause()
    for number in range(5):
        for record in cluster.records(TopicPartition("t", number)):
            assert record.key is not None
            assert partition_for_key(record.key, 5) == number
    assert sum(map(len, values(cluster, 5))) == 100


def test_without_keys_a_batch_sticks_to_a_partition_and_the_next_moves_on() -> None:
    cluster = with_topic(4)
    made, _, _ = producer(cluster)
    made.send([bytes(1000)] * 400)
    made.pause()
    counts = [len(found) for found in values(cluster, 4)]
    assert sum(counts) == 400
    assert all(counts)
    assert all(len(cluster.batches[TopicPartition("t", n)]) * 16 >= counts[n] for n in range(4))


@pytest.mark.parametrize("codec", list(Codec))
def test_codecs(codec: Codec) -> None:
    cluster = with_topic()
    made, _, _ = producer(cluster, ProducerOptions(codec=codec))
    lines = [b"value %05d" % n for n in range(20_000)]
    made.send(lines)
    made.pause()
    assert values(cluster) == [lines]
    headers = [batch.header for batch in cluster.batches[TopicPartition("t", 0)]]
    assert {header.codec for header in headers} == {codec}
    assert all(header.size <= 16384 * 1.2 for header in headers)
    if codec is not Codec.NONE:  # what batches before came to lets later ones take more
        assert headers[-2].record_count > headers[0].record_count


def test_linger_sends_what_has_waited() -> None:
    cluster = with_topic()
    made, _, clock = producer(cluster, ProducerOptions(linger_ms=100))
    assert made.wait_ms is None
    made.send([b"a"])
    assert (made.wait_ms, values(cluster)) == (100, [[]])
    clock.now += 40
    made.send([b"b"])
    assert made.wait_ms == 60
    clock.now += 60
    made.send([b"c"])
    assert (made.wait_ms, values(cluster)) == (None, [[b"a", b"b", b"c"]])
    assert [record.timestamp - NOW for record in cluster.records(TopicPartition("t", 0))] == [0, 40, 100]


def test_sync_has_each_record_on_disk_before_the_next() -> None:
    cluster = with_topic()
    made, _, _ = producer(cluster, sync=True)
    made.send([b"a", b"b"])
    assert (values(cluster), cluster.flushed) == ([[b"a", b"b"]], 2)
    assert len(cluster.batches[TopicPartition("t", 0)]) == 2


def test_a_wrong_line_ends_it_after_the_lines_before() -> None:
    cluster = with_topic()
    made, _, _ = producer(cluster, reader=ReaderOptions(parse_key=True))
    with pytest.raises(KafkaError, match="No key separator found on line number 2: 'wrong'"):
        made.send([b"k\tv", b"wrong", b"k\tw"])
    made.pause()
    assert values(cluster) == [[b"v"]]


def test_a_missing_topic_is_made_with_the_first_record() -> None:
    cluster = MemoryCluster()
    made, told, _ = producer(cluster)
    made.pause()
    assert cluster.image().topics == {}
    made.send([b"a"])
    made.pause()
    assert values(cluster) == [[b"a"]]
    assert "{t=UNKNOWN_TOPIC_OR_PARTITION}" in told[0]


def test_a_batch_that_the_topic_finds_too_large_is_halved() -> None:
    cluster = with_topic(max_batch=500)
    made, told, _ = producer(cluster)
    lines = [b"%03d" % n for n in range(600)]
    made.send(lines)
    made.pause()
    assert (values(cluster), told) == ([lines], [])


def test_a_record_that_is_too_large_is_left_out_and_told() -> None:
    cluster = with_topic(max_batch=500)
    made, told, _ = producer(cluster)
    made.send([b"a", bytes(600), b"b"])
    made.pause()
    assert (values(cluster), made.failures) == ([[b"a", b"b"]], 1)
    assert told == ["Error when sending a message to topic t: RecordTooLargeException: too large"]


def test_a_record_larger_than_a_request() -> None:
    cluster = with_topic()
    made, told, _ = producer(cluster, ProducerOptions(max_request_size=1000))
    made.send([b"a", bytes(1000), b"b"])
    made.pause()
    assert values(cluster) == [[b"a", b"b"]]
    assert "The message is 1086 bytes when serialized which is larger than 1000, which is the value of the" in told[0]
    synchronous, _, _ = producer(cluster, ProducerOptions(max_request_size=1000), sync=True)
    with pytest.raises(KafkaError, match="The message is 1086 bytes"):
        synchronous.send([bytes(1000)])


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        ({}, ProducerOptions()),
        ({"acks": "1"}, ProducerOptions(acks=1, idempotent=False)),
        ({"acks": "all", "batch.size": "10", "linger.ms": "5"}, ProducerOptions(batch_size=10, linger_ms=5)),
        ({"retries": "0"}, ProducerOptions(idempotent=False, retries=0)),
        ({"enable.idempotence": "false"}, ProducerOptions(idempotent=False)),
        (
            {"compression.type": "zstd", "compression.zstd.level": "7", "compression.gzip.level": "1"},
            ProducerOptions(codec=Codec.ZSTD, level=7),
        ),
        ({"client.id": "x", "max.request.size": "7"}, ProducerOptions(max_request_size=7)),
        ({"max.in.flight.requests.per.connection": "1"}, ProducerOptions(max_in_flight=1)),
        (
            {"max.in.flight.requests.per.connection": "9", "enable.idempotence": "false"},
            ProducerOptions(idempotent=False),
        ),
        ({"partitioner.ignore.keys": "true"}, ProducerOptions(ignores_keys=True)),
        ({"transaction.timeout.ms": "5000"}, ProducerOptions(transaction_timeout_ms=5000)),
    ],
)
def test_producer_configs(configs: dict[str, str], expected: ProducerOptions) -> None:
    assert ProducerOptions.of(configs) == expected


@pytest.mark.parametrize(
    ("configs", "error"),
    [
        ({"acks": "2"}, "Invalid value 2 for configuration acks: String must be one of: all, -1, 0, 1"),
        ({"compression.type": "zip"}, "String must be one of: none, gzip, snappy, lz4, zstd"),
        ({"batch.size": "x"}, "Invalid value x for configuration batch.size: Not a number of type INT"),
        ({"linger.ms": "-1"}, "Invalid value -1 for configuration linger.ms: Value must be at least 0"),
        ({"transaction.timeout.ms": "0"}, "for configuration transaction.timeout.ms: Value must be at least 1"),
        (
            {"compression.gzip.level": "10"},
            "Invalid value 10 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
        ),
        ({"compression.zstd.level": "23"}, "for configuration compression.zstd.level: Value must be no more than 22"),
        ({"compression.lz4.level": "x"}, "Invalid value x for configuration compression.lz4.level: Not a number"),
        ({"partitioner.ignore.keys": "1"}, "Expected value to be either true or false"),
        ({"partitioner.class": "org.example.Own"}, "partitioner.class cannot be honoured"),
        ({"transactional.id": "x"}, "give --transactional-id"),
        ({"transaction.two.phase.commit.enable": "true"}, "transaction.two.phase.commit.enable cannot be honoured"),
        ({"max.in.flight.requests.per.connection": "9"}, "must be set to at most 5. Current value is 9."),
        ({"max.in.flight.requests.per.connection": "9", "acks": "1"}, "To use the idempotent producer, max.in.flight"),
        ({"acks": "0", "enable.idempotence": "true"}, "Must set acks to all in order to use the idempotent producer."),
    ],
)
def test_configs_that_cannot_be(configs: dict[str, str], error: str) -> None:
    with pytest.raises(KafkapyError, match=error):
        ProducerOptions.of(configs)


def test_keys_may_be_ignored() -> None:
    sent: list[int] = []
    options = ProducerOptions(ignores_keys=True)
    accumulator = RecordAccumulator(50, options, Random(0), lambda partition, _: sent.append(partition) or 1.0)
    for number in range(20):
        accumulator.append(b"%d" % number, b"x", NOW)
    accumulator.drain()
    assert len(sent) == 1


def test_without_idempotence_there_is_no_producer_id() -> None:
    cluster = with_topic()
    made, _, _ = producer(cluster, ProducerOptions(idempotent=False))
    made.send([b"a"])
    made.pause()
    header = cluster.batches[TopicPartition("t", 0)][0].header
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
