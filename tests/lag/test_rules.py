"""The rules at their edges: windows, verdicts, transactions, holes, sums."""

from __future__ import annotations

import pytest

from kafkapy.lag.commits import CommitRecord, Evidence, Marker, OffsetCommit, effective
from kafkapy.lag.lag_history import Known, lag_points, open_questions, steps
from kafkapy.lag.lag_point import LagPoint, by_group, by_topic, summed
from kafkapy.lag.log_answers import LogAnswers
from kafkapy.lag.timeline import Commit, Timeline, timelines
from kafkapy.lag.verdict import Trend, Verdict, verdict, worst
from kafkapy.output.lag_lines import worst_lines
from tests.lag.world import P0, P1, T0


def trend(
    offsets: list[int], lags: list[int | None], silent: int = 0, waiting: int | None = None, tool: int | None = None
) -> Trend:
    """Commits 5 seconds apart, of which a tool did one."""
    commits = [Commit(T0 + 5000 * number, offset, number == tool) for number, offset in enumerate(offsets)]
    return Trend(commits, lags, commits[-1].timestamp + silent, lags[-1], waiting)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (trend([1, 2, 3], [5, 5, 0]), Verdict.OK),
        (trend([1, 2, 3], [5, 6, 7]), Verdict.FALLING_BEHIND),
        (trend([1, 2, 3], [5, 5, 5]), Verdict.OK),
        (trend([1, 2, 3], [5, 7, 6]), Verdict.OK),
        (trend([1, 2, 3], [5, None, 6]), Verdict.FALLING_BEHIND),
        (trend([1, 2, 3], [None, None, 6]), Verdict.OK),
        (trend([3, 3, 3], [5, 5, 5]), Verdict.STALLED),
        (trend([3, 3, 3], [0, 5, 5]), Verdict.OK),
        (trend([3, 2, 3], [5, 5, 5]), Verdict.OK),
        (trend([1, 3, 2], [5, 5, 5]), Verdict.REWOUND),
        (trend([1, 3, 2], [0, 5, 5]), Verdict.REWOUND),
        (trend([1, 3, 2, 3], [5, 5, 5, 5]), Verdict.OK),
        (trend([1, 2, 3], [5, 5, 5], silent=10_000), Verdict.OK),
        (trend([1, 2, 3], [5, 5, 5], silent=10_001), Verdict.STOPPED),
        (trend([1, 2, 3], [0, 5, 5], silent=10_001), Verdict.STOPPED),
        (trend([1, 2, 3], [5, 5, 5], silent=99_999, waiting=10_000), Verdict.OK),
        (trend([1, 2, 3], [5, 5, 5], silent=99_999, waiting=10_001), Verdict.STOPPED),
        (trend([1, 2, 3], [5, 5, 0], silent=99_999), Verdict.OK),
        (trend([1], [5], silent=99_999), Verdict.UNKNOWN),
        (trend([1], [5])._replace(members=0), Verdict.STOPPED),
        (trend([1], [5])._replace(members=1), Verdict.UNKNOWN),
        (trend([1], [0])._replace(members=0), Verdict.OK),
        (trend([1], [5], waiting=5000)._replace(members=0), Verdict.UNKNOWN),  # it came a moment ago
        (trend([1], [5], waiting=5001)._replace(members=0), Verdict.STOPPED),
        (trend([1, 2], [5, 5], silent=5000), Verdict.OK),
        (trend([1, 2], [5, 5], silent=5001), Verdict.STOPPED),
        (trend([3, 3], [5, 5], tool=1)._replace(members=0), Verdict.STOPPED),  # and not stalled
        (trend([3, 3], [5, 5], tool=1), Verdict.UNKNOWN),
        (trend([3, 3, 3], [5, 5, 5], tool=1), Verdict.STALLED),
        (trend([1, 2, 2], [5, 5, 5], silent=1, tool=2), Verdict.STOPPED),  # silent since the second
        (trend([1, 2, 0], [0, 0, 5], silent=1, waiting=4000, tool=2), Verdict.REWOUND),
        (trend([1, 2], [1, 1])._replace(lag=None), Verdict.UNKNOWN),
    ],
)
def test_verdicts(given: Trend, expected: Verdict) -> None:
    assert verdict(given) is expected


def test_a_window_of_milliseconds_is_no_measure_of_silence() -> None:
    commits = [Commit(T0 + 999, 1), Commit(T0 + 1000, 2)]
    short = Trend(commits, [0, 0], T0 + 9000, 200, waiting_ms=103)
    assert verdict(short) is Verdict.OK
    assert verdict(short._replace(waiting_ms=5001)) is Verdict.STOPPED


def test_the_worst_verdict_is_that_of_the_group() -> None:
    assert worst([Verdict.OK, Verdict.STALLED, Verdict.REWOUND]) is Verdict.STALLED
    assert worst([Verdict.UNKNOWN, Verdict.OK]) is Verdict.UNKNOWN
    assert worst([]) is Verdict.OK


def test_a_window_has_ten_seconds_of_commits_and_begins_behind_a_deletion() -> None:
    timeline = Timeline(exact_from=T0 + 50_000)
    for number in range(60):
        timeline.add(T0 + number * 500, number)
    assert [each.offset for each in timeline.window_at(T0 + 10**6)] == list(range(41, 60, 2))
    timeline.add(T0 + 30_000, None)
    assert timeline.window_at(T0 + 10**6) == []
    assert timeline.committed_at(T0 + 10**6) is None
    timeline.add(T0 + 60_000, 5)
    assert timeline.window_at(T0 + 10**6) == [Commit(T0 + 60_000, 5)]


