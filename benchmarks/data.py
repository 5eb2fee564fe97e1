"""The segments that are dumped: written by a real broker, kept for the next run.

Layout: ``<data dir>/<codec>-<records>/<20 digits>.log`` with the indexes beside it, where the data dir is
``$KAFKAPY_BENCH_DIR``, else ``benchmarks/.data``. A partition is moved there, by one rename, only after its broker has
been stopped, so a directory of that name is always whole. What a killed run leaves is a directory ``making-*`` in the
data dir, which nothing reads.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kafka import BenchmarkError, Kafka, create_topic, running_broker

RECORD_SIZE = 100


@dataclass(frozen=True)
class DataSet:
    """One partition: ``records`` records of RECORD_SIZE bytes, compressed with ``codec``."""

    codec: str
    records: int

    @property
    def name(self) -> str:
        """The name of its directory, and of the topic."""
        return f"{self.codec}-{self.records}"

    def files(self, data_dir: Path) -> str:
        """Its segments, as ``--files`` takes them."""
        return ",".join(str(path) for path in sorted((data_dir / self.name).glob("*.log")))

    def size(self, data_dir: Path) -> int:
        """Bytes of its segments."""
        return sum(path.stat().st_size for path in (data_dir / self.name).glob("*.log"))


def default_data_dir() -> Path:
    """Where the segments are kept."""
    named = os.environ.get("KAFKAPY_BENCH_DIR")
    return Path(named) if named else Path(__file__).resolve().parent / ".data"


def make_data(kafka: Kafka, data_dir: Path, data_sets: list[DataSet]) -> None:
    """Have every data set in ``data_dir``; a broker runs only for those that are missing."""
    missing = [data_set for data_set in data_sets if not (data_dir / data_set.name).is_dir()]
    if not missing:
        return
    data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=data_dir, prefix="making-") as work:
        with running_broker(kafka, Path(work)) as (address, log_dir):
            for data_set in missing:
                _produce(kafka, address, data_set)
        for data_set in missing:
            _keep(log_dir / f"{data_set.name}-0", data_dir / data_set.name)


def _produce(kafka: Kafka, address: str, data_set: DataSet) -> None:
    create_topic(kafka, address, data_set.name)
    settings = (f"compression.type={data_set.codec}", "acks=all")
    kafka.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--bootstrap-server", address, "--topic", data_set.name),
        *("--num-records", str(data_set.records), "--record-size", str(RECORD_SIZE), "--throughput", "-1"),
        *("--command-property", *settings),
    )


def _keep(partition: Path, kept: Path) -> None:
    if not any(path.stat().st_size for path in partition.glob("*.log")):
        raise BenchmarkError(f"the broker wrote nothing for {kept.name}")
    partition.rename(kept)
