"""A second table: what commands cost on cluster directories with many topics.

    python benchmarks/directory_cases.py [--rounds N] [--kafkapy CMD]

The directories are made by kafkapy itself, from a file of topics, and kept beside the other data as
``cluster-<topics>x<partitions>``. One is made under another name and renamed, so a directory of that name is whole. The
sizes double, so that the table shows how the cost grows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.data import default_data_dir  # noqa: E402
from benchmarks.kafka import BenchmarkError  # noqa: E402
from benchmarks.measure import Cost, measure, median_cost  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402

TARGET_TOPICS, CPU_TARGET_S = 2_000, 1.0
SIZES = (500, 1_000, TARGET_TOPICS, 2 * TARGET_TOPICS)
PARTITIONS, REPLICAS = 5, 2


@dataclass(frozen=True)
class DirectoryCase:
    """A command on a directory of ``topics`` topics with PARTITIONS partitions each."""

    name: str
    topics: int
    flags: tuple[str, ...]

    @property
    def target_s(self) -> float | None:
        """The CPU seconds it may take; only one size has a target."""
        return CPU_TARGET_S if self.topics == TARGET_TOPICS else None

    def directory(self, data_dir: Path) -> Path:
        """The cluster directory that it is run on."""
        return data_dir / f"cluster-{self.topics}x{PARTITIONS}"


def directory_cases() -> list[DirectoryCase]:
    """Every case."""
    return [
        DirectoryCase(name, topics, flags)
        for name, flags in (
            ("`topics --list`", ("--list",)),
            ("`topics --describe` of one topic", ("--describe", "--topic", "topic-7")),
            ("`topics --describe` of all", ("--describe",)),
        )
        for topics in SIZES
    ]


def make_directory(kafkapy: Sequence[str], directory: Path, topics: int) -> None:
    """Have a cluster directory, unless it is there."""
    if directory.is_dir():
        return
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix="making-") as work:
        made, wanted = Path(work, "cluster"), Path(work, "topics.yaml")
        entry = f"{{partitions: {PARTITIONS}, replication_factor: {REPLICAS}}}"
        wanted.write_text("".join(f"topic-{number}: {entry}\n" for number in range(topics)), encoding="utf-8")
        _require([*kafkapy, "storage", "format", "--cluster", str(made), "--brokers", "3"])
        _require([*kafkapy, "topics", "--cluster", str(made), "--from-file", str(wanted), "--apply", "--no-fsync"])
        made.rename(directory)


def measure_directories(kafkapy: Sequence[str], data_dir: Path, rounds: int) -> list[tuple[DirectoryCase, Cost]]:
    """Every case with the medians of its rounds."""
    results = []
    for case in directory_cases():
        directory = case.directory(data_dir)
        make_directory(kafkapy, directory, case.topics)
        command = [*kafkapy, "topics", "--cluster", str(directory), *case.flags]
        results.append((case, median_cost([measure(command, None) for _ in range(rounds)])))
    return results


def directory_table(one: Setting) -> str:
    """The results as a Markdown table."""
    lines = ["| command | topics | partitions | CPU s | peak MB | target |", "|---|---|---|---|---|---|"]
    for case, cost in measure_directories(one.kafkapy, default_data_dir(), one.rounds):
        target = ""
        if case.target_s is not None:
            met = "met" if cost.cpu_s <= case.target_s else "**missed**"
            target = f"{case.target_s:g} s: {met}"
        lines.append(
            f"| {case.name} | {case.topics:,} | {case.topics * PARTITIONS:,} | {cost.cpu_s:.2f} | "
            f"{cost.peak_bytes / 1e6:.0f} | {target} |"
        )
    return "\n".join(lines)


def _require(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(
            f"{' '.join(command)} failed with exit code {done.returncode}: {done.stderr.strip()[-500:]}"
        )


if __name__ == "__main__":
    sys.exit(run("What commands cost on cluster directories with many topics.", directory_table))
