"""consumer-groups on a running cluster, beside ConsumerGroupCommand: groups of every kind, and every action."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.live_clients import Sent
from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs, same

ORDERS, OTHER, BARE = "cg-orders", "cg-other", "cg-bare"
CLASSIC, STATIC, NEW = "cg-classic", "cg-static", "cg-new"
SIMPLE, LEFT, LEFT_CLASSIC = "cg-simple", "cg-left", "cg-left-classic"
LONG = "cg-a-group-whose-name-is-longer-than-any-column-that-kafka-has-for-it"
SHARE, STREAMS = "cg-share", "cg-streams"
MISSING = "cg-not-there"
T0 = 1_700_000_000_000
SIMPLE_OFFSETS = {0: 4, 1: 5}


@pytest.fixture(scope="module")
def groups(live: LiveKafka) -> Iterator[LiveKafka]:
    """Groups that have members, and groups that have none."""
    live.create_topic(ORDERS, 3, 3)
    live.create_topic(OTHER, 1, 1)
    live.create_topic(BARE, 1, 1)
    live.send(*(Sent(ORDERS, f"a{n}", partition=0, timestamp=T0 + n * 1000) for n in range(10)))
    live.send(*(Sent(ORDERS, f"b{n}", partition=1, timestamp=T0 + n * 1000) for n in range(5)))
    live.produce(OTHER, ["x"] * 4)
    live.commit(SIMPLE, ORDERS, SIMPLE_OFFSETS)
    live.commit(SIMPLE, OTHER, {0: 2})
    live.commit(LONG, ORDERS, {2: 0})
    live.members("consumer", LEFT, [ORDERS], commit=True).stop()
    live.members("classic", LEFT_CLASSIC, [OTHER], commit=True).stop()
    instances = {"group.instance.id": "instance-{n}"}
    with ExitStack() as stack:
        for members in (
            live.members("classic", CLASSIC, [ORDERS], 2, commit=True),
            live.members("classic", STATIC, [OTHER, BARE], 2, properties=instances),
            live.members("consumer", NEW, [ORDERS, OTHER], 2, commit=True),
            live.members("share", SHARE, [OTHER]),
            live.members("streams", STREAMS, [OTHER]),
        ):
            stack.enter_context(members)
        live.until(lambda: _lag(live, CLASSIC) == _lag(live, NEW) == 0)
        yield live


def _lag(live: LiveKafka, group: str) -> int:
    """The lag of what has been committed; all is committed once it is 0 and no partition with records is without."""
    done = live.kafka("ConsumerGroupCommand", "--bootstrap-server", live.bootstrap, "--describe", "--group", group)
    rows = [line.split() for line in done.lines if line.startswith(group)]
    return sum(int(row[5]) if row[5] != "-" else int(row[4]) for row in rows)


@pairs(
    pair("consumer-groups", "--list", order="sorted"),
    pair("consumer-groups", "--list", "--state", order="sorted"),
    pair("consumer-groups", "--list", "--state", "Empty", order="sorted"),
    pair("consumer-groups", "--list", "--state", "stable, EMPTY", order="sorted"),
    pair("consumer-groups", "--list", "--state", "Dead", order="sorted"),
    pair("consumer-groups", "--list", "--type", order="sorted"),
    pair("consumer-groups", "--list", "--type", "consumer", order="sorted"),
    pair("consumer-groups", "--list", "--type", "classic", order="sorted"),
    pair("consumer-groups", "--list", "--type", "Classic,Consumer", "--state", "Stable", order="sorted"),
    pair("consumer-groups", "--list", "--state", "--type", "--timeout", "20000", order="sorted"),
)
def test_lists(groups: LiveKafka, case: Pair) -> None:
    assert check(groups, case).out


@pairs(
    *(
        pair("consumer-groups", "--describe", "--group", group, *what, order="sorted", stderr=True)
        for group in (CLASSIC, STATIC, NEW, SIMPLE, LEFT, LEFT_CLASSIC, LONG)
        for what in (
            (),
            ("--verbose",),
            ("--members",),
            ("--members", "--verbose"),
            ("--state",),
            ("--state", "--verbose"),
        )
    ),
    pair("consumer-groups", "--describe", "--group", SIMPLE, "--offsets", stderr=True),
    pair("consumer-groups", "--describe", "--group", SIMPLE, "--group", LONG, "--group", LEFT, stderr=True),
    pair("consumer-groups", "--describe", "--group", NEW, "--group", CLASSIC, "--state", stderr=True),
    pair("consumer-groups", "--describe", "--all-groups", order="sorted"),
    pair("consumer-groups", "--describe", "--all-groups", "--members", "--verbose", order="sorted"),
    pair("consumer-groups", "--describe", "--all-groups", "--state", "--verbose", order="sorted"),
)
def test_descriptions(groups: LiveKafka, case: Pair) -> None:
    assert check(groups, case).code == 0


@pairs(
    *(
        pair("consumer-groups", "--describe", "--group", group, *what)
        for group in (MISSING, SHARE, STREAMS)
        for what in ((), ("--members",), ("--state",))
    ),
    pair("consumer-groups", "--describe", "--group", SIMPLE, "--group", MISSING),
)
def test_groups_that_cannot_be_described(groups: LiveKafka, case: Pair) -> None:
    done = check(groups, case)
    assert "GroupIdNotFoundException" in done.out
    assert groups.kafkapy(*case.kafkapy, "--bootstrap-server", groups.bootstrap).code == 1


def test_own_totals(groups: LiveKafka) -> None:
    args = ("consumer-groups", "--bootstrap-server", groups.bootstrap, "--describe", "--group", SIMPLE)
    totals = [line.split() for line in groups.kafkapy(*args, "--totals").lines if line]
    assert totals[1:] == [[SIMPLE, ORDERS, "2", "0", "6"], [SIMPLE, OTHER, "1", "0", "2"], [SIMPLE, "*", "3", "0", "8"]]
    lagging = [line.split()[1:3] for line in groups.kafkapy(*args, "--lagging").lines if line]
    assert lagging[1:] == [[ORDERS, "0"], [OTHER, "0"]]


SCENARIOS = (
    ("--to-earliest",),
    ("--to-latest",),
    ("--to-current",),
    ("--to-offset", "3"),
    ("--to-offset", "99"),
    ("--to-offset", "-5"),
    ("--shift-by", "1"),
    ("--shift-by", "-3"),
    ("--shift-by", "100"),
    ("--to-datetime", "2023-11-14T22:13:23.000"),
    ("--to-datetime", "2023-11-14T23:13:23.500+01:00"),
    ("--by-duration", "P1D"),
    ("--by-duration", "PT0S"),
)


@pairs(
    *(
        pair("consumer-groups", "--reset-offsets", "--group", SIMPLE, *scope, *scenario, "--dry-run", order="sorted")
        for scenario in SCENARIOS
        for scope in (("--topic", f"{ORDERS}:0,1"), ("--all-topics",))
    ),
    *(
        pair("consumer-groups", "--reset-offsets", *more, "--dry-run", order="sorted")
        for more in (
            ("--group", SIMPLE, "--topic", ORDERS, "--to-latest", "--export"),
            ("--group", SIMPLE, "--group", LEFT, "--topic", f"{ORDERS}:0", "--to-earliest"),
            ("--group", SIMPLE, "--group", LEFT, "--topic", f"{ORDERS}:0", "--to-earliest", "--export"),
            ("--group", MISSING, "--topic", ORDERS, "--topic", BARE, "--to-current"),
            ("--group", MISSING, "--topic", BARE, "--to-datetime", "2023-11-14T22:13:23.000"),
            ("--group", MISSING, "--all-topics", "--to-earliest"),
            ("--group", LONG, "--all-topics", "--to-latest"),
            ("--group", CLASSIC, "--topic", ORDERS, "--to-latest"),
            ("--group", NEW, "--group", SIMPLE, "--topic", f"{OTHER}:0", "--to-latest"),
            ("--group", SHARE, "--topic", f"{OTHER}:0", "--to-earliest"),
        )
    ),
)
def test_resets_that_are_only_tried(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)
    assert _committed(groups, SIMPLE) == {(ORDERS, 0): 4, (ORDERS, 1): 5, (OTHER, 0): 2}


@pairs(
    *(
        pair("consumer-groups", "--reset-offsets", *more)
        for more in (
            ("--group", SIMPLE, "--topic", "cg-nope", "--to-latest", "--dry-run"),
            ("--group", SIMPLE, "--topic", "cg-nope:0", "--to-latest", "--dry-run"),
            ("--group", SIMPLE, "--topic", f"{ORDERS}:0,7", "--to-latest", "--execute"),
            ("--group", SIMPLE, "--topic", ORDERS, "--to-datetime", "yesterday", "--dry-run"),
            ("--group", SIMPLE, "--topic", ORDERS, "--by-duration", "a while", "--dry-run"),
            ("--group", SIMPLE, "--topic", ORDERS, "--shift-by", "1", "--dry-run"),
            ("--group", CLASSIC, "--topic", ORDERS, "--to-latest", "--execute"),
            ("--group", SHARE, "--topic", f"{OTHER}:0", "--to-earliest", "--execute"),
        )
    ),
)
def test_resets_that_are_refused(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)
    assert groups.kafkapy(*case.kafkapy, "--bootstrap-server", groups.bootstrap).code != 0


@pairs(
    *(
        pair("consumer-groups", "--reset-offsets", "--group", SIMPLE, *scope, *scenario, "--execute", order="sorted")
        for scope, scenario in (
            (("--all-topics",), ("--to-earliest",)),
            (("--topic", ORDERS), ("--to-latest",)),
            (("--topic", f"{ORDERS}:1", "--topic", OTHER), ("--to-offset", "3")),
            (("--all-topics",), ("--shift-by", "-1")),
            (("--topic", ORDERS), ("--to-datetime", "2023-11-14T22:13:22.000Z")),
        )
    ),
)
def test_resets(groups: LiveKafka, case: Pair) -> None:
    """Both leave the same commits behind."""
    left: list[object] = []

    def back() -> None:
        left.append(_committed(groups, SIMPLE))
        groups.kafka("ConsumerGroupCommand", "--bootstrap-server", groups.bootstrap, "--delete", "--group", SIMPLE)
        groups.commit(SIMPLE, ORDERS, SIMPLE_OFFSETS)
        groups.commit(SIMPLE, OTHER, {0: 2})

    check(groups, case, back)
    back()
    assert left[0] == left[1] != {(ORDERS, 0): 4, (ORDERS, 1): 5, (OTHER, 0): 2}


def _committed(live: LiveKafka, group: str) -> dict[tuple[str, int], int]:
    done = live.kafka("ConsumerGroupCommand", "--bootstrap-server", live.bootstrap, "--describe", "--group", group)
    rows = [line.split() for line in done.lines if line.startswith(group)]
    return {(row[1], int(row[2])): int(row[3]) for row in rows}


@pytest.mark.pair
@pytest.mark.parametrize(
    ("named", "text"),
    [
        ([SIMPLE], f"{ORDERS},0,1\n{ORDERS},1,99\n{OTHER},0,3\n"),
        ([SIMPLE], f"{SIMPLE},{ORDERS},0,1\n{SIMPLE},{ORDERS},1,2\n"),
        ([SIMPLE, LONG], f"{SIMPLE},{ORDERS},0,1\n{LONG},{ORDERS},2,0\n"),
        ([SIMPLE], f"{LONG},{ORDERS},0,1\n"),
        ([SIMPLE], f"{ORDERS},0,-1\n"),
        ([SIMPLE, LONG], f"{SIMPLE},{ORDERS},0,1\n{LONG},{ORDERS},2,-2\n"),
    ],
)
def test_resets_from_files(groups: LiveKafka, tmp_path: Path, named: list[str], text: str) -> None:
    (tmp_path / "offsets.csv").write_text(text)
    of_groups = [word for name in named for word in ("--group", name)]
    args = ("--reset-offsets", *of_groups, "--from-file", str(tmp_path / "offsets.csv"), "--dry-run")
    same(groups, ("ConsumerGroupCommand", *args), ("consumer-groups", *args), order="sorted")


def test_a_new_group_begins_where_another_is(groups: LiveKafka) -> None:
    args = ("--reset-offsets", "--group", "cg-copy", "--to-group", SIMPLE, "--execute")
    assert groups.kafkapy("consumer-groups", "--bootstrap-server", groups.bootstrap, *args).code == 0
    assert _committed(groups, "cg-copy") == _committed(groups, SIMPLE)
    assert groups.kafkapy("consumer-groups", "--bootstrap-server", groups.bootstrap, "--delete", "--group", "cg-copy")


@pairs(
    *(
        pair("consumer-groups", "--delete-offsets", "--group", *more)
        for more in (
            (SIMPLE, "--topic", f"{ORDERS}:0"),
            (SIMPLE, "--topic", ORDERS),
            (SIMPLE, "--topic", OTHER, "--topic", f"{ORDERS}:1,0"),
            (SIMPLE, "--topic", "cg-nope"),
            (SIMPLE, "--topic", "cg-nope", "--topic", OTHER),
            (SIMPLE, "--topic", f"{ORDERS}:0,9"),
            (MISSING, "--topic", ORDERS),
            (CLASSIC, "--topic", ORDERS),
            (CLASSIC, "--topic", OTHER),
            (NEW, "--topic", f"{OTHER}:0"),
            (SHARE, "--topic", OTHER),
        )
    ),
)
def test_offsets_are_deleted(groups: LiveKafka, case: Pair) -> None:
    left: list[object] = []

    def back() -> None:
        left.append(_committed(groups, SIMPLE))
        groups.commit(SIMPLE, ORDERS, SIMPLE_OFFSETS)
        groups.commit(SIMPLE, OTHER, {0: 2})

    check(groups, case, back)
    back()
    assert left[0] == left[1]


@pytest.mark.pair
@pytest.mark.parametrize(
    "named",
    [
        ("cg-gone",),
        ("cg-gone", "cg-gone-2"),
        (MISSING,),
        ("cg-gone", MISSING),
        (CLASSIC,),
        (NEW, "cg-gone", MISSING),
        (SHARE,),
    ],
)
def test_groups_are_deleted(groups: LiveKafka, named: tuple[str, ...]) -> None:
    def made() -> None:
        for group in ("cg-gone", "cg-gone-2"):
            groups.commit(group, ORDERS, {0: 1})

    made()
    args = ("--delete", *(word for name in named for word in ("--group", name)))
    # the names of several stand in one line, in hash order
    in_order = ((r"\('cg-gone-2', 'cg-gone'\)", "('cg-gone', 'cg-gone-2')"),)
    case = Pair(("ConsumerGroupCommand", *args), ("consumer-groups", *args), order="sorted", scrub=in_order)
    check(groups, case, made)


@pairs(
    *(pair("consumer-groups", "--validate-regex", regex) for regex in ("cg-.*", "a(", "[a-", "(?i)x{2,3}", "")),
)
def test_regular_expressions(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)
