"""``kafkapy lag``: how far groups are behind, in records and in time, and where that leads. No script of Kafka's does
this."""

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LinesOption,
    LogDirsOption,
    selection,
)
from .lag_options import (
    STEP_MS,
    STEPS_SHOWN,
    AtOption,
    By,
    ByOption,
    FromOption,
    GroupOption,
    HistoryOption,
    IntervalOption,
    LagOptions,
    PlotOption,
    StepOption,
    TimesOption,
    ToOption,
    TopicOption,
    WatchOption,
    WindowOption,
    check,
    parse_duration,
    parse_time,
)
from .lag_strangers import strangers
from .spark_options import ConfOption, DriverMemoryOption, EngineName, EngineOption, MasterOption, open_engine
from .tool_errors import finish, tell_problems, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.lag.lag_point import LagPoint
    from kafkapy.lag.lag_reading import LagHistory
    from kafkapy.tables.engine import Engine

FETCH_SETTING, FETCH_BYTES = "max.partition.fetch.bytes", "65536"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("How far every group is behind, how fast it reads, and how that will end:", "kafkapy lag"),
        (
            "The same from two looks 10 seconds apart:",
            "kafkapy lag --group billing --interval 10s",
        ),
        ("The lag as it was last night:", "kafkapy lag --log-dirs /kafka/1,/kafka/2 --at 2026-11-16T03:00:00Z"),
        (
            "What happened to a group in an hour: lag, rates, stalls, rewinds and resets:",
            "kafkapy lag --group billing --history --from 2026-11-16T02:00:00Z --to 2026-11-16T03:00:00Z --step 5m",
        ),
        ("Draw the last hour:", "kafkapy lag --group billing --plot"),
        (
            "The history of a large cluster's groups, on Spark:",
            "kafkapy lag --log-dirs /kafka/1,/kafka/2 --history --from 2026-11-15T00:00:00Z --engine spark",
        ),
        (
            "Watch the groups of a topic of a running cluster:",
            "kafkapy lag --bootstrap-server localhost:9092 --topic orders --watch --interval 5s --by group",
        ),
    ),
)
def lag(
    group: GroupOption = None,
    topic: TopicOption = None,
    interval: IntervalOption = None,
    at: AtOption = None,
    history: HistoryOption = False,
    start: FromOption = None,
    end: ToOption = None,
    step: StepOption = None,
    by: ByOption = None,
    window: WindowOption = 10,
    watch: WatchOption = False,
    times: TimesOption = None,
    plot: PlotOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    engine: EngineOption = EngineName.LOCAL,
    master: MasterOption = None,
    conf: ConfOption = None,
    driver_memory: DriverMemoryOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show how far groups are behind: records, time, rates, when they will have caught up, and what happened."""
    is_history = history or plot
    options = LagOptions(
        tuple(group or ()),
        tuple(topic or ()),
        None if interval is None else parse_duration("--interval", interval),
        parse_time("--at", at),
        is_history,
        parse_time("--from", start),
        parse_time("--to", end),
        STEP_MS if step is None else parse_duration("--step", step),
        by or (By.GROUP if is_history else By.PARTITION),
        window,
        watch,
        times,
        plot,
        output,
    )
    check(
        options,
        {"--at": at, "--history": is_history, "--interval": interval, "--watch": watch, "--from": start, "--to": end,
         "--step": step},
    )  # fmt: skip
    chosen = _sparing(selection(cluster, log_dirs, bootstrap_server, command_config))
    is_read = not (watch or interval is not None or (chosen.is_live and not is_history and at is None))
    if engine is EngineName.SPARK and not is_read:
        raise UsageError(
            "--engine spark reads the history in a cluster's files: --interval and --watch do not work with it"
        )
    if is_read:
        from kafkapy.backends.selection import file_paths

        paths = file_paths(chosen, "--engine spark") if engine is EngineName.SPARK else ()
        with open_engine(engine, master, conf, driver_memory) as opened:
            _read(chosen, options, opened, paths)
        return
    if options.watch:
        from .lag_watch import watch as watch_looks

        watch_looks(chosen, options)
    else:
        _compare(chosen, options)


def _sparing(chosen: "Selection") -> "Selection":
    """Brokers shall send little: of a partition that a group lags behind in, only the first batch is looked at."""
    if chosen.command_config is None:
        return chosen._replace(properties={FETCH_SETTING: FETCH_BYTES})
    return chosen._replace(command_pairs=(f"{FETCH_SETTING}={FETCH_BYTES}",))


def _read(chosen: "Selection", options: LagOptions, engine: "Engine", paths: tuple[str, ...]) -> None:
    """Out of the history that the files hold; those at ``paths``, where there are any, are read by the engine."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.lag.lag_reading import ClusterSource, LagSource, lag_history

    problems: list[str] = []
    with closing(open_cluster(chosen)) as opened:
        asked = _asked(opened, options)
        source: LagSource = ClusterSource(opened)
        if paths:
            from kafkapy.tables.lag_source import EngineSource

            source = EngineSource(engine, paths)
        found = lag_history(source, options.wanted, asked, problems.append)
        if options.plot:
            _print_plot(found, options, [moment.timestamp for moment in asked.moments])
        else:
            _print_history(found, options)
        _finish(found, asked.moments[-1].timestamp, chosen, options, problems)


def _asked(cluster: "Cluster", options: LagOptions) -> Any:
    from kafkapy.lag.lag_events import Span
    from kafkapy.lag.lag_history import steps
    from kafkapy.lag.lag_point import Moment
    from kafkapy.lag.lag_reading import Asked

    now = cluster.now
    if not options.history:
        at = now if options.at is None else options.at
        _check_past("--at", at, now)
        return Asked([Moment(at, None, at >= now)], now, options.window)
    end = now if options.end is None else options.end
    _check_past("--to", end, now)
    start = end - (STEPS_SHOWN - 1) * options.step_ms if options.start is None else options.start
    return Asked(steps(start, end, options.step_ms, now), now, options.window, Span(start, end))


def _check_past(option: str, time_ms: int, now: int) -> None:
    from kafkapy.formats.time_text import utc_text

    if time_ms > now:
        raise UsageError(f"{option}: {utc_text(time_ms)} is still to come: it is {utc_text(now)}")


def _print_history(found: "LagHistory", options: LagOptions) -> None:
    from kafkapy.output.lag_lines import event_line, evidence_line, history_lines, lag_lines
    from kafkapy.output.lag_rows import LAG_COLUMNS, event_row, lag_row
    from kafkapy.output.printing import print_lines, print_rows

    points = options.shown(found.points)
    groups = {point.group for point in points}
    evidence = {group: each for group, each in found.evidence.items() if group in groups}
    if options.output is not Output.KAFKA:
        rows = [*(lag_row(point, evidence.get(point.group)) for point in points), *map(event_row, found.events)]
        print_rows(options.output, ((None, row) for row in rows), LAG_COLUMNS)
        return
    print_lines(history_lines(points) if options.history else lag_lines(points))
    for lines in (map(event_line, found.events), (evidence_line(*each) for each in evidence.items())):
        told = list(lines)
        print_lines(["", *told] if told and points else told)


def _print_plot(found: "LagHistory", options: LagOptions, moments: list[int]) -> None:
    from kafkapy.output.lag_lines import event_line
    from kafkapy.output.lag_plot import plot_lines
    from kafkapy.output.printing import print_lines

    drawn = options.drawn(moments, min(found.earliest.values(), default=moments[0]))
    print_lines(plot_lines(options.shown(found.points), drawn))
    print_lines(map(event_line, found.events))


def _finish(found: "LagHistory", end: int, chosen: "Selection", options: LagOptions, problems: list[str]) -> None:
    """Tell of what could not be read, of what was asked for and is not there, and why there is nothing at all."""
    shown = {point.group for point in found.points}
    silent = options.silent(shown, problems)
    strange = [name for name in silent if name not in found.earliest]
    is_topic_strange = bool(options.topics) and not shown and not found.earliest
    unknown = strangers(chosen, strange, options.topics if is_topic_strange else ())
    problems += unknown.told
    silent = [name for name in silent if name not in unknown.groups]
    _explain(found, end, options, silent if options.groups else [None] * (not shown and not problems))
    finish(problems)


def _explain(found: "LagHistory", end: int, options: LagOptions, silent: Iterable[str | None]) -> None:
    """Say why groups, or with None all of them, have no row: what there is lies after the time that was asked for, is
    gone, or there is nothing."""
    from kafkapy.output.lag_lines import nothing_line

    for group in silent:
        groups = found.earliest if group is None else {group} & found.earliest.keys()
        first = min((found.earliest[each] for each in groups), default=None)
        is_whole = all(found.evidence[each].is_whole for each in groups)
        warn(f"kafkapy: {nothing_line(group, options.where, first, end, is_whole)}")


def _compare(chosen: "Selection", options: LagOptions) -> None:
    """By two looks, at any kind of cluster."""
    import time

    from kafkapy.backends.selection import open_cluster, reopened
    from kafkapy.lag.lag_reading import LagHistory
    from kafkapy.lag.snapshots import Snapshots

    at_first, problems = list[str](), list[str]()
    snapshots = Snapshots(options.wanted, options.window)
    with closing(open_cluster(chosen)) as opened:
        snapshots.begin(opened, opened.now, at_first.append)  # what stays so is told by the second look
        groups = options.silent(snapshots.groups, at_first)
        unknown = strangers(chosen, groups, () if snapshots.groups else options.topics)
        tell_problems(unknown.told)
        if unknown.leave_nothing_of(options.groups, options.topics):
            _print_points([], options)
            raise typer.Exit(1)
        time.sleep(options.pause_s)
        with reopened(chosen, opened) as again:
            points = snapshots.take(again, again.now, problems.append)
            _print_points(points, options)
            there = options._replace(
                groups=tuple(name for name in options.groups if name not in unknown.groups),
                topics=tuple(name for name in options.topics if name not in unknown.topics),
            )
            _finish(LagHistory(points, [], {}, {}), again.now, chosen, there, problems)
    if unknown.told:
        raise typer.Exit(1)


def _print_points(points: "Iterable[LagPoint]", options: LagOptions) -> None:
    from kafkapy.output.lag_lines import lag_lines
    from kafkapy.output.lag_rows import LAG_COLUMNS, lag_row
    from kafkapy.output.printing import print_rows

    if options.output is Output.KAFKA:
        print_rows(options.output, ((line, None) for line in lag_lines(options.shown(points))))
    else:
        print_rows(options.output, ((None, lag_row(point)) for point in options.shown(points)), LAG_COLUMNS)
