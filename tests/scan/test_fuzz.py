"""Damaged files through the whole dump: it may fail, in one clear line, and in no other way.

Invariants, for every input and every set of options:

- nothing but a KafkapyError that names the file comes out, so the command line prints one line, never a traceback;
- it ends: a watchdog ends a case that takes longer than ``PATIENCE_S``;
- memory is bounded: the address space of the process is limited, and running out of it is a failure.

Two processes share the cases, one for each kernel where both are there. A case is named by its seed:
``python -m tests.scan.test_fuzz KERNEL SEED`` runs that case alone and shows the traceback.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random
from typing import Any

from kafkapy.errors import FormatError, KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.scan.options import DumpOptions, Filters, MessageDecoder, TransactionState
from tests.dumping import COMPILED, PLAIN, environment, has_compiled
from tests.golden_set import unpack
from tests.segments import any_segment, mutated, mutated_bytes, offset_index, time_index

CASES = int(os.environ.get("KAFKAPY_TEST_CASES", "8000"))
SEED = int(os.environ.get("KAFKAPY_TEST_SEED", "1"))
PATIENCE_S = 20
MEMORY = 768 << 20
LARGEST_MODEL = 16_000

LOG_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"print_data_log": True},
    {"deep_iteration": True},
    {"print_data_log": True, "skip_record_metadata": True},
    {"print_data_log": True, "output": Output.JSONL},
    {"deep_iteration": True, "output": Output.JSON},
    {"output": Output.JSON, "resync": True},
    {"print_data_log": True, "output": Output.CSV},
    {"output": Output.CSV},
    {"deep_iteration": True, "output": Output.TABLE},
    {"print_data_log": True, "resync": True},
    {"print_data_log": True, "resync": True, "output": Output.JSONL},
    {"summary": True},
    {"summary": True, "resync": True, "output": Output.JSONL},
    {"print_data_log": True, "filters": Filters(from_offset=2, to_offset=9)},
    {"filters": Filters(from_offset=101, from_time=1_700_000_000_500), "output": Output.JSONL},
    {"deep_iteration": True, "filters": Filters(key="^k", headers=(("k1", ""),))},
    {"print_data_log": True, "filters": Filters(transactional=TransactionState.ABORTED, to_time=2**62)},
    {"filters": Filters(producer_id=1, partition_leader_epoch=7), "resync": True, "deep_iteration": True},
    {"print_data_log": True, "key_decoder": "int", "value_decoder": "json"},
    {"print_data_log": True, "key_decoder": "hex", "value_decoder": "utf-8-escaped", "output": Output.JSONL},
    {"print_data_log": True, "max_bytes": 300},
    *({"print_data_log": True, "decoder": decoder} for decoder in MessageDecoder),
    *({"print_data_log": True, "decoder": decoder, "output": Output.JSONL} for decoder in MessageDecoder),
)
INDEX_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"verify_index_only": True},
    {"index_sanity_check": True},
    {"output": Output.CSV},
    {"max_message_size": 100},
)
OTHER_OPTIONS: tuple[dict[str, Any], ...] = ({}, {"output": Output.JSONL}, {"output": Output.TABLE})


class Models:
    """Files of real brokers to damage, by suffix."""

    def __init__(self, directories: list[str]) -> None:
        self._files: dict[str, list[bytes]] = {}
        for directory in directories:
            for path in sorted(Path(directory).rglob("*")):
                if path.is_file() and 0 < path.stat().st_size <= LARGEST_MODEL:
                    self._files.setdefault(path.suffix, []).append(path.read_bytes())

    def any(self, rng: Random, suffix: str) -> bytes:
        return rng.choice(self._files[suffix])


def write_case(rng: Random, models: Models, directory: Path) -> DumpOptions:
    """Write damaged files; what to do with them."""
    base = rng.choice((0, 0, 100))
    stem = directory / f"{base:020d}"
    kind = rng.randrange(8)
    if kind == 0:
        suffix = rng.choice((".snapshot", ".txnindex", ".checkpoint"))
        path = stem.with_suffix(suffix) if suffix != ".checkpoint" else directory / f"{base:020d}-0000000001.checkpoint"
        damaged = mutated if suffix == ".checkpoint" else mutated_bytes
        path.write_bytes(damaged(rng, models.any(rng, suffix)))
        return DumpOptions((str(path),), **rng.choice(OTHER_OPTIONS if suffix != ".checkpoint" else LOG_OPTIONS[:10]))
    whole = models.any(rng, ".log") if kind == 1 else any_segment(rng, base)
    stem.with_suffix(".log").write_bytes(mutated(rng, whole))
    index, times = offset_index(whole, base), time_index(whole, base)
    stem.with_suffix(".index").write_bytes(mutated_bytes(rng, index) if kind == 2 else index)
    stem.with_suffix(".timeindex").write_bytes(mutated_bytes(rng, times) if kind == 2 else times)
    if kind == 2:
        return DumpOptions((str(stem) + rng.choice((".index", ".timeindex")),), **rng.choice(INDEX_OPTIONS))
    return DumpOptions((f"{stem}.log",), **rng.choice(LOG_OPTIONS))


def run_case(seed: str, models: Models, directory: Path) -> None:
    """One case: anything but a KafkapyError is let through."""
    from kafkapy.scan.dump import dump

    options = write_case(Random(seed), models, directory)
    signal.alarm(PATIENCE_S)
    try:
        assert dump(options) in (0, 1)
    except FormatError:
        raise  # it does not say which file it is about
    except KafkapyError:
        return
    finally:
        signal.alarm(0)


def work(kernel: str, seeds: list[str], models: Models) -> None:
    """Run the cases with output going nowhere; the seed at hand is on the last line of stdout if the process dies."""
    from kafkapy.kernel import kernel as chosen

    assert chosen.COMPILED is (kernel == COMPILED)
    report, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            if len(seeds) > 1:
                os.pwrite(report, f"{seed:<40}".encode(), 0)
            try:
                run_case(seed, models, Path(scratch))
            except BaseException:
                os.lseek(report, 0, os.SEEK_END)
                os.write(report, b"\n" + traceback.format_exc().encode())
                raise SystemExit(1) from None


def test_damage_never_does_more_than_fail(tmp_path: Path) -> None:
    directories = [str(unpack(name)) for name in ("golden", "zk-era")]
    running = []
    for part, kernel in enumerate((PLAIN, COMPILED if has_compiled else PLAIN)):
        report = (tmp_path / f"{part}").open("w+b")
        seeds = f"{SEED}-{part}:{CASES // 2}"
        command = [sys.executable, "-m", "tests.scan.test_fuzz", kernel, seeds, *directories]
        running.append((kernel, report, subprocess.Popen(command, env=environment(kernel), stdout=report)))
    for kernel, report, process in running:
        try:
            code = process.wait(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        report.seek(0)
        told = report.read().decode()
        report.close()
        assert code == 0, f"kernel {kernel}, exit {code}, seed {told}"


if __name__ == "__main__":
    _kernel, _seeds, *_directories = sys.argv[1:]
    _name, _colon, _count = _seeds.partition(":")
    _all = [f"{_name}-{number}" for number in range(int(_count))] if _colon else [_name]
    work(_kernel, _all, Models(_directories or [str(unpack(name)) for name in ("golden", "zk-era")]))
