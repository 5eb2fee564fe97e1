"""replica-diff on copies that real brokers wrote, and on what was done to them."""

import shutil
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.file_replica_diff import FileReplicaDiff
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.repair_plan import repair_plan
from kafkapy.formats import leader_epoch_checkpoint, offset_checkpoint, partition_metadata
from kafkapy.formats.record_batch import BatchHeader, BatchOptions, Record, encode_batch
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.checkpoints import read_checkpoint
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from tests.commands.running import dirs, run

Capture = pytest.CaptureFixture[str]
NOW = 1_794_800_000_000


@pytest.fixture
def crashed(golden: Path, tmp_path: Path) -> Path:
    """The crashed set, to be changed: orders-0 is led by broker 2, and broker 1 follows."""
    shutil.copytree(golden / "crashed", tmp_path / "crashed")
    return tmp_path


def partition_log(directory: Path, partition: TopicPartition) -> PartitionLog:
    return PartitionLog.open(
        str(directory), partition, LogConfig(), files=Files(sync=False), now=NOW, clean_shutdown=True
    )


def diverge(root: Path, broker: int, offset: int, epoch: int, *values: bytes, partition: int = 0) -> None:
    """Cut the copy of a partition of orders off, and go on with a history of its own."""
    log = partition_log(
        root / "crashed" / f"broker-{broker}" / f"orders-{partition}", TopicPartition("orders", partition)
    )
    log.truncate_to(offset, NOW)
    for value in values:
        log.append_as_leader(encode_batch([Record(0, NOW, b"k", value)]), epoch, NOW)
    log.close(NOW)
    for name in (offset_checkpoint.RECOVERY_POINT_FILE, offset_checkpoint.HIGH_WATERMARK_FILE):
        log_dir = root / "crashed" / f"broker-{broker}"
        offsets = read_checkpoint(str(log_dir), name) | {("orders", partition): offset}
        (log_dir / name).write_bytes(offset_checkpoint.encode(offsets))


def headers(root: Path, broker: int, partition: int = 0) -> list[tuple[int, BatchHeader]]:
    """Position and header of each batch in the one segment of a partition of orders."""
    path = root / "crashed" / f"broker-{broker}" / f"orders-{partition}"
    (segment,) = PartitionReader(str(path), TopicPartition("orders", partition)).segments
    return list(segment.headers(0))


def flip(root: Path, broker: int, position: int) -> Path:
    """Damage a byte of a copy of orders-0."""
    path = root / "crashed" / f"broker-{broker}" / "orders-0" / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("state", ["clean", "crashed"])
def test_what_brokers_wrote_is_alike_or_behind(capfd: Capture, golden: Path, state: str) -> None:
    args = ("--all-topics", "--log-dirs", dirs(golden, state), "--output", "jsonl")
    done = run(capfd, "replica-diff", *args)
    assert done.code == 0
    verdicts = {row["verdict"] for row in done.rows}
    assert verdicts <= {"trusted", "alike", "behind"}
    assert sum(row["verdict"] == "alike" for row in done.rows) > 25
    assert {row["topic"] for row in done.rows} >= {"__cluster_metadata", "orders", "trimmed", "weird_name.v1-x"}
    assert all(row["leader"] for row in done.rows if row["topic"] == "orders" and row["verdict"] == "trusted") or (
        state == "clean"
    )


def test_a_zookeeper_cluster_without_metadata(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "replica-diff", "--all-topics", "--log-dirs", dirs(zk_era))
    assert (done.code, done.err) == (0, "")


def test_lines(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "replica-diff", "tx:0", "--log-dirs", dirs(golden, "crashed"), "--repair-plan")
    assert done == (
        0,
        "tx-0: 3 copies, alike\n"
        "  broker 3  leader  start 0  end 45  epoch 0  2599 bytes  trusted\n"
        "  broker 1  in ISR  start 0  end 45  epoch 0  2599 bytes  alike\n"
        "  broker 2  in ISR  start 0  end 45  epoch 0  2599 bytes  alike\n"
        "  plan for broker 3: trust it: it is the leader's\n"
        "  plan for broker 1: nothing to do\n"
        "  plan for broker 2: nothing to do\n",
        "",
    )


