"""What a log answers whose files are here: one reader for all questions.

A lookup in the time index costs one search and a few batches, however large the log is. Damage takes away the answers
that it is in the way of, and is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkapy.backends.group_lag import LogRange
from kafkapy.errors import KafkapyError
from kafkapy.lag.log_answers import LogAnswers, Questions, Tell, end_before, first_time, positions
from kafkapy.log.partition_reader import PartitionReader


def read_answers(log: PartitionReader, known: LogRange, asked: Questions, now: int, tell: Tell) -> LogAnswers:
    """The answers of one log; at ``now`` and later it ends where it ends."""

    def end_at(moment: int) -> int | None:
        if moment >= now:
            return known.end
        found = log.offset_for_timestamp(moment + 1)
        return end_before(None if found is None else found.offset, known)

    def time_of(offset: int) -> int | None:
        return first_time(log.read(offset, upper_bound=known.end), offset)

    ends = _each(end_at, sorted(asked.moments), log, tell)
    return LogAnswers(*known, ends, _each(time_of, positions(asked, known), log, tell))


def _each(
    look_up: Callable[[int], int | None], asked: Iterable[int], log: PartitionReader, tell: Tell
) -> dict[int, int | None]:
    found: dict[int, int | None] = {}
    problems: dict[str, None] = {}
    for each in asked:
        try:
            found[each] = look_up(each)
        except (KafkapyError, OSError) as error:
            problems[f"{log.partition}: {error}"] = None
    for problem in problems:
        tell(problem)
    return found
