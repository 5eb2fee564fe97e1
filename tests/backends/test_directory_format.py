"""Making a cluster directory: whole or not at all, with brokers, racks, versions and features as asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.cluster_file import decode, read_cluster_file
from kafkapy.backends.directory_format import broker_properties, make_cluster
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.formats import clean_shutdown, meta_properties
from kafkapy.log.files import Files
from tests.backends.contract import metadata_logs
from tests.faults import FaultyFiles, Killed

QUICK = Files(sync=False)


def test_what_is_in_it(tmp_path: Path) -> None:
    made = make_cluster(str(tmp_path / "c"), 3, ["a", "b", "a"], cluster_id="my-cluster", files=QUICK)
    assert read_cluster_file(str(tmp_path / "c")) == made
    assert [(broker.id, broker.rack) for broker in made.brokers] == [(1, "a"), (2, "b"), (3, "a")]
    assert len(metadata_logs(tmp_path / "c")) == 1
    loaded = LogDirsCluster(*(str(tmp_path / "c" / f"broker-{n}") for n in (1, 2, 3))).image()
    ids = set()
    for number, registered in loaded.brokers.items():
        log_dir = tmp_path / "c" / f"broker-{number}"
        meta = meta_properties.decode((log_dir / "meta.properties").read_bytes())
        assert (meta.version, meta.cluster_id, meta.node_id) == (1, "my-cluster", number)
        assert registered.directories == (meta.directory_id,)
        assert registered.rack == made.brokers[number - 1].rack
        assert registered.fenced
        assert clean_shutdown.decode((log_dir / ".kafka_cleanshutdown").read_bytes()) == registered.epoch
        ids.add(meta.directory_id)
    assert len(ids) == 3
    assert not list((tmp_path / "c").rglob("*.tmp"))


def test_older_versions_and_features(tmp_path: Path) -> None:
    make_cluster(str(tmp_path / "c"), 1, release="3.9-IV0", files=QUICK)
    features = LogDirsCluster(str(tmp_path / "c" / "broker-1")).image().features
    assert features["metadata.version"] == 21
    assert "eligible.leader.replicas.version" not in features
    make_cluster(str(tmp_path / "d"), 1, wanted={"eligible.leader.replicas.version": 0}, files=QUICK)
    assert "eligible.leader.replicas.version" not in LogDirsCluster(str(tmp_path / "d" / "broker-1")).image().features
    with pytest.raises(KafkapyError):
        make_cluster(str(tmp_path / "e"), 1, release="9.9", files=QUICK)
    assert not (tmp_path / "e").exists()


def test_an_empty_directory_will_do_and_any_other_will_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    make_cluster(str(tmp_path / "empty"), 1, files=QUICK)
    with pytest.raises(KafkapyError, match="exists already"):
        make_cluster(str(tmp_path / "empty"), 1, files=QUICK)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(KafkapyError, match="exists already"):
        make_cluster(str(tmp_path / "file"), 1, files=QUICK)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(("brokers", "racks"), [(0, []), (-1, []), (3, ["a"]), (1, ["a", "b"])])
def test_impossible_counts(tmp_path: Path, brokers: int, racks: list[str]) -> None:
    with pytest.raises(UsageError):
        make_cluster(str(tmp_path / "c"), brokers, racks, files=QUICK)
    assert list(tmp_path.iterdir()) == []


def test_killed_at_any_write_it_is_whole_or_not_there(tmp_path: Path) -> None:
    kill_at = 0
    while True:
        target = tmp_path / f"c{kill_at}"
        files = FaultyFiles(kill_at)
        files.sync = False
        try:
            make_cluster(str(target), 2, files=files)
        except Killed:
            assert not target.exists() or len(metadata_logs(target)) == 1
        else:
            break
        finally:
            files.lose_unsynced()
        kill_at += 1
    assert kill_at > 10
    assert decode((target / "cluster.yaml").read_bytes(), "").brokers[1].id == 2


def test_the_properties_of_a_broker(tmp_path: Path) -> None:
    made = make_cluster(str(tmp_path / "c"), 3, ["a", "b", "a"], files=QUICK)
    lines = dict(line.split("=", 1) for line in broker_properties(str(tmp_path / "c"), made, 2, 9000))
    assert lines["node.id"] == "2"
    assert lines["listeners"] == "PLAINTEXT://127.0.0.1:9002,CONTROLLER://127.0.0.1:9003"
    assert lines["controller.quorum.voters"] == "1@127.0.0.1:9001,2@127.0.0.1:9003,3@127.0.0.1:9005"
    assert lines["log.dirs"] == str(tmp_path / "c" / "broker-2")
    assert lines["broker.rack"] == "b"
    assert lines["offsets.topic.replication.factor"] == "3"
    one = make_cluster(str(tmp_path / "d"), 1, files=QUICK)
    lines = dict(line.split("=", 1) for line in broker_properties(str(tmp_path / "d"), one, 1))
    assert lines["transaction.state.log.min.isr"] == lines["offsets.topic.replication.factor"] == "1"
    assert "broker.rack" not in lines
    with pytest.raises(UsageError, match="there is no broker 9; there are 1, 2, 3"):
        broker_properties(str(tmp_path / "c"), made, 9)