def test_one_copy_is_nothing_to_compare(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "replica-diff", "orders", "--log-dirs", dirs(golden, "crashed", brokers=1))
    assert done.code == 0
    assert done.lines[0] == "orders-0: 1 copy, nothing to compare"
    assert done.lines[2] == "  broker 2 has a replica too, but its log dir is not given"


@pytest.mark.parametrize(
    ("position", "data", "reason"),
    [
        (8, b"\x7f\xff\xff\xff", "the batch has a size of 2147483659 bytes, the file ends after "),
        (16, b"\x07", "magic 7"),
        (17, b"\x00\x00\x00\x01", "Record is corrupt (stored crc = 1)"),
    ],
    ids=["length", "magic", "crc"],
)
def test_one_copy_that_is_damaged(capfd: Capture, crashed: Path, position: int, data: bytes, reason: str) -> None:
    """Whose checkpoints say nothing, so that all is told by the first batch of the only segment."""
    log_dir = crashed / "crashed" / "broker-1"
    for name in (offset_checkpoint.RECOVERY_POINT_FILE, offset_checkpoint.HIGH_WATERMARK_FILE):
        (log_dir / name).write_bytes(offset_checkpoint.encode({}))
    path = log_dir / "orders-0" / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:position] + data + path.read_bytes()[position + len(data) :])
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", str(log_dir), "--repair-plan")
    assert (done.code, done.lines[0]) == (1, "orders-0: 1 copy, damaged")
    assert done.lines[1].endswith("  damaged at offset 0")
    assert done.lines[2].startswith(f"    byte 0 of {path}: {reason}")
    assert (
        "save a copy of it, then with its broker stopped, cut it off at offset 0, before the damage" in done.lines[-1]
    )
    (row,) = run(capfd, "replica-diff", "orders:0", "--log-dirs", str(log_dir), "--output", "jsonl").rows
    assert (row["verdict"], row["damage"]["path"], row["damage"]["position"]) == ("damaged", str(path), 0)


