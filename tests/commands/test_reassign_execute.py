"""reassign-partitions --execute, --verify, --cancel, --list: Kafka's lines, and the way back."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import stop_broker
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from kafkapy.metadata.image import BROKER, TOPIC, MetadataImage
from tests.commands.running import Done, dirs, printed, run

Capture = pytest.CaptureFixture[str]
FILE = "--reassignment-json-file"
MOVING = {("moving", 0): [3, 2], ("moving", 1): [2, 3]}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three brokers; ``moving`` lies on the first two, as in the golden set."""
    path = tmp_path / "cluster"
    make_cluster(str(path), 3, files=Files(sync=False))
    fill(path)
    return path


def fill(path: Path) -> None:
    cluster = DirectoryCluster(str(path), Files(sync=False))
    cluster.apply(CreateTopic("moving", assignments=((1, 2), (2, 1))), CreateTopic("still", assignments=((1, 3),)))
    for partition in (0, 1):
        for number in range(5):
            cluster.append(
                TopicPartition("moving", partition), encode_batch([Record(0, number, None, b"v%d" % number)])
            )
    cluster.close()


def write(path: Path, replicas: dict[tuple[str, int], list[int]], log_dirs: Any = None) -> Path:
    entries: list[dict[str, Any]] = [{"topic": t, "partition": p, "replicas": r} for (t, p), r in replicas.items()]
    for entry in entries if log_dirs else []:
        entry["log_dirs"] = [str(log_dirs(broker)) for broker in entry["replicas"]]
    path.write_text(json.dumps({"version": 1, "partitions": entries}))
    return path


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path / "plan.json", MOVING)


def reassign(capfd: Capture, cluster: Path, *args: str | Path) -> Done:
    return run(capfd, "reassign-partitions", "--cluster", cluster, *args)


def image(directory: Path) -> MetadataImage:
    return LogDirsCluster(*map(str, sorted(directory.glob("broker-*")))).image()


def replicas(directory: Path) -> list[tuple[int, ...]]:
    return [each.replicas for each in image(directory).topics["moving"].partitions.values()]


# ---- Kafka's lines


def test_the_lines_are_kafkas(capfd: Capture, golden: Path, directory: Path, plan: Path) -> None:
    def lines(*args: str | Path) -> list[str]:
        done = reassign(capfd, directory, *args)
        assert done.code == 0
        return done.out.replace(f"{directory}/", "").splitlines()

    assert lines("--execute", FILE, plan, "--throttle", "10000000") == printed(golden, "reassign-execute")
    assert lines("--list") == printed(golden, "reassign-list")
    assert lines("--verify", FILE, plan) == printed(golden, "reassign-verify")
    assert lines("--cancel", FILE, plan) == printed(golden, "reassign-cancel-bad")
    assert reassign(capfd, directory, "--cancel", FILE, plan, "--preserve-throttles").out == (
        "None of the specified partition reassignments are active.\nNone of the specified partition moves are active."
    )


def test_started_and_no_more(capfd: Capture, directory: Path, plan: Path) -> None:
    started = reassign(capfd, directory, "--execute", FILE, plan, "--no-wait")
    assert started.lines[-1] == "Successfully started partition reassignments for moving-0,moving-1"
    assert reassign(capfd, directory, "--list").lines == [
        "Current partition reassignments:",
        "moving-0: replicas: 3,2,1. adding: 3. removing: 1.",
        "moving-1: replicas: 2,3,1. adding: 3. removing: 1.",
    ]
    assert reassign(capfd, directory, "--verify", FILE, plan).lines == [
        "Status of partition reassignment:",
        "Reassignment of partition moving-0 is still in progress.",
        "Reassignment of partition moving-1 is still in progress.",
        "",
    ]
    rows = reassign(capfd, directory, "--verify", FILE, plan, "--output", "jsonl").rows
    assert [(row["state"], row["adding"], row["isr"], row["offset_lag"]) for row in rows] == [
        ("in progress", [3], [1, 2], 5),
        ("in progress", [3], [2, 1], 5),
    ]
    cancelled = reassign(capfd, directory, "--cancel", FILE, plan)
    assert cancelled.lines[0] == "Successfully cancelled partition reassignments for: moving-0,moving-1"
    assert reassign(capfd, directory, "--verify", FILE, plan).lines[1] == (
        "There is no active reassignment of partition moving-0, but replica set is 2,1 rather than 3,2."
    )
    assert not list(directory.glob("broker-3/moving-*"))


