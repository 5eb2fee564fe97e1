"""What every benchmark that makes one table shares: its options, a directory to work in, and what is measured."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.installed import install
from benchmarks.kafka import BenchmarkError, Kafka
from tests.kafka_jars import KafkaMissingError, bring_kafka_libs

ROOT = Path(__file__).resolve().parent.parent


class Setting(NamedTuple):
    """What a table is made with."""

    kafkapy: Sequence[str]
    kafka: Kafka
    work: Path
    rounds: int
    records: int


def run(description: str, table: Callable[[Setting], str], records: int = 0) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run (3)")
    if records:
        parser.add_argument("--records", type=int, default=records, help=f"how many records ({records:,})")
    parser.add_argument("--kafkapy", metavar="CMD", help="measure this command, not a wheel of the checkout")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="kafkapy-bench-") as name:
            kafkapy = shlex.split(options.kafkapy) if options.kafkapy else [str(install(ROOT, Path(name)))]
            kafka = Kafka(bring_kafka_libs())
            print(table(Setting(kafkapy, kafka, Path(name), options.rounds, getattr(options, "records", 0))))
    except (BenchmarkError, KafkaMissingError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
