"""groups on a running cluster, beside GroupsCommand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.live_kafka import LiveKafka
from tests.live_pairs import Pair, check, pair, pairs

TOPIC = "gr-topic"


@pytest.fixture(scope="module")
def groups(live: LiveKafka) -> Iterator[LiveKafka]:
    """A group of each kind with a member, one without, and one that only committed."""
    live.create_topic(TOPIC)
    live.produce(TOPIC, ["x"])
    live.commit("gr-simple", TOPIC, {0: 1})
    live.members("consumer", "gr-left", [TOPIC]).stop()
    with ExitStack() as stack:
        for members in (
            live.members("classic", "gr-classic", [TOPIC]),
            live.members("consumer", "gr-consumer-with-quite-a-long-name", [TOPIC]),
            live.members("share", "gr-share", [TOPIC]),
            live.members("streams", "gr-streams", [TOPIC]),
        ):
            stack.enter_context(members)
        yield live


@pairs(
    *(
        pair("groups", "--list", *what, order="sorted", code=0)
        for what in (
            (),
            ("--consumer",),
            ("--share",),
            ("--streams",),
            ("--group-type", "classic"),
            ("--group-type", "Consumer"),
            ("--group-type", "share"),
            ("--group-type", "streams"),
            ("--protocol", "consumer"),
            ("--protocol", "share"),
            ("--protocol", "nothing-has-this"),
            ("--group-type", "classic", "--protocol", "consumer"),
        )
    ),
)
def test_lists(groups: LiveKafka, case: Pair) -> None:
    check(groups, case)
