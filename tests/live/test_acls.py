"""acls against AclCommand, on a running cluster: the same lines, and the same ACLs afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

# Which entry of a list comes first, and so has a blank before its tab, is the order of a hash map.
FIRST = [(r"^ \t", "\t")]
TRACE = [(r"^(\tat |java\.|org\.|Caused by|\t\.\.\.).*\n", ""), (r"\n\n\Z", "\n")]

SETUP = (
    ("--topic", "acl-orders", "--allow-principal", "User:alice", "--operation", "Read", "--operation", "Write"),
    ("--topic", "acl-orders", "--deny-principal", "User:eve", "--deny-host", "10.0.0.1", "--operation", "All"),
    ("--topic", "acl-", "--resource-pattern-type", "prefixed", "--allow-principal", "User:ops", "--operation", "All"),
    ("--topic", "*", "--allow-principal", "User:*", "--operation", "Describe"),
    ("--group", "acl-group", "--allow-principal", "User:alice", "--operation", "Read"),
    ("--transactional-id", "acl-tx", "--allow-principal", "User:alice", "--operation", "Write"),
    ("--cluster", "--allow-principal", "User:admin", "--operation", "ClusterAction"),
    ("--user-principal", "User:bob", "--allow-principal", "User:admin", "--operation", "CreateTokens"),
    ("--delegation-token", "acl-token", "--allow-principal", "User:admin", "--operation", "Describe"),
)  # fmt: skip
QUORUM = ("metadata-quorum", "describe", "--status", "--output", "jsonl")
REMOVED = ("--topic", "acl-new", "--topic", "acl-new-2", "--group", "acl-new", "--transactional-id", "acl-new")


def ours(live: LiveKafka, *args: str) -> str:
    done = live.kafkapy("acls", "--bootstrap-server", live.bootstrap, *args)
    assert (done.code, done.err) == (0, ""), done
    return done.out


@pytest.fixture(scope="module")
def acls(live: LiveKafka) -> Iterator[None]:
    """ACLs of every kind, made by kafkapy."""
    for args in SETUP:
        ours(live, "--add", *args)
    settle(live)
    yield
    for args in SETUP:
        ours(live, "--remove", "--force", *args)


@pairs(
    pair("acls", "--list", order="sorted", code=0),
    pair("acls", "--list", order="sorted", code=0, controller=True),
    pair("acls", "--list", "--topic", "acl-orders", order="sorted", code=0),
    pair("acls", "--list", "--topic", "acl-orders", "--group", "acl-group", order="sorted", code=0),
    pair("acls", "--list", "--topic", "acl-orders", "--resource-pattern-type", "match", order="sorted", code=0),
    pair("acls", "--list", "--topic", "acl-", "--resource-pattern-type", "prefixed", code=0),
    pair("acls", "--list", "--topic", "acl-", "--resource-pattern-type", "ANY", code=0),
    pair("acls", "--list", "--topic", "nothing", "--resource-pattern-type", "any", code=0),
    pair("acls", "--list", "--topic", "*", code=0),
    pair("acls", "--list", "--cluster", code=0),
    pair("acls", "--list", "--transactional-id", "acl-tx", "--delegation-token", "acl-token", order="sorted", code=0),
    pair("acls", "--list", "--user-principal", "User:bob", code=0),
    pair("acls", "--list", "--principal", "User:alice", order="sorted", code=0),
    pair("acls", "--list", "--principal", "User:alice", "--principal", "User:nobody", order="sorted", code=0),
    pair("acls", "--list", "--topic", "acl-orders", "--principal", "User:eve", code=0),
    pair("acls", "--list", "--topic", "acl-orders", "--principal", "alice", code=1, scrub=TRACE),
    pair("acls", "--list", "--principal", "", code=1, scrub=TRACE),
)
def test_listing(live: LiveKafka, acls: None, case: Pair) -> None:
    check(live, case)


@pairs(
    *(
        pair("acls", "--add", *args, order="sorted", code=0, scrub=FIRST, controller=controller)
        for args, controller in (
            (("--topic", "acl-new", "--allow-principal", "User:a"), False),
            (("--topic", "acl-new", "--allow-principal", "User:a"), True),
            (("--topic", "acl-new", "--topic", "acl-new-2", "--deny-principal", "User:a", "--operation", "ALL"), False),
            (
                ("--topic", "acl-new", "--allow-principal", "User:a", "--allow-principal", "User:b",
                 "--allow-host", "10.0.0.1", "--allow-host", "10.0.0.2", "--operation", "AlterConfigs",
                 "--operation", "DescribeConfigs"),
                False,
            ),
            (("--producer", "--topic", "acl-new", "--allow-principal", "User:p"), False),
            (("--producer", "--topic", "acl-new", "--transactional-id", "acl-new", "--allow-principal", "U:p"), False),
            (("--producer", "--idempotent", "--topic", "acl-new", "--allow-principal", "User:acl-p"), False),
            (("--consumer", "--topic", "acl-new", "--group", "acl-new", "--allow-principal", "User:c"), False),
            (
                ("--producer", "--consumer", "--topic", "acl-new", "--group", "acl-new", "--allow-principal", "User:p"),
                False,
            ),
            (
                ("--topic", "acl-new", "--resource-pattern-type", "prefixed", "--allow-principal", "User:a",
                 "--deny-principal", "User:b", "--operation", "Delete"),
                False,
            ),
        )
    )
)  # fmt: skip
def test_adding(live: LiveKafka, case: Pair) -> None:
    """Kafka's goes first, then all is removed, then kafkapy's: the ACLs are the same after each."""
    listed: list[str] = []

    def between() -> None:
        listed.append(everywhere(live))
        clear(live)

    try:
        check(live, case, between)
        assert listed == [everywhere(live)]
        assert "already exists" in check(live, case).out
    finally:
        clear(live)


def everywhere(live: LiveKafka, *args: str) -> str:
    """The new ACLs, once every broker has heard of all that the controller has."""
    settle(live)
    new = ours(live, "--list", *REMOVED, "--resource-pattern-type", "any", *args)
    of_cluster = ours(live, "--list", "--cluster", "--principal", "User:acl-p", *args)
    return new + of_cluster.removeprefix("ACLs for principal `User:acl-p`\n")


def settle(live: LiveKafka) -> None:
    """Wait until every broker has heard of all that the controller has."""
    offset = json.loads(live.kafkapy(*QUORUM, "--bootstrap-controller", live.controllers).out)["high_watermark"]
    described = ("features", "describe", "--output", "jsonl", "--bootstrap-server")

    def known(broker_id: int) -> int:
        return int(json.loads(live.kafkapy(*described, live.address(broker_id)).lines[0])["epoch"])

    live.until(lambda: all(known(broker_id) >= offset - 1 for broker_id in live.running))


def clear(live: LiveKafka) -> None:
    ours(live, "--remove", "--force", *REMOVED, "--resource-pattern-type", "any")
    ours(live, "--remove", "--force", "--cluster", "--allow-principal", "User:acl-p", "--operation", "IdempotentWrite")
    assert everywhere(live) == ""


@pytest.mark.parametrize("tool", ["kafka", pytest.param("kafkapy", marks=pytest.mark.pair)])
@pytest.mark.parametrize(
    "args",
    [
        ("--topic", "acl-new"),
        ("--topic", "acl-new", "--allow-principal", "User:a"),
        ("--topic", "acl-new", "--allow-principal", "User:a", "--operation", "Read"),
        ("--topic", "acl-new-2", "--resource-pattern-type", "match"),
        ("--consumer", "--topic", "acl-new", "--group", "acl-new", "--allow-principal", "User:a"),
        ("--topic", "acl-not-there"),
    ],
    ids=" ".join,
)
def test_removing(live: LiveKafka, tool: str, args: tuple[str, ...], left: dict[tuple[str, ...], str]) -> None:
    """Both say nothing with --force, and leave the same."""
    try:
        ours(live, "--add", "--consumer", "--topic", "acl-new", "--group", "acl-new", "--allow-principal", "User:a")
        ours(live, "--add", "--topic", "acl-new", "--resource-pattern-type", "prefixed", "--allow-principal", "User:z")
        where = ("--bootstrap-server", live.bootstrap, "--remove", "--force", *args)
        done = live.kafka("AclCommand", *where) if tool == "kafka" else live.kafkapy("acls", *where)
        assert (done.code, done.out) == (0, "")
        assert left.setdefault(args, everywhere(live)) == everywhere(live)
    finally:
        clear(live)


@pytest.fixture(scope="module")
def left() -> dict[tuple[str, ...], str]:
    """The ACLs that were left by the first tool."""
    return {}


def test_confirming(live: LiveKafka) -> None:
    """Kafka's tool needs a terminal to ask."""
    where = ("acls", "--bootstrap-server", live.bootstrap, "--remove", "--topic", "acl-new")
    question = (
        "Are you sure you want to delete all ACLs for resource filter `ResourcePattern(resourceType=TOPIC, "
        "name=acl-new, patternType=LITERAL)`? (y/n)\n"
    )
    ours(live, "--add", "--topic", "acl-new", "--allow-principal", "User:a")
    try:
        assert live.kafkapy(*where, stdin="n\n") == (0, question, "")
        assert live.kafkapy(*where, stdin="").code == 1
        assert "acl-new" in everywhere(live)
        assert live.kafkapy(*where, stdin="Y\n") == (0, question, "")
        assert everywhere(live) == ""
    finally:
        clear(live)


