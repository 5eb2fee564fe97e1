"""log-dirs, features, metadata-quorum, cluster-id, broker-api-versions and the endpoints of a running cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same

OFFSETS = [
    (r"(HighWatermark: +)\d+", r"\1N"),
    (r"(Epoch: )\d+$", r"\1N"),
    (r"(Lag: +)\d+", r"\1N"),
    (r"(LagTimeMs: +)-?\d+", r"\1N"),
]
"""What moves between two looks: a controller writes twice a second, also where nothing happens, and others fetch it."""
TABLE = [(r"\d+ ms ago", "N ms ago"), (r"\d{4,}", "N"), (r"(?<=\t)\d+ *(?=\t)", "N"), (r" +\t", "\t")]


def in_order(line: str) -> Any:
    """The JSON without the order of hash maps."""
    document = json.loads(line)
    for broker in document["brokers"]:
        broker["logDirs"].sort(key=lambda each: str(each["logDir"]))
        for log_dir in broker["logDirs"]:
            log_dir["partitions"].sort(key=lambda each: str(each["partition"]))
    return document


@pytest.fixture(scope="module")
def topics(live: LiveKafka) -> Iterator[tuple[str, str]]:
    """A topic with records in three partitions, and one without any."""
    full = live.create_topic("admin-full", assignment=[[1, 2], [2, 3], [3, 1]])
    empty = live.create_topic("admin-empty", assignment=[[1]])
    for partition in range(3):
        live.produce(full, ["x" * 100] * (partition + 1), partition)
    live.wait_until_in_sync()
    yield full, empty
    live.delete_topics(full, empty)


@pytest.mark.pair
@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--broker-list", "2"),
        ("--broker-list", "1,3"),
        ("--topic-list", "admin-full"),
        ("--topic-list", "admin-full,admin-empty"),
        ("--topic-list", "admin-full", "--broker-list", "3"),
        ("--topic-list", "not-there"),
        ("--topic-list", "admin-full", "--broker-list", "1,1,2"),
    ],
    ids=" ".join,
)
def test_log_dirs(live: LiveKafka, topics: tuple[str, str], args: tuple[str, ...]) -> None:
    where = ("--bootstrap-server", live.bootstrap, "--describe", *args)
    theirs, ours = live.kafka("LogDirsCommand", *where), live.kafkapy("log-dirs", *where)
    assert (ours.code, ours.err, ours.lines[:2]) == (0, "", theirs.lines[:2])
    assert in_order(ours.lines[2]) == in_order(theirs.lines[2])
    keys = [list(json.loads(run.lines[2])["brokers"][0]["logDirs"][0]) for run in (theirs, ours)]
    assert keys[0] == keys[1]


@pairs(
    pair("log-dirs", "--describe", "--broker-list", "9", stderr=True, code=1),
    pair("log-dirs", "--describe", "--broker-list", "1,9,8", stderr=True, code=1, scrub=[("9,8|8,9", "8,9")]),
)
def test_log_dirs_of_brokers_that_are_not_there(live: LiveKafka, case: Pair) -> None:
    check(live, case)


def test_log_dirs_as_rows(live: LiveKafka, topics: tuple[str, str]) -> None:
    where = ("--bootstrap-server", live.bootstrap, "--topic-list", topics[0], "--output", "jsonl")
    rows = [json.loads(line) for line in live.kafkapy("log-dirs", "--describe", *where).lines]
    assert {(row["broker_id"], row["partition"]) for row in rows} == {(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (1, 2)}
    assert all(row["total_bytes"] >= row["usable_bytes"] > 0 for row in rows)


@pairs(
    pair("cluster-id", code=0),
    pair("cluster-id", code=0, controller=True),
    pair("broker-api-versions", code=0, order="sorted"),
    pair("features", "describe", code=0, scrub=OFFSETS),
    pair("features", "describe", "--node-id", "2", code=0, scrub=OFFSETS),
    pair("features", "describe", code=0, scrub=OFFSETS, controller=True),
    pair("features", "describe", "--node-id", "3", code=0, scrub=OFFSETS, controller=True),
    pair("metadata-quorum", "describe", "--status", code=0, scrub=OFFSETS),
    pair("metadata-quorum", "describe", "--status", code=0, scrub=OFFSETS, controller=True),
    pair("metadata-quorum", "describe", "--replication", code=0, scrub=TABLE),
    pair("metadata-quorum", "describe", "--replication", code=0, scrub=TABLE, controller=True),
    pair("metadata-quorum", "describe", "--replication", "--human-readable", code=0, scrub=TABLE),
)
def test_what_a_cluster_is(live: LiveKafka, case: Pair) -> None:
    check(live, case)


@pytest.fixture(scope="module")
def controllers_known(live: LiveKafka) -> None:
    """After a start, the controllers learn one another's versions by and by."""
    asked = ("features", "--bootstrap-server", live.bootstrap, "upgrade", "--release-version", "4.3", "--dry-run")
    live.until(lambda: live.kafkapy(*asked).code == 0)


