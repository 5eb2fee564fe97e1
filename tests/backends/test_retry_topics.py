"""Retry and dead-letter topics: what they are called, what their records carry, and when these are due."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.retry_topics import (
    OWN_HEADERS,
    Delay,
    Origin,
    RetryTopics,
    due,
    forwarded,
    origin_of,
    parse_delays,
)
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.formats.record_batch import Header, Record
from kafkapy.log.topic_partition import TopicPartition

P3 = TopicPartition("orders", 3)
DELAYS = parse_delays("10s,1m,10m")
TOPICS = RetryTopics("g", DELAYS)


@pytest.mark.parametrize(
    ("text", "ms"), [("0s", 0), ("250ms", 250), ("10s", 10_000), ("1m", 60_000), ("2H", 7_200_000), ("3d", 259_200_000)]
)
def test_times(text: str, ms: int) -> None:
    assert Delay.parse(text) == Delay(text.lower(), ms)


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "1.5s", "10sm", "1_0s", "10 s", "\u0661s", "1" * 5000 + "s"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        Delay.parse(text)


def test_one_empty_delay_among_others_is_an_error() -> None:
    assert parse_delays(None) == parse_delays("") == ()
    with pytest.raises(UsageError):
        parse_delays("10s,,1m")


def test_a_topic_a_delay_and_then_the_dead_letters() -> None:
    targets = [TOPICS.target("orders", attempts)[0] for attempts in range(1, 6)]
    assert targets == [
        "orders.g.retry.10s", "orders.g.retry.1m", "orders.g.retry.10m", "orders.g.dead-letter", "orders.g.dead-letter"
    ]  # fmt: skip
    assert RetryTopics("g", ()).target("orders", 1) == ("orders.g.dead-letter", None)
    assert RetryTopics("g", (), "failed").target("orders", 1) == ("failed", None)


def test_names_that_no_topic_can_have_are_refused() -> None:
    TOPICS.check("o" * (249 - len(".g.dead-letter")))
    with pytest.raises(
        KafkapyError, match=r"group 'g' cannot be named after it: .*longer than the max allowed length 249"
    ):
        TOPICS.check("o" * (250 - len(".g.dead-letter")))
    with pytest.raises(KafkapyError, match=r"'orders\.a b\.retry\.10s' contains one or more characters other than"):
        RetryTopics("a b", DELAYS).check("orders")


def test_topics_of_earlier_delays_are_still_waited_for_and_those_of_other_groups_are_not() -> None:
    existing = ["orders", "orders.g.retry.5s", "orders.g.retry.10s", "orders.h.retry.10s", "orders.g.retry.x", "o"]
    assert list(TOPICS.waiting("orders", existing)) == [
        ("orders.g.retry.10s", Delay("10s", 10_000)),
        ("orders.g.retry.5s", Delay("5s", 5_000)),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders", False),
        ("orders.h.retry.10s", True),
        ("orders.h.dead-letter", True),
        ("nosuch.h.dead-letter", False),
        ("orders.h.retry.soon", False),
        ("orders.10s", False),
    ],
)
def test_a_pattern_does_not_take_retry_topics_of_any_group_for_topics(name: str, expected: bool) -> None:
    assert TOPICS.is_named_by(name, ["orders", name]) is expected
    assert RetryTopics("g", (), name).is_named_by(name, [])


headers = st.lists(
    st.builds(Header, st.one_of(st.text(max_size=8), st.sampled_from(sorted(OWN_HEADERS))), st.none() | st.binary())
)


@given(headers, st.binary() | st.none(), st.integers(0, 99), st.integers(-1, 1 << 60), st.binary(max_size=20))
def test_a_copy_tells_its_origin_and_keeps_foreign_headers(
    given_headers: list[Header], key: bytes | None, attempts: int, timestamp: int, stderr: bytes
) -> None:
    record = Record(9, 1000, key, b"v", tuple(given_headers))
    origin = Origin(P3, 42, timestamp, attempts)
    copy = record._replace(headers=forwarded(record, origin, "exit code 1", stderr, 77))
    assert origin_of(TopicPartition("orders.g.retry.10s", 0), copy) == origin._replace(attempts=attempts + 1)
    assert due(copy, DELAYS[0]) == 77
    assert [each for each in copy.headers if each.key not in OWN_HEADERS] == [
        each for each in given_headers if each.key not in OWN_HEADERS
    ]
    again = copy._replace(headers=forwarded(copy, origin_of(P3, copy), "exit code 2", b"", None))
    assert origin_of(P3, again).attempts == attempts + 2
    names = [each.key for each in again.headers if each.key in OWN_HEADERS]
    assert sorted(names) == sorted(OWN_HEADERS - {"kafkapy.due", "kafkapy.stderr"})


@given(headers)
def test_whatever_the_headers_say_a_record_has_an_origin_and_a_time(given_headers: list[Header]) -> None:
    record = Record(9, 1000, None, b"v", tuple(given_headers))
    assert origin_of(P3, record).attempts >= 0
    assert isinstance(due(record, DELAYS[0]), int)


def test_a_record_without_headers_is_its_own_origin_and_due_a_delay_after_its_timestamp() -> None:
    record = Record(9, 1000, None, b"v")
    assert origin_of(P3, record) == Origin(P3, 9, 1000)
    assert due(record, DELAYS[1]) == 61_000
