"""A third table: what it costs to get lines from a pipe into a topic.

    python benchmarks/produce_cases.py [--records N] [--kafkapy CMD]

``kafkapy console-producer`` appends to the files of a cluster directory by itself; Kafka's console producer hands its
lines to a broker, which appends them, so the CPU of both counts. Each makes one topic of one partition with one copy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.kafka import BenchmarkError, Kafka, create_topic, running_broker  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402

LINE_SIZE = 100
TOPIC = "lines"


def write_lines(path: Path, records: int) -> None:
    """Lines of LINE_SIZE bytes, each different."""
    with open(path, "w", encoding="ascii") as out:
        for number in range(records):
            out.write(f"{number:012d} {'x' * (LINE_SIZE - 14)}\n")


def cpu_of_command(command: Sequence[str], lines: Path) -> float:
    """User and system seconds of a command that reads ``lines``."""
    with open(lines, "rb") as source:
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BenchmarkError(f"{command[0]} failed: {errors.decode(errors='replace').strip()[-500:]}")
    return usage.ru_utime + usage.ru_stime


def cpu_of_children() -> float:
    """User and system seconds of the children that this process has waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def kafkapy_cpu(kafkapy: Sequence[str], lines: Path, work: Path) -> float:
    """The console producer of kafkapy, its fsyncs included."""
    directory = str(work / "cluster")
    subprocess.run(
        [*kafkapy, "storage", "format", "--cluster", directory, "--brokers", "1"], check=True, stdout=subprocess.DEVNULL
    )
    return cpu_of_command([*kafkapy, "console-producer", "--cluster", directory, "--topic", TOPIC], lines)


def kafka_cpu(kafka: Kafka, lines: Path, work: Path) -> tuple[float, float]:
    """Kafka's console producer, and its broker from start to stop without what an idle one needs for the same."""
    idle = _broker_cpu(kafka, work / "idle")
    before = cpu_of_children()
    producer = _produce(kafka, lines, work / "busy")
    return producer, cpu_of_children() - before - producer - idle


def _broker_cpu(kafka: Kafka, directory: Path) -> float:
    before = cpu_of_children()
    directory.mkdir()
    with running_broker(kafka, directory) as (address, _):
        create_topic(kafka, address, TOPIC)
    return cpu_of_children() - before


def _produce(kafka: Kafka, lines: Path, directory: Path) -> float:
    directory.mkdir()
    with running_broker(kafka, directory) as (address, _):
        create_topic(kafka, address, TOPIC)
        tool = "org.apache.kafka.tools.ConsoleProducer"
        return cpu_of_command(kafka.java(tool, "--bootstrap-server", address, "--topic", TOPIC), lines)


def produce_table(one: Setting) -> str:
    """Both measured on the same lines, as a Markdown table."""
    lines = one.work / "lines"
    write_lines(lines, one.records)
    own = kafkapy_cpu(one.kafkapy, lines, one.work)
    producer, broker = kafka_cpu(one.kafka, lines, one.work)
    ratio = (producer + broker) / own
    met = "met" if ratio >= 1 else "**missed**"
    return (
        "| lines | kafkapy CPU s | Kafka's producer CPU s | its broker CPU s | ratio | target |\n"
        "|---|---|---|---|---|---|\n"
        f"| {one.records:,} | {own:.1f} | {producer:.1f} | {broker:.1f} | {ratio:.1f}x | 1x: {met} |"
    )


if __name__ == "__main__":
    sys.exit(run("What it costs to get lines from a pipe into a topic.", produce_table, 5_000_000))
