"""Times on the command line."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.output.timestamps import MAX_LONG, parse_timestamp

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("0", 0),
        ("1794799015574", 1794799015574),
        ("20260102", 20260102),
        (str(MAX_LONG), MAX_LONG),
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01 00:00:01", 1000),
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-11-16T03:16:55.574Z", 1794799015574),
    ],
)
def test_known_times(text: str, millis: int) -> None:
    assert parse_timestamp(text) == millis


@given(st.datetimes(timezones=zones, min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
def test_iso_times_count_whole_milliseconds(moment: datetime) -> None:
    assert parse_timestamp(moment.isoformat()) == (moment - EPOCH) // timedelta(milliseconds=1)


@pytest.mark.parametrize("text", ["", "noon", "-1", "1.5", "2026-13-01", str(MAX_LONG + 1), "9" * 5000, "١٢٣", "0x10"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"epoch milliseconds|past the last timestamp"):
        parse_timestamp(text)
