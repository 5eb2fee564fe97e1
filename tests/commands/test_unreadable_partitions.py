"""Partitions that cannot be read, or not to their ends: the others are, each is named, and the exit code is 1."""

import json
import shutil
from pathlib import Path

import pytest

from kafkapy.backends import failures
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.errors import KafkapyError
from kafkapy.export.manifest import FILE_NAME as MANIFEST
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Mode, Range, Scan
from tests.backends.contract import batch
from tests.commands.running import Done, run

Capture = pytest.CaptureFixture[str]
NO_LEADER = "There is no leader for this topic-partition as we are in the middle of a leadership election."


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """t-0 is on broker 1 alone, t-1 and the internal topics on broker 2."""
    directory = tmp_path / "c"
    make_cluster(str(directory), 2, files=Files(sync=False))
    opened = DirectoryCluster(str(directory), Files(sync=False))
    opened.apply(CreateTopic("t", assignments=((1,), (2,))), CreateTopic("__consumer_offsets", assignments=((2,),)))
    for number in (0, 1):
        for value in (b"a", b"b", b"c"):
            opened.append(TopicPartition("t", number), batch(value + b"%d" % number))
    opened.close()
    return directory


@pytest.fixture
def leaderless(cluster: Path) -> Path:
    opened = DirectoryCluster(str(cluster), Files(sync=False))
    failures.kill_broker(opened, 1)
    opened.close()
    return cluster


def consume(capfd: Capture, cluster: Path, *args: str) -> Done:
    return run(capfd, "console-consumer", "--cluster", cluster, "--topic", "t", "--from-beginning", *args)


def log_of(cluster: Path, broker: int, partition: str) -> Path:
    return cluster / f"broker-{broker}" / partition / "00000000000000000000.log"


def test_a_partition_without_a_leader_does_not_keep_the_others_back(capfd: Capture, leaderless: Path) -> None:
    problem = (
        f"kafkapy: t-0 is not read: {NO_LEADER}\n"
        "kafkapy: no election is under way: broker 1 does not run; 'kafkapy cluster start-broker 1' starts one that "
        "may lead, 'kafkapy cluster status' shows all\n"
    )
    assert consume(capfd, leaderless) == (1, "a1\nb1\nc1\n", f"{problem}Processed a total of 3 messages\n")
    assert consume(capfd, leaderless, "--partition", "1").code == 0
    assert consume(capfd, leaderless, "--partition", "0") == (1, "", f"{problem}Processed a total of 0 messages\n")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_reads_what_it_can(capfd: Capture, leaderless: Path, protocol: str) -> None:
    group = ("--group", "g", "--command-property", f"group.protocol={protocol}")
    problem = f"kafkapy: t-0 is not read: {NO_LEADER}\n"
    assert consume(capfd, leaderless, *group) == (1, "a1\nb1\nc1\n", f"{problem}Processed a total of 3 messages\n")
    opened = DirectoryCluster(str(leaderless), Files(sync=False))
    failures.start_broker(opened, 1)
    opened.close()
    assert consume(capfd, leaderless, *group) == (0, "a0\nb0\nc0\n", "Processed a total of 3 messages\n")


def test_a_group_is_described_without_the_ends_of_what_nobody_leads(capfd: Capture, cluster: Path) -> None:
    assert consume(capfd, cluster, "--group", "g").code == 0
    opened = DirectoryCluster(str(cluster), Files(sync=False))
    failures.stop_broker(opened, 1)
    opened.close()
    describe = ("consumer-groups", "--cluster", cluster, "--describe", "--group", "g")
    done = run(capfd, *describe)
    assert done.code == 1
    assert "kafkapy: nobody leads t-0: its end and lag are not known\n" in done.err
    assert "log dirs" not in done.err


@pytest.mark.parametrize("group", [(), ("--group", "g")])
def test_a_damaged_end_is_told_with_file_and_byte(capfd: Capture, cluster: Path, group: tuple[str, ...]) -> None:
    path = log_of(cluster, 1, "t-0")
    data = bytearray(path.read_bytes())
    start = len(data) // 3 * 2
    data[-1] ^= 1
    path.write_bytes(data)
    where = f"{path}: damaged at byte {start}: "
    done = consume(capfd, cluster, *group)
    assert (done.code, done.out) == (1, "a0\nb0\na1\nb1\nc1\n" if not group else done.out)
    assert sorted(done.lines) == ["a0", "a1", "b0", "b1", "c1"]
    assert where in done.err
    assert "kafkapy: t-0 is read " in done.err
    assert consume(capfd, cluster, "--max-messages", "2").code == 0, "what was asked for is all there"


