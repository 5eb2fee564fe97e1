"""A cluster directory: what is written is read back, the same by whoever reads; and killed anywhere, it is whole."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.cluster import EARLIEST, LATEST
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.record_batch import BatchOptions
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs, CreatePartitions, CreateTopic, DeleteTopic
from kafkapy.metadata.image import TOPIC
from tests.backends.contract import (
    adopt,
    batch,
    log_dirs,
    marks,
    metadata_logs,
    opened,
    replica_logs,
    seen,
    topics,
    values,
)
from tests.faults import FaultyFiles, Killed

P0 = TopicPartition("orders", 0)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three brokers, a topic with two records in the first of its two partitions, and one to be deleted."""
    directory = tmp_path_factory.mktemp("pristine") / "cluster"
    make_cluster(str(directory), 3, ["a", "b", "a"], files=Files(sync=False))
    cluster = opened(directory, files=Files(sync=False))
    cluster.apply(CreateTopic("orders", 2, 3, configs={"retention.ms": "1000"}), CreateTopic("old", 1, 2))
    cluster.append(P0, batch(b"one", b"two"))
    cluster.append(TopicPartition("old", 0), batch(b"gone", b"going"))
    cluster.delete_records(TopicPartition("old", 0), 1)
    cluster.close()
    return directory


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


# ---- what is written is read back


def test_writer_and_reader_see_the_same(directory: Path) -> None:
    cluster = opened(directory)
    cluster.apply(CreateTopic("new.topic", 3, 2), AlterConfigs(TOPIC, "orders", {"cleanup.policy": "compact"}))
    cluster.append(TopicPartition("new.topic", 1), batch(b"x"))
    cluster.append(P0, batch(b"three"))
    cluster.delete_records(P0, 1)
    cluster.flush()
    while_open = seen(cluster)
    cluster.close()
    assert while_open == seen(log_dirs(directory))
    assert while_open["values"]["orders-0"][0] == [b"one", b"two", b"three"]
    again = opened(directory)
    assert seen(again) == while_open
    assert again.recovered == []
    again.close()


def test_every_replica_has_the_same_bytes(directory: Path) -> None:
    assert len(replica_logs(directory, P0)) == 1
    assert len(list(directory.glob("broker-*/orders-0"))) == 3
    assert len(list(directory.glob("broker-*/old-0"))) == 2
    assert len(metadata_logs(directory)) == 1


def test_partitions_are_added_and_topics_deleted(directory: Path) -> None:
    cluster = opened(directory)
    cluster.apply(CreatePartitions("orders", 5), DeleteTopic("old"))
    cluster.append(TopicPartition("orders", 4), batch(b"last"))
    cluster.close()
    reader = log_dirs(directory)
    assert set(reader.image().topics) == {"orders"}
    assert len(reader.image().topics["orders"].partitions) == 5
    assert values(reader, TopicPartition("orders", 4)) == [b"last"]
    assert not list(directory.glob("broker-*/old*"))
    assert "old 0" not in (directory / "broker-1" / "recovery-point-offset-checkpoint").read_text()


def test_a_topic_of_the_same_name_begins_anew(directory: Path) -> None:
    cluster = opened(directory)
    before = cluster.image().topics["old"].id
    cluster.apply(DeleteTopic("old"))
    cluster.apply(CreateTopic("old", 1, 3))
    assert cluster.append(TopicPartition("old", 0), batch(b"fresh")).first_offset == 0
    cluster.apply(DeleteTopic("old"), CreateTopic("old", 1, 3))
    assert cluster.append(TopicPartition("old", 0), batch(b"fresher")).first_offset == 0
    cluster.close()
    reader = log_dirs(directory)
    assert values(reader, TopicPartition("old", 0)) == [b"fresher"]
    assert reader.image().topics["old"].id != before
    assert {
        path.read_text().split("topic_id: ")[1].strip() for path in directory.glob("broker-*/old-0/partition.*")
    } == {reader.image().topics["old"].id}


def test_several_changes_are_made_all_or_none(directory: Path) -> None:
    cluster = opened(directory)
    before = topics(cluster)
    with pytest.raises(KafkaError, match="Topic 'orders' already exists"):
        cluster.apply(CreateTopic("first", 1, 1), CreateTopic("orders", 1, 1))
    assert topics(cluster) == before
    cluster.close()
    assert topics(log_dirs(directory)) == before
    assert not list(directory.glob("broker-*/first-0"))


def test_a_change_sees_those_before_it(directory: Path) -> None:
    cluster = opened(directory)
    cluster.apply(CreateTopic("t", 1, 1), CreatePartitions("t", 3), AlterConfigs(TOPIC, "t", {"retention.ms": "5"}))
    cluster.close()
    image = log_dirs(directory).image()
    assert len(image.topics["t"].partitions) == 3
    assert image.config(TOPIC, "t") == {"retention.ms": "5"}


