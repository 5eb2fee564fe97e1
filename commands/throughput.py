"""``kafkapy throughput``: what comes in, from whom, and when it goes again. No script of Kafka's does this."""

from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.near_misses import missing
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
from .lag_options import parse_duration, parse_time
from .option_kinds import flag, value
from .spark_options import ConfOption, DriverMemoryOption, EngineName, EngineOption, MasterOption, open_engine
from .tool_errors import finish, tell_problems

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.lag.batch_flow import Flow
    from kafkapy.lag.cluster_batches import Wanted
    from kafkapy.lag.retention_forecast import Forecast
    from kafkapy.tables.engine import Engine

WHICH = "Which topics, and which time (all by default)"
HOW = "What to show"

app = new_app()


class By(StrEnum):
    """What a row stands for."""

    TOPIC = "topic"
    PARTITION = "partition"
    PRODUCER = "producer"


def _wants(topics: frozenset[str], exclude_internal: bool) -> Callable[[str], bool]:
    from kafkapy.metadata.topic_description import INTERNAL_TOPICS

    if topics:
        return topics.__contains__
    return lambda topic: not (exclude_internal and topic in INTERNAL_TOPICS)


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Which topics receive the most:", "kafkapy throughput --top 10"),
        (
            "Who sent what to a topic in an hour:",
            "kafkapy throughput --topic orders --by producer --from 2026-11-16T02:00:00Z --to 2026-11-16T03:00:00Z",
        ),
        ("What came in minute by minute:", "kafkapy throughput --topic orders --step 1m"),
        ("How well a topic is compressed:", "kafkapy throughput --topic orders --measure-compression"),
        (
            "When the oldest segments will be deleted, and how large the partitions will be then:",
            "kafkapy throughput --log-dirs /kafka/1,/kafka/2 --forecast",
        ),
        (
            "What came into a running cluster since then, which reads all of it over the network:",
            "kafkapy throughput --bootstrap-server localhost:9092 --from 2026-11-16T03:00:00Z --top 10",
        ),
    ),
)
def throughput(
    topic: Annotated[
        list[str] | None, value("--topic", "TOPIC", "Only this topic. Can be given more than once.", WHICH)
    ] = None,
    exclude_internal: Annotated[bool, flag("--exclude-internal", "Omit internal topics.", WHICH)] = False,
    start: Annotated[
        str | None,
        value("--from", "TIME", "From this time on: epoch milliseconds, or ISO 8601 (UTC by default).", WHICH),
    ] = None,
    end: Annotated[str | None, value("--to", "TIME", "Before this time.", WHICH)] = None,
    by: Annotated[By, typer.Option(help="What a row stands for.", rich_help_panel=HOW)] = By.TOPIC,
    step: Annotated[
        str | None, value("--step", "DURATION", "Print rows for each interval of this length: 10s, 1m, 1h.", HOW)
    ] = None,
    top: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the N with the most bytes.", rich_help_panel=HOW)
    ] = None,
    measure_compression: Annotated[
        bool,
        flag(
            "--measure-compression",
            "Decompress batches to measure how well they are compressed. This takes longer.",
            HOW,
        ),
    ] = False,
    forecast: Annotated[
        bool,
        flag(
            "--forecast",
            "Show when retention will delete the oldest segments, and how large partitions will be then.",
            HOW,
        ),
    ] = False,
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
    """Show what comes in, by topic, partition or producer and over time, and when retention will delete it."""
    from kafkapy.backends.selection import file_paths, open_cluster
    from kafkapy.lag.cluster_batches import Stretch, Wanted

    if forecast and (step is not None or by is not By.TOPIC or measure_compression or engine is EngineName.SPARK):
        raise UsageError(
            "--forecast is about partitions: --by, --step, --measure-compression and --engine do not work with it"
        )
    step_ms = None if step is None else parse_duration("--step", step)
    topics = frozenset(topic or ())
    stretch = Stretch(parse_time("--from", start), parse_time("--to", end))
    if stretch.start is not None and stretch.end is not None and stretch.start > stretch.end:
        raise UsageError("--from is after --to")
    is_narrow = bool(topics) or start is not None
    wanted = Wanted(_wants(topics, exclude_internal), stretch, measure_compression, is_narrow)
    problems: list[str] = []
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    paths = file_paths(chosen, "--engine spark") if engine is EngineName.SPARK else ()
    with closing(open_cluster(chosen)) as opened:
        with open_engine(engine, master, conf, driver_memory) as worker:
            known = set(opened.image().topics)
            problems += (missing("topic", name, known) for name in sorted(topics - known))
            problems += _absent(opened, wanted, bool(topics))
            if forecast:
                _print_forecasts(opened, wanted, top, output, problems)
            else:
                _print_flows(_flows(opened, worker, paths, wanted, by, step_ms, problems), top, output)
        finish(problems)


