"""Pairs: one of Kafka's tools and the kafkapy command that mirrors it, run on the same cluster in the same state.

A pair is one test case, so that pairs can be counted: ``pytest tests/live tests/outages --collect-only -q -m pair``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from tests.live_kafka import LiveKafka
from tests.tool_server import TIMEOUT_S, ToolRun

TOOLS = {
    "acls": "AclCommand",
    "broker-api-versions": "BrokerApiVersionsCommand",
    "cluster-id": "ClusterTool",
    "configs": "ConfigCommand",
    "console-consumer": "ConsoleConsumer",
    "console-producer": "ConsoleProducer",
    "consumer-groups": "ConsumerGroupCommand",
    "delete-records": "DeleteRecordsCommand",
    "features": "FeatureCommand",
    "get-offsets": "GetOffsetShell",
    "groups": "GroupsCommand",
    "leader-election": "LeaderElectionCommand",
    "log-dirs": "LogDirsCommand",
    "metadata-quorum": "MetadataQuorumCommand",
    "reassign-partitions": "ReassignPartitionsCommand",
    "share-groups": "ShareGroupCommand",
    "streams-groups": "StreamsGroupCommand",
    "topics": "TopicCommand",
    "transactions": "TransactionsCommand",
}
SERVER = "--bootstrap-server"
CONTROLLER = "--bootstrap-controller"

Order = Literal["exact", "sorted"]
Scrub = Sequence[tuple[str, str]]
HINT = re.compile(
    r"^kafkapy: (there is no .*; (did you mean '.*'\?|there (is|are) .*)|.*: the file should look like .*|"
    r"no election is under way: .*)\n",
    re.MULTILINE,
)
"""A line of our own beside Kafka's."""


@dataclass(frozen=True)
class Pair:
    """Two command lines, without the cluster, and what of their outcomes must be the same.

    ``order`` is for stdout (and stderr): sorted where Kafka prints in hash order. ``code`` is the exit code that both
    must have, "same" for whatever Kafka's is, None for any. ``scrub`` replaces in both outputs what two runs cannot
    share, such as the time. ``controller`` asks the controllers instead of the brokers.
    """

    kafka: tuple[str, ...]
    kafkapy: tuple[str, ...]
    order: Order = "exact"
    stderr: bool = False
    code: int | Literal["same"] | None = None
    stdin: str | None = None
    scrub: Scrub = ()
    controller: bool = False
    timeout_s: float = TIMEOUT_S

    def __str__(self) -> str:
        return " ".join(self.kafkapy)


def pair(command: str, *args: str, **options: Any) -> Pair:
    """A kafkapy command and the tool that it mirrors, with the same arguments."""
    kafka = (TOOLS[command], *(("cluster-id",) if command == "cluster-id" else ()), *args)
    return Pair(kafka, (command, *args), **options)


def pairs(*cases: Pair) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test once for each of the pairs, given to it as ``case``."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        marked: Callable[..., None] = pytest.mark.pair(pytest.mark.parametrize("case", cases, ids=str)(test))
        return marked

    return decorate


def same(
    live: LiveKafka,
    kafka: Sequence[str],
    kafkapy: Sequence[str],
    order: Order = "exact",
    stderr: bool = False,
    code: int | Literal["same"] | None = None,
    stdin: str | None = None,
    scrub: Scrub = (),
    controller: bool = False,
    timeout_s: float = TIMEOUT_S,
) -> ToolRun:
    """Run both and compare; what Kafka's did."""
    case = Pair(tuple(kafka), tuple(kafkapy), order, stderr, code, stdin, scrub, controller, timeout_s)
    return check(live, case)


def check(live: LiveKafka, case: Pair, between: Callable[[], None] | None = None) -> ToolRun:
    """Run both of a pair, Kafka's first, and compare; what Kafka's did.

    ``between`` undoes what Kafka's changed, so that kafkapy starts from the same state.
    """
    where = (CONTROLLER, live.controllers) if case.controller else (SERVER, live.bootstrap)
    theirs = live.kafka(*_on(case.kafka, where), stdin=case.stdin, timeout_s=case.timeout_s)
    if between is not None:
        between()
    ours = live.kafkapy(*_on(case.kafkapy, where), stdin=case.stdin, timeout_s=case.timeout_s)
    _require_same(case, theirs, ours)
    return theirs


def check_waiting(live: LiveKafka, case: Pair) -> None:
    """The same for a pair that only reads, and waits for a time-out: both do so at the same time."""
    where = (SERVER, live.bootstrap)
    _require_same(case, *live.side_by_side(_on(case.kafka, where), _on(case.kafkapy, where)))


def _require_same(case: Pair, theirs: ToolRun, ours: ToolRun) -> None:
    differing = _differing(case, theirs, ours)
    if differing:
        pytest.fail(f"{' and '.join(differing)} differ\n{_shown(case, theirs, ours)}", pytrace=False)


def _on(command: tuple[str, ...], where: tuple[str, str]) -> list[str]:
    """The command line with the cluster, where it does not name one itself: before Kafka's sub-commands, but for
    ClusterTool, which wants it behind."""
    if SERVER in command or CONTROLLER in command:
        return list(command)
    at = 2 if command[0] == "ClusterTool" else 1
    return [*command[:at], *where, *command[at:]]


def _differing(case: Pair, theirs: ToolRun, ours: ToolRun) -> list[str]:
    names = []
    if theirs.timed_out or ours.timed_out:
        names.append("time-outs")
    if case.code is not None and {theirs.code, ours.code} != {theirs.code if case.code == "same" else case.code}:
        names.append("exit codes")
    if _compared(case, theirs.out) != _compared(case, ours.out):
        names.append("outputs")
    if case.stderr and _compared(case, theirs.err) != _compared(case, HINT.sub("", ours.err)):
        names.append("errors")
    return names


def _compared(case: Pair, text: str) -> list[str]:
    for pattern, replacement in case.scrub:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    lines = text.splitlines(keepends=True)
    return sorted(lines) if case.order == "sorted" else lines


def _shown(case: Pair, theirs: ToolRun, ours: ToolRun) -> str:
    shown = []
    for command, run in ((case.kafka, theirs), (case.kafkapy, ours)):
        code = "timed out" if run.timed_out else f"exit code {run.code}"
        shown += [f"===== {' '.join(command)}: {code}", "--- stdout", run.out, "--- stderr", run.err]
    return "\n".join(shown)
