"""The options of ``kafkapy lag``, and what they amount to."""

import re
from bisect import bisect_right
from collections.abc import Collection, Container, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.output.row_view import shown_view

from .option_kinds import flag, value

if TYPE_CHECKING:
    from kafkapy.lag.cluster_rows import Wanted
    from kafkapy.lag.lag_point import LagPoint

WHICH = "Which groups and topics (all by default)"
WHEN = "At which time (by default now, from the history in the cluster's files)"
HOW = "What to show"

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"([0-9]{1,12})(ms|s|m|h|d)")
SNAPSHOT_INTERVAL_MS = 10_000
STEP_MS = 60_000
STEPS_SHOWN = 60
FEWEST_STEPS_DRAWN = 10


class By(StrEnum):
    """What a row stands for."""

    PARTITION = "partition"
    TOPIC = "topic"
    GROUP = "group"


GroupOption = Annotated[
    list[str] | None, value("--group", "GROUP", "Only this group. Can be given more than once.", WHICH)
]
TopicOption = Annotated[
    list[str] | None, value("--topic", "TOPIC", "Only this topic. Can be given more than once.", WHICH)
]
IntervalOption = Annotated[
    str | None,
    value(
        "--interval",
        "DURATION",
        "The current state, from two looks at the cluster this far apart: 10s, 1m. With --watch, how often to look.",
        WHEN,
    ),
]
AtOption = Annotated[
    str | None, value("--at", "TIME", "The state at this time: epoch milliseconds, or ISO 8601 (UTC by default).", WHEN)
]
HistoryOption = Annotated[bool, flag("--history", "The lag step by step over a period, and what happened in it.", WHEN)]
FromOption = Annotated[
    str | None,
    value(
        "--from",
        "TIME",
        "Where the history begins; by default 60 steps before its end. With --plot it begins at most a few steps "
        "before the first commit.",
        WHEN,
    ),
]
ToOption = Annotated[str | None, value("--to", "TIME", "Where the history ends; now by default.", WHEN)]
StepOption = Annotated[
    str | None, value("--step", "DURATION", "The time between two rows of the history; by default 1m.", WHEN)
]
ByOption = Annotated[
    By | None,
    typer.Option(
        help="What a row stands for: a partition, or sums; by default a partition, in a history the group.",
        rich_help_panel=HOW,
    ),
]
WindowOption = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=2,
        help="How many commits a verdict is based on, at most one per second.",
        rich_help_panel=HOW,
    ),
]
WatchOption = Annotated[bool, flag("--watch", "Keep looking until interrupted, even through outages.", HOW)]
TimesOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="With --watch: stop after this many looks.", rich_help_panel=HOW)
]
PlotOption = Annotated[bool, flag("--plot", "Draw the lag over time; implies --history.", HOW)]


class LagOptions(NamedTuple):
    """What is wanted, as it was given."""

    groups: tuple[str, ...]
    topics: tuple[str, ...]
    interval_ms: int | None
    at: int | None
    history: bool
    start: int | None
    end: int | None
    step_ms: int
    by: By
    window: int
    watch: bool
    times: int | None
    plot: bool
    output: Output

    @property
    def pause_s(self) -> float:
        """The time between two looks."""
        return (self.interval_ms or SNAPSHOT_INTERVAL_MS) / 1000

    @property
    def wanted(self) -> "Wanted":
        """The groups and topics that were named, or all."""
        from kafkapy.lag.cluster_rows import Wanted

        groups, topics = frozenset(self.groups), frozenset(self.topics)
        return Wanted(lambda name: not groups or name in groups, lambda name: not topics or name in topics, groups)

    @property
    def where(self) -> str:
        """To be said of what has no commits."""
        return " of these topics" if self.topics else ""

    def silent(self, groups: Container[str], problems: Collection[str]) -> list[str]:
        """The groups that were named and are not among these, and of which no problem tells."""
        return [
            name
            for name in self.groups
            if name not in groups and not any(problem.startswith(f"group {name}:") for problem in problems)
        ]

    def drawn(self, moments: Sequence[int], first: int) -> Sequence[int]:
        """The moments that a picture shows, where ``first`` is when something was committed for the first time."""
        if self.start is not None:
            return moments
        begin = min(bisect_right(moments, first) - 1, len(moments) - FEWEST_STEPS_DRAWN)
        return moments[max(0, begin) :]

    def shown(self, points: Iterable["LagPoint"]) -> list["LagPoint"]:
        """The points that rows are about, of those of partitions."""
        from kafkapy.lag.lag_point import by_group, by_topic, summed

        if self.by is By.PARTITION:
            return list(points)
        return summed(points, by_topic if self.by is By.TOPIC else by_group)


def parse_duration(option: str, text: str) -> int:
    """Milliseconds."""
    match = _DURATION.fullmatch(text)
    if match is None or int(match[1]) == 0:
        raise UsageError(f"{option}: '{text}' is not a duration such as 500ms, 10s, 5m, 1h or 7d")
    return int(match[1]) * _UNITS[match[2]]


def parse_time(option: str, text: str | None) -> int | None:
    """Milliseconds since the epoch."""
    from kafkapy.output.timestamps import parse_timestamp

    try:
        return None if text is None else parse_timestamp(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def check(options: LagOptions, given: dict[str, object]) -> None:
    """Refuse options that do not go together."""
    named = {name for name, value in given.items() if value not in (None, False)}
    modes = sorted(named & {"--at", "--history", "--interval"})
    if options.watch:
        modes = sorted(named & {"--at", "--history", "--watch"})
    if len(modes) > 1:
        raise UsageError(f"{' and '.join(modes)} ask for different times: give only one of them")
    if not options.history:
        lone = sorted(named & {"--from", "--to", "--step"})
        if lone:
            raise UsageError(f"{', '.join(lone)}: give --history too")
    if options.times is not None and not options.watch:
        raise UsageError("--times: give --watch too")
    if options.plot and options.output is not Output.KAFKA:
        raise UsageError("--plot draws, and --output writes rows: give only one of them")
    if options.watch and options.output is Output.JSON:
        raise UsageError("--watch has no end, but a JSON document needs one: give --output jsonl")
    if options.watch and shown_view().sort_by is not None and options.output is not Output.TABLE:
        raise UsageError(
            "--watch has no end, but --sort-by waits for it: give --output table, where each look is sorted"
        )