def _absent(cluster: "Cluster", wanted: "Wanted", is_named: bool) -> list[str]:
    """Which partitions should be here and are not; what the disks of some brokers do not have is only said."""
    from kafkapy.backends.absent_partitions import absent_partitions
    from kafkapy.errors import Unsupported

    try:
        absent = absent_partitions(cluster, lambda partition: wanted.topic(partition.topic))
    except Unsupported:  # nobody has the files of a running cluster
        return []
    tell_problems(absent.notes(is_named))
    return absent.problems(is_named)


def _flows(
    cluster: "Cluster",
    engine: "Engine",
    paths: tuple[str, ...],
    wanted: "Wanted",
    by: By,
    step_ms: int | None,
    problems: list[str],
) -> list["Flow"]:
    """What came in; the files at ``paths``, where there are any, are read by the engine."""
    from kafkapy.lag.batch_flow import flows, of_partition, of_producer, of_topic
    from kafkapy.lag.cluster_batches import all_batch_rows

    name_of = {By.TOPIC: of_topic, By.PARTITION: of_partition, By.PRODUCER: of_producer}[by]
    if paths:
        from kafkapy.tables.throughput_job import engine_flows

        return engine_flows(engine, paths, wanted, name_of, step_ms, problems.append)
    return flows(all_batch_rows(cluster, wanted, problems.append), name_of, step_ms)


def _print_flows(found: list["Flow"], top: int | None, output: Output) -> None:
    from kafkapy.lag.batch_flow import largest
    from kafkapy.output.printing import print_rows
    from kafkapy.output.throughput_lines import flow_lines
    from kafkapy.output.throughput_rows import flow_row

    if top is not None:
        found = largest(found, top)
    if output is Output.KAFKA:
        print_rows(output, ((line, None) for line in flow_lines(found)))
    else:
        print_rows(output, ((None, flow_row(flow)) for flow in found))


def _print_forecasts(
    cluster: "Cluster", wanted: "Wanted", top: int | None, output: Output, problems: list[str]
) -> None:
    from kafkapy.output.printing import print_rows
    from kafkapy.output.throughput_lines import forecast_lines
    from kafkapy.output.throughput_rows import forecast_row

    now = cluster.now
    found = list(_forecasts(cluster, wanted, now, problems))
    if top is not None:
        found = sorted(found, key=lambda each: -each.size)[:top]
    if output is Output.KAFKA:
        print_rows(output, ((line, None) for line in forecast_lines(found, now)))
    else:
        print_rows(output, ((None, forecast_row(each)) for each in found))


def _forecasts(cluster: "Cluster", wanted: "Wanted", now: int, problems: list[str]) -> Iterator["Forecast"]:
    from kafkapy.backends.log_configs import log_config
    from kafkapy.errors import KafkapyError
    from kafkapy.lag.cluster_batches import growth, partition_logs, segment_rows
    from kafkapy.lag.retention_forecast import forecast

    if not cluster.has_metadata:
        raise KafkapyError("without a metadata log, the configs by which segments are deleted are unknown")
    for partition, log in partition_logs(cluster, wanted.topic):
        config = log_config(cluster.image(), partition.topic)
        rate = growth(log, wanted.stretch, now, problems.append)
        yield forecast(partition, segment_rows(log), config, log.log_start_offset, rate, now)
