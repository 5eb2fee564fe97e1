from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.formats.time_text import duration_text, utc_text

UNITS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [
        (0, "0 ms"),
        (7, "7 ms"),
        (1000, "1 s"),
        (61_500, "1 min 1 s"),
        (3 * 3_600_000 + 1, "3 h"),
        (6 * 86_400_000 + 3 * 3_600_000 + 59 * 60_000, "6 d 3 h"),
        (16_966_944_327, "196 d 9 h"),
        (-5, "-5 ms"),
    ],
)
def test_durations(duration_ms: int, text: str) -> None:
    assert duration_text(duration_ms) == text


@given(st.integers(0, 1 << 62))
def test_a_duration_is_cut_and_never_by_more_than_its_smallest_unit(duration_ms: int) -> None:
    words = duration_text(duration_ms).split()
    told = sum(int(count) * UNITS[unit] for count, unit in zip(words[::2], words[1::2], strict=True))
    assert told <= duration_ms
    sizes = list(UNITS.values())
    largest = next((at for at, size in enumerate(sizes) if duration_ms >= size), 4)
    assert duration_ms - told < sizes[min(largest + 1, 4)]


def test_times() -> None:
    assert utc_text(1_794_800_000_999) == "2026-11-16T03:33:20Z"
    assert utc_text(0) == "1970-01-01T00:00:00Z"
    assert utc_text(10**30).endswith(" ms")
