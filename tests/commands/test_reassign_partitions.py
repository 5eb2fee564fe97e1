"""reassign-partitions: Kafka's lines, plans and their cost, and plans that are played."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic, Reassign
from kafkapy.metadata.reassignment.reassignment_json import EXAMPLE, TOPICS_EXAMPLE
from tests.commands.running import Done, dirs, printed, run

Capture = pytest.CaptureFixture[str]
TOPICS = {"topics": [{"topic": "orders"}, {"topic": "rolled"}], "version": 1}


@pytest.fixture
def topics_file(tmp_path: Path) -> Path:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(TOPICS))
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Four brokers; the topics are on the first three."""
    path = tmp_path / "cluster"
    make_cluster(str(path), 4, files=Files(sync=False))
    cluster = DirectoryCluster(str(path), Files(sync=False))
    assignments = tuple((1 + i % 3, 1 + (i + 1) % 3) for i in range(6))
    cluster.apply(CreateTopic("orders", assignments=assignments), CreateTopic("audit", assignments=assignments[:3]))
    cluster.close()
    return path


def generate(capfd: Capture, cluster: str | Path, *args: str | Path) -> Done:
    where = "--cluster" if os.path.exists(Path(cluster) / "cluster.yaml") else "--log-dirs"
    return run(capfd, "reassign-partitions", where, cluster, "--generate", *args)


def proposed(done: Done) -> dict[tuple[str, int], list[int]]:
    document = json.loads(done.lines[4])
    return {(each["topic"], each["partition"]): each["replicas"] for each in document["partitions"]}


@pytest.mark.parametrize("action", ["--execute", "--verify", "--cancel", "--simulate"])
@pytest.mark.parametrize(
    ("data", "error", "how"),
    [
        (b"{", "Not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)", ""),
        (b"\xff", "Not valid JSON: Expecting value: line 1 column 1 (char 0)", ""),
        (b"", "The input string shouldn't be empty", " is empty"),
    ],
)
def test_a_bad_file_is_named(
    capfd: Capture, directory: Path, tmp_path: Path, action: str, data: bytes, error: str, how: str
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(data)
    done = run(capfd, "reassign-partitions", "--cluster", directory, action, "--reassignment-json-file", bad)
    assert done == (1, f"Error: {error}\n", f"kafkapy: {bad}{how}: the file should look like {EXAMPLE}\n")


def test_a_bad_file_of_topics_is_named(capfd: Capture, directory: Path, topics_file: Path) -> None:
    topics_file.write_text("{")
    done = generate(capfd, directory, "--topics-to-move-json-file", topics_file, "--broker-list", "1,2,3")
    assert (done.code, done.out) == (1, "Error: The input string is not a valid JSON\n")
    assert done.err == f"kafkapy: {topics_file}: the file should look like {TOPICS_EXAMPLE}\n"


def test_the_lines_are_kafkas(capfd: Capture, golden: Path, topics_file: Path) -> None:
    """Placement is random: of the proposal the form is compared, all else by the byte."""
    args = ("--topics-to-move-json-file", topics_file, "--broker-list", "1,2,3")
    done = generate(capfd, dirs(golden, "crashed"), *args, "--seed", "1")
    wanted = printed(golden, "reassign-generate")
    assert done.code == 0
    assert done.out.replace(str(golden / "crashed") + "/", "").splitlines()[:4] == wanted[:4]
    ours, theirs = json.loads(done.lines[4]), json.loads(wanted[4])
    assert done.lines[4] == json.dumps(ours, separators=(",", ":"))
    assert [list(each) for each in ours["partitions"]] == [list(each) for each in theirs["partitions"]]
    for our, their in zip(ours["partitions"], theirs["partitions"], strict=True):
        assert (our["topic"], our["partition"], our["log_dirs"]) == (
            their["topic"],
            their["partition"],
            their["log_dirs"],
        )
        assert len(set(our["replicas"])) == len(their["replicas"])
    assert "bytes moved" in done.err
    assert generate(capfd, dirs(golden, "crashed"), *args, "--seed", "1") == done


def test_without_a_seed_kafkas_placement_is_drawn(capfd: Capture, directory: Path, topics_file: Path) -> None:
    topics_file.write_text('{"topics":[{"topic":"orders"}]}')
    args = ("--topics-to-move-json-file", topics_file, "--broker-list", "1,2,3,4")
    assert len({generate(capfd, directory, *args).out for _ in range(12)}) > 1


def test_kafkas_errors_are_on_stdout(capfd: Capture, directory: Path, topics_file: Path) -> None:
    def said(brokers: str) -> tuple[int, str]:
        done = generate(capfd, directory, "--topics-to-move-json-file", topics_file, "--broker-list", brokers)
        return done.code, done.out

    assert said("1,1") == (1, "Error: Broker list contains duplicate entries: [1]\n")
    name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    assert said("1") == (1, f"Error: {name}: Topic rolled not found.\n")
    topics_file.write_text('{"topics":[{"topic":"orders"}]}')
    too_few = "The target replication factor of 2 cannot be reached because only 1 broker(s) are registered"
    assert said("1,77")[1].startswith(f"Error: {too_few}")
    args = ("--topics-to-move-json-file", topics_file, "--broker-list", "1,77")
    told = "kafkapy: left out of --broker-list: there is no broker 77; there are 1, 2, 3, 4\n"
    assert generate(capfd, directory, *args).err == told


def test_rows_are_kept_clear_of_kafkas_errors(capfd: Capture, directory: Path) -> None:
    args = ("--drain-broker", "9")
    told = generate(capfd, directory, *args)
    hint = "kafkapy: there is no broker 9; there are 1, 2, 3, 4\n"
    assert (told.code, told.out, told.err) == (1, "Error: Unknown broker id 9\n", hint)
    as_rows = generate(capfd, directory, *args, "--output", "jsonl")
    assert (as_rows.code, as_rows.out, as_rows.err) == (1, "", told.out + hint)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Command must include exactly one action: --generate, --execute, --verify, --cancel, --list"),
        (["--list", "--verify"], "Command must include exactly one action"),
        (["--generate"], 'Missing required argument "[topics-to-move-json-file]", or one of --drain-broker, '),
        (["--generate", "--topics-to-move-json-file", "f"], 'Missing required argument "[broker-list]"'),
        (["--list", "--throttle", "5"], 'Option "[throttle]" can\'t be used with action "[list]"'),
        (["--generate", "--rebalance", "--fix-racks"], "--rebalance and --fix-racks are different jobs"),
        (["--simulate"], 'Missing required argument "[reassignment-json-file]"'),
        (["--generate", "--rebalance", "--batch-size", "3"], "go with --simulate"),
    ],
)
def test_options_that_do_not_go_together(capfd: Capture, directory: Path, args: list[str], message: str) -> None:
    done = run(capfd, "reassign-partitions", "--cluster", directory, *args)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


