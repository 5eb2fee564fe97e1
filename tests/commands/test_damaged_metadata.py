"""A metadata log that is damaged before its end: told by who reads, cut by nobody."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import run

TOPICS = ("a", "b", "c", "d")
Capture = pytest.CaptureFixture[str]
Damage = Callable[[bytes], bytes]


def flipped(log: bytes) -> bytes:
    """One byte in the middle: whole batches follow."""
    return log[: len(log) // 2] + bytes([log[len(log) // 2] ^ 0xFF]) + log[len(log) // 2 + 1 :]


def flipped_late(log: bytes) -> bytes:
    """One byte among the topics."""
    return log[:-300] + bytes([log[-300] ^ 0xFF]) + log[-299:]


def emptied(_: bytes) -> bytes:
    return b""


@pytest.fixture(scope="module", params=[1, 3], ids=["one broker", "three brokers"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("damaged") / "cluster"
    make_cluster(str(directory), request.param, files=Files(sync=False))
    opened = DirectoryCluster(str(directory), Files(sync=False))
    for topic in TOPICS:
        opened.apply(CreateTopic(topic, 1, request.param))
    opened.close()
    return directory


@pytest.fixture
def cluster(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "cluster"))


def logs(cluster: Path) -> list[Path]:
    return sorted(cluster.glob("broker-*/__cluster_metadata-0/*.log"))


def contents(cluster: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in cluster.rglob("*") if path.name != ".lock"}


def advice(capfd: Capture, cluster: Path) -> str:
    """What the doctor says about the metadata log, to whom a command that writes sends on."""
    refused = run(capfd, "topics", "--create", "--topic", "e", "--cluster", cluster)
    assert refused.code == 1
    what, next_step = refused.err.splitlines()
    assert what.endswith("; nothing is written")
    assert next_step.startswith(f"kafkapy: 'kafkapy doctor --cluster {cluster}' explains what to do; ")
    place = what.removeprefix("kafkapy: ").partition(": damaged at byte ")[0]
    found = run(capfd, "doctor", "--cluster", cluster, "--output", "jsonl")
    (remedy,) = [row["remedy"] for row in map(json.loads, found.lines) if row["place"] == place]
    return str(remedy)


def damage_all(cluster: Path, damage: Damage) -> None:
    for log in logs(cluster):
        log.write_bytes(damage(log.read_bytes()))


@pytest.mark.parametrize("damage", [flipped, emptied])
@pytest.mark.parametrize("kind", ["--cluster", "--log-dirs"])
def test_readers_tell_file_and_byte(capfd: Capture, cluster: Path, damage: Damage, kind: str) -> None:
    damage_all(cluster, damage)
    where = str(cluster) if kind == "--cluster" else ",".join(map(str, sorted(cluster.glob("broker-*"))))
    for command in (["topics", "--list"], ["topics", "--describe"], ["topics", "--describe", "--topic", "d"]):
        done = run(capfd, *command, kind, where)
        assert done.code == 1
        assert f"{logs(cluster)[0]}: damaged at byte " in done.err
        assert done.err.count("\n") == 1
    consumed = run(capfd, "console-consumer", "--topic", "d", "--timeout-ms", "1", kind, where)
    assert consumed.code == 1
    assert "damaged at byte" in consumed.err


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["features", "describe"], "metadata.version"),
        (["metadata-quorum", "describe", "--status"], "ClusterId: "),
        (["metadata-quorum", "describe", "--replication"], "LogEndOffset"),
        (["metadata-shell", "ls", "image/topics/byName"], "a"),
        (["maintenance", "--dry-run", "--snapshot"], ""),
        (["lag"], ""),
        (["lag", "--interval", "10ms"], ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_every_reader_shows_what_is_left(capfd: Capture, cluster: Path, command: list[str], shown: str) -> None:
    damage_all(cluster, flipped_late)
    done = run(capfd, *command, "--cluster", str(cluster))
    assert done.code == 1
    assert shown in done.out
    assert f"{logs(cluster)[0]}: damaged at byte " in done.err
    assert done.err.endswith("what changed after that is unknown here: kafkapy doctor explains what to do\n")


def test_damage_before_the_last_segment_is_told_behind_what_is_left(capfd: Capture, cluster: Path) -> None:
    for log in logs(cluster):
        log.with_name("00000000000000000999.log").write_bytes(b"")
        log.write_bytes(log.read_bytes()[:-20])
    first, *_ = logs(cluster)
    done = run(capfd, "topics", "--list", "--cluster", str(cluster))
    assert (done.code, done.out.split()) == (1, ["a", "b", "c"])
    assert f"{first}: damaged at byte " in done.err
    assert "torn or damaged, and segments follow" in done.err
    told = advice(capfd, cluster)
    assert f"; rm {first.with_name('00000000000000000999.log')}" in told
    size = int(told.partition(" to give that up: truncate -s ")[2].split()[0])
    first.write_bytes(first.read_bytes()[:size])
    first.with_name("00000000000000000999.log").unlink()
    assert run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster)).code == 0


def test_what_the_directories_are_named_is_shown_where_no_record_is_left(capfd: Capture, cluster: Path) -> None:
    damage_all(cluster, emptied)
    done = run(capfd, "topics", "--list", "--cluster", str(cluster))
    assert (done.code, done.out.split()) == (1, [*TOPICS])


@pytest.mark.parametrize("damage", [flipped, emptied])
def test_writers_refuse_and_change_nothing(capfd: Capture, cluster: Path, damage: Damage) -> None:
    damage_all(cluster, damage)
    before = contents(cluster)
    done = run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster))
    assert done.code == 1
    assert done.err.startswith(f"kafkapy: {logs(cluster)[0]}: damaged at byte ")
    assert len(done.err.splitlines()[0]) < len(str(logs(cluster)[0])) + 150
    assert f"put {logs(cluster)[0]} back from a backup or from another broker" in advice(capfd, cluster)
    assert contents(cluster) == before


def test_what_is_behind_the_damage_can_be_given_up_on_purpose(capfd: Capture, cluster: Path) -> None:
    damage_all(cluster, flipped_late)
    for log in logs(cluster):
        size = int(advice(capfd, cluster).partition(" to give that up: truncate -s ")[2].split()[0])
        log.write_bytes(log.read_bytes()[:size])
    done = run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster))
    assert done.code == 0
    assert {"a", "e"} <= {*run(capfd, "topics", "--list", "--cluster", str(cluster)).out.split()}


def test_a_whole_copy_of_another_broker_is_used(capfd: Capture, cluster: Path) -> None:
    whole = {log: log.read_bytes() for log in logs(cluster)}
    for log in logs(cluster)[:-1]:
        log.write_bytes(flipped(log.read_bytes()))
    done = run(capfd, "topics", "--list", "--cluster", str(cluster))
    assert (done.code, done.out.split(), done.err) == (0, [*TOPICS], "")
    assert run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster)).code == 0
    assert all(log.read_bytes().startswith(data) for log, data in whole.items())


def test_the_copy_of_a_broker_that_does_not_run_is_as_good(capfd: Capture, cluster: Path) -> None:
    if len(logs(cluster)) == 1:
        pytest.skip("there is no other broker")
    assert run(capfd, "cluster", "stop-broker", "3", "--cluster", cluster).code == 0
    for log in logs(cluster)[:-1]:
        log.write_bytes(flipped(log.read_bytes()))
    done = run(capfd, "topics", "--list", "--cluster", cluster)
    assert (done.code, done.out.split(), done.err) == (0, [*TOPICS], "")


@pytest.mark.parametrize(
    "damage", [flipped, flipped_late, emptied, lambda log: log[:-2000] + bytes(1000) + log[-1000:]]
)
def test_the_doctor_tells_of_damage_once(capfd: Capture, cluster: Path, damage: Damage) -> None:
    damage_all(cluster, damage)
    place = logs(cluster)[0]
    done = run(capfd, "doctor", "--cluster", str(cluster), "--output", "jsonl", "--columns", "place,remedy")
    told = [line for line in done.lines if f'"{place}' in line or f'"{place.parent}"' in line]
    assert len(told) == 1
    assert f"put {place} back from a backup" in told[0]
    assert "is in none of the log dirs" not in done.out


def test_the_doctor_removes_nothing_by_damaged_metadata(capfd: Capture, cluster: Path) -> None:
    stray = next(cluster.glob("broker-1/a-0")).rename(cluster / "broker-1" / f"a-0.{'0' * 32}-stray")
    damage_all(cluster, flipped_late)
    done = run(capfd, "doctor", "--cluster", str(cluster))
    assert done.code == 1
    assert "rm -r" not in done.out
    assert "keep it until the metadata log is whole" in done.out
    assert str(stray) in done.out
    assert "truncate -s " in done.out


def test_an_end_before_the_leader_epochs_is_told(capfd: Capture, cluster: Path) -> None:
    """The log was cut between two batches: of its bytes none is wrong."""
    log_epochs = "leader-epoch-checkpoint"
    for log in logs(cluster):
        log.with_name("leader-epoch-checkpoint").write_text("0\n1\n7 900\n")
    done = run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster))
    assert done.code == 1
    assert "leader-epoch-checkpoint says that it went to 900" in done.err
    for log in logs(cluster):
        assert advice(capfd, cluster).endswith(f"to give up what is missing: rm {log.with_name(log_epochs)}")
        log.with_name("leader-epoch-checkpoint").unlink()
    assert run(capfd, "topics", "--create", "--topic", "e", "--cluster", str(cluster)).code == 0


def first_batch(log: bytes) -> bytes:
    """That of the first controller, which has no record of the cluster."""
    return log[: 12 + int.from_bytes(log[8:12], "big")]


def flipped_second(log: bytes) -> bytes:
    """One byte of the batch that has all brokers."""
    at = len(first_batch(log)) + 100
    return log[:at] + bytes([log[at] ^ 0xFF]) + log[at + 1 :]


@pytest.mark.parametrize("damage", [first_batch, flipped_second])
def test_what_would_leave_no_record_is_not_advised(capfd: Capture, cluster: Path, damage: Damage) -> None:
    """It would lead to the next refusal: a log without records beside partitions."""
    damage_all(cluster, damage)
    for log in logs(cluster):
        log.with_name("leader-epoch-checkpoint").write_text("0\n1\n7 900\n")
    first = logs(cluster)[0]
    assert advice(capfd, cluster) == (
        f"put {first} back from a backup or from another broker: no record is left before the damage"
    )
    for log in logs(cluster):
        log.write_bytes(first_batch(log.read_bytes()))
        log.with_name("leader-epoch-checkpoint").unlink()
    done = run(capfd, "topics", "--create", "--topic", "e", "--cluster", cluster)
    assert "it has no records, and there are partitions beside it" in done.err


def test_the_doctor_tells_of_what_only_a_stopped_broker_shows(capfd: Capture, cluster: Path) -> None:
    if len(logs(cluster)) == 1:
        pytest.skip("there is no other broker")
    assert run(capfd, "cluster", "stop-broker", "3", "--cluster", cluster).code == 0
    *others, last = logs(cluster)
    whole = last.read_bytes()
    for log in others:
        log.write_bytes(first_batch(whole) + second_batch(whole))
    last.write_bytes(flipped(whole))
    told = advice(capfd, cluster)
    assert f"put {last} back" in told
    subprocess.run(told.partition(" to give that up: ")[2].split(), check=True)
    assert run(capfd, "topics", "--create", "--topic", "e", "--cluster", cluster).code == 0


def second_batch(log: bytes) -> bytes:
    return first_batch(log[len(first_batch(log)) :])
