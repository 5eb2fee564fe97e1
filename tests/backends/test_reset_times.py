"""Datetimes and durations, as Java reads them: against Python's calendar, and the cases that surprise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.reset_times import before, parse_datetime, parse_duration
from kafkapy.errors import KafkaError

EPOCH = datetime.fromtimestamp(0, UTC)
SINCE_GREGOR = st.datetimes(datetime(1582, 10, 15), datetime(9999, 12, 30))
NEW_YEAR = 1_767_225_600_000


@given(SINCE_GREGOR, st.integers(-13 * 60, 14 * 60))
def test_datetimes(moment: datetime, minutes: int) -> None:
    zoned = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    zoned = zoned.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_datetime(zoned.isoformat(timespec="milliseconds")) == (zoned - EPOCH) // timedelta(milliseconds=1)


@given(SINCE_GREGOR)
def test_utc_is_the_default(moment: datetime) -> None:
    text = moment.isoformat(timespec="milliseconds")
    assert parse_datetime(text) == parse_datetime(text + "Z") == parse_datetime(text + "+00")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T00:00:00.5", NEW_YEAR + 5),
        ("2026-01-01T00:00:00.0007Z", NEW_YEAR + 7),
        ("2026-1-1T0:0:0.0", NEW_YEAR),
        (" 2026- 1-1T 0:0:0. 0 Z", NEW_YEAR),
        ("2026-01-01T02:30:00.0+02:30", NEW_YEAR),
        ("2026-01-01T02:00:00.0+0230", NEW_YEAR),
        ("2026-01-01T14:00:00.0+14:59", NEW_YEAR),
        ("2026-01-01T00:00:00.0Z and more", NEW_YEAR),
        ("1582-10-04T00:00:00.000", -12219379200000),
        ("1582-10-15T00:00:00.000", -12219292800000),
        ("1500-02-29T00:00:00.000", -14825894400000),
        ("0001-01-01T00:00:00.000", -62135769600000),
        ("292278994-08-17T07:12:55.807", 2**63 - 1),
    ],
)
def test_java_reads(text: str, expected: int) -> None:
    assert parse_datetime(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.", "2026-01-01T00:00:00.1234", "2026-01-01T24:00:00.0",
        "2026-01-01T00:60:00.0", "2026-01-01T00:00:60.0", "2026-13-01T00:00:00.0", "2026-02-29T00:00:00.0",
        "1900-02-29T00:00:00.0", "1582-10-10T00:00:00.0", "0000-01-01T00:00:00.0", "292278994-08-17T07:12:55.808",
        "2026-01-01T00:00:00.0+15:00", "2026-01-01T00:00:00.0+2:00", "2026-01-01T00:00:00.0-14", "x2026-01-01T0:0:0.0",
    ],
)  # fmt: skip
def test_java_refuses(text: str) -> None:
    zoned = text if any(sign in text.partition("T")[2] for sign in "+-Z") else text + "Z"
    with pytest.raises(KafkaError) as raised:
        parse_datetime(text)
    assert str(raised.value) == f'java.text.ParseException: Unparseable date: "{zoned}"'


@pytest.mark.parametrize("text", ["", "T", "2026-01-01", "2026-01-01T", "2026-01-01t00:00:00.0"])
def test_a_datetime_has_a_time(text: str) -> None:
    with pytest.raises(KafkaError, match="It does not contain a 'T' according to ISO8601 format"):
        parse_datetime(text)


NUMBERS = st.integers(-(10**6), 10**6)


@given(NUMBERS, NUMBERS, NUMBERS, st.integers(0, 10**6), st.integers(0, 10**9 - 1), st.sampled_from(["", "+", "-"]))
def test_durations(days: int, hours: int, minutes: int, seconds: int, nanoseconds: int, sign: str) -> None:
    text = f"{sign}P{days:+d}DT{hours}H{minutes}M{seconds}.{nanoseconds:09d}S"
    total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**9 + nanoseconds
    expected = -total if sign == "-" else total
    assert parse_duration(text) == parse_duration(text.lower().replace(".", ",")) == expected


def test_the_sign_of_a_fraction() -> None:
    assert parse_duration("PT-0.5S") == -5 * 10**8
    assert parse_duration("-PT-1.25S") == 1_250_000_000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ""), ("P", ""), ("PT", ""), ("P1DT", ""), ("P1W", ""), ("P1M", ""), ("1d", ""), ("PT.5S", ""),
        (" PT1S", ""), ("PT1.1234567891S", ""), ("PT1S\n", ""), ("P106751991167301D", ": days"),
        ("PT9223372036854775808S", ": seconds"),
        ("P106751991167300DT99999999H", ": overflow"), ("-PT-9223372036854775808S", ": overflow"),
    ],
)  # fmt: skip
def test_what_is_no_duration(text: str, why: str) -> None:
    with pytest.raises(KafkaError) as raised:
        parse_duration(text)
    assert str(raised.value) == f"Text cannot be parsed to a Duration{why}"


def test_before() -> None:
    assert before(NEW_YEAR, parse_duration("P1D")) == NEW_YEAR - 86_400_000
    assert before(NEW_YEAR, 1) == NEW_YEAR - 1, "Java rounds down"
    with pytest.raises(KafkaError, match="long overflow"):
        before(NEW_YEAR, parse_duration("P200000000000D"))
    with pytest.raises(KafkaError, match="Instant exceeds minimum or maximum instant"):
        before(NEW_YEAR, parse_duration("P999999999999D"))
