"""``kafkapy console-consumer``: kafka-console-consumer.sh, and a command for each record."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, selection
from .console_consumer_options import (
    DeadLetterOption,
    ExecOption,
    ExecTimeoutOption,
    GroupFlags,
    GroupOption,
    GroupRequest,
    MembersOption,
    RetryDelaysOption,
    ThenOption,
    consume_as_group,
)
from .properties import Renamed, load_properties

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.consuming import Consumer, Limits
    from kafkapy.backends.start_position import StartAt
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
            "Print ten records of one partition from an offset on, from real brokers' directories:",
            "kafkapy console-consumer --log-dirs /kafka/1 --topic orders --partition 0 --offset 42 --max-messages 10",
        ),
        (
            "Wait for what is sent to a topic of a running cluster, from now on:",
            "kafkapy console-consumer --bootstrap-server localhost:9092 --topic orders",
        ),
        ("Wait for new records of several topics:", "kafkapy console-consumer --include 'orders.*' --follow"),
        (
            "Continue where the group stopped, and remember where this run stops:",
            "kafkapy console-consumer --topic orders --group billing --from-beginning",
        ),
        (
            "See how two members share a topic, and what moves when a third joins and the first leaves:",
            "kafkapy console-consumer --topic orders --group g --members 2 --then join@100 --then leave:1@200",
        ),
        (
            "Send each order to a service. Failures are tried again after 10 s, 1 min and 10 min, then set aside:",
            "kafkapy console-consumer --topic orders --group mailer --follow --exec './send-mail' --retry-delays "
            "10s,1m,10m",
        ),
        (
            "Look at what was set aside, and why:",
            "kafkapy console-consumer --topic orders.mailer.dead-letter --from-beginning --formatter-property "
            "print.headers=true",
        ),
        (
            "When the cause is fixed, handle it again; what fails again is put back:",
            "kafkapy console-consumer --topic orders.mailer.dead-letter --group again --from-beginning --exec "
            "'./send-mail' --dead-letter-topic orders.mailer.dead-letter",
        ),
        (
            "A delay queue: what is sent to a group's retry topic is handled after its delay, here 10 minutes:",
            "kafkapy console-producer --topic orders.mailer.retry.10m",
        ),
    ),
)
def console_consumer(
    topic: Annotated[str | None, _text("TOPIC", "The topic.", WHAT)] = None,
    include: Annotated[str | None, _text("TOPIC|REGEX", "All topics whose whole name matches.", WHAT)] = None,
    partition: Annotated[
        int | None, _text("PARTITION", "One partition; from its end on, unless --offset says otherwise.", WHAT)
    ] = None,
    offset: Annotated[str | None, _text("earliest|latest|OFFSET", "Where in the partition to begin.", WHAT)] = None,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the earliest record.", rich_help_panel=WHAT)
    ] = False,
    isolation_level: Annotated[
        str | None,
        _text(
            "read_uncommitted|read_committed",
            "read_committed omits transactions that were aborted or are open; the default is read_uncommitted.",
            WHAT,
        ),
    ] = None,
    max_messages: Annotated[int, _text("N", "Stop after that many records.", HOW_MUCH)] = -1,
    timeout_ms: Annotated[
        int, _text("MS", "When waiting for more: stop if no record has arrived for this long.", HOW_MUCH)
    ] = -1,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            help="Wait for more records at the end of the logs, or stop there.  [default: wait on a running cluster, "
            "as Kafka does, and stop on files]",
            show_default=False,
            rich_help_panel=HOW_MUCH,
        ),
    ] = None,
    formatter: Annotated[
        str,
        _text(
            "FORMATTER",
            "default, logging, no-op, offsets, group-metadata, transaction-log, share-group or share-group-state, or "
            "Kafka's class of that name (whose JSON objects have nothing between them).",
            HOW,
        ),
    ] = "default",
    formatter_property: Annotated[
        list[str] | None,
        _text(
            "PROPERTY=VALUE",
            "print.timestamp, print.partition, print.offset, print.delivery, print.epoch, print.headers, print.key, "
            "print.value: true or false; key.separator, line.separator, headers.separator, null.literal; "
            "key.deserializer, value.deserializer, headers.deserializer. Can be given more than once.",
            HOW,
        ),
    ] = None,
    formatter_config: Annotated[str | None, _text("FILE.properties", "A file with such properties.", HOW)] = None,
    key_deserializer: Annotated[
        str | None, _text("DESERIALIZER", "How to turn keys into text: a Kafka deserializer, such as Integer.", HOW)
    ] = None,
    value_deserializer: Annotated[str | None, _text("DESERIALIZER", "How to turn values into text.", HOW)] = None,
    skip_message_on_error: Annotated[
        bool,
        typer.Option(
            "--skip-message-on-error", help="Continue after a record that cannot be printed.", rich_help_panel=HOW
        ),
    ] = False,
    enable_systest_events: Annotated[
        bool,
        typer.Option("--enable-systest-events", help="Print shutdown_complete at the end.", rich_help_panel=HOW),
    ] = False,
    command_property: Annotated[
        list[str] | None,
        _text(
            "SETTING=VALUE",
            "isolation.level, auto.offset.reset, exclude.internal.topics; for a group also group.protocol (classic or "
            "consumer), partition.assignment.strategy, group.remote.assignor, group.instance.id, client.id, "
            "client.rack, session.timeout.ms, max.poll.interval.ms, enable.auto.commit, auto.commit.interval.ms; for a "
            "running cluster also those of its connections and of fetching. Others are ignored.",
            CONSUMER,
        ),
    ] = None,
    command_config: Annotated[str | None, _text("FILE.properties", "A file with such properties.", CONSUMER)] = None,
    property_: Annotated[list[str] | None, typer.Option("--property", hidden=True)] = None,
    consumer_property: Annotated[list[str] | None, typer.Option(hidden=True)] = None,
    consumer_config: Annotated[str | None, typer.Option("--consumer.config", hidden=True)] = None,
    group: GroupOption = None,
    members: MembersOption = None,
    then: ThenOption = None,
    exec_: ExecOption = None,
    exec_timeout: ExecTimeoutOption = None,
    retry_delays: RetryDelaysOption = None,
    dead_letter_topic: DeadLetterOption = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Print the records of topics, or run a command for each, as members of a group.

    Without --group nothing is committed. By default it begins at the end: give --from-beginning, or --partition and
    --offset, to see what is already there. In files it stops at the end of the logs; a running cluster is followed
    until Ctrl-C, or as long as --timeout-ms says.
    """
    _check(topic, include, partition, offset, from_beginning)
    configs = load_properties(
        RENAMED.choose("--consumer.config", consumer_config, "--command-config", command_config),
        RENAMED.choose("--consumer-property", consumer_property, "--command-property", command_property),
    )
    named = RENAMED.choose("--property", property_, "--formatter-property", formatter_property) or []
    deserializers = [f"key.deserializer={key_deserializer}"] if key_deserializer else []
    deserializers += [f"value.deserializer={value_deserializer}"] if value_deserializer else []
    properties = load_properties(formatter_config, [*deserializers, *named])
    from kafkapy.backends.consuming import Limits, is_committed
    from kafkapy.backends.group_options import CLIENT_ID
    from kafkapy.backends.selection import open_cluster
    from kafkapy.backends.start_position import StartAt
    from kafkapy.backends.waiting import Meanwhile
    from kafkapy.output.record_formatter import RecordPrinter
    from kafkapy.output.record_formatter import formatter as formatter_of
    from kafkapy.output.sink import Sink

    committed = is_committed(isolation_level or configs.get("isolation.level"))
    where = selection(cluster, log_dirs, bootstrap_server)._replace(properties={"client.id": CLIENT_ID, **configs})
    follows = where.is_live if follow is None else follow
    limits = Limits(max_messages, timeout_ms if timeout_ms >= 0 else None, follows, committed)
    flags = GroupFlags(group, members, then, exec_, exec_timeout, retry_delays, dead_letter_topic)
    group_id = flags.group_id(configs, partition)
    made = formatter_of(formatter, properties)
    meanwhile = Meanwhile()
    sink = Sink(meanwhile=meanwhile if group_id is not None else None)
    printer = RecordPrinter(made, sink.drain, _tell if skip_message_on_error else None)
    for line in made.problems:
        _tell(line)
    if group_id is not None:
        request = GroupRequest(group_id, configs, topic, include, from_beginning, limits, where)
        consume_as_group(request, flags, printer, _tell, meanwhile)
    else:
        start = StartAt.of(offset, from_beginning, configs.get("auto.offset.reset"))
        with closing(open_cluster(where)) as opened:
            _print(_consumer(opened, configs, topic, include, partition, start, limits), printer, limits)
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


