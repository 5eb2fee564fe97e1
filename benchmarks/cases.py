"""What is measured: the cases, with the target of each, and how a case is run.

A case has kafkapy's arguments and, where there is one, what Kafka's tool is run with for the same work. Rounds are
interleaved (kafkapy, Kafka, kafkapy, Kafka ...), so that a slow minute of the machine falls on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.data import DataSet
from benchmarks.kafka import BenchmarkError, Kafka
from benchmarks.measure import Cost, count_lines, measure, median_cost, require_same_output, touch_memory

PEAK_TARGET_BYTES = 100_000_000
START_UP_TARGET_S = 0.10
SMALL_SEGMENT = Path("docs", "samples", "orders-0", "00000000000000000000.log")


@dataclass(frozen=True)
class Case:
    """One comparison: both tools get ``files``, each its own flags; ``kafka_flags`` None is a case of kafkapy alone."""

    name: str
    flags: tuple[str, ...]
    kafka_flags: tuple[str, ...] | None
    data: DataSet | None = None
    to_file: bool = False
    memory_touched: bool = False
    ratio_target: float | None = None
    cpu_target_s: float | None = None


@dataclass(frozen=True)
class Result:
    """A case with the medians of its rounds."""

    case: Case
    kafkapy: Cost
    kafka: Cost | None

    @property
    def ratio(self) -> float | None:
        """How many times the CPU seconds of kafkapy Kafka's tool takes."""
        return None if self.kafka is None else self.kafka.cpu_s / self.kafkapy.cpu_s

    @property
    def missed(self) -> list[str]:
        """The targets that were not reached, in words."""
        case, ratio, words = self.case, self.ratio, []
        if case.ratio_target is not None and ratio is not None and ratio < case.ratio_target:
            words.append(f"ratio {ratio:.1f} < {case.ratio_target:g}")
        if case.cpu_target_s is not None and self.kafkapy.cpu_s > case.cpu_target_s:
            words.append(f"CPU {self.kafkapy.cpu_s:.3f} s > {case.cpu_target_s:.2f} s")
        if self.kafkapy.peak_bytes > PEAK_TARGET_BYTES:
            words.append(f"peak {self.kafkapy.peak_bytes / 1e6:.0f} MB > {PEAK_TARGET_BYTES / 1e6:.0f} MB")
        return words


def all_cases(records: int) -> list[Case]:
    """Every case; the codecs without a target of their own get a fifth of the records."""
    plain, zstd = DataSet("none", records), DataSet("zstd", records)
    data_log = ("--print-data-log",)
    jsonl = ("--output", "jsonl", "--print-data-log")
    to_file = Case("records to a file", data_log, data_log, plain, to_file=True, ratio_target=20)
    others = [
        Case(f"{codec}, records to nowhere", data_log, data_log, DataSet(codec, records // 5))
        for codec in ("gzip", "snappy", "lz4")
    ]
    return [
        Case("start-up: `kafkapy --help`", ("--help",), None, cpu_target_s=START_UP_TARGET_S),
        Case("start-up: dump of a small segment", data_log, data_log, cpu_target_s=START_UP_TARGET_S),
        Case("batch headers to nowhere", (), (), plain, ratio_target=10),
        Case("records to nowhere", data_log, data_log, plain, ratio_target=25),
        to_file,
        replace(to_file, name="records to a file, memory touched before", memory_touched=True),
        Case("records as JSON lines, against Kafka's text", jsonl, data_log, plain, ratio_target=10),
        Case("zstd, records to nowhere", data_log, data_log, zstd, ratio_target=12),
        *others,
    ]


@dataclass(frozen=True)
class Bench:
    """Both tools, the data, and how often each case is run."""

    kafkapy: Sequence[str]
    kafka: Kafka
    root: Path
    data_dir: Path
    rounds: int

    def run(self, case: Case, say: Callable[[str], None]) -> Result:
        """Compare what both print, then measure the rounds."""
        ours, theirs = self._commands(case)
        size = 0 if theirs is None else self._require_same_work(case, ours, theirs)
        costs: tuple[list[Cost], list[Cost]] = ([], [])
        for _ in range(self.rounds):
            costs[0].append(self._measure(case, ours, size))
            if theirs is not None:
                costs[1].append(self._measure(case, theirs, size))
        result = Result(case, median_cost(costs[0]), median_cost(costs[1]) if costs[1] else None)
        say(_in_one_line(result))
        return result

    def _commands(self, case: Case) -> tuple[list[str], list[str] | None]:
        if case.kafka_flags is None:
            return [*self.kafkapy, *case.flags], None
        files = str(self.root / SMALL_SEGMENT) if case.data is None else case.data.files(self.data_dir)
        ours = [*self.kafkapy, "dump-log", "--files", files, *case.flags]
        return ours, self.kafka.dump_log("--files", files, *case.kafka_flags)

    def _require_same_work(self, case: Case, ours: list[str], theirs: list[str]) -> int:
        """Where both print the same format, the same bytes, and how many; else a line for each record."""
        if case.flags == case.kafka_flags:
            return require_same_output(ours, theirs)
        if case.data is not None and (lines := count_lines(ours)) != case.data.records:
            raise BenchmarkError(f"{case.name}: {lines} lines for {case.data.records} records")
        return 0

    def _measure(self, case: Case, command: list[str], size: int) -> Cost:
        if not case.to_file:
            return measure(command, None)
        output = self.data_dir / "output"
        if case.memory_touched:
            touch_memory(output, size)
        try:
            return measure(command, output)
        finally:
            output.unlink(missing_ok=True)


def _in_one_line(result: Result) -> str:
    ratio = "" if result.ratio is None else f", {result.ratio:.1f}x"
    missed = "".join(f"; missed: {words}" for words in result.missed)
    return f"{result.case.name}: {result.kafkapy.cpu_s:.3f} CPU s{ratio}{missed}"
