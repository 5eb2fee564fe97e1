"""The results as a Markdown page: a table, the machine, how to repeat it. No path or host name is in it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.cases import PEAK_TARGET_BYTES, Result
from benchmarks.data import RECORD_SIZE, DataSet
from benchmarks.measure import Cost

_PAGE = """# Benchmarks

Written by `benchmarks/bench.py` on {date}; do not edit. What is measured are whole processes, start-up included:
`kafkapy dump-log` against the DumpLogSegments of Apache Kafka {kafka} (`-Xmx256M`, as Kafka's script has it), on the
same segments, which a Kafka {kafka} broker wrote. CPU is user + system, the ratio is Kafka's CPU over kafkapy's; all
are medians of {rounds} interleaved rounds, but peak memory is the largest seen. Where both print the same format, their
outputs were compared byte by byte before they were measured.

{table}

"Memory touched before": before each run of either tool, as many bytes as it prints were written to a file that was
removed again. In a virtual machine that gives free memory back to its host, this keeps the cost of bringing it again
out of the comparison; the row above, without that, is what a run costs there as it comes.

Peak memory of kafkapy: {peak} (target: at most {peak_target} in every case).

Segments, of records of {record_size} bytes: {data}.

## Cluster directories with many topics

{directories}

## Lines from a pipe into a topic

kafkapy appends to the files of a cluster directory by itself, and syncs them; Kafka's console producer hands its lines
to a broker, so the CPU of both counts, without what an idle broker needs to start and stop. Lines have 100 bytes.

{producing}

## Describing many groups

`consumer-groups --describe --all-groups`: kafkapy folds the files of `__consumer_offsets`; Kafka's tool asks a broker
that was booted on the same directory, whose own CPU is not counted. Both printed the same rows.

{groups}

## Questions to a running cluster

Three brokers with 2,000 partitions, of which one group has committed 100. kafkapy and Kafka's tool ask the same in
turns; what the brokers do is not counted. Both printed the same lines.

{live}

## Records of a running cluster

A topic of three partitions, read whole by the console consumers, and as many lines sent by the console producers; only
the client's own CPU counts.

{console}

## Jobs on Spark

A topic of 5,000,000 records of {record_size} bytes in one partition, read from its files. CPU is that of all
processes: Python, the JVM, and Spark's Python workers. Queries are warm: what one more run costs in a session that has
run it before.

{spark}

## The machine

{machine}

## Repeat it

```sh
make bench
```

It needs `java` 17 or newer, `mvn` (for Kafka's jars, fetched once), a C compiler, and about 3 GB of disk for segments
and output. `python benchmarks/bench.py --help` lists the options; `--quick` takes a minute.
"""
_HEAD = (
    "| case | ratio | target | kafkapy CPU | Kafka CPU | kafkapy wall | Kafka wall | kafkapy peak | Kafka peak |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)


class Tables(NamedTuple):
    """The tables beside the one of dumps."""

    directories: str
    producing: str
    groups: str
    live: str
    console: str
    spark: str


def page(
    results: list[Result], tables: Tables, sizes: dict[DataSet, int], date: str, kafka_version: str, rounds: int
) -> str:
    """The whole page."""
    peak = max(result.kafkapy.peak_bytes for result in results)
    return _PAGE.format(
        date=date,
        kafka=kafka_version,
        rounds=rounds,
        table=table(results),
        directories=tables.directories,
        producing=tables.producing,
        groups=tables.groups,
        live=tables.live,
        console=tables.console,
        spark=tables.spark,
        peak=f"{_mega(peak)}{'' if peak <= PEAK_TARGET_BYTES else ' (missed)'}",
        peak_target=_mega(PEAK_TARGET_BYTES),
        record_size=RECORD_SIZE,
        data=", ".join(f"{data.codec} {data.records:,} ({_mega(size)})" for data, size in sizes.items()),
        machine="\n".join(f"- {key}: {value}" for key, value in machine(kafka_version).items()),
    )


def table(results: list[Result]) -> str:
    """A row a case."""
    return "\n".join([*_HEAD, *(_row(result) for result in results)])


def machine(kafka_version: str) -> dict[str, str]:
    """What the numbers depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "CPU": f"{_cpu_model()}, {os.cpu_count()} cores",
        "Memory": f"{memory / 2**30:.0f} GiB",
        "System": f"{_system()}, {platform.machine()}",
        "Python": platform.python_version(),
        "Java": _java_version(),
        "Kafka": kafka_version,
    }


def _row(result: Result) -> str:
    ours, theirs = result.kafkapy, result.kafka
    cells = [
        result.case.name,
        "" if result.ratio is None else f"**{result.ratio:.1f}x**",
        _target(result),
        *_pair(ours, theirs, lambda cost: f"{cost.cpu_s:.2f} s"),
        *_pair(ours, theirs, lambda cost: f"{cost.wall_s:.2f} s"),
        *_pair(ours, theirs, lambda cost: _mega(cost.peak_bytes)),
    ]
    return f"| {' | '.join(cells)} |"


def _pair(ours: Cost, theirs: Cost | None, text: Callable[[Cost], str]) -> tuple[str, str]:
    return text(ours), "" if theirs is None else text(theirs)


def _target(result: Result) -> str:
    case = result.case
    if case.ratio_target is not None:
        missed = result.ratio is not None and result.ratio < case.ratio_target
        return f"≥ {case.ratio_target:g}x{' (missed)' if missed else ''}"
    if case.cpu_target_s is not None:
        missed = result.kafkapy.cpu_s > case.cpu_target_s
        return f"≤ {case.cpu_target_s:.2f} s{' (missed)' if missed else ''}"
    return ""


def _mega(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _java_version() -> str:
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'"([^"]+)"', said)
    return found[1] if found else "unknown"