def test_the_same_plan_goes_on_another_is_refused(capfd: Capture, directory: Path, plan: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", {("still", 0): [2, 3]})
    reassign(capfd, directory, "--execute", FILE, plan, "--no-wait")
    refused = reassign(capfd, directory, "--execute", FILE, other)
    assert refused.code == 1
    assert refused.out.startswith("Cannot execute because there is an existing partition assignment.  Use --additional")
    assert not (tmp_path / "other.rollback.json").exists()
    assert reassign(capfd, directory, "--execute", FILE, other, "--additional").code == 0
    again = reassign(capfd, directory, "--execute", FILE, plan)
    assert again.code == 0
    assert "kafkapy: the way back is already there, from when this plan was started" in again.err
    assert replicas(directory) == [(3, 2), (2, 3)]
    assert sorted(path.name for path in tmp_path.glob("plan*")) == ["plan.json", "plan.rollback.json"]


def test_errors_are_kafkas(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    def said(action: str, replicas: dict[tuple[str, int], list[int]], *args: str) -> tuple[int, list[str]]:
        done = reassign(capfd, directory, action, FILE, write(tmp_path / "bad.json", replicas), *args)
        return done.code, done.lines

    assert said("--execute", {("moving", 0): [1, 9]}) == (1, ["Error: Unknown broker id 9"])
    assert said("--execute", {("moving", 0): [3, 3]}) == (
        1,
        ["Error: Partition replica lists may not contain duplicate entries: moving-0 contains multiple entries for 3"],
    )
    name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    assert said("--execute", {("none", 0): [1]}) == (1, [f"Error: {name}: Topic none not found."])
    code, lines = said("--execute", {("moving", 0): [1, 2, 3]}, "--disallow-replication-factor-change")
    assert code == 1
    assert lines[-2:] == [
        "Error reassigning partition(s):",
        "moving-0: The replication factor is changed from 2 to 3",
    ]
    assert said("--execute", {}) == (1, ["Error: Partition reassignment list cannot be empty"])
    code, lines = said("--verify", {("none", 0): [1]})
    assert code == 1
    assert lines[1] == "There is no active reassignment of partition none-0, but replica set is  rather than 1."
    assert lines[-1] == f"Error: {name}: The topic 'none' does not exist."
    assert not list(tmp_path.glob("*.rollback*")), "nothing was touched, so there is no way back"


def test_brokers_that_are_down_are_unknown(capfd: Capture, directory: Path, plan: Path) -> None:
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    stop_broker(cluster, 3)
    cluster.close()
    done = reassign(capfd, directory, "--execute", FILE, plan)
    assert done.lines == ["Error: Unknown broker id 3"]
    assert "kafkapy: there is no broker 3 that runs; there are 1, 2\n" in done.err
    assert "kafkapy: broker 3 is stopped: start it first (kafkapy cluster start-broker 3)" in done.err
    played = reassign(capfd, directory, "--simulate", FILE, plan)
    assert "kafkapy: broker 3 is down: --execute refuses this plan until it is up" in played.err


def test_a_broker_that_is_down_may_keep_its_replica(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = write(tmp_path / "plan.json", {("moving", 0): [3, 2]}, lambda broker: directory / f"broker-{broker}")
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    stop_broker(cluster, 2)
    cluster.close()
    done = reassign(capfd, directory, "--execute", FILE, plan)
    assert (done.code, replicas(directory)[0]) == (0, (3, 2))
    assert image(directory).topics["moving"].partitions[0].isr == (3,)
    wrong = write(tmp_path / "wrong.json", {("moving", 0): [1, 2]}, lambda broker: directory / "broker-1")
    refused = reassign(capfd, directory, "--execute", FILE, wrong)
    assert "broker 2 is down, and the replica is not in" in refused.out


@pytest.mark.parametrize("job", [["--drain-broker", "1"], ["--rebalance"], ["--set-replication-factor", "1"]])
def test_what_is_planned_while_a_broker_is_down_can_be_executed(
    capfd: Capture, directory: Path, tmp_path: Path, job: list[str]
) -> None:
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    stop_broker(cluster, 2)
    cluster.close()
    plan, topics = tmp_path / "plan.json", tmp_path / "topics.json"
    topics.write_text('{"topics":[{"topic":"moving"}]}')
    assert (
        reassign(capfd, directory, "--generate", *job, "--topics-to-move-json-file", topics, "--save", plan).code == 0
    )
    if json.loads(plan.read_text())["partitions"]:
        assert reassign(capfd, directory, "--execute", FILE, plan).code == 0
    assert not any(each.is_reassigning for each in image(directory).topics["moving"].partitions.values())
    assert all(each.leader > 0 for each in image(directory).topics["moving"].partitions.values())


# ---- leaders


def leaders(directory: Path) -> list[int]:
    return [each.leader for each in image(directory).topics["moving"].partitions.values()]


def test_the_preferred_leaders_are_elected_there_and_back(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert reassign(capfd, directory, "--generate", "--demote-broker", "1", "--save", plan).code == 0
    kept = reassign(capfd, directory, "--execute", FILE, plan, "--no-elect")
    assert "kafkapy: 2 partitions not led by the preferred leader" in kept.err
    assert leaders(directory) == [1, 2]
    done = reassign(capfd, directory, "--execute", FILE, plan)
    assert "kafkapy: preferred leaders elected for 2 partitions" in done.err
    assert leaders(directory) == [2, 2]
    assert image(directory).topics["still"].partitions[0].leader == 3
    assert reassign(capfd, directory, "--execute", FILE, tmp_path / "plan.rollback.json").code == 0
    assert leaders(directory) == [1, 2]
    assert image(directory).topics["still"].partitions[0].leader == 1


def test_a_preferred_leader_that_is_down_is_told(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    stop_broker(cluster, 2)
    cluster.close()
    done = reassign(capfd, directory, "--execute", FILE, write(tmp_path / "p.json", {("moving", 0): [2, 1]}))
    assert done.code == 0
    assert "kafkapy: moving-0 is led by broker 1: its preferred leader 2 is not in sync" in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--execute"], 'Missing required argument "[reassignment-json-file]"'),
        (["--verify", FILE, "f", "--throttle", "5"], 'Option "[throttle]" can\'t be used with action "[verify]"'),
        (["--execute", FILE, "f", "--preserve-throttles"], 'can\'t be used with action "[execute]"'),
        (["--execute", FILE, "f", "--no-wait", "--batch-size", "2"], "leave --no-wait out"),
    ],
)
def test_options_that_do_not_go_together(capfd: Capture, directory: Path, args: list[str], message: str) -> None:
    done = reassign(capfd, directory, *args)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_log_dirs_of_real_brokers_are_only_read(capfd: Capture, golden: Path, plan: Path) -> None:
    done = run(capfd, "reassign-partitions", "--log-dirs", dirs(golden), "--execute", FILE, plan)
    assert (done.code, done.out) == (1, "")
    assert "use --cluster" in done.err
    seen = run(capfd, "reassign-partitions", "--log-dirs", dirs(golden), "--verify", FILE, plan)
    assert seen.code == 0
    assert seen.lines[0] == "Status of partition reassignment:"


# ---- throttles


def test_throttles_are_set_and_cleared_as_kafka_does(capfd: Capture, directory: Path, plan: Path) -> None:
    def found() -> tuple[dict[str, str], dict[str, str]]:
        topic = {k: v for k, v in image(directory).config(TOPIC, "moving").items() if "throttled" in k}
        return topic, dict(image(directory).config(BROKER, "3"))

    throttles = ("--throttle", "5000", "--replica-alter-log-dirs-throttle", "7000")
    write(plan, MOVING, lambda broker: directory / f"broker-{broker}")
    done = reassign(capfd, directory, "--execute", FILE, plan, *throttles)
    assert [line for line in done.lines if "throttle limit" in line] == [
        "The inter-broker throttle limit was set to 5000 B/s",
        "The replica-alter-dir throttle limit was set to 7000 B/s",
    ]
    set_ = (
        {
            "leader.replication.throttled.replicas": "0:1,0:2,1:1,1:2",
            "follower.replication.throttled.replicas": "0:3,1:3",
        },
        {
            "leader.replication.throttled.rate": "5000",
            "follower.replication.throttled.rate": "5000",
            "replica.alter.log.dirs.io.max.bytes.per.second": "7000",
        },
    )
    assert found() == set_
    reassign(capfd, directory, "--verify", FILE, plan, "--preserve-throttles")
    assert found() == set_
    reassign(capfd, directory, "--verify", FILE, plan)
    assert found() == ({}, {})
    reassign(capfd, directory, "--execute", FILE, plan, "--throttle", "9")
    assert found()[0]["follower.replication.throttled.replicas"] == "", "nothing is added"
    reassign(capfd, directory, "--cancel", FILE, plan)
    assert found() == ({}, {})


# ---- the way back


def test_the_way_back_is_kept_and_leads_back(capfd: Capture, directory: Path, plan: Path, tmp_path: Path) -> None:
    before = sorted(str(path) for path in directory.glob("broker-*/moving-*"))
    done = reassign(capfd, directory, "--execute", FILE, plan)
    rollback = tmp_path / "plan.rollback.json"
    assert f"kafkapy: the way back is kept: {rollback}" in done.err
    assert rollback.read_text().strip() == done.lines[2]
    assert reassign(capfd, directory, "--execute", FILE, rollback).code == 0
    assert replicas(directory) == [(1, 2), (2, 1)]
    assert sorted(str(path) for path in directory.glob("broker-*/moving-*")) == before


def test_no_file_is_overwritten(capfd: Capture, directory: Path, plan: Path, tmp_path: Path) -> None:
    rollback = tmp_path / "plan.rollback.json"
    rollback.write_text("mine")
    reassign(capfd, directory, "--execute", FILE, plan)
    assert rollback.read_text() == "mine"
    second = (tmp_path / "plan.rollback-2.json").read_text()
    reassign(capfd, directory, "--execute", FILE, write(tmp_path / "away.json", {("moving", 0): [1, 3]}))
    reassign(capfd, directory, "--execute", FILE, plan)
    assert (tmp_path / "plan.rollback-2.json").read_text() == second
    third = json.loads((tmp_path / "plan.rollback-3.json").read_text())
    assert third["partitions"][0]["replicas"] == [1, 3], "it leads back to where things were this time"
    named = reassign(capfd, directory, "--execute", FILE, plan, "--rollback-file", rollback)
    assert named.code == 1
    assert "already exists, and is not the way back" in named.err
    nowhere = reassign(capfd, directory, "--execute", FILE, plan, "--rollback-file", tmp_path / "no" / "file")
    assert nowhere.code == 1
    assert "nothing was started" in nowhere.err


# ---- batches, rows, log dirs


def test_what_a_batch_that_cannot_be_completed_leaves(capfd: Capture, directory: Path, plan: Path) -> None:
    assert run(capfd, "cluster", "lag-broker", "3", "--cluster", directory).code == 0
    held = reassign(capfd, directory, "--execute", FILE, plan, "--batch-size", "1", "--throttle", "1000")
    assert held.code == 1
    left, then, why = held.err.splitlines()[-3:]
    assert left == "kafkapy: batch 1 of 2 is still under way; batch 2 was not started; the throttles stay set"
    assert then.startswith("kafkapy: next: --verify shows how far the moves are")
    assert "1 of 1 reassignments cannot be completed now (moving-" in why
    assert run(capfd, "cluster", "start-broker", "3", "--cluster", directory).code == 0
    assert reassign(capfd, directory, "--execute", FILE, plan, "--batch-size", "1").code == 0
    assert replicas(directory) == [(3, 2), (2, 3)]


def test_batches_follow_each_other(capfd: Capture, directory: Path, plan: Path) -> None:
    done = reassign(capfd, directory, "--execute", FILE, plan, "--batch-size", "1")
    assert done.lines[-2:] == [
        "Successfully started partition reassignment for moving-0",
        "Successfully started partition reassignment for moving-1",
    ]
    told = [line for line in done.err.splitlines() if ": batch" in line]
    assert told == ["kafkapy: batch 1 of 2: 1 partition", "kafkapy: batch 2 of 2: 1 partition"]
    assert "kafkapy: 2 reassignments complete\n" in done.err
    assert replicas(directory) == [(3, 2), (2, 3)]
    one = reassign(capfd, directory, "--execute", FILE, plan, "--batch-bytes", "1000000")
    assert ": batch" not in one.err
    assert "2 reassignments already complete: all replicas were in place" in one.err


def test_what_is_under_way_already_is_told_and_counted(capfd: Capture, directory: Path, plan: Path) -> None:
    """By bytes, both for who looks on and for batches: what was begun is not yet there."""
    first = reassign(capfd, directory, "--execute", FILE, plan, "--no-wait")
    assert "under way already" not in first.err
    size = sum(log.stat().st_size for log in directory.glob("broker-1/moving-*/*.log"))
    again = reassign(capfd, directory, "--execute", FILE, plan, "--batch-bytes", "1")
    assert f"kafkapy: 2 reassignments already under way: {size} B of {size} B left to copy\n" in again.err
    told = [line for line in again.err.splitlines() if ": batch" in line]
    assert told == ["kafkapy: batch 1 of 2: 1 partition", "kafkapy: batch 2 of 2: 1 partition"]
    assert replicas(directory) == [(3, 2), (2, 3)]


def test_rows(capfd: Capture, directory: Path, plan: Path) -> None:
    rows = reassign(capfd, directory, "--execute", FILE, plan, "--output", "jsonl").rows
    assert rows == [
        {"type": "started_reassignment", "topic": "moving", "partition": 0, "replicas": [3, 2]},
        {"type": "started_reassignment", "topic": "moving", "partition": 1, "replicas": [2, 3]},
    ]
    verified = reassign(capfd, directory, "--verify", FILE, plan, "--output", "jsonl").rows
    assert [(row["partition"], row["state"]) for row in verified] == [(0, "completed"), (1, "completed")]
    assert reassign(capfd, directory, "--cancel", FILE, plan, "--output", "jsonl").rows == []


def test_moves_between_log_dirs(capfd: Capture, tmp_path: Path) -> None:
    directory = tmp_path / "cluster"
    assert run(capfd, "storage", "format", "--cluster", directory, "--log-dirs-per-broker", "2").code == 0
    fill(directory)
    first = {path.parent.name for path in directory.glob("broker-1*/moving-0")}
    other = "-2" if first == {"broker-1"} else ""
    plan = write(tmp_path / "plan.json", {("moving", 0): [1, 2]}, lambda broker: directory / f"broker-{broker}{other}")
    played = reassign(capfd, directory, "--simulate", FILE, plan)
    assert played.lines[0].startswith("Nothing to do: the plan changes the replicas of none of 3")
    assert played.lines[1].startswith("Between log dirs of a broker 2 replicas with ")
    assert f"  moving-0 on broker 1 to {directory}/broker-1{other}" in played.lines
    rows = reassign(capfd, directory, "--simulate", FILE, plan, "--output", "jsonl").rows
    moves = [row for row in rows if row["type"] == "log_dir_move"]
    assert [(row["broker"], row["log_dir"]) for row in moves] == [
        (broker, f"{directory}/broker-{broker}{other}") for broker in (1, 2)
    ]
    assert all(row["bytes"] > 0 and row["log_dir_before"] != row["log_dir"] for row in moves)
    started = reassign(capfd, directory, "--execute", FILE, plan, "--no-wait")
    assert started.lines[-2:] == [
        f"Successfully started moving log directory to {directory}/broker-{broker}{other} for replica moving-0 with "
        f"broker {broker} "
        for broker in (1, 2)
    ]
    assert len(list(directory.glob("broker-*/moving-0.*-future"))) == 2
    assert reassign(capfd, directory, "--verify", FILE, plan).lines == [
        "Status of partition reassignment:",
        "Reassignment of partition moving-0 is completed.",
        "Reassignment of replica moving-0-1 is still in progress.",
        "Reassignment of replica moving-0-2 is still in progress.",
    ]
    given_up = reassign(capfd, directory, "--cancel", FILE, plan).lines
    assert given_up[1].startswith("Successfully started moving log directory to ")
    assert not list(directory.glob("broker-*/moving-0.*-future"))
    assert (
        reassign(capfd, directory, "--verify", FILE, plan)
        .lines[2]
        .startswith("Partition moving-0 on broker 1 is not being moved from log dir ")
    )
    assert reassign(capfd, directory, "--execute", FILE, plan).code == 0
    assert reassign(capfd, directory, "--verify", FILE, plan).lines[2:4] == [
        "Reassignment of replica moving-0-1 completed successfully.",
        "Reassignment of replica moving-0-2 completed successfully.",
    ]
    assert {path.parent.name for path in directory.glob("broker-1*/moving-0")} == {f"broker-1{other}"}


# ---- partitions of which no copy is left


def test_a_lost_partition_is_not_moved(capfd: Capture, directory: Path, plan: Path) -> None:
    for copy in directory.glob("*/moving-0"):
        shutil.rmtree(copy)
    done = reassign(capfd, directory, "--execute", FILE, plan)
    assert done.code == 1
    assert "moving-0: every copy of moving-0 is gone, with the records up to offset 4: put one back" in done.out
    assert "accept the loss: kafkapy leader-election --election-type unclean --topic moving --partition 0" in done.out
    assert replicas(directory) == [(1, 2), (2, 1)], "none of the plan was begun"
    assert not [*directory.glob("*/moving-0")]
    assert not [*plan.parent.glob("*rollback*")]
    accepted = "leader-election", "--election-type", "unclean", "--topic", "moving", "--partition", "0"
    assert run(capfd, *accepted, "--cluster", directory).code == 0
    assert reassign(capfd, directory, "--execute", FILE, plan).code == 0
    assert replicas(directory) == [(3, 2), (2, 3)]


def test_an_empty_replica_is_not_read_where_those_it_was_to_fetch_from_are_gone(
    capfd: Capture, directory: Path, plan: Path
) -> None:
    """They were lost after the reassignment began."""
    assert reassign(capfd, directory, "--execute", FILE, plan, "--no-wait").code == 0
    for copy in [*directory.glob("broker-1/moving-0"), *directory.glob("broker-2/moving-0")]:
        shutil.rmtree(copy)
    assert (directory / "broker-3" / "moving-0").exists()
    for where in (("--cluster", directory), ("--log-dirs", dirs(directory, "."))):
        read = "console-consumer", "--topic", "moving", "--partition", "0", "--offset", "earliest", "--timeout-ms", "1"
        done = run(capfd, *read, *where)
        assert (done.code, done.out) == (1, "")
        assert "no copy of moving-0 is in " in done.err
        read = "console-consumer", "--topic", "moving", "--from-beginning", "--timeout-ms", "1"
        everything = run(capfd, *read, *where)
        assert everything.code == 1
        assert "no copy of moving-0 is in " in everything.err
        rates = run(capfd, "throughput", "--topic", "moving", *where)
        assert rates.code == 1
        assert "no copy of moving-0 is in " in rates.err
    done = reassign(capfd, directory, "--execute", FILE, plan)
    assert done.code == 1
    assert "every copy of moving-0 is gone" in done.out
    assert reassign(capfd, directory, "--cancel", FILE, plan).code == 0
    assert [set(each) for each in replicas(directory)] == [{1, 2}, {1, 2}]