def test_offsets_of_a_log_with_a_damaged_end(capfd: Capture, cluster: Path) -> None:
    path = log_of(cluster, 1, "t-0")
    path.write_bytes(path.read_bytes()[:-3])
    ask = ("get-offsets", "--cluster", cluster, "--topic", "t", "--time")
    done = run(capfd, *ask, "latest")
    assert (done.code, done.out) == (1, "t:0:2\nt:1:3\n")
    assert done.err.startswith(f"kafkapy: t-0 is read only up to where it is damaged: {path}: damaged at byte ")
    assert done.err.count("\n") == 1
    assert run(capfd, *ask, "earliest") == (0, "t:0:0\nt:1:0\n", "")


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_log_that_was_cut_between_batches(capfd: Capture, cluster: Path, is_clean: bool) -> None:
    """No byte of it is wrong, but what was committed when its broker stopped is not all there; of a crash nothing is
    known."""
    path = log_of(cluster, 1, "t-0")
    cut = path.stat().st_size // 3 * 2
    path.write_bytes(path.read_bytes()[:cut])
    if not is_clean:
        (cluster / "broker-1" / ".kafka_cleanshutdown").unlink()
    where = f"{path}: ends at byte {cut} and offset 2, but the log went to 3 when its broker stopped"
    done = consume(capfd, cluster)
    assert (done.code, sorted(done.lines)) == (int(is_clean), ["a0", "a1", "b0", "b1", "c1"])
    assert (f"kafkapy: t-0 is read only up to offset 2: {where}\n" in done.err) is is_clean
    done = run(capfd, "get-offsets", "--cluster", cluster, "--topic", "t")
    assert (done.code, done.out) == (int(is_clean), "t:0:2\nt:1:3\n")
    assert (f"kafkapy: t-0 is read only up to where it is damaged: {where}\n" in done.err) is is_clean


def test_ends_that_are_known_to_be_wrong_make_no_lag(capfd: Capture, cluster: Path) -> None:
    assert consume(capfd, cluster, "--group", "g").code == 0
    path = log_of(cluster, 1, "t-0")
    path.write_bytes(b"")
    lost = f"{path}: ends at byte 0 and offset 0, but the log went to 3 when its broker stopped"
    problem = f"kafkapy: t-0: {lost}: its end and lag are not known\n"
    done = run(capfd, "lag", "--cluster", cluster, "--group", "g", "--topic", "t", "--output", "jsonl")
    rows = [json.loads(line) for line in done.lines]
    assert (done.code, done.err) == (1, problem)
    assert [(row["log_end_offset"], row["lag"], row["verdict"]) for row in rows[:2]] == [
        (None, None, "unknown"),
        (3, 0, "ok"),
    ]
    describe = ("consumer-groups", "--cluster", cluster, "--describe", "--group", "g", "--output", "jsonl")
    done = run(capfd, *describe)
    rows = [json.loads(line) for line in done.lines]
    assert (done.code, done.err) == (1, problem)
    assert [(row["log_end_offset"], row["lag"]) for row in rows] == [(None, None), (3, 0)]
    lookup = ("lookup", "--cluster", cluster, "--topic", "t", "--partition", "0")
    done = run(capfd, *lookup, "--offset", "1")
    assert (done.code, done.err.splitlines()[1:]) == (1, [f"kafkapy: {lost}"])
    done = run(capfd, *lookup, "--time", "1")
    assert (done.code, done.err) == (1, f"kafkapy: t-0 is read only up to where it is damaged: {lost}\n")


def test_a_torn_write_costs_no_lag(capfd: Capture, cluster: Path) -> None:
    """Any crash may leave one, and what it is of was never acknowledged for certain."""
    assert consume(capfd, cluster, "--group", "g").code == 0
    (cluster / "broker-1" / ".kafka_cleanshutdown").unlink()
    path = log_of(cluster, 1, "t-0")
    path.write_bytes(path.read_bytes() + b"torn")
    done = run(capfd, "lag", "--cluster", cluster, "--group", "g", "--topic", "t", "--output", "jsonl")
    assert (done.code, [json.loads(line)["lag"] for line in done.lines[:2]], done.err) == (0, [0, 0], "")


