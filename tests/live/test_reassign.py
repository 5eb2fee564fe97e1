"""kafkapy reassign-partitions and ReassignPartitionsCommand on the same running cluster.

What changes the cluster is run on twins: two topics alike, one for each tool, whose names are then made the same. A
throttle of some bytes a second holds a move for as long as it is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same
from tests.tool_server import ToolRun

STAYS = "reassign-stays"
SINGLE = "reassign-single"
TOOL, COMMAND = "ReassignPartitionsCommand", "reassign-partitions"
TRACE = [
    (r"^(\tat |\t\.\.\. |Caused by: |java\.|org\.apache|com\.fasterxml|Error: Failed to alter dir.*\n).*\n", ""),
    (r"\n\n\Z", "\n"),
]
DIRS = [(r'(?<=")/[^"]*(?=")', "DIR")]
Partitions = list[dict[str, Any]]


def on(live: LiveKafka, *args: str) -> tuple[str, ...]:
    return ("--bootstrap-server", live.bootstrap, *args)


def entry(topic: str, partition: int, *replicas: int, **more: Any) -> dict[str, Any]:
    return {"topic": topic, "partition": partition, "replicas": list(replicas), **more}


def written(path: Path, partitions: Partitions, **more: Any) -> str:
    path.write_text(json.dumps({"version": 1, "partitions": partitions, **more}))
    return str(path)


def described(live: LiveKafka, topic: str) -> list[str]:
    """The partitions, with replicas and ISR."""
    lines = live.kafka("TopicCommand", *on(live, "--describe", "--topic", topic)).lines
    return [line.split("\t", 3)[3] for line in lines if "\tPartition: " in line]


def configs(live: LiveKafka, kind: str, name: str) -> list[str]:
    lines = live.kafka("ConfigCommand", *on(live, "--describe", "--entity-type", kind, "--entity-name", name)).lines
    return sorted(line.split(" sensitive")[0].strip() for line in lines[1:])


@pytest.fixture(scope="module", autouse=True)
def _topics(live: LiveKafka) -> Iterator[None]:
    live.create_topic(STAYS, assignment=[[1, 2], [2, 3]])
    live.create_topic(SINGLE, assignment=[[2], [2], [3]])
    yield
    live.delete_topics(STAYS, SINGLE)


# What changes nothing

BAD_PLANS = {
    "nothing": {"version": 1, "partitions": []},
    "no partitions": {"version": 1},
    "no replicas": {"version": 1, "partitions": [entry(STAYS, 0)]},
    "unknown broker": {"version": 1, "partitions": [entry(STAYS, 0, 1, 9)]},
    "unknown topic": {"version": 1, "partitions": [entry("not-there", 0, 1)]},
    "unknown partition": {"version": 1, "partitions": [entry(STAYS, 7, 1)]},
    "a partition twice": {"version": 1, "partitions": [entry(STAYS, 0, 1), entry(STAYS, 0, 2)]},
    "a replica twice": {"version": 1, "partitions": [entry(STAYS, 0, 1, 1)]},
    "too few log dirs": {"version": 1, "partitions": [entry(STAYS, 0, 1, 2, log_dirs=["any"])]},
    "version 2": {"version": 2, "partitions": []},
    "replicas that are none": {"version": 1, "partitions": [{"topic": STAYS, "partition": 0, "replicas": "1"}]},
    "no topic": {"version": 1, "partitions": [{"partition": 0, "replicas": [1]}]},
    "no object": [],
}


@pytest.mark.pair
@pytest.mark.parametrize("name", BAD_PLANS)
def test_plans_that_are_refused(live: LiveKafka, tmp_path: Path, name: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(BAD_PLANS[name]))
    options = ("--execute", "--reassignment-json-file", str(file))
    same(live, (TOOL, *options), (COMMAND, *options), code=1, scrub=TRACE)
    assert [each.name for each in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.pair
@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ([entry(STAYS, 0, 1, 2), entry(STAYS, 1, 2, 3)], 0),
        ([entry(STAYS, 0, 2, 3)], 0),
        ([entry(STAYS, 0, 2, 1)], 0),
        ([entry(STAYS, 9, 2, 1)], 0),
        ([entry("not-there", 0, 1, 2)], 1),
        ([entry(STAYS, 0, 1, 2), entry("not-there", 0, 1, 2)], 1),
        ([], 0),
    ],
)
@pytest.mark.parametrize("more", [(), ("--preserve-throttles",)])
def test_verified(live: LiveKafka, tmp_path: Path, plan: Partitions, code: int, more: tuple[str, ...]) -> None:
    """A topic that is not there has no throttles that could be cleared."""
    options = ("--verify", "--reassignment-json-file", written(tmp_path / "plan.json", plan), *more)
    same(live, (TOOL, *options), (COMMAND, *options), code=0 if more else code, scrub=TRACE)


@pytest.mark.pair
@pytest.mark.parametrize("controller", [False, True])
@pytest.mark.parametrize("plan", [[entry(STAYS, 0, 1, 2)], [entry(STAYS, 0, 1, 2), entry(SINGLE, 1, 1)], []])
def test_nothing_to_cancel(live: LiveKafka, tmp_path: Path, plan: Partitions, controller: bool) -> None:
    options = ("--cancel", "--reassignment-json-file", written(tmp_path / "plan.json", plan))
    names = [(f"{STAYS},{SINGLE}|{SINGLE},{STAYS}", "BOTH")]
    done = same(live, (TOOL, *options), (COMMAND, *options), code=0, controller=controller, scrub=names)
    assert done.out.startswith("None of the specified partition reassignments are active.\nNone of ")


@pairs(
    pair(COMMAND, "--list", code=0),
    pair(COMMAND, "--list", code=0, controller=True),
)
def test_nothing_under_way(live: LiveKafka, case: Pair) -> None:
    assert check(live, case).out == "No partition reassignments found.\n"


@pairs(
    pair(COMMAND),
    pair(COMMAND, "--list", "--verify"),
    pair(COMMAND, "--verify"),
    pair(COMMAND, "--execute"),
    pair(COMMAND, "--cancel"),
    pair(COMMAND, "--generate", "--broker-list", "1"),
    pair(COMMAND, "--list", "--throttle", "1"),
    pair(COMMAND, "--verify", "--reassignment-json-file", "x.json", "--additional"),
    pair(COMMAND, "--execute", "--reassignment-json-file", "x.json", "--preserve-throttles"),
    pair(COMMAND, "--verify", "--reassignment-json-file", "x.json", controller=True),
    pair(COMMAND, "--execute", "--reassignment-json-file", "x.json", controller=True),
)
def test_wrong_usage_prints_nothing(live: LiveKafka, case: Pair) -> None:
    assert check(live, case).out == ""
    where = ("--bootstrap-controller", live.controllers) if case.controller else on(live)
    assert live.kafkapy(*case.kafkapy, *where).code == 2


@pytest.mark.pair
@pytest.mark.parametrize(
    ("topics", "brokers", "code"),
    [
        ([SINGLE], "1", 0),
        ([SINGLE], "3,9", 0),
        ([], "1,2", 0),
        ([SINGLE], "1,1", 1),
        ([SINGLE], "one", 1),
        ([SINGLE], "", 1),
        ([SINGLE, SINGLE], "1", 1),
        (["not-there"], "1", 1),
        ([STAYS], "1", 1),
        ([STAYS], "9", 1),
    ],
)
@pytest.mark.parametrize("more", [(), ("--disable-rack-aware",)])
def test_proposed(
    live: LiveKafka, tmp_path: Path, topics: list[str], brokers: str, code: int, more: tuple[str, ...]
) -> None:
    """With one broker there is nothing to draw."""
    file = tmp_path / "topics.json"
    file.write_text(json.dumps({"version": 1, "topics": [{"topic": topic} for topic in topics]}))
    options = ("--generate", "--topics-to-move-json-file", str(file), "--broker-list", brokers, *more)
    same(live, (TOOL, *options), (COMMAND, *options), code=code, scrub=TRACE)


def test_a_draw_has_all_partitions(live: LiveKafka, tmp_path: Path) -> None:
    file = tmp_path / "topics.json"
    file.write_text(json.dumps({"topics": [{"topic": STAYS}, {"topic": SINGLE}]}))
    options = ("--generate", "--topics-to-move-json-file", str(file), "--broker-list", "1,2,3")
    theirs, ours = live.kafka(TOOL, *on(live, *options)), live.kafkapy(COMMAND, *on(live, *options))
    assert theirs.lines[:4] == ours.lines[:4]
    drawn = [json.loads(run.lines[4])["partitions"] for run in (theirs, ours)]
    shapes = [[(each["topic"], each["partition"], len(set(each["replicas"]))) for each in plan] for plan in drawn]
    assert shapes[0] == shapes[1]


def test_jobs_plan_with_the_sizes_that_brokers_tell(live: LiveKafka, tmp_path: Path) -> None:
    topic = live.create_topic(assignment=[[1], [1]])
    try:
        live.produce(topic, ["x" * 1000] * 50)
        plan, topics = tmp_path / "plan.json", tmp_path / "topics.json"
        topics.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
        options = (
            "--generate",
            "--strategy",
            "minimal",
            "--broker-list",
            "2,3",
            "--topics-to-move-json-file",
            str(topics),
        )
        options = (*options, "--save", str(plan), "--simulate", "--output", "jsonl")
        done = live.kafkapy(COMMAND, *on(live, *options))
        assert done.code == 0, done
        rows = [json.loads(line) for line in done.lines]
        moved = {
            (row["topic"], row["partition"]): row
            for row in rows
            if row["type"] == "planned_partition" and row["topic"] == topic
        }
        assert moved[topic, 0]["bytes"] > 50_000
        assert moved[topic, 1]["bytes"] == 0
        assert any(row["type"] == "step" for row in rows)
        assert described(live, topic)[0].startswith("Leader: 1\tReplicas: 1\t")
    finally:
        live.delete_topics(topic)


# What is carried out


class Twins(NamedTuple):
    """A topic for each tool, with a file that moves it."""

    live: LiveKafka
    topics: tuple[str, str]
    folder: Path

    def plan(
        self, partitions: list[tuple[int, list[int], list[str] | None]], name: str = "plan.json"
    ) -> tuple[str, str]:
        """The file of each."""
        files = []
        for topic in self.topics:
            entries = [
                entry(topic, n, *replicas, **({} if dirs is None else {"log_dirs": dirs}))
                for n, replicas, dirs in partitions
            ]
            (self.folder / topic).mkdir(exist_ok=True)
            files.append(written(self.folder / topic / name, entries))
        return files[0], files[1]

    def same(self, files: tuple[str, str], *options: str, code: int = 0, scrub: Any = (), **more: Any) -> ToolRun:
        """Both tools, each on its own topic."""
        names = [("|".join(self.topics), "TOPIC")]
        theirs, ours = ((*options, "--reassignment-json-file", file) for file in files)
        return same(self.live, (TOOL, *theirs), (COMMAND, *ours), code=code, scrub=[*names, *scrub], **more)

    def described(self) -> list[str]:
        """What both have become."""
        theirs, ours = (described(self.live, topic) for topic in self.topics)
        assert theirs == ours
        return ours


@pytest.fixture
def twins(live: LiveKafka, tmp_path: Path) -> Iterator[Twins]:
    topics = (live.name("reassign"), live.name("reassign"))
    made = Twins(live, topics, tmp_path)
    for topic in topics:
        live.create_topic(topic, assignment=[[1, 2], [2, 3]])
        live.produce(topic, ["x" * 100_000] * 30)
    yield made
    for topic in topics:
        cancel = written(tmp_path / "all.json", [entry(topic, 0, 1, 2), entry(topic, 1, 1, 2)])
        live.kafka(TOOL, *on(live, "--cancel", "--reassignment-json-file", cancel))
    live.delete_topics(*topics)


def until_complete(live: LiveKafka) -> None:
    live.until(lambda: live.kafka(TOOL, *on(live, "--list")).out == "No partition reassignments found.\n")
    live.wait_until_in_sync()


HELD = ("--execute", "--throttle", "100")


@pytest.mark.pair
def test_executed(live: LiveKafka, twins: Twins) -> None:
    files = twins.plan([(0, [3, 1], None), (1, [2, 1], None)])
    told = twins.same(files, "--execute", "--additional", scrub=DIRS)
    assert "Successfully started partition reassignments for" in told.out
    until_complete(live)
    assert [line.split("\t")[1] for line in twins.described()] == ["Replicas: 3,1", "Replicas: 2,1"]
    twins.same(files, "--verify")


def test_the_way_back(live: LiveKafka, twins: Twins) -> None:
    files = twins.plan([(0, [2, 3], None)])
    done = live.kafkapy(COMMAND, *on(live, "--execute", "--reassignment-json-file", files[1]))
    rollback = Path(files[1]).with_name("plan.rollback.json")
    assert done.err == f"kafkapy: the way back is kept: {rollback}\n"
    assert json.loads(rollback.read_text())["partitions"][0]["replicas"] == [1, 2]
    until_complete(live)
    assert live.kafkapy(COMMAND, *on(live, "--execute", "--wait", "--reassignment-json-file", str(rollback))).code == 0
    assert described(live, twins.topics[1])[0].startswith("Leader: 1\tReplicas: 1,2\t")


@pytest.mark.pair
def test_a_single_partition_and_more_replicas(live: LiveKafka, twins: Twins) -> None:
    files = twins.plan([(1, [2, 3, 1], None)])
    twins.same(files, "--execute", "--disallow-replication-factor-change", scrub=DIRS, code=1)
    assert [line.split("\t")[1] for line in twins.described()] == ["Replicas: 1,2", "Replicas: 2,3"]
    twins.same(files, "--execute", "--additional", scrub=DIRS)
    until_complete(live)
    assert [line.split("\t")[1] for line in twins.described()] == ["Replicas: 1,2", "Replicas: 2,3,1"]


@pytest.mark.pair
def test_in_progress(live: LiveKafka, twins: Twins) -> None:
    files, first = twins.plan([(0, [1, 3], None)]), twins.topics[0]
    live.kafka(TOOL, *on(live, *HELD, "--reassignment-json-file", files[0]))
    # both tools are refused, since what moves is no part of this plan
    refused = twins.same((files[1], files[1]), "--execute", code=1)
    assert refused.out.startswith("Cannot execute because there is an existing partition assignment.")
    live.kafkapy(COMMAND, *on(live, *HELD, "--additional", "--reassignment-json-file", files[1]))
    live.until(lambda: all("Adding Replicas: 3" in described(live, topic)[0] for topic in twins.topics))
    for topic in twins.topics:
        assert configs(live, "topics", topic) == THROTTLED
    assert configs(live, "brokers", "3") == RATES
    shown = ("--list",)
    told = same(live, (TOOL, *shown), (COMMAND, *shown), code=0).lines
    assert told[1] == f"{first}-0: replicas: 1,3,2. adding: 3. removing: 2."
    same(live, (TOOL, *shown), (COMMAND, *shown), code=0, controller=True)
    twins.same(files, "--verify")
    twins.same(files, "--verify", "--preserve-throttles")
    assert configs(live, "brokers", "3") == RATES  # something moves
    cancelled = twins.same(files, "--cancel", "--preserve-throttles")  # which hold the other one still
    assert cancelled.lines[0] == f"Successfully cancelled partition reassignment for: {first}-0"
    live.wait_until_in_sync()
    twins.described()
    assert configs(live, "brokers", "3") == RATES
    twins.same(files, "--cancel")
    assert configs(live, "brokers", "3") == []
    for topic in twins.topics:
        assert configs(live, "topics", topic) == []
    assert "There is no active reassignment" in twins.same(files, "--verify").out


def test_how_much_a_new_replica_lacks(live: LiveKafka, twins: Twins) -> None:
    """What brokers call offsetLag is 0 all the time."""
    file, topic = twins.plan([(0, [1, 3], None)])[1], twins.topics[1]
    end = int(live.kafkapy("get-offsets", *on(live, "--topic-partitions", f"{topic}:0")).out.rpartition(":")[2])
    assert end > 10
    live.kafkapy(COMMAND, *on(live, *HELD, "--reassignment-json-file", file))
    verify = on(live, "--verify", "--reassignment-json-file", file, "--output", "jsonl")

    def row() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(live.kafkapy(COMMAND, *verify).lines[0])
        return found

    live.until(lambda: row()["offset_lag"] is not None)
    held = row()
    assert (held["state"], held["adding"]) == ("in progress", [3])
    assert end // 2 < held["offset_lag"] <= end
    live.kafkapy(COMMAND, *on(live, "--execute", "--wait", "--throttle", "100000000", "--reassignment-json-file", file))
    assert row()["offset_lag"] == 0


RATES = ["follower.replication.throttled.rate=100", "leader.replication.throttled.rate=100"]
THROTTLED = [
    "follower.replication.throttled.replicas=0:3",
    "leader.replication.throttled.replicas=0:1,0:2",
]


@pytest.mark.pair
def test_cancelled_by_the_controllers(live: LiveKafka, twins: Twins) -> None:
    files = twins.plan([(0, [1, 3], None)])
    for file in files:
        live.kafka(TOOL, *on(live, *HELD, "--additional", "--reassignment-json-file", file))
    twins.same(files, "--cancel", "--preserve-throttles", controller=True)
    twins.same(files, "--cancel", controller=True)
    assert configs(live, "brokers", "3") == []


def test_an_execution_that_was_interrupted_goes_on(live: LiveKafka, twins: Twins) -> None:
    """Held in its first batch; the next one, without a throttle, goes through, and the way back is the first one's."""
    file = twins.plan([(0, [1, 3], None), (1, [3, 1], None)])[1]
    options = ("--reassignment-json-file", file, "--batch-size", "1")
    held = live.kafkapy(COMMAND, *on(live, *HELD, *options), timeout_s=5)
    assert held.timed_out
    assert "kafkapy: batch 1 of 2: 1 partition\n" in held.err
    topic = twins.topics[1]
    assert live.kafkapy(COMMAND, *on(live, "--list")).lines[1:] == [
        f"{topic}-0: replicas: 1,3,2. adding: 3. removing: 2."
    ]
    verify = live.kafkapy(COMMAND, *on(live, "--verify", "--reassignment-json-file", file))
    assert verify.lines[1] == f"Reassignment of partition {topic}-0 is still in progress."
    rollback = Path(file).with_name("plan.rollback.json")
    before = rollback.read_text()
    done = live.kafkapy(COMMAND, *on(live, "--execute", "--throttle", "100000000", *options))
    assert (done.code, f"already there, from when this plan was started: {rollback}" in done.err) == (0, True)
    assert re.search("kafkapy: 1 reassignment already under way: .* of 3.0 MB left to copy\n", done.err), done.err
    assert "kafkapy: 2 reassignments complete\n" in done.err
    assert rollback.read_text() == before
    assert [line.split("\t")[:2] for line in described(live, topic)] == [
        ["Leader: 1", "Replicas: 1,3"],
        ["Leader: 3", "Replicas: 3,1"],
    ]
    verify = live.kafkapy(COMMAND, *on(live, "--verify", "--reassignment-json-file", file))
    assert verify.lines[1:3] == [f"Reassignment of partition {topic}-{n} is completed." for n in (0, 1)]
    assert configs(live, "brokers", "3") == []


