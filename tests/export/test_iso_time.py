"""Times as text, beside Python's own as far as these go."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.export.iso_time import day_text, days, iso_times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
micros = st.integers(0, 2**63 - 1)


@given(st.lists(st.none() | st.datetimes(EPOCH.replace(tzinfo=None)), max_size=5), st.booleans())
def test_texts_are_pythons(moments: list[datetime | None], with_a_far_one: bool) -> None:
    known = [None if each is None else each.replace(tzinfo=UTC) - EPOCH for each in moments]
    since = [None if each is None else each // timedelta(microseconds=1) for each in known]
    far = [2**63 - 1] if with_a_far_one else []
    found = iso_times(pa.array(since + far, pa.timestamp("us", tz="UTC"))).to_pylist()
    assert found[: len(moments)] == [each and each.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for each in moments]
    assert found[len(moments) :] == ["294247-01-10T04:00:54.775807Z"] * with_a_far_one


@given(st.lists(micros, min_size=1))
def test_days_are_those_of_the_times(values: list[int]) -> None:
    column = pa.array(values, pa.timestamp("us", tz="UTC"))
    texts = [day_text(day) for day in days(column).to_pylist()]
    assert [text + "T" for text in texts] == [text.partition("T")[0] + "T" for text in iso_times(column).to_pylist()]


@pytest.mark.parametrize("day", [date(1970, 1, 1), date(2000, 2, 29), date(9999, 12, 31)])
def test_days(day: date) -> None:
    assert day_text((day - date(1970, 1, 1)).days) == str(day)


@pytest.mark.parametrize(("unit", "text"), [("s", "01"), ("ms", "00.001"), ("us", "00.000001"), ("ns", "00.000000001")])
def test_units(unit: str, text: str) -> None:
    assert iso_times(pa.array([1], pa.timestamp(unit))).to_pylist() == [f"1970-01-01T00:00:{text}"]
