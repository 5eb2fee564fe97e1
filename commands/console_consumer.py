"""``kafkapy console-consumer``: kafka-console-consumer.sh, without groups."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, selection
from .properties import Renamed, load_properties

if TYPE_CHECKING:
    from kafkapy.backends.consuming import Consumer
    from kafkapy.output.record_formatter import RecordPrinter

WHAT = "What to read"
HOW_MUCH = "How much"
HOW = "How to print"
CONSUMER = "Consumer configs"

RENAMED = Renamed(
    "Option {old} is deprecated and will be removed in a future version. Use {new} instead.",
    "Options {old} and {new} cannot be specified together",
)

app = new_app()


def _text(metavar: str, help_text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Print a topic from its beginning, with keys and offsets:",
            "kafkapy console-consumer --topic orders --from-beginning --formatter-property print.key=true "
            "--formatter-property print.offset=true",
        ),
        (
            "Print ten records of one partition from an offset on, out of real brokers' directories:",
            "kafkapy console-consumer --log-dirs /kafka/1 --topic orders --partition 0 --offset 42 --max-messages 10",
        ),
        ("Wait for new records of several topics:", "kafkapy console-consumer --include 'orders.*' --follow"),
    ),
)
def console_consumer(
    topic: Annotated[str | None, _text("NAME", "The topic.", WHAT)] = None,
    include: Annotated[str | None, _text("REGEX", "Every topic whose whole name matches.", WHAT)] = None,
    partition: Annotated[
        int | None, _text("N", "One partition; from its end on, unless --offset says otherwise.", WHAT)
    ] = None,
    offset: Annotated[
        str | None, _text("OFFSET", "Where in the partition to begin: an offset, earliest or latest.", WHAT)
    ] = None,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the earliest record.", rich_help_panel=WHAT)
    ] = False,
    isolation_level: Annotated[
        str | None,
        _text(
            "LEVEL",
            "read_committed leaves out transactions that were aborted or are open; the default is read_uncommitted.",
            WHAT,
        ),
    ] = None,
    max_messages: Annotated[int, _text("N", "Stop after that many records.", HOW_MUCH)] = -1,
    timeout_ms: Annotated[int, _text("MS", "With --follow: stop when no record has come for so long.", HOW_MUCH)] = -1,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Wait for more records at the end of the logs; without it, the end is the end.",
            rich_help_panel=HOW_MUCH,
        ),
    ] = False,
    formatter: Annotated[
        str, _text("CLASS", "default, logging or no-op, or Kafka's class of that name.", HOW)
    ] = "default",
    formatter_property: Annotated[
        list[str] | None,
        _text(
            "NAME=VALUE",
            "print.timestamp, print.partition, print.offset, print.delivery, print.epoch, print.headers, print.key, "
            "print.value: true or false; key.separator, line.separator, headers.separator, null.literal; "
            "key.deserializer, value.deserializer, headers.deserializer. Can be given more than once.",
            HOW,
        ),
    ] = None,
    formatter_config: Annotated[str | None, _text("FILE", "A file of such properties.", HOW)] = None,
    key_deserializer: Annotated[
        str | None, _text("CLASS", "How keys become text: a deserializer of Kafka's, such as Integer.", HOW)
    ] = None,
    value_deserializer: Annotated[str | None, _text("CLASS", "How values become text.", HOW)] = None,
    skip_message_on_error: Annotated[
        bool,
        typer.Option(
            "--skip-message-on-error", help="Go on after a record that is not printable.", rich_help_panel=HOW
        ),
    ] = False,
    enable_systest_events: Annotated[
        bool,
        typer.Option("--enable-systest-events", help="Print shutdown_complete at the end.", rich_help_panel=HOW),
    ] = False,
    command_property: Annotated[
        list[str] | None,
        _text(
            "NAME=VALUE", "isolation.level, auto.offset.reset, exclude.internal.topics; others are ignored.", CONSUMER
        ),
    ] = None,
    command_config: Annotated[str | None, _text("FILE", "A file of such properties.", CONSUMER)] = None,
    property_: Annotated[list[str] | None, typer.Option("--property", hidden=True)] = None,
    consumer_property: Annotated[list[str] | None, typer.Option(hidden=True)] = None,
    consumer_config: Annotated[str | None, typer.Option("--consumer.config", hidden=True)] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Print the records of topics."""
    _check(topic, include, partition, offset, from_beginning)
    configs = load_properties(
        RENAMED.choose("--consumer.config", consumer_config, "--command-config", command_config),
        RENAMED.choose("--consumer-property", consumer_property, "--command-property", command_property),
    )
    named = RENAMED.choose("--property", property_, "--formatter-property", formatter_property) or []
    deserializers = [f"key.deserializer={key_deserializer}"] if key_deserializer else []
    deserializers += [f"value.deserializer={value_deserializer}"] if value_deserializer else []
    properties = load_properties(formatter_config, [*deserializers, *named])
    from kafkapy.backends.consuming import Consumer, StartAt, is_committed, partitions_of
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.record_formatter import RecordPrinter
    from kafkapy.output.record_formatter import formatter as formatter_of
    from kafkapy.output.sink import Sink

    start = StartAt.of(offset, from_beginning, configs.get("auto.offset.reset"))
    committed = is_committed(isolation_level or configs.get("isolation.level"))
    made = formatter_of(formatter, properties)
    opened = open_cluster(selection(cluster, log_dirs, bootstrap_server))
    exclude_internal = configs.get("exclude.internal.topics", "true").strip().lower() == "true"
    partitions = partitions_of(opened.image(), topic, include, partition, exclude_internal)
    consumer = Consumer(opened, partitions, committed)
    for line in (*made.problems, *consumer.seek(start)):
        _tell(line)
    printer = RecordPrinter(made, Sink().write, _tell if skip_message_on_error else None)
    try:
        _print(consumer, printer, max_messages, timeout_ms, follow)
    finally:
        _tell(f"Processed a total of {printer.count} messages")
        if enable_systest_events:
            typer.echo("shutdown_complete")


def _check(topic: str | None, include: str | None, partition: int | None, offset: str | None, beginning: bool) -> None:
    if (topic is None) == (include is None):
        raise UsageError("Exactly one of the following arguments is required: [topic], [include]")
    if partition is None and offset is not None:
        raise UsageError("The partition is required when offset is specified")
    if partition is not None and topic is None:
        raise UsageError("The topic is required when partition is specified")
    if beginning and offset is not None:
        raise UsageError("Options from-beginning and offset cannot be specified together")


def _print(consumer: "Consumer", printer: "RecordPrinter", max_messages: int, timeout_ms: int, tail: bool) -> None:
    import time

    from kafkapy.backends.consuming import follow, limited

    timeout = timeout_ms if timeout_ms >= 0 else None
    fetched = follow(consumer, timeout, time.monotonic, time.sleep) if tail else consumer.poll()
    try:
        for each in limited(fetched, max_messages):
            if each is None:
                printer.flush()
            else:
                printer.print(each.records, each.partition.partition, each.timestamp_type)
    finally:
        printer.flush()


def _tell(line: str) -> None:
    typer.echo(line, err=True)
