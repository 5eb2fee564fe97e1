"""Maintenance of a cluster directory: what is planned is what is done, on every replica, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.log_configs import parse_assumptions
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.maintenance import Action, Wanted, plan, run
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.formats import offset_checkpoint
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.metadata.metadata_log import load_metadata
from tests.faults import FaultyFiles, Killed
from tests.golden_set import unpack

HOUR = 3_600_000
NOW = 1_794_800_000_000
COMPACTED = TopicPartition("compacted", 0)
OLD = TopicPartition("old", 0)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two brokers; ``old`` has four segments an hour apart, ``compacted`` four of the same key; the last is active."""
    path = tmp_path / "cluster"
    make_cluster(str(path), 2, files=Files(sync=False))
    cluster = opened(path, now=NOW + 3 * HOUR)
    cluster.apply(CreateTopic("old", 1, 2, configs={"segment.bytes": "1048576", "retention.ms": str(2 * HOUR)}))
    cluster.apply(CreateTopic("compacted", 1, 2, configs={"cleanup.policy": "compact", "retention.ms": "1"}))
    for number in range(4):
        for partition in (OLD, COMPACTED):
            record = Record(0, NOW + number * HOUR, b"key", b"%d" % number)
            cluster.append(partition, encode_batch([record]))
            if number < 3:
                with cluster.maintained(partition) as replicas:
                    for _, _, log in replicas:
                        log.roll(NOW)
    cluster.close()
    return path


def opened(path: Path, files: Files | None = None, now: int = NOW) -> DirectoryCluster:
    return DirectoryCluster(str(path), files or Files(sync=False), now=now, seed=1)


def reader(path: Path) -> LogDirsCluster:
    return LogDirsCluster(*(str(each) for each in sorted(path.glob("broker-*"))))


def done(path: Path, wanted: Wanted, files: Files | None = None) -> list[Action]:
    cluster = opened(path, files, wanted.now)
    try:
        return list(run(cluster, wanted))
    finally:
        cluster.close()


def values(path: Path, partition: TopicPartition) -> list[list[tuple[int, bytes | None]]]:
    """What each replica holds."""
    cluster = reader(path)
    logs = [cluster.dirs.reader(replica) for replica in cluster.dirs.replicas[partition]]
    return [
        [(record.offset, record.value) for batch in log.read(log.log_start_offset) for record in batch.records()]
        for log in logs
    ]


def told(actions: list[Action]) -> list[tuple[str, tuple[int, ...], str, str, str]]:
    return [(str(each.partition), each.brokers, each.task.kind, each.task.name, each.task.reason) for each in actions]


def snapshot(path: Path) -> dict[str, bytes]:
    return {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}


def test_what_is_planned_is_done_to_every_replica(directory: Path) -> None:
    wanted = Wanted(NOW + 3 * HOUR + 1, "old|compacted")
    before = snapshot(directory)
    planned = list(plan(reader(directory), wanted))
    assert snapshot(directory) == before, "a plan touches nothing"
    assert told(planned) == [
        (
            "compacted-0",
            (1, 2),
            "compact",
            "offsets 0 to 2, 3 segments into 1",
            "100.0% of it is dirty, min.cleanable.dirty.ratio=0.5",
        ),
        (
            "old-0",
            (1, 2),
            "delete segment",
            "0",
            f"its latest record is 3 h old, retention.ms={2 * HOUR}",
        ),
        (
            "old-0",
            (1, 2),
            "delete segment",
            "1",
            f"its latest record is 2 h old, retention.ms={2 * HOUR}",
        ),
    ]
    assert done(directory, wanted) == planned
    assert values(directory, OLD) == [[(2, b"2"), (3, b"3")]] * 2
    assert values(directory, COMPACTED) == [[(2, b"2"), (3, b"3")]] * 2
    assert done(directory, wanted) == []
    assert list(plan(reader(directory), wanted)) == []


def test_the_cleaner_checkpoint_is_kept(directory: Path) -> None:
    done(directory, Wanted(NOW, "compacted"))
    for log_dir in sorted(directory.glob("broker-*")):
        path = log_dir / offset_checkpoint.CLEANER_OFFSET_FILE
        assert offset_checkpoint.decode(path.read_bytes(), str(path)) == {("compacted", 0): 3}


def test_sizes_are_judged_after_compaction(directory: Path) -> None:
    """What compaction frees, retention.bytes need not take; the plan knows."""
    cluster = reader(directory)
    size = cluster.dirs.reader(cluster.dirs.replicas[COMPACTED][0]).segments[0].size
    configs = {"cleanup.policy": "compact,delete", "retention.ms": "-1"}
    assumed = {"compacted": {**configs, "retention.bytes": str(2 * size)}}
    assert [each.task.kind for each in plan(cluster, Wanted(NOW, "compacted", assumed=assumed))] == ["compact"]
    assumed["compacted"]["retention.bytes"] = str(size)
    found = list(plan(cluster, Wanted(NOW, "compacted", assumed=assumed)))
    assert [(each.task.kind, each.task.size) for each in found] == [("compact", 3 * size), ("delete segment", size)]


def test_deleted_files_go_after_a_while(directory: Path) -> None:
    done(directory, Wanted(NOW + 3 * HOUR + 1, "old"))
    marked = sorted(directory.rglob("*.deleted"))
    assert {path.parent.name for path in marked} == {"old-0"}
    renamed = int(max(path.stat().st_ctime for path in marked) * 1000)
    assert done(directory, Wanted(renamed + 59_000, "old", assumed={"old": {"retention.ms": "-1"}})) == []
    assert sorted(directory.rglob("*.deleted")) == marked
    later = Wanted(renamed + 61_000, "old", assumed={"old": {"retention.ms": "-1"}})
    assert {each.task.kind for each in plan(reader(directory), later)} == {"remove file"}
    removed = done(directory, later)
    assert {each.task.name for each in removed} == {path.name for path in marked}
    assert all(each.brokers == (1, 2) for each in removed)
    assert not list(directory.rglob("*.deleted"))