@pairs(
    *(
        pair("acls", *args)
        for args in (
            (),
            ("--list", "--add"),
            ("--add", "--topic", "t"),
            ("--add", "--allow-principal", "User:a"),
            ("--add", "--topic", "t", "--allow-principal", "User:a", "--resource-pattern-type", "match"),
            ("--add", "--producer", "--allow-principal", "User:a"),
            ("--add", "--producer", "--topic", "t", "--operation", "Read", "--allow-principal", "User:a"),
            ("--add", "--consumer", "--topic", "t", "--allow-principal", "User:a"),
            ("--add", "--topic", "t", "--idempotent", "--allow-principal", "User:a"),
            ("--list", "--producer", "--topic", "t"),
            ("--remove", "--principal", "User:a", "--topic", "t"),
        )
    )
)
def test_bad_usage(live: LiveKafka, case: Pair) -> None:
    """Kafka's exit code is 1 and kafkapy's 2; the reason is the first line that Kafka prints."""
    theirs = live.kafka("AclCommand", "--bootstrap-server", live.bootstrap, *case.kafka[1:])
    done = live.kafkapy("acls", "--bootstrap-server", live.bootstrap, *case.kafkapy[1:])
    assert (theirs.code, done.code, done.out) == (1, 2, "")
    assert done.err.startswith("kafkapy: " + theirs.err.splitlines()[0].rstrip())


@pytest.mark.parametrize(
    "args",
    [
        ("--topic", "t", "--resource-pattern-type", "odd"),
        ("--group", "g", "--operation", "Write"),
        ("--topic", "t", "--operation", "Fly"),
    ],
    ids=" ".join,
)
def test_what_both_refuse_in_other_words(live: LiveKafka, args: tuple[str, ...]) -> None:
    """Kafka lists operations in the order of a hash map, and its option parser has words of its own."""
    where = ("--bootstrap-server", live.bootstrap, "--add", "--allow-principal", "User:a", *args)
    assert live.kafka("AclCommand", *where).code == 1
    done = live.kafkapy("acls", *where)
    assert (done.code, done.out) == (2, "")


def test_rows(live: LiveKafka) -> None:
    try:
        ours(live, "--add", "--topic", "acl-new", "--allow-principal", "User:a", "--operation", "Read")
        (row,) = map(json.loads, everywhere(live, "--output", "jsonl").splitlines())
        assert row == {
            "type": "acl",
            "resource_type": "TOPIC",
            "resource_name": "acl-new",
            "pattern_type": "LITERAL",
            "principal": "User:a",
            "host": "*",
            "operation": "READ",
            "permission_type": "ALLOW",
        }
    finally:
        clear(live)
