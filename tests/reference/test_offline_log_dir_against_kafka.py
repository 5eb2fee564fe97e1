"""log-dirs of a running broker that has lost one of its disks, against LogDirsCommand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory_format import make_cluster
from kafkapy.cli import main
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster

STORAGE_EXCEPTION = "org.apache.kafka.common.errors.KafkaStorageException"


def test_a_log_dir_that_is_offline(tmp_path: Path, capfd) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 1, log_dirs_per_broker=2)
    lost = directory / read_cluster_file(str(directory)).brokers[0].log_dirs[1]
    shutil.rmtree(lost)
    lost.write_text("no directory")
    with RealCluster(directory, tmp_path) as cluster:
        theirs = cluster.tool("LogDirsCommand", "--describe").splitlines()
        capfd.readouterr()
        assert main(["log-dirs", "--bootstrap-server", cluster.address(1), "--describe"]) == 0
        ours = capfd.readouterr().out.splitlines()
    assert ours[:2] == theirs[:2]
    found, wanted = (_by_path(lines[2]) for lines in (ours, theirs))
    assert found == wanted
    assert found[str(lost)] == {"partitions": [], "error": STORAGE_EXCEPTION, "logDir": str(lost)}


def _by_path(line: str) -> dict[str, object]:
    (broker,) = json.loads(line)["brokers"]
    return {log_dir["logDir"]: log_dir for log_dir in broker["logDirs"]}