def test_the_log_start_offset_takes_segments_of_any_topic(directory: Path) -> None:
    cluster = opened(directory)
    cluster.delete_records(COMPACTED, 3)
    cluster.close()
    found = [each for each in done(directory, Wanted(NOW, "compacted")) if each.task.kind == "delete segment"]
    assert [each.task.reason for each in found][-1] == "log start offset 3 is past it"
    assert values(directory, COMPACTED) == [[(3, b"3")]] * 2


def test_a_snapshot_of_the_metadata(directory: Path) -> None:
    paths = [str(path) for path in sorted(directory.glob("broker-*"))]
    before = load_metadata(*paths)
    assert before is not None
    soon = Wanted(before.image.provenance.timestamp + 1, None)
    assert not [each for each in plan(reader(directory), soon) if each.task.kind == "write snapshot"]
    (action,) = [each for each in done(directory, soon._replace(snapshot=True)) if each.task.kind == "write snapshot"]
    assert (action.brokers, action.task.reason) == ((1, 2), "it was asked for")
    files = sorted(directory.rglob("__cluster_metadata-0/*.checkpoint"))
    assert [path.name for path in files] == [f"{before.end_offset:020d}-{before.last_epoch:010d}.checkpoint"] * 2
    assert files[0].read_bytes() == files[1].read_bytes()
    after = load_metadata(*paths)
    assert after is not None
    assert after.image == before.image
    assert not [each for each in done(directory, soon._replace(snapshot=True)) if each.task.kind == "write snapshot"]
    cluster = opened(directory)
    cluster.apply(CreateTopic("later", 1, 2))
    cluster.close()
    assert {"later", "old"} <= set(reader(directory).image().topics)


def test_a_snapshot_is_due_after_an_hour(directory: Path) -> None:
    loaded = load_metadata(*(str(path) for path in directory.glob("broker-*")))
    assert loaded is not None
    made_at = int(time.time() * 1000)  # the first record has the time of the real clock
    far = Wanted(max(made_at, loaded.image.provenance.timestamp) + 10 * HOUR)
    found = [each for each in plan(reader(directory), far) if each.task.kind == "write snapshot"]
    assert len(found) == 1
    assert "metadata.log.max.snapshot.interval.ms=3600000" in found[0].task.reason


def test_killed_anywhere_the_rest_is_done_by_the_next(directory: Path, tmp_path: Path) -> None:
    wanted = Wanted(NOW + 3 * HOUR + 1, snapshot=True)
    expected = {OLD: [[(2, b"2"), (3, b"3")]] * 2, COMPACTED: [[(2, b"2"), (3, b"3")]] * 2}
    kill_at, is_killed = 0, True
    while is_killed:
        path = tmp_path / "killed"
        shutil.copytree(directory, path)
        files = FaultyFiles()
        cluster = opened(path, files)
        files.kill_after(kill_at)
        try:
            try:
                list(run(cluster, wanted))
            finally:
                cluster.close()
            is_killed = False
        except Killed:
            files.lose_unsynced()
        done(path, wanted)
        assert {partition: values(path, partition) for partition in expected} == expected, kill_at
        shutil.rmtree(path)
        kill_at += 5
    assert kill_at > 50


def test_assumptions_are_checked(directory: Path) -> None:
    image = reader(directory).image()
    assert parse_assumptions(["old:retention.ms=5", "old:retention.bytes=1"], image) == {
        "old": {"retention.ms": "5", "retention.bytes": "1"}
    }
    for wrong in ("old", "old:retention.ms", "missing:retention.ms=1", "old:retention.ms=soon", "old:no.such=1"):
        with pytest.raises(UsageError):
            parse_assumptions([wrong], image)


def test_without_metadata_nothing_is_guessed() -> None:
    path = next(each for each in sorted((unpack("zk-era")).rglob("meta.properties")))
    with pytest.raises(KafkapyError, match="metadata"):
        list(plan(LogDirsCluster(str(path.parent)), Wanted(NOW)))


def test_real_brokers_are_only_told_about(golden: Path) -> None:
    cluster = LogDirsCluster(*(str(path) for path in sorted((golden / "clean").glob("broker-*"))))
    found = list(plan(cluster, Wanted(NOW + 10**12)))
    assert {each.task.kind for each in found} >= {"delete segment", "write snapshot"}
    assert not [each for each in found if each.partition == COMPACTED and each.task.kind == "delete segment"]


def test_the_command(directory: Path) -> None:
    def kafkapy(*args: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "kafkapy", "maintenance", "--cluster", str(directory), *args]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    code, text = kafkapy("--dry-run", "--now", str(NOW), "--topic", "old", "--assume", "old:retention.bytes=0")
    assert (code, text.splitlines()[0].split(" (")[0]) == (0, "old-0 on brokers 1,2: would delete segment 0")
    assert len(text.splitlines()) == 4
    assert kafkapy("--assume", "old:retention.ms=1")[0] == 2
    assert kafkapy("--now", "tomorrow")[0] == 2
    assert kafkapy("--dry-run", "--now", str(NOW), "--topic", "old") == (0, "Nothing is due.\n")
    code, text = kafkapy("--now", str(NOW), "--topic", "compacted", "--output", "jsonl")
    assert code == 0
    assert '"task":"compact"' in text.replace(" ", "")
    assert '"done":true' in text.replace(" ", "")