def test_histories_that_parted_by_epochs(capfd: Capture, crashed: Path) -> None:
    """The follower truncates by itself; both batches are shown."""
    offset = headers(crashed, 1)[-2][1].base_offset
    diverge(crashed, 1, offset, 1, b"mine")
    diverge(crashed, 2, offset, 2, b"theirs", b"and more")
    args = ("replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    done = run(capfd, *args)
    assert done.code == 1
    assert done.lines[0] == "orders-0: 2 copies, different"
    assert done.lines[1].startswith("  broker 2  leader")
    assert done.lines[2].endswith(f"different from offset {offset} on")
    assert done.lines[3] == f"    written by different leaders, offset {offset}:"
    log = crashed / "crashed" / "broker-1" / "orders-0" / f"{0:020d}.log"
    assert done.lines[5].startswith(f"    broker 1: offsets {offset}-{offset}, epoch 1, crc ")
    assert done.lines[5].endswith(f" of {log}")
    assert done.lines[-1] == (
        f"  plan for broker 1: truncate to offset {offset}, then refetch: the leader epochs show the difference, so "
        "the broker does it by itself when it follows; 1 offset(s) of this copy go"
    )
    trusted, other = run(capfd, *args, "--output", "jsonl").rows
    assert (trusted["verdict"], trusted["action"]) == ("trusted", "keep")
    assert (other["difference_offset"], other["action"], other["action_offset"]) == (offset, "truncate", offset)
    assert (other["batch"]["epoch"], other["trusted_batch"]["epoch"]) == (1, 2)
    assert other["batch"]["file"] == str(log)
    assert log.read_bytes()[other["batch"]["position"] :][8:12] == (other["batch"]["size"] - 12).to_bytes(4)


def test_a_difference_that_epochs_do_not_show(capfd: Capture, crashed: Path) -> None:
    diverge(crashed, 1, 100, 1, b"mine")
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    told = "with its broker stopped, delete the copy and let it be fetched anew: its leader epochs do not"
    assert f"plan for broker 1: {told}" in done.lines[-1]


def test_a_follower_that_is_behind_or_ahead(capfd: Capture, crashed: Path) -> None:
    """Broker 3 leads orders-1, in its first epoch."""
    args = ("replica-diff", "orders:1", "--log-dirs", dirs(crashed, "crashed"), "--output", "jsonl", "--repair-plan")
    offset = headers(crashed, 2, 1)[-3][1].base_offset
    diverge(crashed, 2, 207, 0, b"more", partition=1)
    done = run(capfd, *args)
    assert done.code == 0
    assert [(row["verdict"], row["action"], row["action_offset"]) for row in done.rows] == [
        ("trusted", "keep", None),
        ("ahead", "truncate", 207),
    ]
    diverge(crashed, 2, offset, 0, partition=1)
    done = run(capfd, *args)
    assert done.code == 0
    assert (done.rows[1]["verdict"], done.rows[1]["action_offset"]) == ("behind", offset)


def test_a_copy_that_its_leader_has_gone_past(capfd: Capture, crashed: Path) -> None:
    """Broker 2 began epoch 2 at offset 155; what the follower has of epoch 1 beyond that was never in its log."""
    diverge(crashed, 1, 155, 1, b"more")
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert done.lines[2].endswith("different from offset 155 on")
    assert "truncate to offset 155" in done.lines[-1]


def test_damage_in_the_leader_disqualifies_it(capfd: Capture, crashed: Path) -> None:
    path = flip(crashed, 2, 100)
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert done.lines[1].startswith("  broker 1  in ISR")
    assert done.lines[1].endswith("trusted")
    assert done.lines[2].endswith("damaged at offset 0")
    assert done.lines[3].startswith(f"    byte 0 of {path}: Record is corrupt")
    assert done.lines[4] == (
        "  plan for broker 1: trust it: that of the leader, broker 2, is damaged; it is the only one left; let "
        "broker 1 lead before the others follow: it is in the ISR"
    )
    assert "delete the copy" in done.lines[5]


def test_all_copies_are_damaged(crashed: Path) -> None:
    """The one that is good for longest is trusted, though it is not the leader's."""
    positions = [position for position, _ in headers(crashed, 1)]
    flip(crashed, 1, positions[-1] + 70)
    flip(crashed, 2, positions[1] + 70)
    cluster = LogDirsCluster(*(str(crashed / "crashed" / f"broker-{broker}") for broker in (1, 2)))
    report = FileReplicaDiff(cluster).diff(TopicPartition("orders", 0))
    found = [(each.copy.broker_id, each.damage and each.damage.position) for each in report.copies]
    assert found == [(1, positions[-1]), (2, positions[1])]
    first, second = repair_plan(report)
    assert (first.action, first.offset) == ("truncate", headers(crashed, 1)[-1][1].base_offset)
    assert second.action == "delete"


@pytest.mark.parametrize("end", [0, 114])
def test_a_damaged_copy_that_is_good_for_longer_is_kept(capfd: Capture, crashed: Path, end: int) -> None:
    """Broker 2, which leads, has lost what broker 1 has before the damage."""
    position, header = headers(crashed, 1)[-1]
    assert header.base_offset == 146
    flip(crashed, 1, position + 70)
    path = crashed / "crashed" / "broker-2" / "orders-0" / f"{0:020d}.log"
    kept = next((at for at, each in headers(crashed, 2) if each.base_offset == end), 0)
    path.write_bytes(path.read_bytes()[:kept])
    args = ("replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    done = run(capfd, *args)
    assert done.code == 1
    assert done.lines[-2] == (
        "  plan for broker 1: trust it: though damaged, this one is good for longest; let broker 1 lead before the "
        "others follow: it is in the ISR; save a copy of it, then with its broker stopped, "
        "cut it off at offset 146, before the damage; "
        "lost: offsets 146-154"
    )
    assert done.lines[-1] == (
        f"  plan for broker 2: it has lost offsets {end}-154 and fetches them again from offset {end} on"
    )
    first, second = run(capfd, *args, "--output", "jsonl").rows
    assert (first["broker_id"], first["verdict"], first["action"], first["action_offset"]) == (
        1, "damaged", "truncate", 146,
    )  # fmt: skip
    assert (second["verdict"], second["lost_offsets"], second["action_offset"]) == ("records lost", 155 - end, end)


def test_what_only_a_damaged_copy_has_is_to_be_saved(capfd: Capture, crashed: Path) -> None:
    """The leader was cut on purpose, and so knows nothing of what follows: it leads, and it is trusted."""
    position, _ = headers(crashed, 1)[-1]
    flip(crashed, 1, position + 70)
    diverge(crashed, 2, 114, 2)
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert done.lines[-2] == "  plan for broker 2: trust it: it is the leader's"
    assert done.lines[-1].startswith(
        "  plan for broker 1: SAVE IT FIRST, the trusted copy lacks offsets 114-145; then with its broker stopped, "
    )


@pytest.mark.parametrize("content", [b"", bytes.fromhex("57a1c3e90b4d6f2200c0ffee") + b"\xa7" * 5000])
def test_a_log_that_is_gone(capfd: Capture, crashed: Path, content: bytes) -> None:
    """It is not only behind: alone, it is no copy that all is well with."""
    log_dir = crashed / "crashed" / "broker-1"
    (log_dir / "orders-0" / f"{0:020d}.log").write_bytes(content)
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--output", "jsonl")
    assert done.code == 1
    assert [row["verdict"] for row in done.rows] == ["trusted", "damaged" if content else "records lost"]
    alone = run(capfd, "replica-diff", "orders:0", "--log-dirs", log_dir, "--repair-plan")
    assert alone.code == 1
    assert alone.lines[0] == f"orders-0: 1 copy, {'damaged' if content else 'records lost'}"
    assert alone.lines[-1].endswith("lost: offsets 0-154")


def test_a_torn_leader_is_not_preferred(capfd: Capture, crashed: Path) -> None:
    path = crashed / "crashed" / "broker-2" / "orders-0" / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-10])
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert done.lines[1].startswith("  broker 1  in ISR")
    assert done.lines[2].endswith("records lost")
    assert "the log ends at offset 146, but checkpoints and leader epochs say that it went to 155" in done.lines[3]
    assert "bytes of a torn write follow the end of the log" in done.lines[4]
    assert "that of the leader, broker 2, is torn" in done.lines[5]
    assert done.lines[6] == (
        "  plan for broker 2: it has lost offsets 146-154 and fetches them again from offset 146 on"
    )
    alone = run(capfd, "replica-diff", "orders:0", "--log-dirs", path.parent.parent, "--repair-plan")
    cut = next(line.strip().split()[0] for line in alone.lines if "of a torn write follow" in line)
    assert alone.lines[-1] == (
        f"  plan for broker 2: trust it: it is the only copy here; its broker cuts off, when it starts, the {cut} "
        "bytes of the torn write; lost: offsets 146-154"
    )