def _consumer(
    opened: "Cluster",
    configs: dict[str, str],
    topic: str | None,
    include: str | None,
    partition: int | None,
    start: "StartAt",
    limits: "Limits",
) -> "Consumer":
    from kafkapy.backends.consumed_partitions import check_visible, partitions_of
    from kafkapy.backends.consuming import Consumer
    from kafkapy.near_misses import VERY_SIMILAR, did_you_mean

    exclude_internal = configs.get("exclude.internal.topics", "true").strip().lower() == "true"
    if topic is not None:
        check_visible(opened, topic)
    partitions = partitions_of(opened.image(), topic, include, partition, exclude_internal)
    if not partitions:
        _tell(
            f"kafkapy: no topic matches {include!r}{did_you_mean(include or '', opened.image().topics, VERY_SIMILAR)}"
        )
    consumer = Consumer(opened, partitions, limits.committed, lambda line: _tell(f"kafkapy: {line}"))
    for line in consumer.seek(start, limits.follow):
        _tell(line)
    return consumer


def _print(consumer: "Consumer", printer: "RecordPrinter", limits: "Limits") -> None:
    import time

    from kafkapy.backends.consuming import follow, limited

    fetched = follow(consumer, limits.timeout_ms, time.monotonic, time.sleep) if limits.follow else consumer.poll()
    try:
        for each in limited(fetched, limits.max_messages):
            if each is None:
                printer.flush()
            else:
                printer.print(each.records, each.partition.partition, each.timestamp_type)
    finally:
        try:
            printer.flush()
        finally:
            _tell(f"Processed a total of {printer.count} messages")
    if not consumer.is_whole:
        raise typer.Exit(1)


def _tell(line: str) -> None:
    typer.echo(line, err=True)