def test_a_plan_is_simulated_without_touching_anything(live: LiveKafka, twins: Twins) -> None:
    file = twins.plan([(0, [3, 1], None)])[1]
    done = live.kafkapy(COMMAND, *on(live, "--simulate", "--reassignment-json-file", file, "--output", "jsonl"))
    assert done.code == 0, done
    rows = [json.loads(line) for line in done.lines]
    (move,) = [row for row in rows if row["type"] == "planned_partition"]
    assert (move["topic"], move["bytes"] > 2_900_000) == (twins.topics[1], True)
    assert live.kafkapy(COMMAND, *on(live, "--list")).out == "No partition reassignments found.\n"
    assert [line.split("\t")[1] for line in twins.described()] == ["Replicas: 1,2", "Replicas: 2,3"]


# Log dirs


def log_dirs(live: LiveKafka, broker: int) -> tuple[str, str]:
    return str(live.directory / f"broker-{broker}"), str(live.directory / f"broker-{broker}-2")


def where(live: LiveKafka, topic: str, broker: int) -> str:
    """The log dir of a topic's partition 0."""
    return next(path for path in log_dirs(live, broker) if (Path(path) / f"{topic}-0").exists())


def elsewhere(live: LiveKafka, topic: str, broker: int) -> str:
    now = where(live, topic, broker)
    return next(path for path in log_dirs(live, broker) if path != now)