@pytest.mark.parametrize("exact_from", [None, T0 + 50_000])
def test_a_tool_does_not_hide_what_the_group_committed_in_the_same_second(exact_from: int | None) -> None:
    timeline = Timeline(exact_from)
    for at, offset, by_tool in ((1000, 3, False), (9000, 4, False), (9100, 5, False), (9200, 0, True), (9300, 1, True)):
        timeline.add(T0 + at, offset, by_tool)
    assert timeline.window_at(T0 + 60_000) == [
        Commit(T0 + 1000, 3), Commit(T0 + 9100, 5), Commit(T0 + 9300, 1, by_tool=True),
    ]  # fmt: skip


def test_a_clock_that_went_back_does_not_change_the_order() -> None:
    timeline = Timeline()
    timeline.add(T0 + 5000, 1)
    timeline.add(T0, 2)
    assert timeline.committed_at(T0 + 4999) is None
    assert timeline.committed_at(T0 + 5000) == 2


def commit(log_offset: int, offset: int | None, producer_id: int = -1) -> CommitRecord:
    return CommitRecord(log_offset, T0 + log_offset, producer_id, "g", P0, offset)


def test_transactions_take_effect_with_their_markers() -> None:
    rows = [
        commit(0, 10, producer_id=7),
        commit(1, 20, producer_id=8),
        commit(2, 5),
        Marker(3, T0 + 3, 7, True),  # what it committed lies before the commit that is in force
        commit(4, 30, producer_id=7),
        Marker(5, T0 + 5, 8, False),
        Marker(6, T0 + 6, 7, True),
        commit(7, 40, producer_id=7),
        commit(8, None),
        Marker(9, T0 + 9, 7, True),
        commit(10, 50, producer_id=7),
    ]
    found = [(each.timestamp - T0, each.offset) for each in effective(rows)]
    assert found == [(2, 5), (6, 30), (8, None)]


def point(partition: int, **fields: object) -> LagPoint:
    plain = LagPoint("g", "t", partition, T0, 1, 11, 10, 500, 2.0, 3.0, T0 - 1000, 10_000, Verdict.OK, T0 - 1)
    return plain._replace(**fields)  # type: ignore[arg-type]


def test_sums() -> None:
    unknown = point(2, lag=None, unknown=1, time_lag_ms=None, catch_up_ms=None, verdict=Verdict.UNKNOWN)
    ahead = point(1, lag=-5, time_lag_ms=0, produce_rate=None, catch_up_ms=0, verdict=Verdict.STALLED)
    (total,) = summed([point(0), ahead], by_group)
    assert (total.topic, total.partition, total.partitions) == (None, None, 2)
    assert (total.lag, total.time_lag_ms, total.produce_rate, total.consume_rate) == (10, 500, 2.0, 6.0)
    assert (total.catch_up_ms, total.verdict, total.committed, total.unknown) == (10_000, Verdict.STALLED, None, 0)
    topics = summed([point(0), point(1), unknown, point(0)._replace(topic="u")], by_topic)
    assert [(each.topic, each.lag, each.unknown, each.catch_up_ms) for each in topics] == [
        ("t", 20, 1, None),
        ("u", 10, 0, 10_000),
    ]


def test_rows_are_enough() -> None:
    """Another engine answers the same questions from a join over all records."""
    times = [T0 + 100 * number for number in range(200)]
    commits = [OffsetCommit(T0 + 1000 * number, "g", P1, 9 * number) for number in range(1, 20)]
    moments = steps(T0 + 3000, T0 + 19_000, 1000, T0 + 10**6)
    found = timelines(commits, T0 + 19_000, T0 + 2000)
    (asked,) = open_questions(found, moments).values()
    ends = {moment: sum(time <= moment for time in times) for moment in asked.moments}
    answers = LogAnswers(0, 200, ends, {offset: times[offset] for offset in asked.offsets})
    points = list(lag_points(Known(found, {}, {"g": Evidence(T0)}), {P1: answers}, moments))
    assert [(each.lag, each.produce_rate, each.consume_rate) for each in points] == [
        (10 * second + 1 - 9 * second, 10.0, 9.0) for second in range(3, 20)
    ]
    assert {each.verdict for each in points[1:]} == {Verdict.FALLING_BEHIND}


def test_what_was_committed_was_there() -> None:
    """A producer's clock that is ahead makes records look younger than a commit of them."""
    log = LogAnswers(0, 50, {T0: 10, T0 + 1: None})
    assert (log.end_at(T0), log.end_at(T0, 8), log.end_at(T0, 30), log.end_at(T0, 99)) == (10, 10, 30, 50)
    assert log.end_at(T0 + 1, 30) is None


def test_what_is_worst_has_the_room_there_is() -> None:
    points = [point(0), point(1, lag=900), point(2, lag=1, verdict=Verdict.STOPPED), point(3, verdict=Verdict.REWOUND)]
    shown = [[line.split()[2] for line in worst_lines(points, height)] for height in range(1, 7)]
    whole = ["PARTITION", "2", "3", "1", "0"]
    assert shown == [["of"], ["of"], ["PARTITION", "2", "of"], ["PARTITION", "2", "3", "of"], whole, whole]
    assert list(worst_lines(points, 3))[-1].startswith("... 3 of 4 rows not shown")