def test_configs_hold_for_what_is_appended_next(directory: Path) -> None:
    cluster = opened(directory)
    cluster.append(P0, batch(b"x" * 100))
    cluster.apply(AlterConfigs(TOPIC, "orders", {"max.message.bytes": "50"}))
    with pytest.raises(KafkaError) as refused:
        cluster.append(P0, batch(b"x" * 100))
    assert refused.value.name == "RecordTooLargeException"
    cluster.close()
    assert marks(directory) == 3, "a refused batch is no broken write"


def test_producer_ids_are_never_given_twice(directory: Path) -> None:
    given = []
    for _ in range(3):
        cluster = opened(directory)
        given += [cluster.new_producer_id(), cluster.new_producer_id()]
        cluster.close()
    assert given == [0, 1000, 2000, 3000, 4000, 5000]


def test_duplicates_are_known_again_after_reopening(directory: Path) -> None:
    sent = batch(b"x", options=BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0))
    cluster = opened(directory)
    first = cluster.append(P0, sent)
    cluster.close()
    cluster = opened(directory)
    assert cluster.append(P0, sent) == first._replace(duplicate=True)
    cluster.close()
    assert values(log_dirs(directory), P0) == [b"one", b"two", b"x"]


def test_records_are_deleted_up_to_an_offset(directory: Path) -> None:
    cluster = opened(directory)
    assert cluster.delete_records(P0, 1) == 1
    assert cluster.delete_records(P0, 0) == 1
    with pytest.raises(KafkaError, match="larger than the high watermark 2"):
        cluster.delete_records(P0, 3)
    assert cluster.offset(P0, EARLIEST) == 1
    assert cluster.delete_records(P0, -1) == 2
    cluster.close()
    assert log_dirs(directory).offset(P0, EARLIEST) == 2
    assert (directory / "broker-3" / "log-start-offset-checkpoint").read_text() == "0\n1\norders 0 2\n"


@pytest.mark.parametrize("partition", [TopicPartition("none", 0), TopicPartition("orders", 9)])
def test_unknown_partitions_are_refused(directory: Path, partition: TopicPartition) -> None:
    cluster = opened(directory)
    with pytest.raises(KafkaError) as refused:
        cluster.append(partition, batch(b"x"))
    assert refused.value.name == "UnknownTopicOrPartitionException"
    with pytest.raises(KafkaError):
        cluster.offset(partition, LATEST)
    cluster.close()
    assert not list(directory.glob(f"broker-*/{partition}"))


# ---- killed anywhere


def create(cluster: DirectoryCluster) -> None:
    cluster.apply(CreateTopic("made", 1, 2))


def delete(cluster: DirectoryCluster) -> None:
    cluster.apply(DeleteTopic("old"))


def append(cluster: DirectoryCluster) -> None:
    cluster.append(P0, batch(b"three", b"four"))
    cluster.flush()


def recreate(cluster: DirectoryCluster) -> None:
    cluster.apply(DeleteTopic("old"), CreateTopic("old", 1, 3))


def faulty(kill_at: int | None = None) -> FaultyFiles:
    """What is lost is decided by ``lose_unsynced``: no disk has to be waited for."""
    files = FaultyFiles(kill_at)
    files.sync = False
    return files


def do(work: Callable[[DirectoryCluster], None], directory: Path, files: FaultyFiles) -> int:
    """Do it all; how many operations there were when it was acknowledged."""
    cluster = opened(directory, files=files)
    work(cluster)
    acknowledged = files.operations
    cluster.close()
    return acknowledged


def state(directory: Path) -> dict[str, object]:
    """Where each partition begins, and the records in it."""
    cluster = log_dirs(directory)
    partitions = [TopicPartition(t.name, n) for t in cluster.image().topics.values() for n in t.partitions]
    return {
        str(partition): (cluster.offset(partition, EARLIEST), values(cluster, partition))
        for partition in sorted(partitions)
    }


