"""The formatters of internal topics against Kafka's own classes, over random and damaged records of every type and
version: the same bytes, or the same words of the same error. All in one JVM.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from kafkapy.errors import FormatError
from kafkapy.formats.coordinator_record import (
    GROUP,
    SHARE,
    TRANSACTION,
    CoordinatorRecord,
    encode_record,
    key_schema,
    value_schema,
)
from kafkapy.formats.record_batch import Record
from kafkapy.formats.schema import Field, Struct, schemas
from kafkapy.formats.uuid import ZERO_UUID, uuid_text
from kafkapy.output.record_formatter import formatter
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java

SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "4"))
RECORDS = int(os.environ.get("KAFKAPY_TEST_RECORDS", "60"))
PACKAGE = "org.apache.kafka.tools.consumer."
FORMATTERS = {
    GROUP: ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter", "ShareGroupMessageFormatter"),
    TRANSACTION: ("TransactionLogMessageFormatter",),
    SHARE: ("group.share.ShareGroupStateMessageFormatter",),
}
NUMBERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
TEXTS = ("", "g", "orders", 'say "hi"\\', "a\x00\x1f\x7f\u2028", "数据", "\U0001f600", "x" * 130)


class Job(NamedTuple):
    formatter: str
    record: Record


def any_value(rng: Random, struct_: Struct, version: int) -> dict[str, Any]:
    here, _ = struct_.at(version)
    return {field.name: any_field(rng, field, version) for field in here if field.tag is None or rng.random() < 0.5}


def any_field(rng: Random, field: Field, version: int) -> Any:
    if version in field.nullable and rng.random() < 0.3:
        return None
    if field.is_array:
        return [any_element(rng, field, version) for _ in range(rng.randrange(3))]
    return any_element(rng, field, version)


def any_element(rng: Random, field: Field, version: int) -> Any:
    if field.struct is not None:
        return any_value(rng, field.struct, version)
    if field.type == "string":
        return rng.choice(TEXTS)
    if field.type == "bytes":
        return rng.randbytes(rng.randrange(6))
    if field.type == "uuid":
        return rng.choice((ZERO_UUID, uuid_text(rng.randbytes(16))))
    if field.type == "uint16":
        return rng.choice((0, 9092, 2**16 - 1))
    bits = NUMBERS[field.type]
    return rng.choice((-1, 0, 1, 7, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))))


def damaged(rng: Random, data: bytes) -> bytes:
    """Torn, a byte changed, or something behind it."""
    kind = rng.randrange(3)
    if kind == 0:
        return data[: rng.randrange(len(data) + 1)]
    if kind == 1 and data:
        at = rng.randrange(len(data))
        return data[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))]) + data[at + 1 :]
    return data + rng.randbytes(3)


def any_jobs(rng: Random) -> Iterator[Job]:
    for area, names in FORMATTERS.items():
        for schema in schemas(area).values():
            if schema.type != "coordinator-value":
                continue
            name = schema.name.removesuffix("Value")
            for number in range(RECORDS * len(list(schema.valid_versions))):
                version = rng.choice(list(schema.valid_versions))
                record = CoordinatorRecord(
                    name,
                    any_value(rng, key_schema(area, name).struct, 0),
                    version,
                    any_value(rng, value_schema(area, name).struct, version),
                )
                key, value = encode_record(area, record)
                for bad_key, bad_value in variants(rng, key, value, number):
                    yield Job(PACKAGE + rng.choice(names), Record(rng.randrange(2**40), 0, bad_key, bad_value))


def variants(rng: Random, key: bytes, value: bytes | None, number: int) -> Iterator[tuple[bytes | None, bytes | None]]:
    yield key, value
    if number % 5 == 0:
        yield key, None
        yield None, value
        yield damaged(rng, key), value
    yield key, damaged(rng, value or b"")


def any_commits(rng: Random) -> Iterator[Job]:
    """Offset commits as nearly all are, whole and damaged: what is read by hand."""
    for number in range(RECORDS * 40):
        version = rng.choice((3, 4))
        value = {
            "offset": rng.randrange(2**40),
            "leaderEpoch": rng.randrange(-1, 5),
            "commitTimestamp": rng.randrange(2**41),
        }
        topic_id = {"topicId": uuid_text(rng.randbytes(16))} if rng.random() < 0.5 else {}
        metadata = rng.choice(("", "", "", "m"))
        key = {"group": "g", "topic": "t", "partition": number % 3}
        record = CoordinatorRecord("OffsetCommit", key, version, {**value, **topic_id, "metadata": metadata})
        key_data, data = encode_record(GROUP, record)
        yield Job(PACKAGE + "OffsetsMessageFormatter", Record(number, 0, key_data, data))
        yield Job(PACKAGE + "OffsetsMessageFormatter", Record(number, 0, key_data, damaged(rng, data or b"")))


def run_kafka(directory: Path, jobs: list[Job]) -> list[tuple[bytes, str]]:
    given, results = directory / "jobs", directory / "results"
    with given.open("wb") as file:
        file.write(struct.pack(">i", len(jobs)))
        for name, record in jobs:
            file.write(struct.pack(">H", len(name)) + name.encode() + struct.pack(">q", record.offset))
            for part in (record.key, record.value):
                file.write(struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part)
    subprocess.run([*kafka_java("FormatMany"), str(given), str(results)], check=True, timeout=600)
    parts = list(_arrays(results.read_bytes()))
    return [(out, error.decode()) for out, error in zip(*[iter(parts)] * 2, strict=True)]


def _arrays(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        yield data[position + 4 : position + 4 + size]
        position += 4 + size


def run_ours(jobs: list[Job]) -> Iterator[tuple[bytes, str]]:
    made = {name: formatter(name, {}) for name in {job.formatter for job in jobs}}
    for name, record in jobs:
        out, error = bytearray(), ""
        try:
            made[name].write(iter((record,)), 0, "CreateTime", out)
        except FormatError as failure:
            error = str(failure)
        yield bytes(out), error


Results = list[tuple[Job, tuple[bytes, str], tuple[bytes, str]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    kafka_libs()
    jobs = [*any_jobs(Random(SEED)), *any_commits(Random(SEED))]
    theirs = run_kafka(tmp_path_factory.mktemp("formatters"), jobs)
    return list(zip(jobs, theirs, run_ours(jobs), strict=True))


def test_the_same_bytes_and_errors(results: Results) -> None:
    missed = [each for each in results if each[1] != each[2]]
    shown = "\n".join(f"{job}\n  kafka: {theirs}\n  ours:  {ours}" for job, theirs, ours in missed[:5])
    assert not missed, f"{len(missed)} of {len(results)} differ (seed {SEED}):\n{shown}"


def test_the_records_cover_much(results: Results) -> None:
    printed = sum(bool(out) for _, (out, _), _ in results)
    failed = [error for _, (_, error), _ in results if error]
    assert printed > len(results) / 4
    assert len(failed) > len(results) / 20
    assert len({error.partition(" due to: ")[2] for error in failed}) > 50
