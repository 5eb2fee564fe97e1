"""``kafkapy console-producer``: kafka-console-producer.sh."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, selection
from .properties import Renamed, load_properties

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.line_producer import LineProducer, Transactions
    from kafkapy.backends.line_reader import ReaderOptions
    from kafkapy.backends.producer_options import ProducerOptions
    from kafkapy.signals import HeldSignals

WHERE = "Destination"
READING = "How lines become records"
SENDING = "How records are sent"
TRANSACTIONS = "Transactions (not in Kafka's console producer)"
NETWORK = "How to reach a running cluster (not needed for files)"

RENAMED = Renamed(
    "Warning: {old} is deprecated and will be removed in a future version. Use {new} instead.",
    "Options {new} and {old} cannot be specified together",
)
OLD_BATCH_SIZE = (
    "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
    "Use --batch-size instead."
)
CLIENT_ID = "console-producer"
PATIENCE_S = 1.0
"""How long after Ctrl-C records may be on their way before that is told."""
LINE_READERS = ("LineMessageReader", "org.apache.kafka.tools.LineMessageReader")

app = new_app()


class ConsoleProducer(Subcommand):
    """``--compression-codec`` alone means gzip."""

    optional_arguments: ClassVar[Mapping[str, str]] = {"--compression-codec": "gzip"}


def _text(metavar: str, help_text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


@app.command(
    cls=ConsoleProducer,
    epilog=examples(
        ("Send what you type, one record per line, until Ctrl-D:", "kafkapy console-producer --topic orders"),
        (
            "Send lines to a running cluster:",
            "kafkapy console-producer --bootstrap-server localhost:9092 --topic orders",
        ),
        (
            "Send keys and values separated by a colon, from a pipe or a terminal, compressed:",
            "kafkapy console-producer --topic orders --reader-property parse.key=true "
            "--reader-property key.separator=: --compression-codec zstd",
        ),
    ),
)
def console_producer(
    topic: Annotated[str | None, _text("TOPIC", "The topic (required).", WHERE)] = None,
    reader_property: Annotated[
        list[str] | None,
        _text(
            "PROPERTY=VALUE",
            "parse.key, parse.headers, ignore.error: true or false; key.separator, headers.delimiter, "
            "headers.separator (a regular expression), headers.key.separator, null.marker. Can be repeated.",
            READING,
        ),
    ] = None,
    reader_config: Annotated[str | None, _text("FILE.properties", "A file with such properties.", READING)] = None,
    line_reader: Annotated[
        str, _text("CLASS", "Kafka's LineMessageReader is the only one.", READING)
    ] = "org.apache.kafka.tools.LineMessageReader",
    sync: Annotated[
        bool,
        typer.Option("--sync", help="Write each record to disk before reading the next.", rich_help_panel=SENDING),
    ] = False,
    compression_codec: Annotated[
        str | None,
        _text("[none|gzip|snappy|lz4|zstd]", "none, gzip, snappy, lz4 or zstd; gzip if no codec is named.", SENDING),
    ] = None,
    batch_size: Annotated[int | None, _text("BYTES", "How large a batch may grow.  [default: 16384]", SENDING)] = None,
    timeout: Annotated[
        int | None, _text("MS", "How long a record waits for its batch to fill.  [default: 1000]", SENDING)
    ] = None,
    request_required_acks: Annotated[
        str | None, _text("all|-1|0|1", "The acks to wait for; only all is idempotent.  [default: -1]", SENDING)
    ] = None,
    no_fsync: Annotated[
        bool,
        typer.Option("--no-fsync", help="Do not wait for the disk: only for experiments.", rich_help_panel=SENDING),
    ] = False,
    transactional_id: Annotated[
        str | None, _text("TRANSACTIONAL-ID", "Send in transactions, as the producer with this id.", TRANSACTIONS)
    ] = None,
    transaction_size: Annotated[
        int, typer.Option(metavar="N", min=1, help="Records in a transaction.", rich_help_panel=TRANSACTIONS)
    ] = 100,
    abort_every: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Abort every Nth transaction, to see the effect; 0 for none.",
            rich_help_panel=TRANSACTIONS,
        ),
    ] = 0,
    command_property: Annotated[
        list[str] | None,
        _text("SETTING=VALUE", "A producer config, such as enable.idempotence or max.request.size.", SENDING),
    ] = None,
    command_config: Annotated[str | None, _text("FILE.properties", "A file with such configs.", SENDING)] = None,
    message_send_max_retries: Annotated[int | None, _text("N", "The config retries.", NETWORK)] = None,
    retry_backoff_ms: Annotated[int | None, _text("MS", "The config retry.backoff.ms.", NETWORK)] = None,
    request_timeout_ms: Annotated[int | None, _text("MS", "The config request.timeout.ms.", NETWORK)] = None,
    metadata_expiry_ms: Annotated[int | None, _text("MS", "The config metadata.max.age.ms.", NETWORK)] = None,
    max_block_ms: Annotated[int | None, _text("MS", "The config max.block.ms.", NETWORK)] = None,
    max_memory_bytes: Annotated[int | None, _text("BYTES", "The config buffer.memory.", NETWORK)] = None,
    socket_buffer_size: Annotated[int | None, _text("BYTES", "The config send.buffer.bytes.", NETWORK)] = None,
    max_partition_memory_bytes: Annotated[int | None, typer.Option(hidden=True)] = None,
    property_: Annotated[list[str] | None, typer.Option("--property", hidden=True)] = None,
    producer_property: Annotated[list[str] | None, typer.Option(hidden=True)] = None,
    producer_config: Annotated[str | None, typer.Option("--producer.config", hidden=True)] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
) -> None:
    """Send each line of the standard input to a topic as a record.

    A line is a value without a key, unless --reader-property parse.key=true is given: then the key comes first,
    followed by a tab (key.separator names another separator).
    """
    if topic is None:
        raise UsageError('Missing required argument "[topic]"')
    if line_reader not in LINE_READERS:
        raise UsageError(f"no line reader '{line_reader}': kafkapy runs no Java classes; use {LINE_READERS[0]}")
    config_file = RENAMED.choose("--producer.config", producer_config, "--command-config", command_config)
    config_pairs = RENAMED.choose("--producer-property", producer_property, "--command-property", command_property)
    properties = load_properties(
        reader_config, RENAMED.choose("--property", property_, "--reader-property", reader_property)
    )
    if max_partition_memory_bytes is not None:
        from kafkapy.output.printing import print_lines

        print_lines([OLD_BATCH_SIZE])
        batch_size = max_partition_memory_bytes
    explicit = {
        "batch.size": batch_size,
        "linger.ms": timeout,
        "acks": request_required_acks,
        "retries": message_send_max_retries,
        "retry.backoff.ms": retry_backoff_ms,
        "request.timeout.ms": request_timeout_ms,
        "metadata.max.age.ms": metadata_expiry_ms,
        "max.block.ms": max_block_ms,
        "buffer.memory": max_memory_bytes,
        "send.buffer.bytes": socket_buffer_size,
    }
    configs = load_properties(config_file, config_pairs)
    configs.update({name: str(value) for name, value in explicit.items() if value is not None})
    if compression_codec is not None:
        configs["compression.type"] = compression_codec
    from kafkapy.backends.line_reader import ReaderOptions
    from kafkapy.backends.producer_options import ProducerOptions
    from kafkapy.backends.selection import open_cluster_for_writing

    options, reader = ProducerOptions.of(configs), ReaderOptions.of(properties)
    where = selection(cluster, log_dirs, bootstrap_server)._replace(properties={"client.id": CLIENT_ID, **configs})
    opened = open_cluster_for_writing(where, sync=not no_fsync)
    try:
        _produce(opened, topic, options, reader, sync, transactional_id, transaction_size, abort_every)
    finally:
        opened.close()


def _produce(
    cluster: "Cluster",
    topic: str,
    options: "ProducerOptions",
    reader: "ReaderOptions",
    sync: bool,
    transactional_id: str | None,
    transaction_size: int,
    abort_every: int,
) -> None:
    import time
    from random import Random

    from kafkapy.backends.line_producer import LineProducer, Transactions
    from kafkapy.backends.producer_identity import TransactionalIdentity
    from kafkapy.signals import HeldSignals

    identity = None
    if transactional_id is not None:
        identity = TransactionalIdentity(cluster.transactions(), transactional_id, options.transaction_timeout_ms)
    producer = LineProducer(
        cluster,
        topic,
        options,
        reader,
        clock=lambda: int(time.time() * 1000),
        random=Random(),
        tell=lambda line: typer.echo(line, err=True),
        sync=sync,
        identity=identity,
    )
    try:
        if identity is None:
            _send_all(producer)
        else:
            transactions = Transactions(producer, identity, transaction_size, abort_every)
            with HeldSignals() as signals:
                _send_input(transactions, signals)
                transactions.end()
    except BaseException:
        if producer.unsent:
            producer.tell(f"kafkapy: {_unsent(producer)} were not acknowledged")
        raise
    if producer.unsent and producer.is_all_told:
        raise typer.Exit(1)
    if producer.unsent:
        raise KafkapyError(f"{_unsent(producer)} were not acknowledged")


def _unsent(producer: "LineProducer") -> str:
    return f"{producer.unsent} of {producer.records} messages"


def _send_all(producer: "LineProducer") -> None:
    """Also the lines before one that is wrong, or before Ctrl-C: who waits for that is told what for."""
    import threading

    from kafkapy.signals import HeldSignals

    interrupted, ended = threading.Event(), threading.Event()

    def tell_after_a_while() -> None:
        interrupted.wait()
        if not ended.wait(PATIENCE_S):
            what = _unsent(producer) if producer.records else "the first messages"
            producer.tell(f"kafkapy: {what} are not acknowledged yet; another Ctrl-C gives up waiting for them")

    threading.Thread(target=tell_after_a_while, daemon=True).start()
    with HeldSignals(interrupted.set) as signals:
        try:
            _send_input(producer, signals)
        except (KafkapyError, KeyboardInterrupt):
            if not signals.insisted:
                producer.pause()
            raise
        else:
            producer.pause()
        finally:
            ended.set()
            interrupted.set()


def _send_input(producer: "LineProducer | Transactions", signals: "HeldSignals") -> None:
    """Ctrl-C ends it between a line that is taken and the next, never in the middle of what is written."""
    import select

    from kafkapy.backends.line_reader import read_lines

    def is_there(wait_ms: int | None) -> bool:
        with signals.let_through():
            return bool(select.select([0], [], [], None if wait_ms is None else wait_ms / 1000)[0])

    def read(size: int) -> bytes:
        while not is_there(producer.wait_ms):
            producer.pause()
        return os.read(0, size)

    prompt = ">" if os.isatty(0) and os.isatty(1) else ""
    typer.echo(prompt, nl=False)
    for lines in read_lines(read):
        producer.send(lines)
        typer.echo(prompt * len(lines), nl=False)