@pytest.mark.parametrize("lose_unsynced", [False, True], ids=["process", "machine"])
@pytest.mark.parametrize("work", [create, delete, append, recreate], ids=lambda work: work.__name__)
def test_killed_at_every_write_it_is_old_or_new(
    pristine: Path, tmp_path: Path, work: Callable[[DirectoryCluster], None], lose_unsynced: bool
) -> None:
    before = state(pristine)
    done = Path(shutil.copytree(pristine, tmp_path / "done"))
    files = faulty()
    acknowledged = do(work, done, files)
    after, total = state(done), files.operations
    assert after != before
    outcomes = set()
    for kill_at in range(total):
        target = Path(shutil.copytree(pristine, tmp_path / f"killed-{kill_at}"))
        files = faulty(kill_at)
        with pytest.raises(Killed):
            do(work, target, files)
        if lose_unsynced:
            files.lose_unsynced()
        else:
            files.close()
        assert marks(target) < 3 or kill_at in (0, total - 1), "a mark goes first and comes last"
        again = opened(target, files=Files(sync=False))
        again.close()
        found = state(target)
        assert found in (before, after), f"killed at {kill_at}"
        assert kill_at < acknowledged or found == after, "what was acknowledged is there"
        assert len(metadata_logs(target)) == 1
        assert all(len(replica_logs(target, partition)) == 1 for partition in map(_partition, found))
        assert marks(target) == 3
        names = {path.name for path in target.glob("broker-*/*-[0-9]") if path.name != "__cluster_metadata-0"}
        assert names == set(found), "no directory too many, none missing"
        third = opened(target, files=Files(sync=False))
        assert third.recovered == [], "recovery is done once"
        third.close()
        outcomes.add(found == after)
        shutil.rmtree(target)
    assert outcomes == {False, True}


def test_killed_while_recovering_it_recovers_again(pristine: Path, tmp_path: Path) -> None:
    torn = Path(shutil.copytree(pristine, tmp_path / "torn"))
    cluster = opened(torn)
    cluster.append(P0, batch(b"flushed"))
    cluster.flush()
    os.truncate(next(torn.glob("broker-2/orders-0/*.log")), 90)
    with next(torn.glob("broker-3/__cluster_metadata-0/*.log")).open("ab") as log:
        log.write(b"torn")
    kill_at = 0
    while True:
        target = Path(shutil.copytree(torn, tmp_path / f"again-{kill_at}"))
        try:
            opened(target, files=faulty(kill_at)).close()
        except Killed:
            opened(target).close()
        else:
            break
        assert values(log_dirs(target), P0) == [b"one", b"two", b"flushed"]
        assert len(metadata_logs(target)) == len(replica_logs(target, P0)) == 1
        shutil.rmtree(target)
        kill_at += 1
    assert kill_at > 10


def test_recovery_tells_what_it_did(directory: Path) -> None:
    (directory / "broker-1" / ".kafka_cleanshutdown").unlink()
    with next(directory.glob("broker-1/orders-0/*.log")).open("ab") as log:
        log.write(b"torn")
    (directory / "broker-1" / "unknown-0").mkdir()
    cluster = opened(directory)
    cluster.close()
    told = "\n".join(cluster.recovered)
    assert "broker-1/orders-0: cut 4 bytes off the end of 00000000000000000000.log, after an unclean stop" in told
    assert "broker-1/unknown-0: set aside as unknown-0." in told
    assert len(cluster.recovered) == 2
    assert len(list(directory.glob("broker-1/unknown-0.*-stray"))) == 1


# ---- a write that fails


class FullDisk(Files):
    """Fails at the n-th append."""

    def __init__(self, fail_at: int) -> None:
        super().__init__()
        self.left = fail_at

    def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        super().append(path, data)


@pytest.mark.parametrize("fail_at", range(3))
def test_after_a_failed_write_nothing_more_is_written_and_the_next_one_recovers(directory: Path, fail_at: int) -> None:
    files = FullDisk(1000)
    cluster = opened(directory, files=files)
    cluster.append(P0, batch(b"three"))
    cluster.flush()
    files.left = fail_at
    with pytest.raises(OSError, match="No space left"):
        cluster.append(P0, batch(b"four"))
    files.left = 1000
    why = r"an earlier write failed \(.*orders-0/0{20}\.log: No space left on device\)"
    with pytest.raises(KafkapyError, match=why):
        cluster.append(P0, batch(b"five"))
    with pytest.raises(KafkapyError, match="an earlier write failed"):
        cluster.apply(CreateTopic("t", 1, 1))
    cluster.close()
    assert marks(directory) == 0
    opened(directory).close()
    assert values(log_dirs(directory), P0)[:3] == [b"one", b"two", b"three"]
    assert b"five" not in values(log_dirs(directory), P0)
    assert len(replica_logs(directory, P0)) == 1


def test_a_full_disk_after_the_metadata_log_says_that_the_topic_is_there(directory: Path) -> None:
    cluster = opened(directory, files=FullDisk(3))
    with pytest.raises(KafkapyError, match=r"made-\d/0{20}\.log: No space left on device\. The change itself was made"):
        cluster.apply(CreateTopic("made", 2, 3))
    cluster.close()
    cluster = opened(directory)
    assert cluster.append(TopicPartition("made", 0), batch(b"x")).first_offset == 0
    cluster.close()