@pytest.fixture
def dir_twins(live: LiveKafka, tmp_path: Path) -> Iterator[Twins]:
    """Two topics that lie in the same log dirs."""
    topics = (live.name("reassign"), live.name("reassign"))
    first, second = log_dirs(live, 1)[0], log_dirs(live, 2)[0]
    for topic in topics:
        live.create_topic(topic, assignment=[[1, 2]])
        live.produce(topic, ["x" * 100_000] * 30)
    plan = [entry(topic, 0, 1, 2, log_dirs=[first, second]) for topic in topics]
    file = written(tmp_path / "together.json", plan)
    live.kafka(TOOL, *on(live, "--execute", "--reassignment-json-file", file))
    live.until(lambda: all(where(live, topic, 1) == first and where(live, topic, 2) == second for topic in topics))
    live.until(
        lambda: "in progress" not in live.kafka(TOOL, *on(live, "--verify", "--reassignment-json-file", file)).out
    )
    yield Twins(live, topics, tmp_path)
    live.delete_topics(*topics)


@pytest.mark.pair
def test_moved_between_log_dirs(live: LiveKafka, dir_twins: Twins) -> None:
    target = log_dirs(live, 1)[1]
    files = dir_twins.plan([(0, [1, 2], [target, "any"])])
    dir_twins.same(files, "--verify")
    told = dir_twins.same(files, "--execute")
    assert told.lines[-1].startswith(f"Successfully started moving log directory to {target} for replica ")
    live.until(lambda: all(where(live, topic, 1) == target for topic in dir_twins.topics))
    live.until(lambda: all(not list(live.directory.glob(f"*/{topic}-0.*-future")) for topic in dir_twins.topics))
    assert "completed successfully" in dir_twins.same(files, "--verify").out