JOBS = {
    "drain": ("--drain-broker", "2"),
    "drain of one topic": ("--drain-broker", "2", "--topics-to-move-json-file", "audit.json"),
    "drain by Kafka's draw": ("--drain-broker", "2", "--strategy", "kafka", "--seed", "1"),
    "add": ("--add-broker", "4"),
    "demote": ("--demote-broker", "1"),
    "rebalance": ("--rebalance",),
    "Kafka's own": ("--topics-to-move-json-file", "audit.json", "--broker-list", "1,4", "--seed", "1"),
}


@pytest.mark.parametrize("down", [(), ("3",)], ids=["all up", "one down"])
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_a_plan_costs_the_same_when_it_is_made_and_when_it_is_played(
    capfd: Capture, directory: Path, monkeypatch: pytest.MonkeyPatch, job: tuple[str, ...], down: tuple[str, ...]
) -> None:
    monkeypatch.chdir(directory.parent)
    Path("audit.json").write_text('{"topics":[{"topic":"audit"}]}')
    for broker in down:
        assert run(capfd, "cluster", "stop-broker", broker, "--cluster", directory).code == 0
    made = generate(capfd, directory, *job, "--save", "plan.json")
    assert made.code == 0
    simulate = ("reassign-partitions", "--cluster", directory, "--simulate", "--reassignment-json-file", "plan.json")
    told = [line for line in made.err.splitlines() if not line.startswith("Still led")]
    assert "imbalance" in made.err
    assert run(capfd, *simulate).lines[: len(told)] == told
    rows = [each for each in run(capfd, *simulate, "--output", "jsonl").rows if not each["type"].startswith("step")]
    assert generate(capfd, directory, *job, "--output", "jsonl").rows == rows


