"""``kafkapy delete-records``: kafka-delete-records.sh."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, OutputOption, selection
from .json_files import read_json
from .tool_errors import fail, java_text, tell_missing_partitions

if TYPE_CHECKING:
    from kafkapy.log.topic_partition import TopicPartition

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Delete records up to the offsets in a file:",
            "kafkapy delete-records --cluster demo --offset-json-file offsets.json",
        ),
        (
            "The same on a running cluster:",
            "kafkapy delete-records --bootstrap-server localhost:9092 --offset-json-file offsets.json",
        ),
        (
            "The same, with the result as JSON lines:",
            "kafkapy delete-records --cluster demo --offset-json-file offsets.json --output jsonl",
        ),
    ),
)
def delete_records(
    offset_json_file: Annotated[
        str,
        typer.Option(
            metavar="FILE.json",
            help='The first offset that each partition keeps (-1: none is kept): {"partitions": [{"topic": "t", '
            '"partition": 0, "offset": 25}], "version": 1}',
        ),
    ],
    no_fsync: Annotated[
        bool, typer.Option("--no-fsync", help="Do not wait for the disk: only for experiments.")
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Delete the records of partitions up to an offset.

    The start of the log moves to that offset at once, also for consumers. Segments that are entirely before it are
    deleted later: by the brokers, and in a cluster directory by 'kafkapy maintenance'.
    """
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.delete_records_file import EXAMPLE, parse_offsets
    from kafkapy.output.printing import print_rows

    try:
        offsets = read_json(offset_json_file, parse_offsets, EXAMPLE)
    except KafkaError as error:
        fail(str(error), error)
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    with closing(open_cluster_for_writing(chosen, sync=not no_fsync)) as opened:
        results = opened.delete_records_of(offsets)
        said = ("Executing records delete operation", "Records delete operation completed:")
        print_rows(output, [*((line, None) for line in said), *_rows(results)])
        failed = [partition for partition, result in results.items() if isinstance(result, KafkapyError)]
        if failed:
            tell_missing_partitions(failed, opened)
            raise typer.Exit(1)


def _rows(results: Mapping["TopicPartition", int | KafkapyError]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tells of each partition where it begins now or why it was left alone."""
    for partition, result in results.items():
        topic, number = partition
        row: dict[str, Any] = {"type": "deleted_records", "topic": topic, "partition": number}
        if isinstance(result, KafkapyError):
            text = java_text(result)
            yield f"partition: {partition}\terror: {text}", row | {"low_watermark": None, "error": text}
            continue
        yield f"partition: {partition}\tlow_watermark: {result}", row | {"low_watermark": result, "error": None}
