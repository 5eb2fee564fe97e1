"""Pictures of series."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.output.plot import plot, plot_margin, resampled

values = st.lists(st.one_of(st.none(), st.integers(0, 10**12)), min_size=1, max_size=300)


@given(values, st.integers(12, 200), st.integers(1, 12))
def test_a_picture_fits_and_its_peak_is_its_top(series: list[float | None], width: int, height: int) -> None:
    lines = plot(series, width, height)
    assert len(lines) == (height if any(series) else 1) + 1
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
    assert len(found) == min(width, len(series))
    assert max((each for each in found if each is not None), default=None) == max(
        (each for each in series if each is not None), default=None
    )


def test_what_is_not_known_is_empty_and_zero_is_not() -> None:
    assert plot([0, None, 4, 8], 20, 2) == ["8 ┤   █", "4 ┤▁ ██", "0 └────"]
