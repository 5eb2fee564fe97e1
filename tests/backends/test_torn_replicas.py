"""Logs that lost their ends, or the small files beside them, though their broker was stopped cleanly: the in-sync
copies give them back, and nobody follows a leader that lost what it acknowledged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.failures import kill_broker, lag_broker, start_broker, stop_broker
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import ElectLeader
from kafkapy.metadata.elections import PREFERRED
from kafkapy.metadata.topics_image import NO_LEADER
from tests.backends.contract import NOW, batch, replica_logs, values
from tests.backends.three_brokers import (
    ALONE,
    LOG,
    MARK,
    P0,
    TWO_BATCHES,
    catch_up,
    do,
    make_three_brokers,
    nothing,
    produce,
    read,
    registration,
    told,
)


def torn(log: Path) -> None:
    os.truncate(log, log.stat().st_size - 5)


def cut_between_batches(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


def with_a_wrong_checksum(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)


def removed(log: Path) -> None:
    for file in log.parent.iterdir():
        file.unlink()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_three_brokers(tmp_path_factory.mktemp("pristine") / "cluster", TWO_BATCHES)


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


@pytest.mark.parametrize("broker", [1, 2])
@pytest.mark.parametrize("damage", [torn, cut_between_batches, with_a_wrong_checksum, removed])
def test_a_copy_takes_its_end_back(directory: Path, damage: Callable[[Path], None], broker: int) -> None:
    damage(directory / f"broker-{broker}" / "t-0" / LOG)
    lines = told(directory, produce)
    path = f"broker-{broker}/t-0: "
    assert [line for line in lines if f"{path}brought from offset" in line]
    assert len([line for line in lines if f"{path}cut " in line]) == (damage in (torn, with_a_wrong_checksum))
    assert len(replica_logs(directory, P0)) == 1
    assert told(directory, values, P0) == []
    assert read(directory) == [b"a", b"b", b"c"]


def test_a_copy_that_is_not_in_sync_is_cut_and_fetched(directory: Path) -> None:
    do(directory, stop_broker, 3)
    torn(directory / "broker-3" / "t-0" / LOG)
    do(directory, produce)
    assert [line for line in told(directory, start_broker, 3) if "broker-3/t-0: cut " in line]
    do(directory, catch_up)
    assert len(replica_logs(directory, P0)) == 1


def test_the_only_copy_is_cut_and_what_is_gone_is_told(directory: Path) -> None:
    torn(directory / "broker-1" / "alone-0" / LOG)
    cut, lost = told(directory, lambda cluster: cluster.append(ALONE, batch(b"c")))
    assert "alone-0: cut " in cut
    assert "alone-0: ends at offset 1, and once went to 2: what lay between is lost" in lost
    assert read(directory, ALONE) == [b"a", b"c"]


# ---- brokers that lag


@pytest.mark.parametrize("damage", [torn, with_a_wrong_checksum, removed])
def test_a_leader_that_lags_takes_its_end_back(directory: Path, damage: Callable[[Path], None]) -> None:
    do(directory, lag_broker, 1)
    damage(directory / "broker-1" / "t-0" / LOG)
    lines = told(directory, produce)
    assert [line for line in lines if "broker-1/t-0: brought from offset" in line and "broker 2 ends" in line]
    assert not [line for line in lines if "broker-2" in line or "lost" in line]
    assert read(directory) == [b"a", b"b", b"c"]
    assert len(replica_logs(directory, P0)) == 1


def test_a_leader_takes_its_end_back_from_one_that_lags(directory: Path) -> None:
    do(directory, stop_broker, 3)
    do(directory, lag_broker, 2)
    torn(directory / "broker-1" / "t-0" / LOG)
    do(directory, produce, b"c", 1)
    assert read(directory) == [b"a", b"b"], "consumers read up to the high watermark"
    do(directory, start_broker, 2)
    assert read(directory) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
@pytest.mark.parametrize("damage", [torn, cut_between_batches])
def test_a_follower_that_lags_takes_back_what_it_lost_before_it_may_lead(
    directory: Path, damage: Callable[[Path], None], is_clean: bool
) -> None:
    do(directory, lag_broker, 2)
    damage(directory / "broker-2" / "t-0" / LOG)
    for mark in () if is_clean else directory.glob(f"*/{MARK}"):
        mark.unlink()
    assert [line for line in told(directory, values, P0) if "broker-2/t-0: brought from offset 1 to 2" in line]
    do(directory, kill_broker, 1)
    do(directory, kill_broker, 3)
    assert read(directory) == [b"a", b"b"]


# ---- leaders whose log gives no sign of what it lost


def test_an_epoch_without_records_does_not_let_a_torn_leader_reach_farthest(directory: Path) -> None:
    for broker in (1, 2):
        do(directory, stop_broker, broker)
        do(directory, start_broker, broker)
        do(directory, catch_up)
    assert (registration(directory).leader, registration(directory).leader_epoch) == (1, 2)
    torn(directory / "broker-1" / "t-0" / LOG)
    do(directory, produce)
    assert read(directory) == [b"a", b"b", b"c"]


def test_a_log_dir_of_before_takes_nothing_from_the_others(directory: Path) -> None:
    """As from a backup: its checkpoints agree with its logs, and it has the mark of a clean stop."""
    backup = Path(shutil.copytree(directory / "broker-1", directory.parent / "backup"))
    do(directory, produce)
    shutil.rmtree(directory / "broker-1")
    shutil.move(backup, directory / "broker-1")
    lines = told(directory, produce, b"d")
    assert [line for line in lines if "broker-1/t-0: brought from offset 2 to 3, where that of broker 2 ends" in line]
    assert read(directory) == [b"a", b"b", b"c", b"d"]
    assert len(replica_logs(directory, P0)) == 1


def test_a_torn_leader_that_another_command_opens_loses_nothing(directory: Path) -> None:
    torn(directory / "broker-1" / "t-0" / LOG)
    do(directory, stop_broker, 3)
    assert read(directory) == [b"a", b"b"]


# ---- real brokers that were all stopped, one after the other: nobody leads, and only the last one is eligible


@pytest.fixture
def stopped(directory: Path) -> Path:
    states = (directory / "cluster.yaml").read_text()
    for broker in (3, 2, 1):
        do(directory, stop_broker, broker)
    (directory / "cluster.yaml").write_text(states)
    return directory


@pytest.mark.parametrize("is_other_torn", [False, True])
def test_what_only_a_replica_out_of_sync_has_was_not_acknowledged(stopped: Path, is_other_torn: bool) -> None:
    assert (registration(stopped).leader, registration(stopped).elr) == (NO_LEADER, (1,))
    path = str(stopped / "broker-3" / "t-0")
    log = PartitionLog.open(path, P0, LogConfig(), files=Files(sync=False), now=NOW, clean_shutdown=True)
    log.append_as_leader(batch(b"x"), 0, NOW)
    log.close(NOW)
    if is_other_torn:
        torn(stopped / "broker-2" / "t-0" / LOG)
    do(stopped, produce)
    assert read(stopped) == [b"a", b"b", b"c"]
    assert len(replica_logs(stopped, P0)) == 1


@pytest.mark.parametrize("damage", [torn, cut_between_batches])
def test_who_acts_as_the_leader_takes_its_end_back(stopped: Path, damage: Callable[[Path], None]) -> None:
    damage(stopped / "broker-1" / "t-0" / LOG)
    do(stopped, produce)
    assert read(stopped) == [b"a", b"b", b"c"]


# ---- segments that are gone


def roll(cluster: DirectoryCluster, partition: TopicPartition) -> None:
    for replica in cluster.replicas.partition(partition).replicas.values():
        replica.log.roll(cluster.now)


@pytest.fixture
def rolled(directory: Path) -> Path:
    """With segments at the offsets 0, 2 and 3."""
    for partition in (P0, ALONE):
        for value in (b"c", b"d"):
            do(directory, roll, partition)
            do(directory, lambda cluster, each, sent: cluster.append(each, batch(sent)), partition, value)
    return directory


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
@pytest.mark.parametrize("base", [0, 2])
@pytest.mark.parametrize("broker", [1, 2])
def test_a_segment_that_is_gone_is_taken_back(rolled: Path, broker: int, base: int, is_clean: bool) -> None:
    (rolled / f"broker-{broker}" / "t-0" / f"{base:020d}.log").unlink()
    for mark in () if is_clean else rolled.glob(f"*/{MARK}"):
        mark.unlink()
    source = 2 if broker == 1 else 1
    line = f"t-0: lacked records from offset {base} on, and took them back from broker {source}"
    assert [each for each in told(rolled, produce, b"e") if "lack" in each] == [f"{rolled}/broker-{broker}/{line}"]
    assert read(rolled) == [b"a", b"b", b"c", b"d", b"e"]
    assert len(replica_logs(rolled, P0)) == 1
    assert told(rolled, nothing) == []


@pytest.mark.parametrize("base", [0, 2])
def test_a_broker_that_lost_a_segment_while_it_was_stopped_leads_with_it(rolled: Path, base: int) -> None:
    do(rolled, stop_broker, 1)
    (rolled / "broker-1" / "t-0" / f"{base:020d}.log").unlink()
    line = f"t-0: lacked records from offset {base} on, and has yet to fetch them anew"
    assert [line in each for each in told(rolled, start_broker, 1) if "lack" in each] == [True]
    do(rolled, catch_up)
    do(rolled, lambda cluster: cluster.apply(ElectLeader("t", 0, PREFERRED)))
    assert registration(rolled).leader == 1
    assert read(rolled) == [b"a", b"b", b"c", b"d"]
    assert len(replica_logs(rolled, P0)) == 1


@pytest.mark.parametrize("base", [0, 2])
def test_a_segment_that_nobody_has_takes_nothing_along(rolled: Path, base: int) -> None:
    (rolled / "broker-1" / "alone-0" / f"{base:020d}.log").unlink()
    *_, line = told(rolled, lambda cluster: cluster.append(ALONE, batch(b"e")))
    assert line.endswith(f"alone-0: lacks records from offset {base} on: the .log file of a segment is gone")
    assert read(rolled, ALONE) == {0: [b"c", b"d", b"e"], 2: [b"a", b"b", b"d", b"e"]}[base]


def test_a_segment_whose_records_were_deleted_is_not_missed(rolled: Path) -> None:
    do(rolled, lambda cluster: cluster.delete_records(P0, 2))
    (rolled / "broker-1" / "t-0" / LOG).unlink()
    assert [each for each in told(rolled, produce, b"e") if "lack" in each] == []
    assert read(rolled) == [b"c", b"d", b"e"]


# ---- the small files of a partition directory


@pytest.mark.parametrize("broker", [1, 2])
@pytest.mark.parametrize(("content", "is_clean"), [(None, True), ("", True), ("rubbish", True), ("rubbish", False)])
def test_leader_epochs_that_are_gone_are_read_anew(
    directory: Path, broker: int, content: str | None, is_clean: bool
) -> None:
    do(directory, stop_broker, 1)
    do(directory, start_broker, 1)
    do(directory, catch_up)
    do(directory, produce)
    path = directory / f"broker-{broker}" / "t-0" / "leader-epoch-checkpoint"
    before = path.read_text()
    assert before == "0\n2\n0 0\n1 2\n"
    path.unlink()
    if content is not None:
        path.write_text(content)
    for mark in () if is_clean else directory.glob(f"*/{MARK}"):
        mark.unlink()
    why = "it was damaged" if content == "rubbish" else "it had none of their epochs"
    line = f"broker-{broker}/t-0: wrote leader-epoch-checkpoint anew from the batches: {why}"
    assert len([each for each in told(directory, produce, b"d") if line in each]) == 1
    assert path.read_text() == before
    assert read(directory) == [b"a", b"b", b"c", b"d"]
    assert len(replica_logs(directory, P0)) == 1


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
def test_a_log_of_which_all_was_deleted_lacks_no_leader_epochs(directory: Path, is_clean: bool) -> None:
    do(directory, lambda cluster: cluster.delete_records(P0, 2))
    for _ in range(3):
        for mark in () if is_clean else directory.glob(f"*/{MARK}"):
            mark.unlink()
        assert told(directory, catch_up) == []
    assert read(directory) == []


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
def test_a_topic_id_that_cannot_be_read_is_written_anew(directory: Path, is_clean: bool) -> None:
    path = directory / "broker-1" / "t-0" / "partition.metadata"
    before = path.read_text()
    path.write_text("rubbish")
    for mark in () if is_clean else directory.glob(f"*/{MARK}"):
        mark.unlink()
    (line,) = told(directory, produce)
    assert "broker-1/t-0: wrote partition.metadata anew: it was damaged" in line
    assert path.read_text() == before
    assert read(directory) == [b"a", b"b", b"c"]


def test_a_directory_of_another_topic_takes_nothing_from_the_others(directory: Path) -> None:
    path = directory / "broker-1" / "t-0" / "partition.metadata"
    path.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAw")
    aside, brought = told(directory, produce)
    assert "broker-1/t-0: its directory was of another topic: that is set aside as t-0." in aside
    assert "broker-1/t-0: brought from offset 0 to 2" in brought
    assert read(directory) == [b"a", b"b", b"c"]
    (kept,) = directory.glob("broker-1/t-0.*-stray")
    assert (kept / LOG).stat().st_size > 0


def leads_behind(directory: Path) -> None:
    """Broker 2 lags, leads in the end, and lacks what broker 3 has and nobody committed."""
    do(directory, lag_broker, 2)
    do(directory, produce, b"not committed", 1)
    do(directory, kill_broker, 1)
    assert registration(directory).leader == 2


def test_what_was_not_committed_is_cut_off_by_a_leader_that_lagged(directory: Path) -> None:
    leads_behind(directory)
    assert not [line for line in told(directory, produce, b"new", 1) if "brought from offset" in line]
    assert read(directory) == [b"a", b"b", b"new"]
    do(directory, catch_up)
    logs = [(directory / f"broker-{each}" / "t-0" / LOG).read_bytes() for each in (2, 3)]
    assert logs[0] == logs[1], "broker 3 cut off what it had"


@pytest.mark.parametrize("damage", [torn, cut_between_batches, with_a_wrong_checksum, removed])
def test_a_leader_that_lagged_takes_back_what_it_lost(directory: Path, damage: Callable[[Path], None]) -> None:
    leads_behind(directory)
    damage(directory / "broker-2" / "t-0" / LOG)
    assert [
        line for line in told(directory, nothing) + told(directory, produce) if "broker-2/t-0: brought from" in line
    ]
    assert read(directory)[:2] == [b"a", b"b"]
