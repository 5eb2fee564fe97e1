"""Groups while a broker is down: partitions that nobody leads, and coordinators that have moved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

TOPIC = "gf-topic"
GROUPS = tuple(f"gf-{number}" for number in range(6))
NAMED = tuple(word for each in GROUPS for word in ("--group", each))
DOWN = 3


@pytest.fixture(scope="module")
def broken(live: LiveKafka) -> Iterator[LiveKafka]:
    """Partition 1 is on the broker that is down; of the groups, some had their coordinator there. A new one tells of
    them only when its high watermark has passed their commits."""
    live.create_topic(TOPIC, assignment=[[1], [DOWN]])
    for partition in (0, 1):
        live.produce(TOPIC, ["x"] * 4, partition)
    for group in GROUPS:
        live.commit(group, TOPIC, {0: 1, 1: 3})
    live.kill_broker(DOWN)
    try:
        asked = ("consumer-groups", "--bootstrap-server", live.bootstrap, "--describe", *NAMED, "--members")
        live.until(lambda: live.kafkapy(*asked).code == 0)
        yield live
    finally:
        live.start_broker(DOWN)


@pairs(
    pair("consumer-groups", "--describe", "--group", GROUPS[0], "--timeout", "4000"),
    pair("consumer-groups", "--describe", "--group", GROUPS[0], "--state", "--verbose", code=0),
    pair("consumer-groups", "--list", "--state", order="sorted", code=0),
    pair(
        *("consumer-groups", "--describe", *NAMED, "--members"),
        code=0,
    ),
    pair("groups", "--list", order="sorted", code=0),
)
def test_what_is_known_is_told(broken: LiveKafka, case: Pair) -> None:
    check(broken, case)


@pairs(
    *(
        pair("consumer-groups", "--reset-offsets", "--group", GROUPS[0], *more, "--dry-run", "--timeout", "4000")
        for more in (("--all-topics", "--to-latest"), ("--topic", f"{TOPIC}:1", "--to-offset", "2"))
    ),
    pair(
        "consumer-groups", "--reset-offsets", "--group", GROUPS[1], "--topic", f"{TOPIC}:0", "--to-latest", "--execute"
    ),
)
def test_resets_need_leaders(broken: LiveKafka, case: Pair) -> None:
    check(broken, case)


def test_what_is_not_known_is_said(broken: LiveKafka) -> None:
    args = ("--describe", "--group", GROUPS[0], "--timeout", "2000")
    done = broken.kafkapy("consumer-groups", "--bootstrap-server", broken.bootstrap, *args)
    assert done.code == 1
    assert f"nobody leads {TOPIC}-1: its end and lag are not known" in done.err