@pairs(
    pair("features", "upgrade", "--release-version", "4.3-IV0", "--dry-run", code=0),
    pair("features", "upgrade", "--release-version", "4.3", "--dry-run", code=0, controller=True),
    pair("features", "upgrade", "--feature", "group.version=1", code=0),
    pair("features", "upgrade", "--feature", "group.version=7", "--dry-run", code=1, stderr=True, controller=True),
    pair("features", "upgrade", "--feature", "nothing=1", code=1, stderr=True, controller=True),
    pair("features", "upgrade", "--feature", "group.version=0"),
    pair("features", "downgrade", "--feature", "group.version=-1", "--dry-run", controller=True),
    pair(
        *("features", "upgrade", "--feature", "group.version=9", "--feature", "share.version=1"),
        *("--feature", "transaction.version=2"),
        code=1,
        stderr=True,
    ),
    pair("features", "downgrade", "--metadata", "3.4-IV0", "--dry-run", code=1, stderr=True),
    pair("features", "downgrade", "--metadata", "3.4-IV0", "--unsafe", "--dry-run", code=1, stderr=True),
    pair("features", "downgrade", "--feature", "transaction.version=1", "--dry-run", code=0),
    pair("features", "downgrade", "--release-version", "4.2", "--dry-run", code=1, stderr=True),
    pair("features", "downgrade", "--feature", "kraft.version=1", "--dry-run", code=1, stderr=True),
    pair("features", "disable", "--feature", "share.version", "--dry-run", code=0),
    pair("features", "disable", "--feature", "metadata.version", code=1, stderr=True),
    pair("features", "disable", "--feature", "a", "--feature", "b", "--unsafe", code=1, stderr=True),
)
def test_levels_of_features(live: LiveKafka, controllers_known: None, case: Pair) -> None:
    """Which feature is named for all is the first that the controller looks at, in the order of a hash map."""
    check(live, case)


@pairs(
    Pair(("FeatureCommand", "version-mapping"), ("features", "version-mapping"), code=0),
    *(
        Pair(
            ("FeatureCommand", "version-mapping", "--release-version", release),
            ("features", "version-mapping", "--release-version", release),
            code=0,
        )
        for release in ("3.3-IV3", "4.0", "4.2-IV1", "4.4-IV0")
    ),
    *(
        Pair(
            ("FeatureCommand", "feature-dependencies", "--feature", feature),
            ("features", "feature-dependencies", "--feature", feature),
            code=0,
        )
        for feature in ("metadata.version=30", "eligible.leader.replicas.version=1", "transaction.version=2")
    ),
)
def test_features_of_releases(live: LiveKafka, case: Pair) -> None:
    """No cluster is asked."""
    theirs, ours = live.kafka(*case.kafka), live.kafkapy(*case.kafkapy)
    assert (ours.code, ours.out) == (0, theirs.out)


