"""kafkapy against Kafka's own dump tool, side by side: CPU seconds, wall seconds and peak memory of whole processes.

    python benchmarks/bench.py --quick                             a minute, to see that it works
    python benchmarks/bench.py --markdown docs/benchmarks.md       the numbers of the docs

Exits 0 when it ran through, targets missed or not; 1 when something failed or the two tools printed different bytes.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.cases import Bench, Case, Result, all_cases  # noqa: E402
from benchmarks.data import DataSet, default_data_dir, make_data  # noqa: E402
from benchmarks.directory_cases import directory_table  # noqa: E402
from benchmarks.group_cases import group_table  # noqa: E402
from benchmarks.installed import install  # noqa: E402
from benchmarks.kafka import BenchmarkError, Kafka  # noqa: E402
from benchmarks.live_cases import live_table  # noqa: E402
from benchmarks.live_console_cases import RECORDS as LIVE_RECORDS  # noqa: E402
from benchmarks.live_console_cases import console_table  # noqa: E402
from benchmarks.one_table import Setting  # noqa: E402
from benchmarks.produce_cases import produce_table  # noqa: E402
from benchmarks.report import Tables, page, table  # noqa: E402
from benchmarks.spark_cases import RECORDS as SPARK_RECORDS  # noqa: E402
from benchmarks.spark_cases import spark_table  # noqa: E402
from tests.kafka_jars import KAFKA_VERSION, KafkaMissingError, bring_kafka_libs  # noqa: E402

RECORDS, QUICK_RECORDS = 5_000_000, 200_000
TABLES: dict[str, tuple[Callable[[Setting], str], int]] = {
    "directories": (directory_table, 0),
    "producing": (produce_table, RECORDS),
    "groups": (group_table, 0),
    "live": (live_table, 0),
    "console": (console_table, LIVE_RECORDS),
    "spark": (spark_table, SPARK_RECORDS),
}
"""The tables beside the one of dumps, and of how many records each is."""


def main() -> int:
    """Run it all; the exit code."""
    options = _parser().parse_args()
    try:
        _run(options)
    except (BenchmarkError, KafkaMissingError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="kafkapy against Kafka's own dump tool, side by side.")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RECORDS:,} records and one round")
    parser.add_argument("--records", type=int, help=f"records of the uncompressed and the zstd data ({RECORDS:,})")
    parser.add_argument("--rounds", type=int, help="how often each case is run (3)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the results as a page")
    parser.add_argument("--date", default=time.strftime("%Y-%m-%d"), help="the date on the page (today's)")
    parser.add_argument("--kafkapy", metavar="CMD", help="measure this command, not a wheel of the checkout")
    return parser


def _run(options: argparse.Namespace) -> None:
    kafka, data_dir = Kafka(bring_kafka_libs()), default_data_dir()
    rounds = options.rounds or (1 if options.quick else 3)
    cases = all_cases(options.records or (QUICK_RECORDS if options.quick else RECORDS))
    data_sets = list(dict.fromkeys(case.data for case in cases if case.data is not None))
    print("making data, unless it is there", flush=True)
    make_data(kafka, data_dir, data_sets)
    with tempfile.TemporaryDirectory(prefix="kafkapy-bench-") as work:
        command = shlex.split(options.kafkapy) if options.kafkapy else [str(install(ROOT, Path(work)))]
        results = _measure_all(Bench(command, kafka, ROOT, data_dir, rounds), cases)
        print(f"\n{table(results)}")
        if not options.markdown:
            return
        tables = Tables(**_measure_tables(Setting(command, kafka, Path(work), rounds, 0)))
    sizes: dict[DataSet, int] = {data_set: data_set.size(data_dir) for data_set in data_sets}
    options.markdown.write_text(page(results, tables, sizes, options.date, KAFKA_VERSION, rounds), encoding="utf-8")


def _measure_all(bench: Bench, cases: Sequence[Case]) -> list[Result]:
    return [bench.run(case, lambda line: print(line, flush=True)) for case in cases]


def _measure_tables(one: Setting) -> dict[str, str]:
    """Each in a directory of its own, and printed as soon as it is there."""
    tables = {}
    for name, (measure, records) in TABLES.items():
        work = one.work / name
        work.mkdir()
        tables[name] = measure(one._replace(work=work, records=records))
        print(f"\n{name}\n\n{tables[name]}", flush=True)
    return tables


if __name__ == "__main__":
    sys.exit(main())
