"""kafkapy dump-log against the real DumpLogSegments, over random and damaged files.

Kafka's tool runs over all of them in one JVM. stdout must be the same to the byte, also where Kafka dies: what it
printed before that is printed here too. Where it does not die, stderr must be the same as well; where it does, kafkapy
must say so in one line and exit with 1.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.dumping import KERNELS, Dumped, run_dumps
from tests.golden_set import unpack
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.segments import any_segment, mutated, mutated_bytes, offset_index, time_index

SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "4"))
SEGMENTS = int(os.environ.get("KAFKAPY_TEST_SEGMENTS", "200"))
LOG_FLAGS: tuple[tuple[str, ...], ...] = (
    (),
    ("--print-data-log",),
    ("--deep-iteration",),
    ("--print-data-log", "--skip-record-metadata"),
)
INDEX_FLAGS: tuple[tuple[str, ...], ...] = ((), ("--verify-index-only",), ("--index-sanity-check",))


class KafkaRun(NamedTuple):
    """What DumpLogSegments printed, and the error it died of."""

    stdout: bytes
    stderr: bytes
    error: str


def write_segment(rng: Random, directory: Path, base_offset: int) -> None:
    """A segment with its indexes, three in four of them damaged."""
    whole = any_segment(rng, base_offset)
    kind = rng.randrange(4)
    log = mutated(rng, whole) if kind in (1, 2) else whole
    index, times = offset_index(whole, base_offset, rng.choice((1, 2))), time_index(whole, base_offset)
    if kind == 3:
        index, times = mutated_bytes(rng, index), mutated_bytes(rng, times)
    name = f"{base_offset:020d}"
    directory.mkdir()
    (directory / f"{name}.log").write_bytes(log)
    (directory / f"{name}.index").write_bytes(index)
    (directory / f"{name}.timeindex").write_bytes(times)


def command_lines(rng: Random, directory: Path) -> Iterator[list[str]]:
    """How each file is dumped; paths are relative."""
    for number in range(SEGMENTS):
        base_offset = rng.choice((0, 0, 100, 2**40))
        write_segment(rng, directory / f"{number}", base_offset)
        stem = f"{number}/{base_offset:020d}"
        for flags in LOG_FLAGS:
            yield ["--files", f"{stem}.log", *flags]
        yield ["--files", f"{stem}.log", "--deep-iteration", "--max-bytes", str(rng.randrange(1200))]
        for suffix in (".index", ".timeindex"):
            for flags in INDEX_FLAGS:
                yield ["--files", stem + suffix, *flags]
        yield ["--files", f"{stem}.index", "--max-message-size", str(rng.randrange(300))]


# files of real brokers, by a pattern of their paths, and the flag that decodes them
MODELS = (
    ("__consumer_offsets-*/*.log", "--offsets-decoder"),
    ("__transaction_state-*/*.log", "--transaction-log-decoder"),
    ("__share_group_state-*/*.log", "--share-group-state-decoder"),
    ("__cluster_metadata-0/*.checkpoint", "--cluster-metadata-decoder"),
    ("*/*.snapshot", "--print-data-log"),
    ("*/*.txnindex", "--print-data-log"),
)
LARGEST_MODEL = 16_000


def damaged_models(rng: Random, golden: Path, directory: Path) -> Iterator[list[str]]:
    """Internal topics and other files of real brokers, damaged, and how each is dumped."""
    for kind, (pattern, flag) in enumerate(MODELS):
        sizes = {path: path.stat().st_size for path in sorted((golden / "clean").rglob(pattern))}
        models = [path for path, size in sizes.items() if 0 < size < LARGEST_MODEL]
        for number in range(SEGMENTS // 7):
            model = rng.choice(models)
            damaged = mutated if model.suffix in (".log", ".checkpoint") else mutated_bytes
            path = directory / f"model-{kind}-{number}" / model.name
            path.parent.mkdir()
            path.write_bytes(damaged(rng, model.read_bytes()))
            yield ["--files", str(path.relative_to(directory)), flag]


def run_kafka(directory: Path, lines: list[list[str]]) -> list[KafkaRun]:
    """What DumpLogSegments makes of each command line."""
    jobs, results = directory / "jobs", directory / "results"
    jobs.write_text("".join("\t".join(line) + "\n" for line in lines))
    subprocess.run([*kafka_java("DumpMany"), str(jobs), str(results)], cwd=directory, check=True, timeout=600)
    parts = list(_arrays(results.read_bytes()))
    return [KafkaRun(out, err, error.decode()) for out, err, error in zip(*[iter(parts)] * 3, strict=True)]


def _arrays(data: bytes) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        yield data[position + 4 : position + 4 + size]
        position += 4 + size


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[str]], list[KafkaRun]]:
    kafka_libs()
    directory = tmp_path_factory.mktemp("against-kafka")
    lines = [
        *command_lines(Random(SEED), directory),
        *damaged_models(Random(SEED), unpack("golden"), directory),
    ]
    return directory, lines, run_kafka(directory, lines)


def difference(kafka: KafkaRun, ours: Dumped) -> str | None:
    """What is not the same, in words."""
    if ours.stdout != kafka.stdout:
        return f"stdout:\n{_first_difference(kafka.stdout, ours.stdout)}"
    if kafka.error:
        one_line = ours.stderr.startswith(b"kafkapy: ") and ours.stderr.count(b"\n") == 1
        told = ours.code == 1 and one_line and b"internal error" not in ours.stderr
        return None if told else f"Kafka died: exit {ours.code}, {ours.stderr!r}"
    if ours.code != 0:
        return f"Kafka did not die: exit {ours.code}, {ours.stderr!r}"
    return None if ours.stderr == kafka.stderr else f"stderr:\n{_first_difference(kafka.stderr, ours.stderr)}"


def _first_difference(theirs: bytes, ours: bytes) -> str:
    at = next((n for n, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours)))
    start = max(0, at - 200)
    return f"  both:  {theirs[start:at]!r}\n  kafka: {theirs[at : at + 200]!r}\n  ours:  {ours[at : at + 200]!r}"


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_same_as_kafka(runs: tuple[Path, list[list[str]], list[KafkaRun]], kernel: str) -> None:
    directory, lines, expected = runs
    found = run_dumps(kernel, directory, lines)
    missed = []
    for line, kafka, ours in zip(lines, expected, found, strict=True):
        differs = difference(kafka, ours)
        if differs is not None:
            missed.append(f"{' '.join(line)}: {kafka.error or 'no error'}\n{differs}\n  stderr: {ours.stderr[:300]!r}")
    shown = "\n".join(missed[:5])
    assert not missed, f"{len(missed)} of {len(lines)} differ (seed {SEED}):\n{shown}"


def test_the_files_cover_much(runs: tuple[Path, list[list[str]], list[KafkaRun]]) -> None:
    """Not all whole, not all broken."""
    errors = [run.error for run in runs[2]]
    assert 0.05 < sum(map(bool, errors)) / len(errors) < 0.6
    assert sum(b"Found" in run.stdout for run in runs[2]) > 10
    assert sum(b"isvalid: false" in run.stdout for run in runs[2]) > 50
