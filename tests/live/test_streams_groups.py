"""streams-groups on a running cluster, beside StreamsGroupCommand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same

WORDS, MORE, OUTSIDE = "st-words", "st-more", "st-outside"
RUNNING, STOPPED, SHARED = "st-running", "st-stopped", "st-shared"
MISSING = "st-not-there"
CHANGELOG = f"{STOPPED}-counts-changelog"
T0 = 1_700_000_000_000
OFFSETS = {0: 2, 1: 1}


@pytest.fixture(scope="module")
def groups(live: LiveKafka) -> Iterator[LiveKafka]:
    """A streams group that runs and one that has stopped, which have committed, and a share group."""
    live.create_topic(WORDS, 2, 1)
    live.create_topic(MORE, 2, 1)
    live.create_topic(OUTSIDE, 1, 1)
    live.send(*(Sent(WORDS, f"a{n}", partition=0, timestamp=T0 + n * 1000) for n in range(6)))
    live.send(*(Sent(WORDS, f"b{n}", partition=1, timestamp=T0 + n * 1000) for n in range(3)))
    live.produce(MORE, ["x"] * 2)
    live.members("share", SHARED, [MORE]).stop()
    _stopped(live)
    with ExitStack() as stack:
        stack.enter_context(live.members("streams", RUNNING, [WORDS, MORE], 2))
        yield live


def _stopped(live: LiveKafka) -> None:
    live.members("streams", STOPPED, [WORDS, MORE], changelogs=[CHANGELOG]).stop()
    live.commit(STOPPED, WORDS, OFFSETS)


@pairs(
    pair("streams-groups", "--list", order="sorted", code=0),
    pair("streams-groups", "--list", "--state", order="sorted", code=0),
    pair("streams-groups", "--list", "--state", "Empty", order="sorted", code=0),
    pair("streams-groups", "--list", "--state", "stable,notready", order="sorted", code=0),
)
def test_lists(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)


@pairs(
    *(
        pair("streams-groups", "--describe", *named, *what, order="sorted", stderr=True, code=0)
        for named in (("--group", RUNNING), ("--group", STOPPED), ("--group", STOPPED, "--group", RUNNING))
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
    pair("streams-groups", "--describe", "--all-groups", order="sorted", code=0),
    pair("streams-groups", "--describe", "--all-groups", "--state", order="sorted", code=0),
)
def test_descriptions(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)


@pairs(
    *(
        pair("streams-groups", "--describe", *named, *what, code=1)
        for named in (("--group", MISSING), ("--group", SHARED), ("--group", STOPPED, "--group", MISSING))
        for what in (("--offsets",), ("--members",), ("--state",))
    ),
)
def test_groups_that_cannot_be_described(groups: LiveKafka, case: Pair) -> None:
    assert "GroupIdNotFoundException" in check(groups, case).out


@pairs(
    *(
        pair("streams-groups", "--reset-offsets", "--group", *more, order="sorted")
        for more in (
            (STOPPED, "--all-input-topics", "--to-earliest", "--dry-run"),
            (STOPPED, "--all-input-topics", "--to-latest", "--dry-run"),
            (STOPPED, "--all-input-topics", "--to-current", "--dry-run"),
            (STOPPED, "--all-input-topics", "--to-offset", "99", "--dry-run"),
            (STOPPED, "--all-input-topics", "--shift-by", "-1", "--dry-run"),
            (STOPPED, "--all-input-topics", "--by-duration", "P1D", "--dry-run"),
            (STOPPED, "--input-topic", WORDS, "--to-datetime", "2023-11-14T22:13:22.000", "--dry-run"),
            (STOPPED, "--input-topic", f"{WORDS}:1", "--to-latest", "--dry-run", "--export"),
            (STOPPED, "--group", MISSING, "--input-topic", f"{WORDS}:1", "--to-latest", "--dry-run"),
            (STOPPED, "--all-input-topics", "--to-earliest", "--execute"),
            (STOPPED, "--input-topic", f"{WORDS}:0", "--to-latest", "--execute"),
            (STOPPED, "--input-topic", OUTSIDE, "--to-latest", "--execute"),
            (STOPPED, "--input-topic", "st-nope", "--to-latest", "--execute"),
            (STOPPED, "--input-topic", f"{WORDS}:7", "--to-latest", "--execute"),
            (STOPPED, "--all-input-topics", "--to-latest", "--execute", "--delete-internal-topic", "st-nope"),
            (MISSING, "--all-input-topics", "--to-latest", "--dry-run"),
            (MISSING, "--input-topic", WORDS, "--to-latest", "--dry-run"),
            (SHARED, "--input-topic", MORE, "--to-latest", "--dry-run"),
            (RUNNING, "--all-input-topics", "--to-latest", "--execute"),
        )
    ),
)
def test_resets(groups: LiveKafka, case: Pair) -> None:
    left: list[object] = []

    def back() -> None:
        left.append(_exported(groups))
        groups.commit(STOPPED, WORDS, OFFSETS)

    check(groups, case, back)
    back()
    assert left[0] == left[1]


def _exported(live: LiveKafka) -> list[str]:
    """What the group that has stopped has committed."""
    args = ("--reset-offsets", "--group", STOPPED, "--all-input-topics", "--to-current", "--dry-run", "--export")
    return sorted(live.kafka("StreamsGroupCommand", "--bootstrap-server", live.bootstrap, *args).lines)


@pytest.mark.pair
def test_resets_from_files(groups: LiveKafka, tmp_path: Path) -> None:
    (tmp_path / "offsets.csv").write_text(f"{WORDS},0,1\n{WORDS},1,99\n")
    args = ("--reset-offsets", "--group", STOPPED, "--from-file", str(tmp_path / "offsets.csv"), "--dry-run")
    same(groups, ("StreamsGroupCommand", *args), ("streams-groups", *args), order="sorted")


@pairs(
    *(
        pair("streams-groups", "--delete-offsets", "--group", *more)
        for more in (
            (STOPPED, "--all-input-topics"),
            (STOPPED, "--input-topic", WORDS),
            (STOPPED, "--input-topic", f"{WORDS}:1", "--input-topic", "st-nope"),
            (STOPPED, "--input-topic", OUTSIDE),
            (MISSING, "--all-input-topics"),
            (MISSING, "--input-topic", WORDS),
            (RUNNING, "--input-topic", WORDS),
            (SHARED, "--input-topic", MORE),
        )
    ),
)
def test_offsets_are_deleted(groups: LiveKafka, case: Pair) -> None:
    left: list[object] = []

    def back() -> None:
        left.append(_exported(groups))
        groups.commit(STOPPED, WORDS, OFFSETS)

    check(groups, case, back)
    back()
    assert left[0] == left[1]


@pytest.mark.pair
@pytest.mark.parametrize(
    ("named", "more"),
    [
        ((STOPPED,), ()),
        ((STOPPED,), ("--delete-all-internal-topics",)),
        ((MISSING,), ()),
        ((SHARED,), ()),
        ((RUNNING,), ()),
        ((STOPPED, MISSING, RUNNING), ()),
    ],
)
def test_groups_are_deleted(groups: LiveKafka, named: tuple[str, ...], more: tuple[str, ...]) -> None:
    def made() -> None:
        if more:
            _until_deleted(groups, CHANGELOG)
        if STOPPED in named:
            _stopped(groups)

    args = ("--delete", *(word for name in named for word in ("--group", name)), *more)
    check(groups, Pair(("StreamsGroupCommand", *args), ("streams-groups", *args), order="sorted"), made)
    made()


@pytest.mark.pair
def test_a_reset_deletes_the_topics_of_the_group(groups: LiveKafka) -> None:
    def made() -> None:
        _until_deleted(groups, CHANGELOG)
        _stopped(groups)

    more = ("--all-input-topics", "--to-earliest", "--execute", "--delete-all-internal-topics")
    check(groups, pair("streams-groups", "--reset-offsets", "--group", STOPPED, *more, order="sorted", code=0), made)
    made()


def _until_deleted(live: LiveKafka, topic: str) -> None:
    live.until(lambda: all(each.topic != topic for each in live.wait_until_in_sync()))
