"""Exports and dumps on Spark: what comes out is what comes out of one process, also where a machine is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.export.manifest import read_manifest
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from tests.commands.running import run
from tests.export.growing import Growing, lying_about

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.standalone_cluster import StandaloneCluster

Capture = pytest.CaptureFixture[str]
RECORDS, IN_A_BATCH = 200_000, 1000


def test_the_same_rows_as_in_one_process(
    capfd: Capture, spark: SparkSession, brokers: list[str], tmp_path: Path
) -> None:
    args = "export", "--log-dirs", ",".join(brokers), "--to", "parquet", "--partition-by", "topic,date"
    told = [run(capfd, *args, "--out", tmp_path / name, "--engine", name) for name in ("local", "spark")]
    assert [done.code for done in told] == [0, 0]
    local, spread = (
        ds.dataset(tmp_path / name, format="parquet", partitioning="hive")
        .to_table()
        .sort_by([("topic", "ascending"), ("partition", "ascending"), ("offset", "ascending")])
        for name in ("local", "spark")
    )
    assert spread.equals(local)
    assert spark.read.parquet(str(tmp_path / "spark")).count() == len(local) > 1000
    assert lying_about(tmp_path / "spark") == set()
    assert run(capfd, *args, "--out", tmp_path / "local", "--engine", "spark").err.startswith("nothing is new")


def test_text_and_dumps_have_the_same_bytes(capfd: Capture, spark: SparkSession, sample: Path, tmp_path: Path) -> None:
    args = "export", "--log-dirs", sample.parent, "--to", "text"
    for name in ("local", "spark"):
        assert run(capfd, *args, "--out", tmp_path / name, "--engine", name).code == 0
    (local,), (spread,) = (list((tmp_path / name).glob("part-*")) for name in ("local", "spark"))
    dump = "dump-log", "--files", sample, "--print-data-log"
    assert run(capfd, *dump, "--engine", "spark") == run(capfd, *dump)
    assert spread.read_bytes() == local.read_bytes().replace(bytes(sample.parent), bytes(sample.parent.resolve()))


def test_damage_is_told_in_one_line(capfd: Capture, spark: SparkSession, sample: Path, tmp_path: Path) -> None:
    broken = tmp_path / "logs" / "orders-0"
    broken.mkdir(parents=True)
    data = bytearray((sample / "00000000000000000000.log").read_bytes())
    data[100] ^= 0xFF
    (broken / "00000000000000000000.log").write_bytes(data)
    args = "export", "--log-dirs", broken.parent, "--to", "json", "--out", tmp_path / "out"
    assert run(capfd, *args, "--engine", "spark") == run(capfd, *args)
    assert lying_about(tmp_path / "out") == set()
    dropping = *args[:-1], tmp_path / "dropped", "--mode", "dropmalformed"
    told = [run(capfd, *dropping, "--overwrite", "--engine", engine) for engine in ("spark", "local")]
    assert [done.code for done in told] == [0, 0]
    (spread, _), (local, _) = (done.err.splitlines() for done in told)
    assert spread == local
    assert local.startswith(f"kafkapy: {broken.resolve()}/00000000000000000000.log: lost bytes 0 to ")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    growing = Growing(tmp_path_factory.mktemp("many") / "cluster")
    growing.create("orders")
    cluster = DirectoryCluster(growing.path, Files(sync=False))
    for _ in range(RECORDS // IN_A_BATCH):
        records = [Record(place, 1_767_225_600_000, b"key", b"v" * 40) for place in range(IN_A_BATCH)]
        cluster.append(TopicPartition("orders", 0), encode_batch(records))
    cluster.close()
    return growing.path


def test_a_worker_is_lost_in_the_middle(many: str, spark_cluster: StandaloneCluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    spark_cluster.have_workers(2)
    victim, survivor = spark_cluster.workers[1], spark_cluster.workers[0]
    command = [sys.executable, "-m", "tests.spark.exporting", many, str(out), spark_cluster.url, str(1 << 19)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as exporting:
        while len(list(out.glob(".kafkapy-export/*/part-*"))) < 4 and exporting.poll() is None:
            time.sleep(0.02)
        assert exporting.poll() is None, exporting.communicate()
        took_part = [any(worker.directory.glob("app-*")) for worker in (victim, survivor)]
        spark_cluster.kill(victim)
        told, errors = exporting.communicate()
    assert (exporting.returncode, took_part) == (0, [True, True]), errors
    assert told == f"{RECORDS}\n"
    manifest = read_manifest(str(out))
    assert manifest is not None
    offsets = [
        json.loads(line)["offset"]
        for file in manifest.all_files()
        for line in (out / file.path).read_text().splitlines()
    ]
    assert sorted(offsets) == list(range(RECORDS))
    assert lying_about(out) == set()