def test_epochs_that_differ_over_the_same_data(capfd: Capture, crashed: Path) -> None:
    (crashed / "crashed" / "broker-1" / "orders-0" / leader_epoch_checkpoint.FILE_NAME).write_bytes(
        leader_epoch_checkpoint.encode([(0, 0), (1, 3)])
    )
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert "epochs differ from offset 3 on" in done.lines[2]
    assert done.lines[3].startswith("    leader epochs part at offset 3: 0 by broker 2, 1 by broker 1")
    assert "would truncate by them" in done.lines[-1]


def test_a_topic_that_was_deleted_and_made_again(capfd: Capture, crashed: Path) -> None:
    path = crashed / "crashed" / "broker-1" / "orders-0" / "partition.metadata"
    path.write_bytes(partition_metadata.encode(partition_metadata.PartitionMetadata(random_uuid())))
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--repair-plan")
    assert done.code == 1
    assert done.lines[2].endswith("other topic")
    assert "another topic of the same name" in done.lines[-1]


@pytest.mark.parametrize(
    ("key", "verdict"), [(None, "alike"), (b"one that has no newer record", "different")], ids=["superseded", "lost"]
)
def test_a_compacted_copy(capfd: Capture, golden: Path, tmp_path: Path, key: bytes | None, verdict: str) -> None:
    """Another copy still has a record that compaction removed from broker 1's, or one that it should not have."""
    source, other = golden / "clean" / "broker-1", tmp_path / "broker-9"
    shutil.copytree(source / "compacted-0", other / "compacted-0")
    meta = (source / "meta.properties").read_text()
    (other / "meta.properties").write_text(meta.replace("node.id=1", "node.id=9"))
    log = PartitionReader(str(source / "compacted-0"), TopicPartition("compacted", 0))
    records = [record for batch in log.read(0) for record in batch.records()]
    gone = max(set(range(100)) - {record.offset for record in records})
    removed = Record(gone, NOW, key or records[-1].key, b"old")
    added = encode_batch([removed], BatchOptions(base_offset=gone, partition_leader_epoch=0))
    segment = max((each for each in log.segments if each.base_offset <= gone), key=lambda each: each.base_offset)
    batches = [batch.data for batch in segment.read(0)]
    before = sum(batch.header.last_offset < gone for batch in segment.read(0))
    path = other / "compacted-0" / f"{segment.base_offset:020d}.log"
    path.write_bytes(b"".join([*batches[:before], added, *batches[before:]]))
    done = run(capfd, "replica-diff", "compacted", "--log-dirs", f"{source},{other}", "--output", "jsonl")
    assert done.code == (verdict == "different")
    assert [row["verdict"] for row in done.rows] == ["trusted", verdict]
    assert done.rows[1]["compacted_records"] == 1
    assert done.rows[1]["difference_offset"] == (gone if verdict == "different" else None)


