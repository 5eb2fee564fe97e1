"""``kafkapy lookup``: how Kafka finds a record, step by step. No script of Kafka's does this."""

from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import ClusterOption, LinesOption, LogDirsOption, RefusedBootstrapOption, selection
from .tool_errors import finish

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection
    from kafkapy.log.partition_reader import PartitionReader

TARGET = "What to look for (exactly one)"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Show how the record at an offset is found:",
            "kafkapy lookup --log-dirs /kafka/1 --topic orders --partition 0 --offset 4200",
        ),
        (
            "Show how the first record of a day is found:",
            "kafkapy lookup --log-dirs /kafka/1 --topic orders --partition 0 --time 2026-01-31",
        ),
    ),
)
def lookup(
    topic: Annotated[str, typer.Option(metavar="TOPIC", help="The topic.")],
    partition: Annotated[int, typer.Option(metavar="PARTITION", min=0, help="The partition.")],
    offset: Annotated[int | None, typer.Option(metavar="N", help="An offset.", rich_help_panel=TARGET)] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Epoch milliseconds, or ISO 8601 (UTC).", rich_help_panel=TARGET),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: RefusedBootstrapOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show how Kafka finds a record: segment, index entries, batches, and how little of the log is read.

    The search runs on the files, as a broker does it when a consumer asks for an offset or a time.
    """
    if (offset is None) == (time is None):
        raise UsageError("Exactly one of the following arguments is required: [offset], [time]")
    timestamp = _timestamp(time) if time is not None else None
    from kafkapy.log.lookup import lookup_offset, lookup_timestamp
    from kafkapy.output.at_words import at_words
    from kafkapy.output.lookup_lines import lookup_lines, lookup_rows
    from kafkapy.output.printing import print_lines, print_rows

    log = _log(selection(cluster, log_dirs, bootstrap_server), topic, partition)
    if timestamp is not None:
        found, target = lookup_timestamp(log, timestamp), f"the first record at or after timestamp {timestamp}"
    else:
        try:
            found, target = lookup_offset(log, offset or 0), f"offset {offset}"
        except KafkaError as error:
            error.hint = log.damage
            raise
    if output == Output.KAFKA:
        lines = lookup_lines(found, f"{target} in {log.partition}, which has {len(log.segments)} segment(s)")
        print_lines(map(at_words, lines))
    else:
        print_rows(output, ((None, row) for row in lookup_rows(found)))
    if found.record is None and log.damage is not None:
        finish([f"{log.partition} is read only up to where it is damaged: {log.damage}"])


def _timestamp(text: str) -> int:
    from kafkapy.output.timestamps import parse_timestamp

    try:
        return parse_timestamp(text)
    except ValueError as error:
        raise UsageError(f"--time: {error}") from None


def _log(where: "Selection", topic: str, partition: int) -> "PartitionReader":
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.selection import open_cluster, refuse_running
    from kafkapy.log.topic_partition import TopicPartition

    refuse_running(where, "lookup")
    opened = open_cluster(where)
    assert isinstance(opened, LogDirsCluster)
    wanted = TopicPartition(topic, partition)
    reader = opened.reader(wanted)
    if reader is None:
        raise opened.not_here(wanted)
    return reader
