"""``kafkapy delete-records``: kafka-delete-records.sh."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
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
            "The same, with the result as JSON lines:",
            "kafkapy delete-records --cluster demo --offset-json-file offsets.json --output jsonl",
        ),
    ),
)
def delete_records(
    offset_json_file: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help='The first offset that each partition keeps (-1: none is kept): {"partitions": [{"topic": "t", '
            '"partition": 0, "offset": 25}], "version": 1}',
        ),
    ],
    no_fsync: Annotated[bool, typer.Option("--no-fsync", help="Do not wait for the disk: for play only.")] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Delete the records of partitions up to an offset."""
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.delete_records_file import parse_offsets
    from kafkapy.output.printing import print_rows

    with open(offset_json_file, "rb") as file:
        data = file.read()
    try:
        offsets = parse_offsets(data)
    except KafkaError as error:
        fail(str(error))
    failed: list[TopicPartition] = []
    opened = open_cluster_for_writing(selection(cluster, log_dirs, bootstrap_server), sync=not no_fsync)
    try:
        rows = list(_rows(opened, offsets, failed))
    finally:
        opened.close()
    said = ("Executing records delete operation", "Records delete operation completed:")
    print_rows(output, [*((line, None) for line in said), *rows])
    if failed:
        raise typer.Exit(1)


def _rows(
    cluster: "Cluster", offsets: Mapping["TopicPartition", int], failed: list["TopicPartition"]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Deletes, and tells of each partition where it begins now or why it was left alone."""
    for partition, offset in offsets.items():
        topic, number = partition
        row: dict[str, Any] = {"type": "deleted_records", "topic": topic, "partition": number}
        try:
            low_watermark = cluster.delete_records(partition, offset)
        except KafkaError as error:
            failed.append(partition)
            text = f"org.apache.kafka.common.errors.{error.name}: {error}"
            yield f"partition: {partition}\terror: {text}", row | {"low_watermark": None, "error": text}
            continue
        row |= {"low_watermark": low_watermark, "error": None}
        yield f"partition: {partition}\tlow_watermark: {low_watermark}", row