def test_usage(capfd: Capture, golden: Path) -> None:
    where = ("--log-dirs", dirs(golden))
    assert run(capfd, "replica-diff", *where).code == 2
    assert run(capfd, "replica-diff", "orders", "--all-topics", *where).code == 2
    assert run(capfd, "replica-diff", "orders:x", *where).code == 2
    done = run(capfd, "replica-diff", "orders:7", *where)
    assert (done.code, done.err) == (
        1,
        "kafkapy: no copy of orders:7 is in the given log dirs: they have 0, 1, 2 of it\n",
    )
    done = run(capfd, "replica-diff", "orders-1", *where)
    assert done.err == "kafkapy: no copy of orders-1 is in the given log dirs; did you mean 'orders:1'?\n"


def test_a_log_dir_that_is_given_twice(capfd: Capture, golden: Path) -> None:
    path = golden / "crashed" / "broker-1"
    done = run(capfd, "replica-diff", "orders:0", "--log-dirs", f"{path},{path}/")
    assert (done.code, done.lines[0]) == (0, "orders-0: 1 copy, nothing to compare")


@pytest.fixture
def cluster(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three brokers, and a topic that broker 1 leads."""
    monkeypatch.setenv("KAFKAPY_CLUSTER", str(tmp_path / "cluster"))
    assert run(capfd, "storage", "format", "--cluster", tmp_path / "cluster", "--brokers", "3").code == 0
    made = run(
        capfd,
        "topics",
        "--create",
        "--topic",
        "t",
        "--replica-assignment",
        "1:2:3",
        "--config",
        "min.insync.replicas=2",
    )
    assert made.code == 0
    return tmp_path / "cluster"


@pytest.mark.parametrize("how", ["stop-broker", "kill-broker"])
def test_copies_of_brokers_that_do_not_run(capfd: Capture, cluster: Path, how: str) -> None:
    """They are compared as with --log-dirs; only the plan knows more."""
    log = partition_log(cluster / "broker-2" / "t-0", TopicPartition("t", 0))
    log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"one")]), 0, NOW)
    log.close(NOW)
    for broker in (2, 3):
        assert run(capfd, "cluster", how, str(broker)).code == 0
    log = partition_log(cluster / "broker-1" / "t-0", TopicPartition("t", 0))
    log.append_as_leader(encode_batch([Record(0, NOW, b"k", b"another")]), 0, NOW)
    log.close(NOW)
    done = run(capfd, "replica-diff", "t")
    assert done.code == 1
    assert done.lines[0] == "t-0: 3 copies, different"
    assert done == run(capfd, "replica-diff", "t", "--log-dirs", ",".join(map(str, sorted(cluster.glob("broker-*")))))


def test_a_copy_in_the_elr(capfd: Capture, cluster: Path) -> None:
    """Broker 2 was in the ISR when too few were left in it, so it may lead without a loss."""
    for broker in (3, 2):
        assert run(capfd, "cluster", "stop-broker", str(broker)).code == 0
    (cluster / "broker-1" / "t-0" / f"{0:020d}.log").write_bytes(b"\0\0\0\0\0\0\0\0\xff" + b"x" * 60)
    done = run(capfd, "replica-diff", "t", "--repair-plan")
    assert done.code == 1
    assert done.lines[1].startswith("  broker 2  in ELR  ")
    assert "broker 2 lead before the others follow: it is in the ELR, so by a clean election" in done.out
    rows = run(capfd, "replica-diff", "t", "--output", "jsonl").rows
    assert [row["broker_id"] for row in rows if row["in_elr"]] == [2]


def test_a_table_fits_a_terminal(capfd: Capture, crashed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    flip(crashed, 1, 100)
    args = ("replica-diff", "orders:0", "--log-dirs", dirs(crashed, "crashed"), "--output", "table")
    for plan in ((), ("--repair-plan",)):
        done = run(capfd, *args, *plan)
        assert done.code == 1
        assert max(map(len, done.lines)) <= 80
        assert sum("─" in line for line in done.lines) == 1
        assert "broker 2" in done.out


def produce(cluster: Path, *values: bytes) -> None:
    opened = DirectoryCluster(str(cluster), Files(sync=False))
    for value in values:
        opened.append(TopicPartition("t", 0), encode_batch([Record(0, NOW, None, value)]))
    opened.close()


def test_what_a_broker_that_is_down_lacks_is_at_risk(capfd: Capture, cluster: Path) -> None:
    produce(cluster, b"a")
    assert run(capfd, "cluster", "stop-broker", "3").code == 0
    assert run(capfd, "replica-diff", "t").code == 0, "it has all there is"
    produce(cluster, b"b", b"c")
    done = run(capfd, "replica-diff", "t", "--repair-plan")
    assert (done.code, done.lines[0]) == (1, "t-0: 3 copies, the same as far as they reach, data at risk")
    assert [line.strip() for line in done.lines if "not in this copy" in line or "plan for broker 3" in line] == [
        "its broker is stopped and does not fetch: offsets 1 to 2 are committed, and not in this copy",
        "plan for broker 3: start its broker, which is stopped: it fetches from offset 1 on: kafkapy cluster "
        f"start-broker 3 --cluster {cluster}; kafkapy cluster replicate --cluster {cluster} --until-caught-up",
    ]
    assert run(capfd, "cluster", "start-broker", "3").code == 0
    done = run(capfd, "replica-diff", "t")
    assert (done.code, done.lines[0]) == (0, "t-0: 3 copies, the same as far as they reach"), "it is going to fetch"
    assert run(capfd, "cluster", "replicate", "--until-caught-up").code == 0
    assert run(capfd, "replica-diff", "t").lines[0] == "t-0: 3 copies, alike"


def test_what_a_crash_took_from_a_broker_is_lost(capfd: Capture, cluster: Path) -> None:
    produce(cluster, b"a", b"b")
    assert "broker 3 lost 2 offsets, 0 to 1" in run(capfd, "cluster", "kill-broker", "3", "--lose-unflushed").out
    done = run(capfd, "replica-diff", "t", "--repair-plan")
    assert (done.code, done.lines[0]) == (1, "t-0: 3 copies, the same as far as they reach, records lost")
    assert "the log ends at offset 0, but checkpoints and leader epochs say that it went to 2" in done.out
    assert "its broker is killed and does not fetch: offsets 0 to 1 are committed, and not in this copy" in done.out
    assert "plan for broker 3: it has lost offsets 0-1; start its broker, which is killed: it fetches them " in done.out
    (row,) = [each for each in run(capfd, "replica-diff", "t", "--output", "jsonl").rows if each["broker_id"] == 3]
    assert (row["verdict"], row["lost_offsets"]) == ("records lost", 2)
    (status,) = [
        each
        for each in run(capfd, "cluster", "status", "--output", "jsonl").rows
        if each["type"] == "replica" and each["broker_id"] == 3
    ]
    assert (status["log_end_offset"], status["high_watermark"]) == (0, 0)
    for command in (("start-broker", "3"), ("replicate", "--until-caught-up")):
        assert run(capfd, "cluster", *command).code == 0
    assert run(capfd, "replica-diff", "t").lines[0] == "t-0: 3 copies, alike"