@pytest.mark.pair
def test_a_feature_goes_and_comes(live: LiveKafka) -> None:
    down, up = ("disable", "--feature", "streams.version"), ("upgrade", "--feature", "streams.version=1")
    try:
        check(live, pair("features", *down, code=0), lambda: _must(live, "features", *up))
        check(live, pair("features", "describe", code=0, scrub=OFFSETS))
    finally:
        check(live, pair("features", *up, code=0), lambda: _must(live, "features", *down))


def test_levels_of_features_as_rows(live: LiveKafka) -> None:
    where = ("features", "--bootstrap-server", live.bootstrap)
    done = live.kafkapy(*where, "upgrade", "--feature", "group.version=1", "--dry-run", "--output", "jsonl")
    (row,) = map(json.loads, done.lines)
    found = (done.code, row["feature"], row["level"], row["is_dry_run"], row["error"])
    assert found == (0, "group.version", 1, True, None)
    asked = ("upgrade", "--feature", "nothing=1")
    refused = live.kafkapy(*where, *asked, "--output", "jsonl")
    (row,) = map(json.loads, refused.lines)
    assert (refused.code, refused.err) == (1, "1 out of 1 operation(s) failed.\n")
    assert row["error"].endswith("Exception")
    assert live.kafkapy(*where, *asked).lines == [f"Could not upgrade nothing to 1. {row['message']}"]
    old = live.kafkapy(*where, "downgrade", "--metadata", "3.4-IV0", "--dry-run", "--output", "jsonl")
    assert [json.loads(line)["operation"] for line in old.lines] == ["downgrade"]
    assert "`metadata` flag is deprecated" in old.err


def _must(live: LiveKafka, *args: str) -> None:
    assert live.kafkapy(args[0], "--bootstrap-server", live.bootstrap, *args[1:]).code == 0


DIRECTORY = "gsHsW5SETlaK3Yo2MqTjHg"


@pairs(
    pair("metadata-quorum", "remove-controller", "-i", "3", "-d", DIRECTORY, "--dry-run", code=0),
    pair(
        *("metadata-quorum", "remove-controller", "--controller-id", "3", "--controller-directory-id", DIRECTORY),
        "--dry-run",
        code=0,
        controller=True,
    ),
    pair("metadata-quorum", "remove-controller", "-i", "3", "-d", DIRECTORY, code=1),
    pair("metadata-quorum", "remove-controller", "-i", "3", "-d", DIRECTORY, code=1, controller=True),
)
def test_removing_a_controller(live: LiveKafka, case: Pair) -> None:
    """These voters are static, and cannot be removed."""
    theirs = check(live, case)
    if theirs.code:
        reason = theirs.err.splitlines()[0].partition(": ")[2]
        where = ("--bootstrap-server", live.bootstrap)
        assert live.kafkapy("metadata-quorum", *where, *case.kafkapy[1:]).err == f"kafkapy: {reason}\n"


@pytest.mark.pair
@pytest.mark.parametrize("dry_run", [True, False])
def test_adding_a_controller(live: LiveKafka, tmp_path: Path, dry_run: bool) -> None:
    log_dir = tmp_path / "metadata"
    log_dir.mkdir()
    (log_dir / "meta.properties").write_text(f"version=1\ncluster.id=x\nnode.id=9\ndirectory.id={DIRECTORY}\n")
    file = tmp_path / "controller.properties"
    file.write_text(
        f"node.id=9\nprocess.roles=controller\nlog.dirs={log_dir}\nlisteners=CONTROLLER://:19999\n"
        "controller.listener.names=CONTROLLER\n"
    )
    options = ("--command-config", str(file), "add-controller", *(["--dry-run"] if dry_run else []))
    theirs = same(live, ("MetadataQuorumCommand", *options), ("metadata-quorum", *options), code=0 if dry_run else 1)
    if dry_run:
        assert "CONTROLLER://localhost:19999" in theirs.out