@pytest.mark.pair
def test_a_held_move_between_log_dirs(live: LiveKafka, dir_twins: Twins) -> None:
    here, target = log_dirs(live, 1)
    files = dir_twins.plan([(0, [1, 2], [target, "any"])])
    told = dir_twins.same(files, "--execute", "--replica-alter-log-dirs-throttle", "100")
    assert "The replica-alter-dir throttle limit was set to 100 B/s\n" in told.out
    assert configs(live, "brokers", "1") == ["replica.alter.log.dirs.io.max.bytes.per.second=100"]
    assert "is still in progress." in dir_twins.same(files, "--verify").lines[2]
    other = dir_twins.plan([(0, [1, 2], [here, "any"])], "other.json")
    assert "instead of" in dir_twins.same(other, "--verify").lines[2]
    cancelled = dir_twins.same(files, "--cancel")
    assert cancelled.lines[1].startswith(f"Successfully started moving log directory to {here} for replica ")
    live.until(lambda: all(not list(live.directory.glob(f"*/{topic}-0.*-future")) for topic in dir_twins.topics))
    assert "is not being moved from log dir" in dir_twins.same(files, "--verify").out


@pytest.mark.pair
def test_a_new_replica_in_a_chosen_log_dir(live: LiveKafka, dir_twins: Twins) -> None:
    """It is asked for until the replica is there."""
    target = log_dirs(live, 3)[1]
    files = dir_twins.plan([(0, [1, 3], ["any", target])])
    told = dir_twins.same(files, "--execute", "--additional", "--timeout", "30000")
    assert told.lines[-1].endswith("with broker 3 ")
    until_complete(live)
    assert [where(live, topic, 3) for topic in dir_twins.topics] == [target, target]
    dir_twins.same(files, "--verify")


def test_a_log_dir_that_a_broker_does_not_have(live: LiveKafka, dir_twins: Twins) -> None:
    """Kafka's tool has begun the reassignment when it tells."""
    theirs, ours = dir_twins.plan([(0, [1, 2], ["/not/there", "any"])])
    done = live.kafka(TOOL, *on(live, "--execute", "--reassignment-json-file", theirs))
    assert f"Error: Failed to alter dir for {dir_twins.topics[0]}-0-1\n" in done.out
    done = live.kafkapy(COMMAND, *on(live, "--execute", "--reassignment-json-file", ours))
    why = "Log dir /not/there is not found in the config."
    assert (done.code, done.out) == (1, f"Error: Failed to alter dir for {dir_twins.topics[1]}-0-1: {why}\n")
