"""A fourth table: what it costs to describe many groups.

    python benchmarks/group_cases.py [--rounds N] [--kafkapy CMD]

``kafkapy consumer-groups`` reads the files of a cluster directory (group_data.py). Then a real broker is started on
that very directory, and Kafka's ConsumerGroupCommand asks it for the same; what the broker itself does, which has to
read the same records before, is not counted. Both must print the same rows.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.group_data import GROUPS, PARTITIONS, ROUNDS, make_groups  # noqa: E402
from benchmarks.kafka import BenchmarkError, Kafka  # noqa: E402
from benchmarks.measure import Cost, measure, median_cost  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402
from kafkapy.coordinator.internal_topics import PARTITIONS as STATE_PARTITIONS  # noqa: E402
from tests.broker_processes import BrokerProcesses  # noqa: E402

CPU_TARGET_S = 3.0
FLAGS = ("--describe", "--all-groups")


def kafkapy_cost(kafkapy: Sequence[str], directory: Path, printed: Path, rounds: int) -> Cost:
    """kafkapy on the directory; what it prints goes to ``printed``."""
    command = [*kafkapy, "consumer-groups", "--cluster", str(directory), *FLAGS]
    return median_cost([measure(command, printed) for _ in range(rounds)])


def kafka_cost(kafka: Kafka, directory: Path, work: Path, printed: Path, rounds: int) -> Cost:
    """Kafka's tool and a broker on the directory, whose groups are loaded when the first run, not counted, is done."""
    with BrokerProcesses(directory, work) as cluster:
        cluster.wait_until_in_sync(PARTITIONS + STATE_PARTITIONS)
        tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
        command = kafka.java(tool, "--bootstrap-server", cluster.bootstrap, "--timeout", "120000", *FLAGS)
        measure(command, printed)
        return median_cost([measure(command, printed) for _ in range(rounds)])


def require_same_rows(ours: Path, theirs: Path) -> int:
    """How many rows both have; groups come in any order from Kafka's tool."""
    found, wanted = (sorted(line for line in path.read_bytes().splitlines() if line) for path in (ours, theirs))
    if found != wanted:
        raise BenchmarkError(f"kafkapy prints other rows than Kafka's tool: {len(found):,} and {len(wanted):,}")
    return len(found)


def group_table(one: Setting) -> str:
    """Both measured on the same groups, as a Markdown table."""
    directory, ours, theirs = one.work / "groups", one.work / "kafkapy.out", one.work / "kafka.out"
    make_groups(directory)
    own = kafkapy_cost(one.kafkapy, directory, ours, one.rounds)
    other = kafka_cost(one.kafka, directory, one.work, theirs, one.rounds)
    require_same_rows(ours, theirs)
    met = "met" if own.cpu_s <= CPU_TARGET_S else "**missed**"
    return (
        "| groups | offsets | commits in the log | kafkapy CPU s | peak MB | Kafka's tool CPU s | peak MB | ratio "
        "| target |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
        f"| {GROUPS:,} | {GROUPS * PARTITIONS:,} | {GROUPS * PARTITIONS * ROUNDS:,} | {own.cpu_s:.2f} | "
        f"{own.peak_bytes / 1e6:.0f} | {other.cpu_s:.1f} | {other.peak_bytes / 1e6:.0f} | "
        f"{other.cpu_s / own.cpu_s:.1f}x | {CPU_TARGET_S:g} s: {met} |"
    )


if __name__ == "__main__":
    sys.exit(run("What it costs to describe many groups.", group_table))
