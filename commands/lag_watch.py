"""``kafkapy lag --watch``: on a terminal a block of lines that stays in its place, anywhere else blocks or rows, one
look after the other.

What does not answer is told where it is seen: in the block, with the last figures, or on stderr, once for all looks of
an outage."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from kafkapy.output.output_format import Output

from .lag_options import LagOptions
from .lag_strangers import Strangers, strangers
from .tool_errors import tell_problems

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection
    from kafkapy.lag.looks import Look
    from kafkapy.output.lag_live import Frame

GONE_SHOWN = 5


def watch(chosen: "Selection", options: LagOptions) -> None:
    """Look again and again. Ctrl-C ends it in good order; exit 1 where the last look was not whole."""
    from kafkapy.lag.looks import looks
    from kafkapy.lag.snapshots import Snapshots

    seen = _Seen()
    try:
        with closing(looks(chosen, Snapshots(options.wanted, options.window), options.pause_s, options.times)) as each:
            _print(seen.noted(each), chosen, options)
    except KeyboardInterrupt:
        pass
    if seen.last is not None and (seen.last.outage is not None or seen.last.problems):
        raise typer.Exit(1)


class _Seen:
    """The last look."""

    last: "Look | None" = None

    def noted(self, looks: Iterable["Look"]) -> Iterator["Look"]:
        """The looks as they come."""
        for self.last in looks:
            yield self.last


def _introduced(looks: Iterable["Look"], chosen: "Selection", options: LagOptions) -> Iterator["Look"]:
    """The looks; before the first one, on stderr, which of the named groups and topics are not there."""
    for number, look in enumerate(looks):
        if number == 0:
            tell_problems(_strangers(look, chosen, options).told)
        yield look


def _strangers(first: "Look", chosen: "Selection", options: LagOptions) -> Strangers:
    """Which of the named groups and topics are not there at the ``first`` look: one may be waited for, or its name be a
    mistake."""
    groups = options.silent({point.group for point in first.points}, first.problems)
    return strangers(chosen, groups, () if first.points else options.topics)


def _print(looks: Iterator["Look"], chosen: "Selection", options: LagOptions) -> None:
    from kafkapy.output.lag_live import print_frames, show_in_place
    from kafkapy.output.lag_rows import LAG_COLUMNS, lag_row
    from kafkapy.output.printing import print_rows

    if options.output is Output.KAFKA and os.isatty(1):
        show_in_place(_frames(looks, chosen, options))
        return
    looks = _worked(_introduced(looks, chosen, options))
    if options.output is Output.KAFKA:
        print_frames(_frame(look, options) for look in looks)
    elif options.output is Output.TABLE:
        for look in looks:
            print_rows(options.output, ((None, lag_row(point)) for point in options.shown(look.points)))
    else:
        rows = ((None, lag_row(point)) for look in looks for point in options.shown(look.points))
        print_rows(options.output, rows, LAG_COLUMNS, is_only_kind=True)


def _worked(looks: Iterable["Look"]) -> Iterator["Look"]:
    """The looks that worked. On stderr: what could not be read, when that begins, when an outage is over, and which
    groups are gone."""
    from kafkapy.formats.time_text import duration_text, utc_text
    from kafkapy.output.lag_lines import gone_line

    told: list[str] = []
    gone = frozenset[str]()
    begun: int | None = None
    for look in looks:
        if look.outage is not None:
            if begun is None:
                begun = look.outage.since
                tell_problems([f"no figures since {utc_text(begun)}: {look.outage.reason}"])
            continue
        if begun is not None:
            tell_problems([f"figures again at {utc_text(look.seen)}, after {duration_text(look.seen - begun)}"])
            begun = None
        tell_problems(problem for problem in look.problems if problem not in told)
        tell_problems(gone_line(group) for group in sorted(look.gone - gone))
        told, gone = look.problems, look.gone
        yield look


def _frames(looks: Iterable["Look"], chosen: "Selection", options: LagOptions) -> Iterator["Frame"]:
    """What is shown in place, with all that is told, as long as it holds."""
    unknown = Strangers({}, {})
    for number, look in enumerate(looks):
        if number == 0:
            unknown = _strangers(look, chosen, options)
        there = unknown.without({point.group for point in look.points}, {point.topic for point in look.points})
        yield _frame(look, options, [*(f"kafkapy: {each}" for each in there.told), *_problems(look)])


def _problems(look: "Look") -> list[str]:
    from kafkapy.formats.time_text import utc_text
    from kafkapy.output.lag_lines import gone_line

    if look.outage is None:
        gone = map(gone_line, sorted(look.gone)[:GONE_SHOWN])
        return [f"kafkapy: {problem}" for problem in (*look.problems, *gone)]
    of_then = [f"the last figures are from {utc_text(look.seen)}:"] if look.points else []
    return [f"kafkapy: no figures since {utc_text(look.outage.since)}: {look.outage.reason}", *of_then]


def _frame(look: "Look", options: LagOptions, problems: Iterable[str] = ()) -> "Frame":
    from kafkapy.formats.time_text import utc_text
    from kafkapy.output.lag_lines import nothing_line
    from kafkapy.output.lag_live import Frame

    groups = {point.group for point in look.points}
    told = groups | look.gone
    silent = [name for name in options.groups if name not in told] if options.groups else [None] * (not told)
    nothing = [nothing_line(name, options.where) for name in silent]
    head = [f"{utc_text(look.timestamp)}  (every {options.pause_s:g} s)", *nothing, *problems]
    return Frame(head, options.shown(look.points), look.outage is not None)