@pytest.mark.parametrize("fail_at", range(3))
def test_a_full_disk_in_the_metadata_log_leaves_a_topic_or_none(directory: Path, fail_at: int) -> None:
    before = topics(log_dirs(directory))
    cluster = opened(directory, files=FullDisk(fail_at))
    why = r"__cluster_metadata-0/0{20}\.log: No space left on device\. Look whether the change was made"
    with pytest.raises(KafkapyError, match=why):
        cluster.apply(CreateTopic("made", 2, 3))
    cluster.close()
    cluster = opened(directory)
    found = set(cluster.image().topics)
    assert found == set(before) | ({"made"} if fail_at else set())
    cluster.apply(CreateTopic("later", 1, 1))
    cluster.close()
    assert len(metadata_logs(directory)) == 1
    assert set(log_dirs(directory).image().topics) == found | {"later"}


# ---- what real brokers left


@pytest.mark.parametrize("stop", ["clean", "crashed"])
def test_what_real_brokers_left_can_be_written(golden: Path, tmp_path: Path, stop: str) -> None:
    directory = Path(shutil.copytree(golden / stop, tmp_path / "cluster"))
    adopt(directory)
    reader = log_dirs(directory)
    before = seen(reader)
    registration = reader.image().topics["orders"].partitions[0]
    if stop == "clean":
        assert (registration.leader, registration.isr) == (-1, ())
        assert registration.elr
    end = reader.offset(P0, LATEST)
    cluster = opened(directory)
    cluster.apply(CreateTopic("added", 3, 3))
    appended = cluster.append(P0, batch(b"after the brokers"))
    cluster.close()
    assert appended.first_offset == end
    after = log_dirs(directory)
    image = after.image()
    assert image.topics["orders"] == reader.image().topics["orders"], "no election takes place"
    assert [topic for topic in topics(after).items() if topic[0] != "added"] == list(before["topics"].items())
    assert values(after, P0) == [*before["values"]["orders-0"][0], b"after the brokers"]
    for name, kept in before["values"].items():
        assert name == "orders-0" or (values(after, _partition(name)), values(after, _partition(name), True)) == kept
    assert len(metadata_logs(directory)) == 1
    epochs = [each.header.partition_leader_epoch for each in after.read(P0, end or 0)]
    assert epochs == [registration.leader_epoch]
    for broker in (1, 2, 3):
        mark = directory / f"broker-{broker}" / ".kafka_cleanshutdown"
        assert mark.read_text() == f'{{"version":0,"brokerEpoch":{image.brokers[broker].epoch}}}'
        if stop == "clean":
            assert mark.read_bytes() == (golden / stop / f"broker-{broker}" / ".kafka_cleanshutdown").read_bytes()
    again = opened(directory)
    assert again.recovered == []
    again.close()


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def test_a_follower_that_is_behind_catches_up_before_it_is_written(directory: Path) -> None:
    cluster = opened(directory)
    leader = cluster.image().topics["orders"].partitions[0].leader
    cluster.close()
    behind = next(path for path in sorted(directory.glob("broker-*")) if path.name != f"broker-{leader}")
    for path in (behind / "orders-0").iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    cluster = opened(directory)
    cluster.append(P0, batch(b"three"))
    cluster.close()
    assert len(replica_logs(directory, P0)) == 1


# ---- what is not the cluster it claims to be


def test_a_log_dir_of_another_broker_is_refused(directory: Path) -> None:
    (directory / "broker-1").rename(directory / "x")
    (directory / "broker-2").rename(directory / "broker-1")
    (directory / "x").rename(directory / "broker-2")
    with pytest.raises(KafkapyError, match=r"belongs to broker 2 of cluster .*, not to broker 1"):
        opened(directory)
    assert marks(directory) == 3
    assert not list(directory.glob("broker-*/.lock"))


def test_a_missing_log_dir_is_named(directory: Path) -> None:
    shutil.rmtree(directory / "broker-2")
    with pytest.raises(KafkapyError, match="broker-2: no such directory"):
        opened(directory)


def test_without_a_metadata_log_nothing_is_touched(directory: Path) -> None:
    for path in directory.glob("broker-*/__cluster_metadata-0"):
        shutil.rmtree(path)
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*") if path.is_file()}
    with pytest.raises(KafkapyError, match="it has no records, and there are partitions beside it"):
        opened(directory)
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*") if path.is_file()} == before


def test_a_directory_of_another_topic_is_not_written_to(directory: Path) -> None:
    stray = directory / "broker-1" / "new-0"
    shutil.copytree(directory / "broker-1" / "orders-0", stray)
    cluster = opened(directory)
    cluster.apply(CreateTopic("new", 1, 3))
    cluster.append(TopicPartition("new", 0), batch(b"x"))
    cluster.close()
    assert values(log_dirs(directory), TopicPartition("new", 0)) == [b"x"]
    assert len(list(directory.glob("broker-1/new-0.*-stray/*.log"))) == 1
