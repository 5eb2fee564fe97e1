"""A table about Spark: what jobs cost there, beside the same in one process.

    python benchmarks/spark_cases.py [--rounds N] [--records N] [--kafkapy CMD]

A topic of records of 100 bytes is written into a cluster directory. Each job is a whole command, whose CPU seconds are
those of all its processes: of Python, of the JVM and of the workers that the JVM started. Of an export what a session
takes to start is taken off. A query is run once and five times in one session; what the four more cost is what it costs
warm.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.kafka import BenchmarkError  # noqa: E402
from benchmarks.measure import Cost, measure, measure_all, median_cost  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402

RECORDS = 5_000_000
TOPIC = "perf"
NARROW = 10_000
SESSION_TARGET_S, NARROW_TARGET_S, EXPORT_TARGET, SQL_TARGET = 6.0, 1.0, 1.5, 4.0
MORE = 4
SESSION = """
from kafkapy.spark.session import SparkOptions, open_session
with open_session(SparkOptions()):
    pass
"""
DECODE = """
import sys
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Scan
table, scan = find_table("records"), Scan((sys.argv[1],), topics=frozenset(["perf"]))
print(sum(batch.num_rows for split in table.splits(scan) for batch in table.read(scan, split)))
"""


class Row(NamedTuple):
    """A line of the table: a job, what it cost, beside what, and what was aimed at."""

    job: str
    cpu_s: float
    beside: str
    target: str
    is_met: bool

    def text(self) -> str:
        """As Markdown."""
        return f"| {self.job} | {self.cpu_s:.2f} | {self.beside} | {self.target} | {_met(self.is_met)} |"


def _met(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


def make_topic(kafkapy: Sequence[str], work: Path, records: int) -> Path:
    """A cluster directory with the topic."""
    directory, lines = work / "cluster", work / "lines"
    with lines.open("w") as file:
        file.writelines(f"{number:012d}{'x' * 88}\n" for number in range(records))
    options = ("--cluster", str(directory))
    measure([*kafkapy, "storage", "format", *options, "--brokers", "1"], None)
    create = ("--create", "--topic", TOPIC, "--partitions", "1", "--replication-factor", "1")
    measure([*kafkapy, "topics", *options, *create], None)
    measure([*kafkapy, "console-producer", *options, "--topic", TOPIC], None, lines)
    lines.unlink()
    return directory


class Jobs:
    """Runs commands on one directory."""

    def __init__(self, one: Setting, directory: Path) -> None:
        self._one = one
        self._directory = directory

    def warm_sql(self, query: str) -> float:
        """CPU seconds of a query in a session that has run it before."""
        command = ["sql", "--cluster", str(self._directory), "--output", "csv"]
        once, often = (self._median([*command, ";".join([query] * times)]) for times in (1, 1 + MORE))
        return (often.cpu_s - once.cpu_s) / MORE

    def session(self) -> float:
        """CPU seconds until a session is ready, and gone."""
        self._python(SESSION)  # the class archive is there from now on
        return self._python(SESSION).cpu_s

    def export(self, engine: str) -> Cost:
        """To Parquet."""
        out = self._one.work / f"export-{engine}"
        command = ["export", "--cluster", str(self._directory), "--topic", TOPIC, "--to", "parquet"]
        return self._median([*command, "--out", str(out), "--engine", engine], out)

    def decode(self) -> Cost:
        """Every column of every record, in one process and to nowhere."""
        return self._python(DECODE)

    def _python(self, code: str) -> Cost:
        python = Path(self._one.kafkapy[0]).parent / "python"
        command = [str(python), "-c", code, str(self._directory)]
        return median_cost([measure_all(command) for _ in range(self._one.rounds)])

    def _median(self, args: Sequence[str], made: Path | None = None) -> Cost:
        costs = []
        for _ in range(self._one.rounds):
            costs.append(measure_all([*self._one.kafkapy, *args]))
            if made is not None:
                shutil.rmtree(made)
        return median_cost(costs)


def rows(jobs: Jobs, records: int) -> list[Row]:
    """Every job."""
    session, decode, local = jobs.session(), jobs.decode().cpu_s, jobs.export("local").cpu_s
    found = [
        Row("a session", session, "", f"{SESSION_TARGET_S:g} s", session <= SESSION_TARGET_S),
        Row("decoding every column in one process", decode, "", "", True),
        Row("`export --to parquet` in one process", local, "", "", True),
    ]
    spark = jobs.export("spark").cpu_s - session
    beside = f"{spark / local:.1f}x of one process"
    found.append(
        Row(
            "`export --to parquet` on Spark, beyond the session",
            spark,
            beside,
            f"{EXPORT_TARGET}x",
            spark <= EXPORT_TARGET * local,
        )
    )
    queries = {
        "`count(*)`": "SELECT count(*) FROM records",
        "`GROUP BY` over offsets": "SELECT `offset` % 10 AS d, count(*), max(timestamp) FROM records GROUP BY 1",
        "`sum(length(value))`": "SELECT sum(length(value)) FROM records",
    }
    for name, query in queries.items():  # all are warm
        cost = jobs.warm_sql(query)
        beside = f"{cost / decode:.1f}x of decoding"
        found.append(Row(name, cost, beside, f"{SQL_TARGET:g}x", cost <= SQL_TARGET * decode))
    first = records // 2
    narrow = f"SELECT count(*) FROM records WHERE `offset` >= {first} AND `offset` < {first + NARROW}"
    cost = jobs.warm_sql(narrow)
    found.append(Row(f"{NARROW:,} of the offsets", cost, "", f"{NARROW_TARGET_S:g} s", cost <= NARROW_TARGET_S))
    return found


def spark_table(one: Setting) -> str:
    """All jobs, as a Markdown table."""
    if one.records < 2 * NARROW:
        raise BenchmarkError(f"--records: at least {2 * NARROW:,}")
    jobs = Jobs(one, make_topic(one.kafkapy, one.work, one.records))
    lines = [row.text() for row in rows(jobs, one.records)]
    head = "| job | CPU s | | target | |\n|---|---|---|---|---|\n"
    return head + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run("What jobs cost on Spark.", spark_table, RECORDS))
