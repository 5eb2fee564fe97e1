"""What a reader has before an example that asks a running cluster, by what stands after ``kafkapy``.

A preparation holds while the example runs, and then puts back what the example took away, so that examples can run in
any order, but for an upgrade to 4.3, which comes last. Its value is what is written otherwise in the example: an id
that only this cluster has.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from kafkapy.backends.controller_properties import read_controller
from tests.live_clients import Sent
from tests.live_kafka import SETTLE_S, LiveKafka
from tests.tool_server import ToolRun

RELEASE = "4.2"
"""What the cluster begins with: Kafka takes nobody back from 4.3."""

LEAVING = 3
"""The broker, and controller, whom examples let go."""

A_DIRECTORY_ID = "gsHsW5SETlaK3Yo2MqTjHg"
"""That of a controller, as examples have it."""

LONG_MS = "600000"

Preparation = Callable[[LiveKafka], AbstractContextManager[Mapping[str, str]]]


def tries(live: LiveKafka, *args: str) -> ToolRun:
    return live.kafkapy(*args, "--bootstrap-server", live.bootstrap)


def must(live: LiveKafka, *args: str) -> None:
    """Run kafkapy until it succeeds: what was changed right before may not have come to all nodes yet."""
    live.until(lambda: tries(live, *args).code == 0, SETTLE_S)


def rows(live: LiveKafka, *args: str) -> list[dict[str, Any]]:
    """What kafkapy tells; nothing where nobody answers."""
    done = tries(live, *args, "--output", "jsonl")
    return [json.loads(line) for line in done.lines] if done.code == 0 else []


@contextmanager
def without_a_broker(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    live.stop_broker(LEAVING)
    try:
        yield {}
    finally:
        live.start_broker(LEAVING, elect=False)


@contextmanager
def features_put_back(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    yield {}
    must(live, "features", "upgrade", "--release-version", RELEASE)


def votes(live: LiveKafka) -> bool | None:
    """Whether the controller is a voter; None while nobody can tell."""
    told = rows(live, "metadata-quorum", "describe", "--status")
    return any(voter["id"] == LEAVING for voter in told[0]["current_voters"]) if told else None


def change_voters(live: LiveKafka, is_to_vote: bool, *args: str) -> None:
    """Ask until it is so: where the leader goes, an answer may get lost."""
    live.until(lambda: votes(live) is is_to_vote or tries(live, "metadata-quorum", *args).code == 0, SETTLE_S)


def has_caught_up(live: LiveKafka) -> bool:
    """Whether the leader has seen that the controller, who is no voter, has all of the log."""
    return any(
        (each["node_id"], each["status"]) == (LEAVING, "Observer") and each["last_caught_up_timestamp"] > 0
        for each in rows(live, "metadata-quorum", "describe", "--replication")
    )


@contextmanager
def controller_put_back(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    file = str(live.properties_file(LEAVING))
    yield {A_DIRECTORY_ID: read_controller(file).directory_id}
    change_voters(live, True, "add-controller", "--command-config", file)


@contextmanager
def controller_that_does_not_vote(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    shutil.copy(live.properties_file(LEAVING), "controller.properties")
    with controller_put_back(live) as ids:
        change_voters(live, False, "remove-controller", "-i", str(LEAVING), "-d", ids[A_DIRECTORY_ID])
        live.until(lambda: has_caught_up(live), SETTLE_S)
        yield {}


@contextmanager
def moving_partition(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    topic = live.create_topic("payments", assignment=[[1, 2]])
    live.produce(topic, ["paid"] * 10)
    yield {}
    verify = ("reassign-partitions", "--verify", "--reassignment-json-file", "plan.json")
    live.until(lambda: "Clearing broker-level throttles" in tries(live, *verify).out, SETTLE_S)
    live.delete_topics(topic)


@contextmanager
def idle_share_group(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    earliest = ("--alter", "--add-config", "share.auto.offset.reset=earliest")
    must(live, "configs", "--entity-type", "groups", "--entity-name", "workers", *earliest)
    with live.members("share", "workers", ["jobs"]):
        live.until(lambda: has_begun(live), SETTLE_S)
    live.until(lambda: is_empty(live, "share-groups", "workers"))
    yield {}


def has_begun(live: LiveKafka) -> bool:
    """Whether the share group has an offset to start from in all partitions."""
    found = rows(live, "share-groups", "--describe", "--group", "workers")
    return bool(found) and all(each["start_offset"] is not None for each in found)


def is_empty(live: LiveKafka, command: str, group: str) -> bool:
    """Whether all members have left a group."""
    return any((each["group"], each["state"]) == (group, "Empty") for each in rows(live, command, "--list", "--state"))


@contextmanager
def stopped_application(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    live.members("streams", "wordcount", ["jobs"], changelogs=["wordcount-counts-changelog"]).stop()
    live.until(lambda: is_empty(live, "streams-groups", "wordcount"))
    live.commit("wordcount", "jobs", {0: 2})
    yield {}


@contextmanager
def open_transaction(live: LiveKafka) -> Iterator[Mapping[str, str]]:
    """After 39 records of pay, as in the directories of the other examples."""
    topic = live.create_topic("pay", assignment=[[1]])
    live.produce(topic, ["paid"] * 39)
    properties = {"transaction.timeout.ms": LONG_MS}
    transaction = live.begin_transaction("pay-1", Sent(topic, "not yet"), properties=properties)
    assert transaction.written == [(0, 39)]
    try:
        yield {}
    finally:
        # Whatever is left of it: a marker must not come into the next topic of that name.
        must(live, "transactions", "forceTerminateTransaction", "--transactionalId", "pay-1")
        transaction.leave_open()
        live.delete_topics(topic)


PREPARATIONS: Mapping[str, Preparation] = {
    "cluster unregister": without_a_broker,
    "features --bootstrap-server localhost:9092 downgrade": features_put_back,
    "features --bootstrap-server localhost:9092 disable": features_put_back,
    "metadata-quorum --bootstrap-server localhost:9092 --command-config": controller_that_does_not_vote,
    "metadata-quorum --bootstrap-server localhost:9092 remove": controller_put_back,
    "reassign-partitions --bootstrap-server": moving_partition,
    "share-groups --bootstrap-server": idle_share_group,
    "streams-groups --bootstrap-server": stopped_application,
    "transactions --bootstrap-server": open_transaction,
}
"""By how a line goes on after ``kafkapy``."""
