"""share-groups on a running cluster, beside ShareGroupCommand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

JOBS, MORE = "sg-jobs", "sg-more"
WORKERS, IDLE, CONSUMERS = "sg-workers", "sg-idle-with-a-name-that-is-too-long", "sg-consumers"
MISSING = "sg-not-there"
T0 = 1_700_000_000_000


@pytest.fixture(scope="module")
def groups(live: LiveKafka) -> Iterator[LiveKafka]:
    """A share group with members, and one that they have left."""
    live.create_topic(JOBS, 2, 1)
    live.create_topic(MORE, 1, 1)
    live.send(*(Sent(JOBS, f"a{n}", partition=0, timestamp=T0 + n * 1000) for n in range(6)))
    live.send(*(Sent(JOBS, f"b{n}", partition=1, timestamp=T0 + n * 1000) for n in range(3)))
    live.produce(MORE, ["x"] * 2)
    live.commit(CONSUMERS, JOBS, {0: 1})
    for group in (WORKERS, IDLE):
        _configure(live, group, "share.auto.offset.reset=earliest")
    _idle(live)
    with ExitStack() as stack:
        stack.enter_context(live.members("share", WORKERS, [JOBS, MORE], 2))
        _until_started(live, WORKERS, 3)
        yield live


def _configure(live: LiveKafka, group: str, config: str) -> None:
    entity = ("--entity-type", "groups", "--entity-name", group)
    done = live.kafka("ConfigCommand", "--bootstrap-server", live.bootstrap, "--alter", *entity, "--add-config", config)
    assert done.code == 0


def _idle(live: LiveKafka) -> None:
    with live.members("share", IDLE, [JOBS]):
        _until_started(live, IDLE, 2)


def _until_started(live: LiveKafka, group: str, partitions: int) -> None:
    """Wait until a group has a start offset in each of its partitions."""

    def started() -> bool:
        done = live.kafka("ShareGroupCommand", "--bootstrap-server", live.bootstrap, "--describe", "--group", group)
        rows = [line.split() for line in done.lines if line.startswith(group)]
        return len(rows) == partitions and all(row[3] != "-" and row[4] != "-" for row in rows)

    live.until(started)


@pairs(
    pair("share-groups", "--list", order="sorted", code=0),
    pair("share-groups", "--list", "--state", order="sorted", code=0),
    pair("share-groups", "--list", "--state", "Empty", order="sorted", code=0),
    pair("share-groups", "--list", "--state", "stable,dead", order="sorted", code=0),
)
def test_lists(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)


@pairs(
    *(
        pair("share-groups", "--describe", *named, *what, order="sorted", stderr=True, code=0)
        for named in (("--group", WORKERS), ("--group", IDLE), ("--group", WORKERS, "--group", IDLE))
        for what in (
            (),
            ("--verbose",),
            ("--offsets",),
            ("--members",),
            ("--members", "--verbose"),
            ("--state",),
            ("--state", "--verbose"),
        )
    ),
    pair("share-groups", "--describe", "--all-groups", order="sorted", code=0),
    pair("share-groups", "--describe", "--all-groups", "--state", order="sorted", code=0),
)
def test_descriptions(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)


@pairs(
    *(
        pair("share-groups", "--describe", "--group", group, *what)
        for group in (MISSING, CONSUMERS)
        for what in ((), ("--members",), ("--state",))
    ),
)
def test_groups_that_cannot_be_described(groups: LiveKafka, case: Pair) -> None:
    assert "GroupIdNotFoundException" in check(groups, case).out
    assert groups.kafkapy(*case.kafkapy, "--bootstrap-server", groups.bootstrap).code == 1


@pairs(
    *(
        pair("share-groups", "--reset-offsets", "--group", *more, order="sorted")
        for more in (
            (IDLE, "--all-topics", "--to-earliest", "--dry-run"),
            (IDLE, "--all-topics", "--to-latest", "--dry-run"),
            (IDLE, "--topic", JOBS, "--to-datetime", "2023-11-14T22:13:22.000", "--dry-run"),
            (IDLE, "--topic", f"{JOBS}:1", "--to-datetime", "2033-11-14T22:13:22.000", "--dry-run"),
            (IDLE, "--all-topics", "--to-earliest", "--execute"),
            (IDLE, "--topic", f"{JOBS}:0", "--to-latest", "--execute"),
            (IDLE, "--topic", JOBS, "--to-datetime", "2023-11-14T22:13:22.000", "--execute"),
            (IDLE, "--topic", JOBS, "--to-datetime", "yesterday", "--execute"),
            (IDLE, "--topic", "sg-nope", "--to-latest", "--execute"),
            (IDLE, "--topic", f"{JOBS}:7", "--to-latest", "--execute"),
            (MISSING, "--all-topics", "--to-latest", "--execute"),
            (MISSING, "--topic", JOBS, "--to-latest", "--dry-run"),
            (CONSUMERS, "--topic", f"{JOBS}:0", "--to-latest", "--execute"),
            (WORKERS, "--topic", JOBS, "--to-latest", "--execute"),
        )
    ),
)
def test_resets(groups: LiveKafka, case: Pair) -> None:
    left: list[object] = []

    def back() -> None:
        left.append(_stands(groups, IDLE))
        _run(groups, "--reset-offsets", "--group", IDLE, "--topic", JOBS, "--to-latest", "--execute")

    back()
    check(groups, case, back)
    back()
    assert left[1] == left[2]


def _stands(live: LiveKafka, group: str) -> list[list[str]]:
    done = live.kafka("ShareGroupCommand", "--bootstrap-server", live.bootstrap, "--describe", "--group", group)
    return sorted(line.split()[1:4] for line in done.lines if line.startswith(group))


def _run(live: LiveKafka, *args: str) -> None:
    assert live.kafka("ShareGroupCommand", "--bootstrap-server", live.bootstrap, *args).code == 0


@pairs(
    *(
        pair("share-groups", "--delete-offsets", "--group", *more)
        for more in (
            (IDLE, "--topic", JOBS),
            (IDLE, "--topic", MORE),
            (IDLE, "--topic", "sg-nope"),
            (IDLE, "--topic", JOBS, "--topic", "sg-nope"),
            (MISSING, "--topic", JOBS),
            (CONSUMERS, "--topic", JOBS),
            (WORKERS, "--topic", JOBS),
        )
    ),
)
def test_offsets_are_deleted(groups: LiveKafka, case: Pair) -> None:
    check(groups, case, lambda: _idle(groups))
    _idle(groups)


@pytest.mark.pair
@pytest.mark.parametrize(
    "named", [("sg-gone",), (MISSING,), (CONSUMERS,), (WORKERS,), ("sg-gone", MISSING, WORKERS)], ids=" ".join
)
def test_groups_are_deleted(groups: LiveKafka, named: tuple[str, ...]) -> None:
    def made() -> None:
        groups.members("share", "sg-gone", [JOBS]).stop()

    made()
    args = ("--delete", *(word for name in named for word in ("--group", name)))
    check(groups, Pair(("ShareGroupCommand", *args), ("share-groups", *args), order="sorted"), made)