def test_the_imbalance_says_which_brokers_count(capfd: Capture, directory: Path) -> None:
    lines = generate(capfd, directory, "--drain-broker", "2").err.splitlines()
    assert lines[5:9] == [
        "  imbalance        before: replicas 100.0%, leaders 100.0%, bytes 0.0%",
        "                   after:  replicas 0.0%, leaders 0.0%, bytes 0.0%",
        "                   (farthest from its share, of 4 up, then of 3 not emptied;",
        "                   leaders: who leads now, and when --execute has elected)",
    ]
    (cost,) = [
        row
        for row in generate(capfd, directory, "--drain-broker", "2", "--output", "jsonl").rows
        if row["type"] == "plan_cost"
    ]
    assert (cost["counted_before"], cost["counted_after"]) == ([1, 2, 3, 4], [1, 3, 4])


def test_a_drain_moves_only_what_it_must(capfd: Capture, directory: Path) -> None:
    done = generate(capfd, directory, "--drain-broker", "2")
    plan = proposed(done)
    current = {(e["topic"], e["partition"]): e["replicas"] for e in json.loads(done.lines[1])["partitions"]}
    assert set(plan) == set(current)
    for partition, replicas in plan.items():
        assert 2 in current[partition]
        assert set(current[partition]) - {2} < set(replicas)
        assert 2 not in replicas


def test_every_job(capfd: Capture, directory: Path) -> None:
    nothing = generate(capfd, directory, "--fix-racks", "--simulate")
    assert proposed(nothing) == {}
    assert nothing.err == "Nothing to do: the plan changes the replicas of none of 9 partitions.\n"
    assert len(nothing.lines) == 5, "no steps"
    demoted = proposed(generate(capfd, directory, "--demote-broker", "1"))
    assert demoted
    assert all(replicas[-1] == 1 for replicas in demoted.values())
    added = proposed(generate(capfd, directory, "--add-broker", "4"))
    assert sum(4 in replicas for replicas in added.values()) in (4, 5)
    grown = proposed(generate(capfd, directory, "--set-replication-factor", "3"))
    assert {len(replicas) for replicas in grown.values()} == {3}
    assert len(grown) == 9
    for strategy in ("minimal", "balanced", "kafka"):
        assert generate(capfd, directory, "--rebalance", "--strategy", strategy).code == 0


def test_a_job_for_some_topics_and_brokers(capfd: Capture, directory: Path, topics_file: Path) -> None:
    topics_file.write_text('{"topics":[{"topic":"audit"}]}')
    args = ("--topics-to-move-json-file", topics_file, "--drain-broker", "1", "--broker-list", "4")
    plan = proposed(generate(capfd, directory, *args))
    assert {topic for topic, _ in plan} == {"audit"}
    assert all(4 in replicas for replicas in plan.values())


def test_a_plan_is_saved_and_played(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    done = generate(capfd, directory, "--drain-broker", "2", "--save", path)
    assert path.read_text() == done.lines[4] + "\n"
    args = ("--simulate", "--reassignment-json-file", path, "--batch-size", "2", "--output", "jsonl")
    played = run(capfd, "reassign-partitions", "--cluster", directory, *args)
    steps = [row for row in played.rows if row["type"] == "step"]
    moved = len(proposed(done))
    assert [step["name"] for step in steps].count("completed") == (moved + 1) // 2
    assert all(step["under_replicated"] == 0 for step in steps)
    last = [row for row in played.rows if row["type"] == "step_broker" and row["step"] == len(steps) - 1]
    assert [row["replicas"] for row in last if row["broker"] == 2] == [0]
    text = run(capfd, "reassign-partitions", "--cluster", directory, *args[:-2])
    assert text.lines[0] == f"The plan changes {moved} of 9 partitions:"
    assert "ISR sizes  URP" in text.out
    assert max(map(len, text.lines)) <= 80
    assert max(map(len, done.err.splitlines())) <= 80


def test_a_plan_that_cannot_be_saved(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "none" / "plan.json"
    done = generate(capfd, directory, "--drain-broker", "2", "--save", path)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"kafkapy: --save: cannot write {path}: No such file or directory\n"


def test_a_saved_plan_is_not_overwritten(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    assert generate(capfd, directory, "--drain-broker", "2", "--save", path).code == 0
    before = path.read_text()
    assert generate(capfd, directory, "--drain-broker", "2", "--save", path).code == 0
    done = generate(capfd, directory, "--drain-broker", "1", "--save", path)
    said = f"kafkapy: --save: {path} already exists, and is not this plan: name another file, or remove it\n"
    assert done == (1, "", said)
    assert path.read_text() == before


def test_the_help_says_how_long_throttles_stay(capfd: Capture) -> None:
    told = " ".join(run(capfd, "reassign-partitions", "--help").out.split())
    assert "stays set until --verify or --cancel" in told
    assert "Throttles stay set until --verify" in told


def test_a_plan_that_does_not_fit_the_cluster(capfd: Capture, directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"

    def said(topic: str, replicas: list[int]) -> str:
        path.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "replicas": replicas}]}))
        args = ("--cluster", directory, "--simulate", "--reassignment-json-file", path)
        done = run(capfd, "reassign-partitions", *args)
        assert done.code == 1
        return done.out

    assert said("nope", [1]) == "Error: Unable to find partition: nope-0\n"
    assert said("orders", [1, 9]) == "Error: Unknown broker id 9\n"