def test_damage_in_the_middle_ends_that_partition(capfd: Capture, cluster: Path) -> None:
    """In a segment that is not the last one: a size that is wrong, and nothing behind it can be found."""
    opened = DirectoryCluster(str(cluster), Files(sync=False))
    with opened.maintained(TopicPartition("t", 0)) as replicas:
        for _, _, log in replicas:
            log.roll(0)
    opened.append(TopicPartition("t", 0), batch(b"d0"))
    opened.close()
    path = log_of(cluster, 1, "t-0")
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle + 8 : middle + 12] = b"\0\0\0\1"
    path.write_bytes(data)
    done = consume(capfd, cluster)
    assert (done.code, done.lines) == (1, ["a0", "a1", "b1", "c1"])
    assert done.err.startswith(f"kafkapy: t-0 is read only up to offset 1: {path}: damaged at byte {middle}: ")


def test_throughput_of_one_disk_misses_only_what_it_should_have(capfd: Capture, cluster: Path) -> None:
    disk = cluster / "broker-1"
    done = run(capfd, "throughput", "--log-dirs", disk)
    assert (done.code, done.err) == (0, "kafkapy: left out: 2 partitions that only other brokers have copies of\n")
    done = run(capfd, "throughput", "--log-dirs", disk, "--topic", "t")
    assert (done.code, done.err) == (1, "kafkapy: no copy of t-1 is in the given log dirs\n")
    shutil.rmtree(disk / "t-0")
    done = run(capfd, "throughput", "--cluster", cluster)
    assert (done.code, done.err) == (1, "kafkapy: no copy of t-0 is in the log dirs of the brokers that run\n")


@pytest.mark.parametrize("how", ["deleted", "emptied", "without a file"])
def test_export_does_not_hide_what_is_lost(capfd: Capture, cluster: Path, tmp_path: Path, how: str) -> None:
    path = log_of(cluster, 1, "t-0")
    lost = f"{path}: ends at byte 0 and offset 0, but the log went to 3 when its broker stopped"
    if how == "deleted":
        shutil.rmtree(path.parent)
        lost = "no copy of t-0 is in the log dirs of the brokers that run"
    elif how == "emptied":
        path.write_bytes(b"")
    else:
        path.unlink()
        lost = f"{path.parent}: {path.name} is missing, though its index is there"
    export = ("export", "--cluster", cluster, "--topic", "t", "--to", "csv", "--out")
    done = run(capfd, *export, tmp_path / "out")
    assert done.code == 1
    assert done.err.startswith("exported 3 rows in 1 file ")
    assert done.err.endswith(f"kafkapy: {lost}\n")
    assert run(capfd, *export, tmp_path / "new", "--dry-run").code == 1
    for mode in ("dropmalformed", "permissive"):
        done = run(capfd, *export, tmp_path / mode, "--mode", mode)
        assert (done.code, done.err.partition("\n")[0]) == (0, f"kafkapy: {lost}")


def test_export_of_one_disk_mentions_what_others_have(capfd: Capture, cluster: Path, tmp_path: Path) -> None:
    export = ("export", "--log-dirs", cluster / "broker-1", "--to", "csv", "--out")
    done = run(capfd, *export, tmp_path / "all")
    note = "kafkapy: left out: 2 partitions that only other brokers have copies of\n"
    assert (done.code, done.err.startswith(f"{note}exported 3 rows ")) == (0, True)
    done = run(capfd, *export, tmp_path / "t", "--topic", "t")
    assert (done.code, done.err.endswith("\nkafkapy: no copy of t-1 is in the given log dirs\n")) == (1, True)


def test_a_scan_fails_fast_for_what_is_lost(cluster: Path) -> None:
    """Also for Spark; not where it asks only for what is there, and not for what an internal topic has elsewhere."""
    splits = find_table("records").splits
    disk = Scan((str(cluster / "broker-1"),))
    assert len(splits(disk)) == 1
    with pytest.raises(KafkapyError, match=r"^no copy of t-1 is in the given log dirs: the mode dropmalformed reads"):
        splits(disk._replace(topics=frozenset("t")))
    assert find_table("offset_commits").splits(disk) == []
    path = log_of(cluster, 1, "t-0")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3 * 2])
    with pytest.raises(KafkapyError, match=r"and offset 2, but the log went to 3 when its broker stopped: the mode"):
        splits(disk)
    assert len(splits(disk._replace(offsets=Range(0, 2)))) == 1
    assert len(splits(disk._replace(mode=Mode.DROPMALFORMED))) == 1
    shutil.rmtree(path.parent)
    with pytest.raises(KafkapyError, match=r"^no copy of t-0 is in"):
        splits(disk)


