"""Pictures of series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.output.plot import plot, plot_margin, resampled

values = st.lists(st.one_of(st.none(), st.integers(0, 10**12)), min_size=1, max_size=300)


@given(values, st.integers(12, 200), st.integers(1, 12))
def test_a_picture_fits_and_its_peak_is_its_top(series: list[float | None], width: int, height: int) -> None:
    lines = plot(series, width, height)
    assert len(lines) == max(1, min(height, max(filter(None, series), default=0))) + 1
    assert max(map(len, lines)) <= max(width, plot_margin(series, height) + 1)
    known = [value for value in series if value is not None]
    body = "".join(line[plot_margin(series, height) :] for line in lines[:-1])
    if any(known):
        assert "█" in lines[0]
    elif known:
        assert set(body) <= {"▁", " "}
    else:
        assert body.strip() == ""


@given(values, st.integers(1, 400))
def test_resampling_keeps_the_peaks(series: list[float | None], width: int) -> None:
    found = resampled(series, width)
    assert len(found) == width if width < len(series) else width // len(series) * len(series)
    assert max((each for each in found if each is not None), default=None) == max(
        (each for each in series if each is not None), default=None
    )


def test_what_is_not_known_is_empty_and_zero_is_not() -> None:
    assert plot([0, None, 4, 8], 7, 2) == ["8 ┤   █", "4 ┤▁ ██", "0 └────"]


def test_few_values_are_wide_and_small_ones_have_a_line_each() -> None:
    assert plot([2, 0, 3], 10) == ["3 ┤    ██", "2 ┤██  ██", "1 ┤██▁▁██", "0 └──────"]