@pytest.mark.pair
@pytest.mark.parametrize("option", ["--bootstrap-server", "-b", "--bootstrap-controller", "-C"])
@pytest.mark.parametrize("args", [("list-endpoints",), ("list-endpoints", "--include-fenced-brokers")], ids=" ".join)
def test_endpoints(live: LiveKafka, args: tuple[str, ...], option: str) -> None:
    where = (option, live.bootstrap if "b" in option[:3] and "controller" not in option else live.controllers)
    theirs, ours = live.kafka("ClusterTool", *args, *where), live.kafkapy("cluster", *args, *where)
    assert (ours.out, bool(ours.code)) == (theirs.out, bool(theirs.code))


@pytest.mark.pair
@pytest.mark.parametrize("option", ["--bootstrap-server", "--bootstrap-controller"])
def test_unregistering_a_broker_that_is_not_there(live: LiveKafka, option: str) -> None:
    where = ("unregister", option, live.bootstrap if option == "--bootstrap-server" else live.controllers, "--id", "77")
    theirs, ours = live.kafka("ClusterTool", *where), live.kafkapy("cluster", *where)
    reason = theirs.err.splitlines()[0].partition(": ")[2]
    assert (theirs.code, ours) == (1, (1, "", f"kafkapy: {reason}\n"))


def test_a_node_that_is_not_there(live: LiveKafka) -> None:
    done = live.kafkapy("features", "--bootstrap-server", live.bootstrap, "describe", "--node-id", "9")
    assert done == (1, "", "kafkapy: No node with id 9 found.\n")


def test_the_quorum_as_rows(live: LiveKafka) -> None:
    where = ("metadata-quorum", "--bootstrap-controller", live.controllers, "describe", "--output", "jsonl")
    (status,) = [json.loads(line) for line in live.kafkapy(*where, "--status").lines]
    assert status["high_watermark"] > 0
    assert [voter["id"] for voter in status["current_voters"]] == [1, 2, 3]
    replicas = [json.loads(line) for line in live.kafkapy(*where, "--replication").lines]
    assert [each["status"] for each in replicas] == ["Leader", "Follower", "Follower"]
    assert all(each["last_fetch_timestamp"] > 0 for each in replicas)


TOPICS = ("TopicCommand", "topics", ("--list",))
OFFSETS_OF_LOGS = ("GetOffsetShell", "get-offsets", ())
QUORUM = ("MetadataQuorumCommand", "metadata-quorum", ("describe", "--status"))
MOVES = ("ReassignPartitionsCommand", "reassign-partitions", ("--list",))
CONFIGS = ("ConfigCommand", "configs", ("--describe", "--entity-type", "brokers", "--entity-name", "1"))


@pytest.mark.pair
@pytest.mark.parametrize(
    ("is_controller", "tool", "command", "args"),
    [
        *((True, *case) for case in (TOPICS, OFFSETS_OF_LOGS, QUORUM, MOVES, CONFIGS)),
        *((False, *case) for case in (QUORUM, MOVES, CONFIGS)),
    ],
)
def test_a_node_that_is_not_what_it_is_named_as(
    live: LiveKafka, is_controller: bool, tool: str, command: str, args: tuple[str, ...]
) -> None:
    """Both refuse it with the same words; ours says who it is."""
    address = (live.controllers if is_controller else live.bootstrap).split(",")[0]
    where = ("--bootstrap-server" if is_controller else "--bootstrap-controller", address)
    theirs, ours = live.kafka(tool, *where, *args), live.kafkapy(command, *args, *where)
    assert theirs.code == ours.code == 1
    words = "The node does not support METADATA"
    hint = f"kafkapy: {address} is a controller: give the address of a broker, or name it with --bootstrap-controller"
    if not is_controller:
        words = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        hint = f"kafkapy: {address} is a broker: name it with --bootstrap-server, or give the address of a controller"
    assert words in theirs.out + theirs.err
    told = [*ours.out.splitlines(), *ours.err.splitlines()]
    assert len(told) == 2
    assert told[0].endswith(words)
    assert told[1].startswith(hint)


def test_doctor_knows_a_controller(live: LiveKafka) -> None:
    told = live.kafkapy("doctor", "--bootstrap-server", live.controllers)
    assert (told.code, "is a controller: give the address of a broker" in " ".join(told.out.split())) == (1, True)