def rows_of(table: str, scan: Scan) -> list[dict[str, object]]:
    found = find_table(table)
    return [row for split in found.splits(scan) for batch in found.read(scan, split) for row in batch.to_pylist()]


@pytest.mark.parametrize("table", ["records", "batches", "index_entries", "partitions"])
def test_permissive_has_a_row_for_a_partition_without_a_copy(cluster: Path, table: str) -> None:
    shutil.rmtree(cluster / "broker-1" / "t-0")
    scan = Scan((str(cluster),), topics=frozenset("t"), mode=Mode.PERMISSIVE)
    told = [row for row in rows_of(table, scan) if row["damage"] is not None]
    damage = "no copy of t-0 is in the log dirs of the brokers that run"
    assert [{name: value for name, value in row.items() if value is not None} for row in told] == [
        {"topic": "t", "partition": 0, "damage": damage}
    ]
    if table != "partitions":
        with pytest.raises(KafkapyError, match=rf"^{damage}: the mode dropmalformed reads what is left$"):
            find_table(table).splits(scan._replace(mode=Mode.FAILFAST))
    assert len(rows_of(table, scan._replace(mode=Mode.DROPMALFORMED))) == len(rows_of(table, scan)) - 1


def test_permissive_has_a_row_for_an_internal_topic_without_a_copy(cluster: Path) -> None:
    shutil.rmtree(cluster / "broker-2" / "__consumer_offsets-0")
    (row,) = rows_of("offset_commits", Scan((str(cluster),), mode=Mode.PERMISSIVE))
    assert row["damage"] == "no copy of __consumer_offsets-0 is in the log dirs of the brokers that run"
    assert rows_of("offset_commits", Scan((str(cluster / "broker-1"),), mode=Mode.PERMISSIVE)) == []


def test_permissive_has_a_row_for_a_log_without_a_file(cluster: Path) -> None:
    log_of(cluster, 1, "t-0").unlink()
    told = [row for row in rows_of("records", Scan((str(cluster),), mode=Mode.PERMISSIVE)) if row["damage"]]
    assert [(row["partition"], row["damage_file"]) for row in told] == [(0, None)]
    assert "is missing, though its index is there" in str(told[0]["damage"])


def test_an_export_has_a_row_for_a_partition_while_it_has_no_copy(
    capfd: Capture, cluster: Path, tmp_path: Path
) -> None:
    """Each run puts its own in the place of that of the last one."""
    directory, away = cluster / "broker-1" / "t-0", tmp_path / "away"
    export = ("export", "--cluster", cluster, "--topic", "t", "--to", "json", "--mode", "permissive", "--out")

    def exported() -> list[str | None]:
        assert run(capfd, *export, tmp_path / "out").code == 0
        files = (path for path in (tmp_path / "out").rglob("*.json") if path.name != MANIFEST)
        rows = [json.loads(line) for path in files for line in path.read_text().splitlines()]
        return sorted(row["damage"] or "" for row in rows)

    directory.rename(away)
    for _ in range(2):
        assert exported() == ["", "", "", "no copy of t-0 is in the log dirs of the brokers that run"]
    away.rename(directory)
    assert exported() == [""] * 6


def test_the_end_of_a_log_that_lost_records_is_not_told(cluster: Path) -> None:
    path = log_of(cluster, 1, "t-0")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3 * 2])
    scan = Scan((str(cluster),), topics=frozenset("t"))
    lost = f"{path}: ends at byte {path.stat().st_size} and offset 2, but the log went to 3 when its broker stopped"
    with pytest.raises(KafkapyError, match=r"but the log went to 3 when its broker stopped: the mode dropmalformed"):
        rows_of("partitions", scan)
    assert len(rows_of("partitions", scan._replace(columns=("topic", "leader", "size")))) == 2
    ends = ("log_start_offset", "high_watermark", "last_stable_offset", "log_end_offset")
    for mode in (Mode.DROPMALFORMED, Mode.PERMISSIVE):
        first, second, *told = rows_of("partitions", scan._replace(mode=mode))
        assert [first[each] for each in ends] == [0, None, None, None]
        assert [second[each] for each in ends] == [0, 3, 3, 3]
        assert [row["damage"] for row in told] == ([lost] if mode is Mode.PERMISSIVE else [])
