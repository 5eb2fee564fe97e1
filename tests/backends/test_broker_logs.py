"""The logs of one broker: the mark of a clean stop, checkpoints, and directories as the metadata says."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.broker_logs import BrokerLogs, Environment
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from tests.backends.contract import NOW, batch

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ID = random_uuid()
MARK = ".kafka_cleanshutdown"


def logs(directory: Path, epoch: int = 5) -> BrokerLogs:
    return BrokerLogs(str(directory), epoch, Environment(Files(sync=False), NOW, lambda _: LogConfig()))


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A log dir with two partitions, one of them with three records, the first of which was deleted."""
    broker = logs(tmp_path)
    log = broker.log(T0, ID)
    log.append_as_leader(batch(b"a", b"b", b"c"), 0, NOW)
    log.increment_log_start_offset(1)
    broker.log(T1, ID)
    broker.close()
    broker.mark_clean()
    return tmp_path


def test_the_mark_goes_when_it_is_opened_and_comes_back_last(stopped: Path) -> None:
    assert (stopped / MARK).read_text() == '{"version":0,"brokerEpoch":5}'
    broker = logs(stopped, 9)
    assert broker.was_clean
    assert not (stopped / MARK).exists()
    broker.close()
    assert not (stopped / MARK).exists()
    broker.mark_clean()
    assert (stopped / MARK).read_text() == '{"version":0,"brokerEpoch":9}'


def test_checkpoints(stopped: Path) -> None:
    expected = {
        "recovery-point-offset-checkpoint": {"t 0 3", "t 1 0"},
        "replication-offset-checkpoint": {"t 0 3", "t 1 0"},
        "log-start-offset-checkpoint": {"t 0 1"},
    }
    for name, lines in expected.items():
        version, count, *found = (stopped / name).read_text().splitlines()
        assert (version, int(count), set(found)) == ("0", len(lines), lines)
    assert logs(stopped).log(T0, ID).log_start_offset == 1


def test_checkpoints_of_logs_that_stay_closed_are_kept(stopped: Path) -> None:
    before = {path.name: path.read_bytes() for path in stopped.glob("*-checkpoint")}
    broker = logs(stopped)
    broker.log(T1, ID)
    broker.close()
    after = {path.name: path.read_bytes() for path in stopped.glob("*-checkpoint")}
    assert {name: set(data.split(b"\n")) for name, data in after.items()} == {
        name: set(data.split(b"\n")) for name, data in before.items()
    }


def test_damaged_checkpoints_are_made_anew(stopped: Path) -> None:
    for path in stopped.glob("*-checkpoint"):
        path.write_text("nonsense")
    broker = logs(stopped)
    assert broker.log(T0, ID).log_end_offset == 3
    broker.close()
    assert "t 0 3" in (stopped / "recovery-point-offset-checkpoint").read_text()


def test_a_deleted_partition_is_gone_and_forgotten(stopped: Path) -> None:
    broker = logs(stopped)
    broker.log(T0, ID)
    broker.delete([T0, T1, TopicPartition("never", 0)])
    assert (stopped / "log-start-offset-checkpoint").read_text() == "0\n0\n", "at once: the name may be used again"
    broker.close()
    assert [path.name for path in stopped.iterdir() if path.is_dir()] == []
    assert (stopped / "recovery-point-offset-checkpoint").read_text() == "0\n0\n"
    assert (stopped / "log-start-offset-checkpoint").read_text() == "0\n0\n"


def test_what_was_being_deleted_goes_for_good(stopped: Path) -> None:
    aside = "t-0." + "0" * 32 + "-delete"
    (stopped / "t-0").rename(stopped / aside)
    assert list(logs(stopped).recover({})) == []
    assert not (stopped / aside).exists()


def test_a_clean_log_dir_is_not_gone_through(stopped: Path) -> None:
    (stopped / "other-0").mkdir()
    broker = logs(stopped)
    assert list(broker.recover({T0: ID})) == []
    assert (stopped / "other-0").is_dir()


def test_after_an_unclean_stop_directories_become_what_the_metadata_says(stopped: Path) -> None:
    (stopped / MARK).unlink()
    (stopped / "new-0").mkdir()  # killed before its partition.metadata was written
    with (stopped / "t-0" / "00000000000000000000.log").open("ab") as log:
        log.write(b"torn")
    new, missing = TopicPartition("new", 0), TopicPartition("missing", 0)
    broker = logs(stopped)
    told = list(broker.recover({T0: ID, new: random_uuid(), missing: random_uuid()}))
    assert len(told) == 2
    assert "t-1: set aside as t-1." in told[0]
    assert "t-0: cut 4 bytes" in told[1]
    assert broker.has(missing)
    assert (stopped / "new-0" / "partition.metadata").exists()
    assert not broker.has(T1)
    assert len(list(stopped.glob("t-1.*-stray"))) == 1


def test_a_directory_of_a_topic_that_was_made_anew_gives_way(stopped: Path) -> None:
    (stopped / MARK).unlink()
    broker = logs(stopped)
    other = random_uuid()
    assert len(list(broker.recover({T0: other, T1: ID}))) == 1
    assert broker.log(T0, other).log_end_offset == 0
    assert len(list(stopped.glob("t-0.*-stray"))) == 1
