"""``kafkapy export``: whole topics, or whole clusters, as files of other formats. No script of Kafka's does this."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.export.file_format import Compression, Format, chosen_compression
from kafkapy.optional_packages import check_installed
from kafkapy.output.output_format import Output
from kafkapy.signals import terminated_like_interrupted
from kafkapy.subcommand import Subcommand, examples, new_app
from kafkapy.tables.registry import TABLES
from kafkapy.tables.scan import Mode

from .cluster_options import ClusterOption, LogDirsOption, RefusedBootstrapOption, selection
from .lag_options import parse_time
from .option_kinds import flag, value
from .spark_options import ConfOption, DriverMemoryOption, EngineName, EngineOption, MasterOption, open_engine
from .tool_errors import finish, warn

if TYPE_CHECKING:
    from kafkapy.export.plan import Plan
    from kafkapy.export.request import Request
    from kafkapy.export.run import Summary

WHAT = "What to export (all topics by default)"
HOW = "How to write it"
AGAIN = "If the output already exists"

app = new_app()


class Isolation(StrEnum):
    """Whose records are exported."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "A topic as Parquet files; run again, it adds what is new since:",
            "kafkapy export --topic orders --to parquet --out /lake/orders",
        ),
        (
            "All topics of three brokers, a directory for each topic and day, on all cores:",
            "kafkapy export --log-dirs /kafka/1,/kafka/2,/kafka/3 --exclude-internal --to parquet --out /lake/kafka "
            "--partition-by topic,date --engine spark",
        ),
        (
            "The committed records of a morning as JSON lines, with values as JSON:",
            "kafkapy export --topic orders --to json --out morning --decode-value json --isolation read_committed "
            "--from-time 2026-11-16T06:00:00Z --to-time 2026-11-16T11:59:59.999Z",
        ),
        (
            "Values by an Avro schema, as columns:",
            "kafkapy export --topic payments --to parquet --out typed --decode-value confluent:payment.avsc",
        ),
        (
            "The lines of kafka-dump-log.sh, one file per partition:",
            "kafkapy export --topic orders --to text --out dump",
        ),
        (
            "See what the next run would add:",
            "kafkapy export --topic orders --to parquet --out /lake/orders --dry-run",
        ),
        (
            "The same for a program, largest first:",
            "kafkapy export --topic orders --to parquet --out /lake/orders --dry-run --output json "
            "--sort-by offsets:desc",
        ),
    ),
)
def export(
    to: Annotated[Format, typer.Option("--to", help="The format of the files.", rich_help_panel=HOW)],
    out: Annotated[
        str,
        value(
            "--out",
            "DIR",
            "The output directory: a new one, or that of an earlier run. All executors must be able to reach it.",
            HOW,
        ),
    ],
    topic: Annotated[
        list[str] | None, value("--topic", "TOPIC", "Only this topic. Can be given more than once.", WHAT)
    ] = None,
    exclude_internal: Annotated[bool, flag("--exclude-internal", "Omit internal topics.", WHAT)] = False,
    table: Annotated[str, value("--table", "TABLE", f"One of the tables {', '.join(TABLES)}.", WHAT)] = "records",
    columns: Annotated[
        str | None, value("--columns", "COLUMN[,COLUMN...]", "Only these columns, in this order.", WHAT)
    ] = None,
    from_time: Annotated[
        str | None,
        value("--from-time", "TIME", "From this timestamp on: epoch milliseconds, or ISO 8601 (UTC by default).", WHAT),
    ] = None,
    to_time: Annotated[str | None, value("--to-time", "TIME", "Up to and including this timestamp.", WHAT)] = None,
    isolation: Annotated[
        Isolation,
        typer.Option(
            help="read_committed omits records of transactions that were aborted or are still open; their markers "
            "stay, with control set.",
            rich_help_panel=WHAT,
        ),
    ] = Isolation.READ_UNCOMMITTED,
    mode: Annotated[
        Mode,
        typer.Option(
            help="How to handle damage: failfast ends with an error, dropmalformed continues after it, permissive "
            "also writes a row that describes it, in separate columns.",
            rich_help_panel=WHAT,
        ),
    ] = Mode.FAILFAST,
    decode_key: Annotated[
        str | None,
        value(
            "--decode-key",
            "DECODING",
            "Decode keys as string, as json, or by an Avro schema: avro:FILE, confluent:FILE.",
            HOW,
        ),
    ] = None,
    decode_value: Annotated[
        str | None, value("--decode-value", "DECODING", "The same for values. By default they are bytes.", HOW)
    ] = None,
    partition_by: Annotated[
        str | None,
        value(
            "--partition-by",
            "topic|partition|date[,...]",
            "A directory for each topic, partition or date (UTC), named as Hive does.",
            HOW,
        ),
    ] = None,
    compression: Annotated[
        Compression | None,
        typer.Option(help="By default zstd for parquet and orc, gzip for avro, none for others.", rich_help_panel=HOW),
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Only show what would be exported.", AGAIN)] = False,
    overwrite: Annotated[
        bool,
        flag(
            "--overwrite",
            "Export everything again, and remove the previous export once the new one is complete.",
            AGAIN,
        ),
    ] = False,
    replace_recreated: Annotated[
        bool,
        flag(
            "--replace-recreated",
            "If a topic was deleted and created again, or its log was cut, remove the old rows and export it again.",
            AGAIN,
        ),
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: RefusedBootstrapOption = None,
    engine: EngineOption = EngineName.LOCAL,
    master: MasterOption = None,
    conf: ConfOption = None,
    driver_memory: DriverMemoryOption = None,
    output: Annotated[
        Output,
        typer.Option(
            "--output",
            help="How to report what would be exported, or was: as lines for people, or as rows with typed fields.",
        ),
    ] = Output.KAFKA,
) -> None:
    """Export topics to Parquet, JSON, CSV, ORC, Avro or text; a second run adds only what is new.

    Reads the files of brokers or of a cluster directory and never writes to them. A manifest beside the exported files
    records which offsets are in them. Whatever stops a run, either all of it is there or nothing.
    """
    check_installed("pyarrow", "fastavro")
    from kafkapy.backends.selection import file_paths
    from kafkapy.export.decoding import parse_decoding
    from kafkapy.export.request import Request, check
    from kafkapy.export.run import Export
    from kafkapy.tables.registry import find_table
    from kafkapy.tables.scan import Range, Scan

    scan = Scan(
        file_paths(selection(cluster, log_dirs, bootstrap_server), "export", engine is EngineName.SPARK),
        topics=None if not topic else frozenset(topic),
        timestamps=Range(parse_time("--from-time", from_time), _after(parse_time("--to-time", to_time))),
        committed=isolation is Isolation.READ_COMMITTED,
        columns=_names("--columns", columns),
        mode=mode,
    )
    find_table(table)
    request = Request(
        table,
        to,
        out,
        scan,
        chosen_compression(to, compression),
        _names("--partition-by", partition_by) or (),
        parse_decoding("--decode-key", decode_key),
        parse_decoding("--decode-value", decode_value),
        exclude_internal,
        replace_recreated,
        overwrite,
    )
    check(request)
    job = Export(request, _tell)
    if dry_run:
        _show(job.plan(), request, output)
        return
    with terminated_like_interrupted(), open_engine(engine, master, conf, driver_memory) as opened:
        summary = job.run(opened)
    _sum_up(summary, request, output)


def _after(time_ms: int | None) -> int | None:
    return None if time_ms is None else time_ms + 1


def _names(option: str, text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError(f"{option} is empty")
    return names


def _tell(line: str) -> None:
    warn(f"kafkapy: {line}")


def _show(plan: "Plan", request: "Request", output: Output) -> None:
    """What a run would do."""
    from kafkapy.export.export_rows import PLAN_COLUMNS, plan_pairs
    from kafkapy.output.printing import print_rows

    for note in plan.notes:
        _tell(note)
    print_rows(output, plan_pairs(plan, request), PLAN_COLUMNS, is_only_kind=True)
    finish(plan.problems)


def _sum_up(summary: "Summary", request: "Request", output: Output) -> None:
    """What a run has done: a line on stderr, or a row."""
    from kafkapy.export.export_rows import summary_line, summary_row
    from kafkapy.output.printing import print_rows

    if output == Output.KAFKA:
        warn(summary_line(summary, request))
    else:
        print_rows(output, [(None, summary_row(summary, request))])
    finish(summary.problems)
