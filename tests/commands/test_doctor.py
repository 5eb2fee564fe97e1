"""``kafkapy doctor``: what real brokers left whole has no findings, and each damage has its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.live.library.connection_errors import AuthenticationFailed, ConnectionLost
from kafkapy.backends.log_dir_lock import LogDirLock, holder_of
from kafkapy.backends.selection import Selection
from kafkapy.doctor.disks import check_disks
from kafkapy.doctor.finding import Finding, Severity
from kafkapy.doctor.finding_lines import finding_lines
from kafkapy.doctor.metadata_health import _place
from kafkapy.doctor.opening import why_closed
from kafkapy.doctor.surroundings import check_surroundings
from kafkapy.errors import KafkaError
from kafkapy.formats import offset_index
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.backends.contract import batch, replica_logs
from tests.commands.running import dirs, run
from tests.golden_set import unpack

Capture = pytest.CaptureFixture[str]
FIRST = "00000000000000000000"


def problems(capfd: Capture, *args: str | Path) -> list[tuple[str, str, str]]:
    """The findings that are problems, without the way to the file or directory."""
    done = run(capfd, "doctor", *args, "--output", "jsonl")
    found = [row for row in done.rows if row["severity"] in ("warning", "error") and row["place"] != "encoding"]
    assert all(row["remedy"] for row in found)
    assert done.code == (1 if any(row["severity"] in ("warning", "error") for row in done.rows) else 0)
    return [(row["severity"], row["place"], row["text"]) for row in found]


def short(found: list[tuple[str, str, str]], root: Path) -> dict[str, str]:
    """What is said of each place below a directory."""
    return {place.removeprefix(f"{root}/"): text for _, place, text in found}


def test_what_brokers_stopped_cleanly_has_no_findings(capfd: Capture, golden: Path) -> None:
    assert problems(capfd, "--log-dirs", dirs(golden)) == []


def test_what_old_brokers_stopped_cleanly_has_no_findings(capfd: Capture, zk_era: Path) -> None:
    states = [path.name for path in zk_era.iterdir() if list(path.glob("broker-*"))]
    for state in states:
        if all((path / ".kafka_cleanshutdown").exists() for path in (zk_era / state).glob("broker-*")):
            assert problems(capfd, "--log-dirs", dirs(zk_era, state)) == []


def test_a_crash_is_told_once_a_log_dir(capfd: Capture, golden: Path) -> None:
    found = problems(capfd, "--log-dirs", dirs(golden, "crashed"))
    assert [(severity, Path(place).name) for severity, place, _ in found] == [
        ("warning", "broker-1"),
        ("warning", "broker-2"),
        ("warning", "broker-3"),
    ]
    assert all("no mark of a clean stop" in text for _, _, text in found)


DAMAGES = {
    "bad-magic-0": (".log", "damaged at byte 0: magic 7; offsets 0 to 127"),
    "empty-0": (".index", "where the log has no such batch"),
    "flipped-byte-0": (".log", "damaged at byte 0: Record is corrupt"),
    "garbage-0": (".log", "damaged at byte 0: Found record size"),
    "huge-size-0": (".log", "torn at byte 0: the batch has a size of 2147483644 bytes"),
    "index-past-end-0": (".index", "leads to byte 999999, past the end of the log"),
    "index-ragged-0": (".index", "leads to byte 892745528, past the end"),
    "negative-size-0": (".log", "Found record size -16"),
    "torn-header-0": (".log", "torn at byte 9027"),
    "torn-tail-0": (".log", "torn at byte 7375"),
    "zero-tail-0": (".log", "damaged at byte 9027: Found record size 0"),
}


@pytest.fixture(scope="module")
def of_damaged() -> Path:
    """What was damaged on purpose."""
    return unpack("golden") / "damaged"


def test_every_damage_is_found(capfd: Capture, of_damaged: Path) -> None:
    found = short(problems(capfd, "--log-dirs", of_damaged), of_damaged)
    assert {place.partition("/")[0] for place in found} == {"meta.properties", *DAMAGES}
    for name, (suffix, text) in DAMAGES.items():
        assert text in found[f"{name}/{FIRST}{suffix}"]
    assert "once went to 207" in found["empty-0/00000000000000000207.snapshot"]


def test_quick_looks_at_the_end_only(capfd: Capture, of_damaged: Path) -> None:
    found = short(problems(capfd, "--log-dirs", of_damaged, "--quick"), of_damaged)
    assert f"torn-tail-0/{FIRST}.log" in found
    assert f"flipped-byte-0/{FIRST}.log" not in found


def test_reading_changes_nothing(capfd: Capture, golden: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        paths = [path for path in (golden / "crashed").rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}

    before = state()
    problems(capfd, "--log-dirs", dirs(golden, "crashed"))
    assert state() == before


@pytest.fixture
def one(golden: Path, tmp_path: Path) -> Path:
    """A copy of the brokers that stopped cleanly, to damage."""
    shutil.copytree(golden / "clean", tmp_path / "clean")
    return tmp_path / "clean"


Damage = Callable[[Path], Any]


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "place", "text"),
    [
        (lambda b: (b / f"rolled-0/{FIRST}.index").unlink(), f"broker-1/rolled-0/{FIRST}.index", "is missing"),
        (lambda b: (b / f"rolled-0/{FIRST}.timeindex").unlink(), f"broker-1/rolled-0/{FIRST}.timeindex", "is missing"),
        (
            lambda b: (b / f"rolled-0/{FIRST}.index").write_bytes(b"123"),
            f"broker-1/rolled-0/{FIRST}.index",
            "neither positive nor a multiple of 8",
        ),
        (
            lambda b: (b / f"rolled-0/{FIRST}.index").write_bytes(offset_index.encode(0, [(9, 99), (5, 50)])),
            f"broker-1/rolled-0/{FIRST}.index",
            "not in order",
        ),
        (lambda b: os.mkdir(b / "lost+found"), "broker-1/lost+found", "is no directory of a partition"),
        (lambda b: os.mkdir(b / "old-0.abc-delete"), "broker-1/old-0.abc-delete", "was deleted and is still there"),
        (lambda b: os.mkdir(b / "old-0.abc-stray"), "broker-1/old-0.abc-stray", "is stray"),
        (
            lambda b: (b / "replication-offset-checkpoint").write_text("0\n1\nx"),
            "broker-1/replication-offset-checkpoint",
            "is damaged",
        ),
        (
            lambda b: (b / "log-start-offset-checkpoint").write_text("0\n1\nrolled 0 999999\n"),
            "broker-1/log-start-offset-checkpoint",
            "has offset 999999 for rolled-0",
        ),
        (
            lambda b: (b / "cleaner-offset-checkpoint").write_text("0\n1\nnobody 0 1\n"),
            "broker-1/cleaner-offset-checkpoint",
            "names nobody-0, of which there is no directory here",
        ),
        (lambda b: (b / "meta.properties").write_text("version=1\n"), "broker-1/meta.properties", "is damaged"),
        (
            lambda b: (b / "__cluster_metadata-0/quorum-state").write_text("{"),
            "broker-1/__cluster_metadata-0/quorum-state",
            "is damaged",
        ),
        (
            lambda b: (b / "rolled-0/leader-epoch-checkpoint").write_text("junk"),
            "broker-1/rolled-0/leader-epoch-checkpoint",
            "is damaged",
        ),
        (
            lambda b: (b / "rolled-0/partition.metadata").write_text("junk"),
            "broker-1/rolled-0/partition.metadata",
            "damaged",
        ),
        (lambda b: flip(b / f"rolled-0/{FIRST}.log", 300), f"broker-1/rolled-0/{FIRST}.log", "Record is corrupt"),
        (
            lambda b: (b / f"rolled-0/{FIRST}.log").unlink(),
            "broker-1/rolled-0",
            "is missing, though its index is there",
        ),
        (
            lambda b: shutil.rmtree(b / "rolled-0"),
            "rolled-0",
            "broker 1 should have a copy, and its log dirs have none",
        ),
        (
            lambda b: (b / f"rolled-0/{FIRST}.log.cleaned").write_bytes(b""),
            f"broker-1/rolled-0/{FIRST}.log.cleaned",
            "left of a compaction",
        ),
        (lambda b: (b / ".kafka_cleanshutdown").unlink(), "broker-1", "no mark of a clean stop"),
    ],
)
def test_one_damage_has_its_finding(capfd: Capture, one: Path, damage: Damage, place: str, text: str) -> None:
    damage(one / "broker-1")
    paths = ",".join(map(str, sorted(one.glob("broker-*"))))
    found = short(problems(capfd, "--log-dirs", paths), one)
    assert text in found[place]


def test_indexes_of_the_metadata_log_may_end_in_zeros(capfd: Capture, one: Path) -> None:
    """A start makes them anew, whether or not the broker stopped cleanly."""
    with (one / f"broker-1/__cluster_metadata-0/{FIRST}.timeindex").open("ab") as index:
        index.truncate(12 * 1000)
    assert problems(capfd, "--log-dirs", dirs(one.parent)) == []


def test_replicas_that_differ(capfd: Capture, one: Path) -> None:
    shutil.copy(one / "broker-1" / "trimmed-0" / "leader-epoch-checkpoint", one / "saved")
    (one / "broker-2" / "trimmed-0" / "leader-epoch-checkpoint").write_text("0\n1\n7 0\n")
    paths = ",".join(map(str, sorted(one.glob("broker-*"))))
    found = problems(capfd, "--log-dirs", paths)
    assert [severity for severity, place, text in found if "trimmed-0" in place and "epochs" in text] == ["error"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster directory with a topic that wants two of three in sync."""
    directory = tmp_path_factory.mktemp("doctor") / "demo"
    make_cluster(str(directory), 3, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    cluster.apply(CreateTopic("orders", 2, 3, configs={"min.insync.replicas": "2"}))
    cluster.close()
    return directory


def test_a_cluster_directory(capfd: Capture, made: Path, tmp_path: Path) -> None:
    assert problems(capfd, "--cluster", made) == []
    demo = shutil.copytree(made, tmp_path / "demo")
    assert run(capfd, "cluster", "kill-broker", "3", "--cluster", demo).code == 0
    assert [(place, text) for _, place, text in problems(capfd, "--cluster", demo)] == [
        ("broker 3", "is killed"),
        ("orders partitions 0-1", "under-replicated: not in sync on 3"),
    ]
    assert run(capfd, "cluster", "kill-broker", "2", "--cluster", demo).code == 0
    found = problems(capfd, "--cluster", demo)
    text = "1 in sync, fewer than min.insync.replicas=2: acks=all is refused"
    assert found[-1] == ("error", "orders partitions 0-1", text)
    assert run(capfd, "cluster", "kill-broker", "1", "--cluster", demo).code == 0
    assert any("offline" in text for _, _, text in problems(capfd, "--cluster", demo))


def test_a_cluster_directory_and_its_log_dirs_agree(capfd: Capture, demo: Path) -> None:
    paths = ",".join(map(str, sorted(demo.glob("broker-*"))))

    def of_partitions(*args: str | Path) -> list[tuple[str, str, str]]:
        return [found for found in problems(capfd, *args) if found[1].startswith(("orders", "solo"))]

    assert of_partitions("--cluster", demo) == of_partitions("--log-dirs", paths) == []
    for broker in ("2", "3"):
        assert run(capfd, "cluster", "kill-broker", broker, "--cluster", demo).code == 0
    found = of_partitions("--cluster", demo)
    assert ("error", "solo-0", "offline: none of its replicas (on 3) runs and may lead") in found
    assert of_partitions("--log-dirs", paths) == found


def test_partitions_with_one_cause_are_one_finding_and_errors_come_first(capfd: Capture, demo: Path) -> None:
    cluster = DirectoryCluster(str(demo), Files(sync=False))
    cluster.apply(*(CreateTopic(f"t{number}", 3, 3) for number in range(9)), CreateTopic("z", assignments=((3,),)))
    cluster.close()
    assert run(capfd, "cluster", "kill-broker", "3", "--cluster", demo).code == 0
    paths = ",".join(map(str, sorted(demo.glob("broker-*"))))
    rows = run(capfd, "doctor", "--log-dirs", paths, "--quick", "--output", "jsonl").rows
    found = [row for row in rows if "offline" in row["text"] or "under-replicated" in row["text"]]
    topics = ", ".join(["orders 0-1", *(f"t{number} 0-2" for number in range(7))])
    assert [(row["severity"], row["place"], row["text"]) for row in found] == [
        ("error", "2 partitions", "offline: none of its replicas (on 3) runs and may lead (solo 0, z 0)"),
        ("warning", "29 partitions", f"under-replicated: not in sync on 3 ({topics} and 2 more topics)"),
    ]
    for row in found:
        obey(row["remedy"].partition(": ")[2])


def test_lines_end_with_what_it_comes_to(capfd: Capture, made: Path, tmp_path: Path) -> None:
    done = run(capfd, "doctor", "--cluster", made)
    assert done.lines[-1] == f"No problems found in {made}."
    demo = shutil.copytree(made, tmp_path / "demo")
    (demo / "broker-1" / "x").mkdir()
    done = run(capfd, "doctor", "--cluster", demo)
    assert done.code == 1
    place = demo / "broker-1" / "x"
    assert f"ERROR    {place}: is no directory of a partition: a broker does not start beside it" in done.lines
    assert f"         -> move it out of the log dir: mv {place} /somewhere/else" in done.lines
    assert done.lines[-1] == f"Found 1 error in {demo}."


def test_without_a_cluster_the_surroundings_are_checked(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = run(capfd, "doctor", "--output", "jsonl").rows
    places = [row["place"] for row in rows]
    assert places == ["python", "kernel", "codecs", "pyarrow", "pyspark", "java", "encoding", "terminal", "config"]
    assert {row["severity"] for row in rows} <= {*map(str, Severity)}


@pytest.mark.parametrize(
    ("package", "users"), [("pyarrow", "export, sql and --engine spark"), ("pyspark", "sql and --engine spark")]
)
def test_a_package_that_is_missing_is_named_with_what_needs_it(
    monkeypatch: pytest.MonkeyPatch, package: str, users: str
) -> None:
    def version(name: str) -> str:
        if name == package:
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    assert f"not installed: needed by {users}" in [found.text for found in check_surroundings()]


def test_a_cluster_that_is_not_there(capfd: Capture, tmp_path: Path) -> None:
    (found,) = problems(capfd, "--cluster", tmp_path / "none")
    assert found[:2] == ("error", str(tmp_path / "none"))


def remedy(capfd: Capture, *args: str | Path) -> str:
    """That of the only problem."""
    rows = run(capfd, "doctor", *args, "--output", "jsonl").rows
    (found,) = (row["remedy"] for row in rows if row["severity"] in ("warning", "error") and row["place"] != "encoding")
    assert isinstance(found, str)
    return found


def obey(command: str) -> None:
    """Run a remedy in a shell, with this kafkapy."""
    kafkapy = f'kafkapy() {{ {sys.executable} -m kafkapy "$@"; }}'
    subprocess.run(f"{kafkapy}; {command}", shell=True, check=True, capture_output=True)


@pytest.fixture
def demo(made: Path, tmp_path: Path) -> Path:
    """The cluster directory, with records, to be damaged."""
    demo = Path(shutil.copytree(made, tmp_path / "demo"))
    cluster = DirectoryCluster(str(demo), Files(sync=False))
    cluster.apply(CreateTopic("solo", assignments=((3,),)))
    for partition in (TopicPartition("orders", 0), TopicPartition("solo", 0)):
        cluster.append(partition, batch(b"a", b"b"))
    cluster.close()
    return demo


def test_a_cluster_directory_is_made_where_there_is_none(capfd: Capture, tmp_path: Path) -> None:
    for _ in range(2):
        obey(remedy(capfd, "--cluster", tmp_path / "none").removeprefix("make it: "))
        assert problems(capfd, "--cluster", tmp_path / "none") == []
        shutil.rmtree(tmp_path / "none")
        (tmp_path / "none").mkdir()


@pytest.mark.parametrize("text", ["a: [", "version: 1\n", None])
def test_a_bad_cluster_file_is_written_anew(capfd: Capture, demo: Path, text: str | None) -> None:
    path = demo / "cluster.yaml"
    path.unlink() if text is None else path.write_text(text)
    obey(remedy(capfd, "--cluster", demo).partition("running: ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_a_directory_of_other_things(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert remedy(capfd, "--cluster", tmp_path).startswith("name another cluster directory")


def test_a_log_dir_that_is_gone_is_fetched_anew(capfd: Capture, demo: Path) -> None:
    shutil.rmtree(demo / "broker-2")
    obey(remedy(capfd, "--cluster", demo).partition("have: ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_a_log_dir_that_is_gone_keeps_none_from_being_checked(capfd: Capture, demo: Path, tmp_path: Path) -> None:
    shutil.rmtree(demo / "broker-3")
    (demo / "broker-1" / "orders-0" / "partition.metadata").write_text("x")
    (tmp_path / "empty").mkdir()
    paths = [f"{demo}/broker-{number}" for number in (1, 2, 3)]
    done = run(capfd, "doctor", "--log-dirs", ",".join([*paths, f"{tmp_path}/empty"]), "--output", "jsonl")
    assert done.code == 1
    found = [row for row in done.rows if row["severity"] == "error"]
    told = {row["place"]: row["text"] for row in found}
    assert told.pop(paths[2]).startswith("no such directory")
    assert "is not a log dir" in told.pop(f"{tmp_path}/empty")
    assert [*told] == [f"{paths[0]}/orders-0/partition.metadata"]
    assert not [row for row in found if paths[2] in row["remedy"]]
    assert [row["text"] for row in done.rows if row["place"] == "log dirs"] == [
        "broker 3 has no log dir here: its copies are not looked at"
    ]


def test_a_copy_is_not_missed_where_its_log_dir_is_not_there(capfd: Capture, tmp_path: Path) -> None:
    """A broker has several log dirs, and the disk of one is gone: of the copies on it nothing is known."""
    make_cluster(str(tmp_path / "demo"), 2, files=Files(sync=False), log_dirs_per_broker=2)
    cluster = DirectoryCluster(str(tmp_path / "demo"), Files(sync=False))
    cluster.apply(CreateTopic("orders", 4, 2), CreateTopic("solo", assignments=((2,), (2,))))
    cluster.close()
    paths = sorted(map(str, (tmp_path / "demo").glob("broker-*")))
    told = "not all of broker 2 are here: copies in the others are not looked at"
    for without in paths[-2:]:
        others = [path for path in paths if path != without]
        rows = run(capfd, "doctor", "--log-dirs", ",".join(others), "--output", "jsonl").rows
        assert [row["text"] for row in rows if row["place"] == "log dirs"] == [told]
        assert problems(capfd, "--log-dirs", ",".join(others)) == []
        diff = run(capfd, "replica-diff", "--all-topics", "--log-dirs", ",".join(others))
        assert diff.code == 0
        assert "broker 2 has a replica too, but its log dir is not given" in diff.out
    shutil.rmtree(paths[-1])
    assert [place for _, place, _ in problems(capfd, "--log-dirs", ",".join(paths))] == [paths[-1]]


def test_where_no_log_dir_is_there_the_default_cluster_is_not_checked(
    capfd: Capture, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKAPY_CLUSTER", str(demo))
    paths = [f"{tmp_path}/none-{number}" for number in (1, 2)]
    assert [place for _, place, _ in problems(capfd, "--log-dirs", ",".join(paths))] == paths


def test_a_log_dir_that_does_not_say_whose_it_is(capfd: Capture, demo: Path) -> None:
    (demo / "broker-2" / "meta.properties").unlink()
    (found,) = problems(capfd, "--cluster", demo)
    assert found[0] == "error"
    obey(remedy(capfd, "--cluster", demo))
    assert problems(capfd, "--cluster", demo) == []
    DirectoryCluster(str(demo), Files(sync=False)).close()


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_a_copy_that_is_gone_is_fetched_anew(capfd: Capture, demo: Path, broker: int) -> None:
    shutil.rmtree(demo / f"broker-{broker}" / "orders-0")
    rows = run(capfd, "doctor", "--cluster", demo, "--output", "jsonl").rows
    (found,) = (row["remedy"] for row in rows if row["place"] == "orders-0")
    obey(found.partition("anew: ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_a_lone_copy_that_was_set_aside_is_put_back(capfd: Capture, demo: Path) -> None:
    home = demo / "broker-3" / "solo-0"
    aside = home.rename(home.with_name(f"solo-0.{'a' * 32}-stray"))
    done = run(capfd, "replica-diff", "solo:0", "--cluster", demo)
    assert done.code == 1
    assert done.err.endswith("according to the metadata there should be one: kafkapy doctor explains what to do\n")
    found = remedies(capfd, demo)["solo-0"]
    assert found == f"put back the copy that has its records: mv {aside} {home}"
    obey(found.partition(": ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_remedies_quote_what_they_name(capfd: Capture, demo: Path) -> None:
    demo = demo.rename(demo.with_name("it's a demo"))
    home = demo / "broker-3" / "solo-0"
    home.rename(home.with_name(f"solo-0.{'a' * 32}-stray"))
    shutil.copytree(demo / "broker-1" / "__cluster_metadata-0", demo / "broker-2" / "nosuch-0")
    (demo / "broker-1" / "lost+found").mkdir()
    (demo / "broker-1" / f"old-0.{'b' * 32}-delete").mkdir()
    (demo / "broker-2" / "log-start-offset-checkpoint").write_text("x")
    found = remedies(capfd, demo)
    obey(found["solo-0"].partition(": ")[2])
    obey(found[str(demo / "broker-2" / "nosuch-0")].partition("then: ")[2])
    obey(found[str(demo / "broker-1" / f"old-0.{'b' * 32}-delete")].partition("without one: ")[2])
    obey(found[str(demo / "broker-2" / "log-start-offset-checkpoint")].partition("logs: ")[2])
    obey(found[str(demo / "broker-1" / "lost+found")].partition(": ")[2].replace("/somewhere/else", str(demo.parent)))
    assert problems(capfd, "--cluster", demo) == []


def test_a_repair_plan_quotes_what_it_names(capfd: Capture, demo: Path) -> None:
    demo = demo.rename(demo.with_name("it's a demo"))
    shutil.rmtree(max(demo.glob("broker-*/orders-0")))
    lines = run(capfd, "replica-diff", "orders:0", "--cluster", demo, "--repair-plan").lines
    (remedy,) = (command for line in lines if (command := line.partition("anew: ")[2]))
    obey(remedy)
    assert problems(capfd, "--cluster", demo) == []


def test_an_address_that_is_none_is_named_as_it_was_given(capfd: Capture) -> None:
    for address in ("it's:9", "localhost:1, localhost:2"):
        done = run(capfd, "doctor", "--bootstrap-server", address)
        assert (done.code, done.err) == (1, "")
        assert done.lines[-1].endswith(f" in {address}.")


def test_a_topic_that_the_metadata_has_lost_is_not_advised_to_be_removed_at_once(capfd: Capture, demo: Path) -> None:
    """The metadata log was cut between two batches: nothing but the directories tells."""
    stray = Path(shutil.copytree(demo / "broker-3" / "solo-0", demo / "broker-2" / "nosuch-0"))
    found = remedies(capfd, demo)[str(stray)]
    assert found.startswith("keep it if nobody deleted it: then the metadata log has lost its end")
    assert found.endswith(f"then: rm -r {stray}")


def test_resetting_offsets_tells_what_a_log_has_lost(capfd: Capture, demo: Path) -> None:
    os.truncate(demo / "broker-3" / "solo-0" / f"{FIRST}.log", 0)
    options = ["--group", "new", "--topic", "solo", "--to-latest", "--dry-run", "--cluster", demo]
    done = run(capfd, "consumer-groups", "--reset-offsets", *options)
    assert done.code == 1
    assert "solo-0: " in done.out
    assert "its end and lag are not known" in done.out


def test_one_line_tells_that_a_lost_partition_takes_nothing(demo: Path) -> None:
    shutil.rmtree(demo / "broker-3" / "solo-0")
    produce = [sys.executable, "-m", "kafkapy", "console-producer", "--topic", "solo", "--cluster", str(demo)]
    done = subprocess.run(produce, input="a\nb\n", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error when sending 2 messages to topic solo: KafkaStorageException: every copy of solo-0")


def partition_remedies(capfd: Capture, *args: str | Path) -> dict[str, str]:
    """What to do about the partitions that are not in sync, by what is wrong with them."""
    rows = run(capfd, "doctor", *args, "--output", "jsonl").rows
    return {row["text"]: row["remedy"] for row in rows if "in sync" in row["text"] and row["remedy"]}


def test_only_brokers_that_are_down_are_to_be_started(capfd: Capture, made: Path, tmp_path: Path) -> None:
    demo = shutil.copytree(made, tmp_path / "demo")
    paths = ",".join(map(str, sorted(demo.glob("broker-*"))))
    replicate = f"kafkapy cluster replicate --until-caught-up --cluster {demo}"
    assert run(capfd, "cluster", "kill-broker", "2", "3", "--cluster", demo).code == 0
    text = "1 in sync, fewer than min.insync.replicas=2: acks=all is refused"
    start = f"kafkapy cluster start-broker 2 3 --cluster {demo}; {replicate}"
    assert partition_remedies(capfd, "--cluster", demo) == {text: start}
    (told,) = partition_remedies(capfd, "--log-dirs", paths).values()
    assert told.startswith("start brokers 2, 3 if they are down; what is there: kafkapy topics ")
    assert run(capfd, "cluster", "start-broker", "2", "--cluster", demo).code == 0
    start = f"kafkapy cluster start-broker 3 --cluster {demo}; {replicate}"
    assert partition_remedies(capfd, "--cluster", demo) == {text: start}
    assert run(capfd, "cluster", "start-broker", "3", "--cluster", demo).code == 0
    assert partition_remedies(capfd, "--cluster", demo) == {text: replicate}
    obey(replicate)
    assert problems(capfd, "--cluster", demo) == []


def test_the_last_in_sync_replica_is_to_be_started_where_it_stays_in_the_isr(capfd: Capture, tmp_path: Path) -> None:
    where = ("--cluster", tmp_path / "old")
    features = ("--feature", "eligible.leader.replicas.version=0")
    assert run(capfd, "storage", "format", *where, "--brokers", "2", *features).code == 0
    assert run(capfd, "topics", "--create", "--topic", "t", "--replica-assignment", "2", *where).code == 0
    assert run(capfd, "cluster", "kill-broker", "2", *where).code == 0
    rows = run(capfd, "doctor", *where, "--output", "jsonl").rows
    (told,) = [row["remedy"] for row in rows if "offline" in row["text"]]
    assert told.startswith(f"kafkapy cluster start-broker 2 --cluster {tmp_path / 'old'}; ")
    obey(told)
    assert problems(capfd, *where) == []


def test_a_broker_that_lags_is_to_be_started(capfd: Capture, demo: Path) -> None:
    assert run(capfd, "cluster", "lag-broker", "2", "--cluster", demo).code == 0
    cluster = DirectoryCluster(str(demo), Files(sync=False))
    for number in (0, 1):
        cluster.append(TopicPartition("orders", number), batch(b"c"), acks=1)
    cluster.close()
    assert run(capfd, "cluster", "advance", "--ms", "40000", "--cluster", demo).code == 0
    (told,) = partition_remedies(capfd, "--cluster", demo).values()
    assert told.startswith(f"kafkapy cluster start-broker 2 --cluster {demo}; ")
    obey(told)
    assert problems(capfd, "--cluster", demo) == []


def test_a_replica_that_is_not_in_sync_may_lag(capfd: Capture, demo: Path) -> None:
    assert run(capfd, "cluster", "kill-broker", "3", "--cluster", demo).code == 0
    cluster = DirectoryCluster(str(demo), Files(sync=False))
    cluster.append(TopicPartition("orders", 0), batch(b"c"))
    cluster.close()
    found = [each for each in problems(capfd, "--cluster", demo) if "orders" in each[1]]
    assert found == [("warning", "orders partitions 0-1", "under-replicated: not in sync on 3")]


def test_leaders_that_are_not_the_preferred_ones_are_worth_knowing(capfd: Capture, demo: Path) -> None:
    def told() -> list[dict[str, Any]]:
        rows = run(capfd, "doctor", "--quick", "--cluster", demo, "--output", "jsonl").rows
        return [row for row in rows if row["place"] == "leaders"]

    assert told() == []
    assert run(capfd, "cluster", "kill-broker", "3", "2", "1", "--cluster", demo).code == 0
    assert run(capfd, "cluster", "start-broker", "1", "2", "3", "--cluster", demo).code == 0
    assert told() == [], "who is not in sync cannot lead"
    assert run(capfd, "cluster", "replicate", "--until-caught-up", "--cluster", demo).code == 0
    rows = [
        row for row in run(capfd, "topics", "--describe", "--cluster", demo, "--output", "jsonl").rows if "isr" in row
    ]
    others = sum(row["leader"] not in (None, row["replicas"][0]) for row in rows)
    assert others
    (found,) = told()
    assert found["severity"] == "info"
    assert found["text"] == (
        f"the preferred replica of {others} partition{'s' if others > 1 else ''} is in sync and does not lead; "
        "broker 1 leads 2 of 3"
    )
    assert problems(capfd, "--cluster", demo) == []
    obey(found["remedy"])
    assert told() == []


def test_a_partition_without_any_copy(capfd: Capture, demo: Path) -> None:
    home = demo / "broker-3" / "solo-0"
    shutil.rmtree(home)
    assert ("error", "solo-0", "broker 3 should have a copy, and its log dirs have none") in problems(
        capfd, "--cluster", demo
    )
    found = remedies(capfd, demo)["solo-0"]
    assert found.startswith(f"no copy has its records: put one back from a backup as {home}, or")
    obey(found.partition("accept the loss: ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_the_only_copy_lies_with_another_broker(capfd: Capture, demo: Path) -> None:
    home, stray = demo / "broker-3" / "solo-0", demo / "broker-2" / "solo-0"
    before = (home / f"{FIRST}.log").read_bytes()
    home.rename(stray)
    found = remedies(capfd, demo)
    assert found["solo-0"] == f"put back the copy that has its records: mv {stray} {home}"
    assert found[str(stray)] == f"it has what no replica has, put it back: mv {stray} {home}"
    done = run(capfd, "replica-diff", "solo", "--cluster", demo, "--repair-plan")
    assert done.code == 1
    assert [line.partition(": mv ")[2] for line in done.lines if "plan for" in line] == [f"{stray} {home}"] * 2
    obey(f"mv {stray} {home}")
    assert problems(capfd, "--cluster", demo) == []
    assert (home / f"{FIRST}.log").read_bytes() == before


def test_the_only_copy_was_set_aside(capfd: Capture, demo: Path) -> None:
    home, stray = demo / "broker-3" / "solo-0", demo / "broker-2" / "solo-0.abc-stray"
    home.rename(stray)
    found = remedies(capfd, demo)
    assert found["solo-0"] == f"put back the copy that has its records: mv {stray} {home}"
    assert found[str(stray)].startswith("keep it, no replica of it is there")
    obey(f"mv {stray} {home}")
    assert problems(capfd, "--cluster", demo) == []


def test_a_stray_copy_of_a_former_topic_is_not_put_back(capfd: Capture, demo: Path) -> None:
    home, stray = demo / "broker-3" / "solo-0", demo / "broker-2" / "solo-0"
    home.rename(stray)
    (stray / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABQ\n")
    found = remedies(capfd, demo)
    assert found["solo-0"].startswith("no copy has its records: put one back from a backup")
    assert found[str(stray)].endswith(f"then: rm -r {stray}")


def remedies(capfd: Capture, demo: Path) -> dict[str, str]:
    rows = run(capfd, "doctor", "--cluster", demo, "--output", "jsonl").rows
    return {row["place"]: row["remedy"] for row in rows}


def test_every_copy_has_lost_its_records(capfd: Capture, demo: Path) -> None:
    for log in demo.glob(f"broker-*/orders-0/{FIRST}.log"):
        os.truncate(log, 0)
    plan = run(capfd, "replica-diff", "orders:0", "--cluster", demo, "--repair-plan").lines
    first, *others = (line for line in plan if "plan for" in line)
    assert first.endswith("no copy has them, put one back from a backup before the next write")
    assert others
    assert all("does not have them either" in line for line in others)


def test_replica_diff_fails_where_a_copy_is_missing(capfd: Capture, demo: Path) -> None:
    assert run(capfd, "replica-diff", "orders:0", "--cluster", demo).code == 0
    gone = DirectoryReader(str(demo)).image().topics["orders"].partitions[0].leader
    shutil.rmtree(demo / f"broker-{gone}" / "orders-0")
    done = run(capfd, "replica-diff", "orders:0", "--cluster", demo)
    assert done.code == 1
    assert done.lines[-1] == f"  broker {gone} should have a copy, and its log dirs have none"


@pytest.mark.parametrize("name", ["nosuch-0", "orders-7", "solo-0"])
def test_a_stray_copy_goes(capfd: Capture, demo: Path, name: str) -> None:
    stray = Path(shutil.copytree(demo / "broker-3" / "solo-0", demo / "broker-2" / name))
    (found,) = problems(capfd, "--cluster", demo)
    assert found == ("warning", str(stray), "is stray: the metadata has no replica of it on broker 2")
    plan = run(capfd, "replica-diff", name.replace("-", ":"), "--cluster", demo, "--repair-plan").lines
    told = [line for line in plan if "plan for broker 2: it is stray" in line]
    assert len(told) == 1
    assert told[0].endswith(f"rm -r {stray}")
    obey(remedy(capfd, "--cluster", demo).partition("then: ")[2])
    assert problems(capfd, "--cluster", demo) == []


def test_a_damaged_leader_is_fetched_anew_by_its_plan(capfd: Capture, demo: Path) -> None:
    leader = DirectoryReader(str(demo)).image().topics["orders"].partitions[0].leader
    flip(demo / f"broker-{leader}" / "orders-0" / f"{FIRST}.log", 70)
    plan = run(capfd, "replica-diff", "orders:0", "--cluster", demo, "--repair-plan").lines
    (told,) = (line for line in plan if f"plan for broker {leader}: " in line)
    obey(told[told.index("kafkapy cluster stop-broker") :])
    assert problems(capfd, "--cluster", demo) == []
    assert replica_logs(demo, TopicPartition("orders", 0)) != {b""}


def test_files_that_may_not_be_read_are_findings(capfd: Capture, demo: Path) -> None:
    """Root may read everything, so it becomes somebody else meanwhile, who has to reach the directory: not below that
    of pytest, which every pytest that starts closes to others."""
    with TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        copy = Path(shutil.copytree(demo, Path(scratch) / "demo"))
        copy.chmod(0o755)
        problems(capfd, "--cluster", copy)  # so that all modules are loaded
        closed = [copy / "broker-1" / "orders-0" / f"{FIRST}.log", copy / "broker-2" / "orders-1"]
        closed += [copy / "broker-3" / "replication-offset-checkpoint", copy / "broker-3" / "meta.properties"]
        modes = {path: path.stat().st_mode for path in closed}
        is_root = os.geteuid() == 0
        try:
            for path in closed:
                path.chmod(0)
            if is_root:
                os.seteuid(65534)
            found = {place: text for _, place, text in problems(capfd, "--cluster", copy)}
        finally:
            if is_root:
                os.seteuid(0)
            for path, mode in modes.items():
                path.chmod(mode)
        assert {found[str(path)] for path in closed} == {"cannot be read: Permission denied"}


def test_a_disk_that_is_full_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def disk(total: int, free: int) -> list[str]:
        sizes = os.statvfs_result((1, 1, total, free, free, 0, 0, 0, 0, 255))
        monkeypatch.setattr(os, "statvfs", lambda _: sizes)
        return [
            f"{found.severity}: {found.text}" for found in check_disks([str(tmp_path), str(tmp_path)], "--cluster c")
        ]

    assert disk(1 << 40, 1 << 36) == []
    assert disk(1 << 40, 1 << 31) == []
    assert disk(1 << 40, 1 << 29) == ["warning: its disk has 0.0% left, 536870912 bytes"]
    assert disk(3 << 20, 100) == ["error: its disk is full: 100 of 3145728 bytes are free"]


def test_an_address_where_nobody_listens(capfd: Capture) -> None:
    (found,) = problems(capfd, "--bootstrap-server", "127.0.0.1:1")
    assert found == ("error", "127.0.0.1:1", "broker 127.0.0.1:1 cannot be reached: connection refused")


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        (AuthenticationFailed("broker b:9092 speaks PLAINTEXT, not SSL"), "put the client's settings right"),
        (KafkaError("ClusterAuthorizationException", "Cluster authorization failed."), "give the user that right"),
        (ConnectionLost("broker b:9092 cannot be reached"), "name another broker"),
    ],
)
def test_a_running_cluster_that_does_not_answer_has_the_remedy_of_its_error(problem: Exception, remedy: str) -> None:
    chosen = Selection(bootstrap_server="b:9092")
    assert why_closed(chosen, "--bootstrap-server b:9092", problem).remedy.startswith(remedy)


def test_the_config_file_is_checked(capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config.yaml"
    monkeypatch.setenv("KAFKAPY_CONFIG", str(config))
    config.write_text("contexts:\n  a:\n    cluster: x\n")
    config.chmod(0o644)
    assert problems(capfd) == [("warning", "config", f"{config} can be read by others")]
    config.chmod(0o600)
    assert problems(capfd) == []


@contextmanager
def in_use(log_dir: Path) -> Iterator[int]:
    """Another process holds a log dir, as a broker that runs does; its id."""
    reading, writing = os.pipe()
    ending, gate = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(gate)
        lock = LogDirLock(str(log_dir))
        os.write(writing, b"x")
        os.read(ending, 1)
        lock.release()
        os._exit(0)
    os.read(reading, 1)
    try:
        yield child
    finally:
        os.close(gate)
        os.waitpid(child, 0)
        for each in (reading, writing, ending):
            os.close(each)


def test_who_holds_a_log_dir_is_asked_without_a_lock(tmp_path: Path) -> None:
    assert holder_of(str(tmp_path)) is None
    (tmp_path / ".lock").write_bytes(b"")
    assert holder_of(str(tmp_path)) is None
    with in_use(tmp_path) as holder:
        assert f"process {holder}" in (holder_of(str(tmp_path)) or "")


def test_nothing_is_removed_under_a_running_broker(capfd: Capture, one: Path) -> None:
    broker = one / "broker-1"
    for name in ("old-0.abc-delete", "old-1.abc-stray", "lost+found"):
        (broker / name).mkdir()
    shutil.copytree(broker / "rolled-0", broker / "rolled-0.abc-future")
    (broker / "cleaner-offset-checkpoint").write_text("0\n1\nold 0 1\n")
    paths = ",".join(map(str, sorted(one.glob("broker-*"))))
    with in_use(broker):
        rows = run(capfd, "doctor", "--log-dirs", paths, "--quick", "--output", "jsonl").rows
    found = {Path(row["place"]).name: row["remedy"] for row in rows if row["severity"] in ("warning", "error")}
    found.pop("encoding", None)
    assert found == {
        "lost+found": "move it out of the log dir before the broker starts the next time",
        "old-1.abc-stray": f"see what is in it with kafkapy dump-log --files {broker}/old-1.abc-stray, then: "
        "remove it once the broker is stopped",
    }


@pytest.mark.parametrize("is_held", [False, True])
def test_a_stray_copy_stays_while_its_log_dir_is_in_use(capfd: Capture, demo: Path, is_held: bool) -> None:
    stray = Path(shutil.copytree(demo / "broker-3" / "solo-0", demo / "broker-2" / "nosuch-0"))
    with in_use(demo / "broker-2") if is_held else nullcontext():
        told = remedy(capfd, "--cluster", demo)
        (plan,) = run(capfd, "replica-diff", "nosuch", "--cluster", demo, "--repair-plan").lines[-1:]
    assert (f"rm -r {stray}" in told) is not is_held
    assert plan.endswith(told)


@pytest.mark.parametrize(
    ("running", "first"),
    [
        ((3,), "start the other brokers, too (1, 2), or stop broker 3 first, then: "),
        ((1, 2, 3), "the brokers that run may mend it, or stop brokers 1, 2, 3 first, then: "),
    ],
)
def test_nothing_is_written_beside_a_broker_that_runs(
    capfd: Capture, demo: Path, running: tuple[int, ...], first: str
) -> None:
    def told() -> dict[str, str]:
        rows = run(capfd, "doctor", "--cluster", demo, "--output", "jsonl").rows
        return {row["place"]: row["remedy"] for row in rows if row["severity"] == "warning"}

    assert run(capfd, "cluster", "kill-broker", "2", "--cluster", demo).code == 0
    before = told()
    with ExitStack() as used:
        for broker in running:
            used.enter_context(in_use(demo / f"broker-{broker}"))
        beside = told()
    start = f"kafkapy cluster start-broker 2 --cluster {demo}"
    assert before["broker 2"] == start
    assert beside["broker 2"] == f"{first}{start}"
    partitions = "orders partitions 0-1"
    assert before[partitions] == f"{start}; kafkapy cluster replicate --until-caught-up --cluster {demo}"
    assert beside[partitions] == f"{first}{before[partitions]}"


def test_texts_are_wrapped_and_commands_are_not() -> None:
    found = Finding(Severity.ERROR, "some/place", "is wrong in many words " * 3, "rm -r " + "x" * 90)
    lines = ["".join(text for text, _ in line) for line in finding_lines([found], 40)]
    assert lines[0].startswith("ERROR    some/place: is wrong")
    assert all(len(line) <= 40 for line in lines[:-1])
    assert all(line.startswith("         ") for line in lines[1:])
    assert lines[-1] == "         -> rm -r " + "x" * 90


def test_partitions_are_named_in_ranges() -> None:
    assert _place("t", [3]) == "t-3"
    assert _place("t", [0, 1, 2, 5, 7, 8]) == "t partitions 0-2,5,7-8"
