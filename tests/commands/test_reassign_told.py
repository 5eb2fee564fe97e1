"""reassign-partitions after failures and half-way: who leads now, what the way back and --cancel do not restore, and
plans of nothing."""

import json
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import kill_broker, replicate, start_broker
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import Done, run

Capture = pytest.CaptureFixture[str]
FILE = "--reassignment-json-file"
KEEP = Files(sync=False)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three brokers with two log dirs each, and partitions of two replicas, three and one."""
    path = tmp_path / "cluster"
    make_cluster(str(path), 3, files=KEEP, log_dirs_per_broker=2)
    cluster = DirectoryCluster(str(path), KEEP)
    for topic, replicas in {"a": (1, 2), "b": (1, 2, 3), "c": (3,)}.items():
        cluster.apply(CreateTopic(topic, assignments=(replicas,)))
        cluster.append(TopicPartition(topic, 0), encode_batch([Record(0, 0, None, b"v" * 100)]))
    cluster.close()
    return path


def fail(directory: Path, catch_up: bool) -> None:
    """Broker 1 dies and comes back: it leads nothing, and stays preferred."""
    cluster = DirectoryCluster(str(directory), KEEP)
    kill_broker(cluster, 1)
    start_broker(cluster, 1)
    if catch_up:
        replicate(cluster, until_caught_up=True)
    cluster.close()


def reassign(capfd: Capture, directory: Path, *args: str | Path) -> Done:
    return run(capfd, "reassign-partitions", "--cluster", directory, *args)


def proposed(done: Done) -> dict[str, list[int]]:
    return {each["topic"]: each["replicas"] for each in json.loads(done.lines[4])["partitions"]}


def write(path: Path, replicas: dict[str, list[int]], log_dirs: dict[str, list[str]] | None = None) -> Path:
    entries = [
        {"topic": topic, "partition": 0, "replicas": found}
        | ({"log_dirs": log_dirs[topic]} if log_dirs and topic in log_dirs else {})
        for topic, found in replicas.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": entries}))
    return path


# ---- who leads now


def test_a_broker_is_demoted_that_leads_without_being_preferred(capfd: Capture, directory: Path) -> None:
    fail(directory, catch_up=True)
    plan = directory.parent / "plan.json"
    done = reassign(capfd, directory, "--generate", "--demote-broker", "2", "--save", plan)
    assert proposed(done) == {"a": [1, 2], "b": [1, 3, 2]}, "topic a keeps its replicas, and is elected"
    assert "  leaders moved    2\n" in done.err
    assert "before: replicas 0.0%, leaders 100.0%" in done.err
    assert reassign(capfd, directory, "--execute", FILE, plan).code == 0
    topics = LogDirsCluster(*map(str, sorted(directory.glob("broker-*")))).image().topics
    assert {name: topic.partitions[0].leader for name, topic in topics.items()} == {"a": 1, "b": 1, "c": 3}


def test_a_demotion_says_what_is_still_led(capfd: Capture, directory: Path) -> None:
    fail(directory, catch_up=False)
    done = reassign(capfd, directory, "--generate", "--demote-broker", "2")
    assert proposed(done) == {"b": [3, 1, 2]}, "broker 1 is not in sync"
    assert done.err.splitlines()[-1] == "Still led, since no other replica is up and in sync: a-0"


def test_the_way_back_says_which_leaders_it_does_not_restore(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = write(tmp_path / "plan.json", {"a": [3, 2], "c": [1]})
    quiet = reassign(capfd, directory, "--execute", FILE, plan)
    assert "does not restore" not in quiet.err
    assert reassign(capfd, directory, "--execute", FILE, tmp_path / "plan.rollback.json").code == 0
    fail(directory, catch_up=True)
    for path in tmp_path.glob("*rollback*"):
        path.unlink()
    done = reassign(capfd, directory, "--execute", FILE, plan, "--no-elect")
    assert done.err.splitlines()[1:3] == [
        "kafkapy: the way back does not restore leaders, since a reassignment cannot set them; not led by their "
        "preferred leader now: a-0 (by broker 2)",
        "kafkapy: when the way back is executed, the preferred leaders are elected; with --no-elect or --no-wait, "
        f"elect them with: kafkapy leader-election --cluster {directory} --election-type preferred --path-to-json-file "
        f"{tmp_path}/plan.rollback.json",
    ]
    command = done.err.splitlines()[-1].split("to elect it: kafkapy ")[1].split()
    assert run(capfd, *command).lines[0] == "Successfully completed leader election (PREFERRED) for partitions a-0"


# ---- what --cancel leaves


CANCELLED = (
    "Successfully cancelled partition reassignment for: a-0\nNone of the specified partition moves are active."
    "Clearing broker-level throttles on brokers 1,2,3\nClearing topic-level throttles on topics a,b\n"
)


def test_cancel_names_what_stays_changed(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = write(tmp_path / "plan.json", {"a": [3, 2], "b": [1, 2]})
    assert reassign(capfd, directory, "--execute", FILE, plan, "--no-wait").code == 0
    done = reassign(capfd, directory, "--cancel", FILE, plan)
    assert done.out == CANCELLED, "to the byte as Kafka's tool"
    rollback = tmp_path / "plan.rollback.json"
    assert done.err.splitlines() == [
        "kafkapy: already complete, so the replicas differ from before: b-0 (1,2, before 1,2,3)",
        "kafkapy: the old replicas stay, in a different order than before: a-0 (2,1, before 1,2)",
        f"kafkapy: to put them back: kafkapy reassign-partitions --cluster {directory} --execute {FILE} {rollback}",
    ]
    assert reassign(capfd, directory, "--execute", FILE, rollback).code == 0
    assert reassign(capfd, directory, "--cancel", FILE, plan).err == "", "everything is as it was"


def test_cancel_without_a_rollback_file_says_what_may_stay(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = write(tmp_path / "plan.json", {"a": [3, 2], "b": [3, 2, 1], "c": [1]})
    kept = ("--rollback-file", tmp_path / "elsewhere.json")
    assert reassign(capfd, directory, "--execute", FILE, plan, "--no-wait", *kept).code == 0
    assert reassign(capfd, directory, "--cancel", FILE, plan).err.splitlines() == [
        "kafkapy: not under way, so they stay as they are in the plan: b-0 (3,2,1)",
        "kafkapy: the old replicas stay, maybe in a different order than before: a-0 (2,1)",
        "kafkapy: how they were before is unknown: there is no rollback file beside this plan",
    ]


def test_cancel_names_replicas_that_were_moved_to_another_log_dir(
    capfd: Capture, directory: Path, tmp_path: Path
) -> None:
    here = next(path.parent for path in directory.glob("broker-3*/c-0"))
    other = next(path for path in directory.glob("broker-3*") if path != here)
    plan = write(tmp_path / "plan.json", {"c": [3]}, {"c": [str(other)]})
    assert reassign(capfd, directory, "--execute", FILE, plan).code == 0
    done = reassign(capfd, directory, "--cancel", FILE, plan)
    assert done.err.splitlines()[0] == (
        f"kafkapy: already moved, so the replicas stay in a different log dir than before: c-0 on broker 3 in {other}"
    )


def test_cancel_of_a_plan_for_another_cluster_has_nothing_to_tell(
    capfd: Capture, directory: Path, tmp_path: Path
) -> None:
    plan = write(tmp_path / "plan.json", {"none": [1]})
    done = reassign(capfd, directory, "--cancel", FILE, plan, "--preserve-throttles")
    assert (done.code, done.err) == (0, "")


# ---- plans of nothing, and Kafka's draw


def test_a_plan_of_nothing_is_not_saved(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    done = reassign(capfd, directory, "--generate", "--fix-racks", "--save", plan)
    assert done.code == 0
    assert not plan.exists()
    assert done.err.splitlines() == [
        f"kafkapy: --save: there is nothing to do, so {plan} is not written",
        "Nothing to do: the plan changes the replicas of none of 3 partitions.",
    ]
    plan.write_text("mine")
    again = reassign(capfd, directory, "--generate", "--fix-racks", "--save", plan, "--output", "jsonl")
    assert (plan.read_text(), again.code) == ("mine", 0)
    assert again.err.endswith("is not written; the existing file holds another plan\n")


def test_kafkas_draw_is_told_where_it_moves_less(capfd: Capture, tmp_path: Path) -> None:
    path = tmp_path / "two"
    make_cluster(str(path), 2, files=KEEP)
    cluster = DirectoryCluster(str(path), KEEP)
    cluster.apply(CreateTopic("a", assignments=((1,),)), CreateTopic("b", assignments=((1,),)))
    for topic in ("a", "b"):
        cluster.append(TopicPartition(topic, 0), encode_batch([Record(0, 0, None, b"v" * 932)]))
    cluster.close()
    args = ("--generate", "--rebalance", "--seed")
    seed = next(n for n in range(99) if _moves_nothing(capfd, path, *args, str(n), "--strategy", "kafka"))
    usual = reassign(capfd, path, *args, str(seed))
    assert usual.err.splitlines() == [
        "Nothing to do: the plan changes the replicas of none of 2 partitions.",
        "Kafka's draw moves 0 B, a plan within 10% of the shares 1.0 kB: this one moves no more than the draw, and is "
        "as balanced (--tolerance 0.1 keeps to the shares)",
    ]
    strict = reassign(capfd, path, *args, str(seed), "--tolerance", "0.1")
    assert strict.err.splitlines()[-1] == ("Kafka's draw would move 0 B instead of 1.0 kB, but misses --tolerance 0.1")
    rows = reassign(capfd, path, *args, str(seed), "--output", "jsonl").rows
    assert [row for row in rows if row["type"] == "kafka_draw"] == [
        {"type": "kafka_draw", "bytes_drawn": 0, "bytes_within_tolerance": 1002, "is_matched": True}
    ]
    wrong = reassign(capfd, path, *args, str(seed), "--tolerance", "nan")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--tolerance must be between 0 and 1" in wrong.err


def _moves_nothing(capfd: Capture, path: Path, *args: str) -> bool:
    return "bytes moved      0" in (err := reassign(capfd, path, *args).err) or "Nothing to do" in err


def test_without_a_seed_a_plan_that_moves_little_is_the_same_again(capfd: Capture, directory: Path) -> None:
    assert len({reassign(capfd, directory, "--generate", "--rebalance").out for _ in range(5)}) == 1


# ---- moves between log dirs, played


def test_moves_between_log_dirs_are_played(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    here = next(path.parent for path in directory.glob("broker-3*/c-0"))
    other = next(path for path in directory.glob("broker-3*") if path != here)
    plan = write(tmp_path / "plan.json", {"c": [3]}, {"c": [str(other)]})
    played = reassign(capfd, directory, "--simulate", FILE, plan)
    steps = [line.split() for line in played.lines if line.split()[1:2] in (["started"], ["copied"], ["completed"])]
    assert [(step[1], step[2]) for step in steps] == [("started", "1"), ("copied", "1"), ("completed", "0")]
    table = [line.split() for line in played.lines[-2:]]
    assert {row[-1]: row[1:-1] for row in table} == {
        str(here): ["170", "B", "170", "B", "0", "B"],
        str(other): ["170", "B", "340", "B", "340", "B"],
    }
    rows = reassign(capfd, directory, "--simulate", FILE, plan, "--output", "jsonl").rows
    disks = [row["disk"] for row in rows if row["type"] == "step_log_dir" and row["log_dir"] == str(other)]
    assert disks == [170, 170, 340, 340, 340]
    assert [row["disk"] for row in rows if row["type"] == "step_broker" and row["broker"] == 3][2] == 3 * 170