def rows_of(done: Done, kind: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(done.out)["rows"] if row["type"] == kind]


def test_the_cost_as_json(capfd: Capture, golden: Path) -> None:
    args = ("--rebalance", "--throttle", "1000", "--simulate", "--output", "json")
    done = generate(capfd, dirs(golden, "crashed"), *args)
    assert (done.code, done.err) == (0, "")
    (cost,) = rows_of(done, "plan_cost")
    brokers, pairs = rows_of(done, "broker_cost"), rows_of(done, "pair_cost")
    assert cost["bytes_moved"] == sum(row["bytes"] for row in rows_of(done, "planned_partition")) > 0
    assert cost["bytes_moved"] == sum(row["bytes_in"] for row in brokers) == sum(row["bytes"] for row in pairs)
    assert cost["seconds"] == max(max(row["bytes_in"], row["bytes_out"]) for row in brokers) / 1000
    assert (cost["rack_violations_before"], cost["rack_violations_after"]) == (1, 0)
    assert [row["name"] for row in rows_of(done, "step")] == ["before", "started", "copied", "completed", "elected"]


def test_a_cluster_that_was_stopped_cleanly_can_be_planned_for(capfd: Capture, golden: Path) -> None:
    done = generate(capfd, dirs(golden), "--rebalance", "--simulate")
    assert done.code == 0
    assert done.lines[-1].split()[1] == "elected"


def test_log_dirs_without_metadata_cannot(capfd: Capture, zk_era: Path) -> None:
    paths = ",".join(map(str, sorted((zk_era / "clean").glob("broker-*"))))
    done = generate(capfd, paths, "--rebalance")
    assert done.code == 1
    assert "planning is not supported by log dirs without a metadata log" in done.err


def test_moves_under_way_are_listed(capfd: Capture, directory: Path, golden: Path) -> None:
    listed = run(capfd, "reassign-partitions", "--log-dirs", dirs(golden, "crashed"), "--list")
    assert listed.lines == printed(golden, "reassign-list")
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    cluster.apply(Reassign("orders", 0, (4, 3)), Reassign("audit", 1, (2, 3, 4)))
    cluster.close()
    listed = run(capfd, "reassign-partitions", "--cluster", directory, "--list")
    assert listed.lines == [
        "Current partition reassignments:",
        "audit-1: replicas: 2,3,4. adding: 4.",
        "orders-0: replicas: 4,3,1,2. adding: 3,4. removing: 1,2.",
    ]


def test_a_broker_that_is_down_is_given_nothing(capfd: Capture, directory: Path) -> None:
    assert run(capfd, "cluster", "stop-broker", "4", "--cluster", directory).code == 0
    for job in (["--drain-broker", "2"], ["--rebalance", "--strategy", "balanced"]):
        done = generate(capfd, directory, *job, "--simulate")
        assert done.code == 0
        assert not any(4 in replicas for replicas in proposed(done).values())
    assert generate(capfd, directory, "--add-broker", "4").out == (
        "Error: Broker 4 is not up, so it cannot be given replicas\n"
    )
