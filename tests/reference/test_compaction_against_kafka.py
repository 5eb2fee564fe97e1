"""Compaction against Kafka's own cleaner, over random logs, several rounds each.

Kafka's cleaner works on a copy of each directory, all in one JVM. It must find the same range to clean, reach the same
checkpoint, and leave the same batches in the same segments; without compression the same bytes in every file.

One difference is stepped around: where the dirty part begins inside a segment, Kafka takes transactions that were
aborted before that in the segment for open ones, and spares older records whose keys their producers wrote again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from kafkapy.formats.compression import Codec
from kafkapy.log.cleaner import clean
from kafkapy.log.cleaner_plan import log_to_clean
from kafkapy.log.cleaning_round import CleaningRound
from kafkapy.log.config import LogConfig
from kafkapy.log.names import LOG_SUFFIX, SEGMENT_SUFFIXES, parse_segment_file
from kafkapy.log.partition_reader import PartitionReader
from tests.compaction_logs import CONFIG, PARTITION, STEP, open_log, write_random_log
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java

SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "4"))
LOGS = int(os.environ.get("KAFKAPY_TEST_LOGS", "60"))
LARGE_MAP = 9000
PLAIN = (Codec.NONE,)
PASSED_ON = (
    "cleanup.policy", "delete.retention.ms", "index.interval.bytes", "max.compaction.lag.ms", "min.compaction.lag.ms",
    "message.timestamp.type",
)  # fmt: skip


class Round(NamedTuple):
    """One run of the cleaner over a directory."""

    directory: str
    config: LogConfig
    now: int
    checkpoint: int | None
    capacity: int


def any_rounds(rng: Random, root: Path) -> Iterator[tuple[Round, tuple[Codec, ...]]]:
    """Rounds over new logs: time passes, and with it delete horizons and the lives of producers."""
    for number in range(LOGS):
        codecs = PLAIN if number % 3 else tuple(Codec)
        config = CONFIG._replace(
            min_compaction_lag_ms=rng.choice((0, 0, 15 * STEP)),
            message_timestamp_type=rng.choice(("CreateTime", "CreateTime", "LogAppendTime")),
        )
        transactions = number % 4 > 0
        now = write_random_log(root / str(number) / "t-0", rng, config, codecs, transactions)
        capacity = rng.choice((LARGE_MAP, LARGE_MAP, 5))
        for later in (0, 5 * STEP, 30 * STEP, 90_000_000):
            checkpoint = rng.choice((None, 10_000, None if transactions else rng.randrange(80)))
            config = config._replace(segment_bytes=rng.choice((700, 2000)))
            yield Round(f"{number}/t-0", config, now + later, checkpoint, capacity), codecs


def configs(config: LogConfig) -> Iterator[str]:
    for name in PASSED_ON:
        value = getattr(config, name.replace(".", "_"))
        yield f"{name}={','.join(value) if isinstance(value, tuple) else value}"
    yield f"internal.segment.bytes={config.segment_bytes}"


def run_kafka(root: Path, rounds: list[Round]) -> list[str]:
    jobs, results = root / "jobs", root / "results"
    lines = [
        [each.directory, each.now, "-" if each.checkpoint is None else each.checkpoint, each.capacity]
        for each in rounds
    ]
    jobs.write_text(
        "".join(
            "\t".join([*map(str, line), *configs(each.config)]) + "\n" for line, each in zip(lines, rounds, strict=True)
        )
    )
    subprocess.run([*kafka_java("CleanMany"), str(jobs), str(results)], cwd=root, check=True, timeout=600)
    return results.read_text().splitlines()


def run_ours(root: Path, job: Round) -> str:
    log = open_log(str(root / job.directory), job.config, now=job.now)
    last_stable_offset = log.last_stable_offset(log.log_end_offset)
    found = log_to_clean(log, job.config, job.checkpoint, last_stable_offset, job.now)
    end_offset = found.first_dirty_offset
    if found.cleanable_bytes:
        cleaning = CleaningRound(log, job.config, found, log.producers, job.now, job.capacity)
        clean(log, cleaning)
        end_offset = cleaning.end_offset
    log.close(job.now)
    return f"{' '.join(map(str, found[:4]))} {end_offset}"


def batches(directory: Path) -> dict[int, list[Any]]:
    """The batches of each segment, without what depends on how well a codec compresses."""
    reader = PartitionReader(str(directory), PARTITION)
    return {
        segment.base_offset: [
            (batch.header._replace(crc=0, batch_length=0), list(batch.records()))
            for batch in segment.read(segment.base_offset)
        ]
        for segment in reader.segments
    }


def segment_files(directory: Path) -> dict[str, tuple[bytes, int]]:
    """The segments' files and, of logs, when they were modified, in ms."""
    found = {}
    for path in directory.iterdir():
        file = parse_segment_file(path.name)
        if file is not None and not file.state and file.suffix in SEGMENT_SUFFIXES:
            modified = path.stat().st_mtime_ns // 1_000_000 if file.suffix == LOG_SUFFIX else 0
            found[path.name] = path.read_bytes(), modified
    return found


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[tuple[Round, bool, str, str]]]:
    kafka_libs()
    root = tmp_path_factory.mktemp("compaction")
    ours, kafkas = root / "ours", root / "kafka"
    rounds = list(any_rounds(Random(SEED), ours))
    shutil.copytree(ours, kafkas)
    theirs = run_kafka(kafkas, [job for job, _ in rounds])
    mine = [run_ours(ours, job) for job, _ in rounds]
    told = zip(rounds, theirs, mine, strict=True)
    return ours, kafkas, [(job, codecs == PLAIN, kafka, our) for (job, codecs), kafka, our in told]


Cleaned = tuple[Path, Path, list[tuple[Round, bool, str, str]]]


def test_the_same_ranges_and_checkpoints(cleaned: Cleaned) -> None:
    for job, is_plain, kafka, ours in cleaned[2]:
        if is_plain:
            assert ours == kafka, job
        else:
            # sizes depend on how well a codec compresses
            assert ours.split()[::4] == kafka.split()[::4], job


def test_the_same_batches_in_the_same_segments(cleaned: Cleaned) -> None:
    ours, kafkas, rounds = cleaned
    for name in sorted({job.directory for job, _, _, _ in rounds}):
        assert batches(ours / name) == batches(kafkas / name), name


def test_the_same_bytes_without_compression(cleaned: Cleaned) -> None:
    ours, kafkas, rounds = cleaned
    for name in sorted({job.directory for job, is_plain, _, _ in rounds if is_plain}):
        assert segment_files(ours / name) == segment_files(kafkas / name), name


def test_the_logs_cover_much(cleaned: Cleaned) -> None:
    ours, _, rounds = cleaned
    names = {job.directory for job, _, _, _ in rounds}
    headers = [header for name in names for found in batches(ours / name).values() for header, _ in found]
    assert any(header.delete_horizon_ms is not None for header in headers)
    assert any(header.record_count == 0 for header in headers)
    assert any(header.is_control for header in headers)
    assert any(path.stat().st_size for name in names for path in (ours / name).glob("*.txnindex"))
    assert len({ours for _, _, _, ours in rounds}) > LOGS
