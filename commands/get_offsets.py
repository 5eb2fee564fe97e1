"""``kafkapy get-offsets``: kafka-get-offsets.sh."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail, java_text, tell_hint, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.metadata.topics_image import TopicImage

PARTITIONS = "Which partitions"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show where every partition ends:", "kafkapy get-offsets --log-dirs /kafka/1,/kafka/2"),
        (
            "The same of one topic of a running cluster:",
            "kafkapy get-offsets --bootstrap-server localhost:9092 --topic orders",
        ),
        (
            "Show where some partitions begin:",
            "kafkapy get-offsets --log-dirs /kafka/1 --topic-partitions 'orders:0-2,pay.*' --time earliest",
        ),
        (
            "Find the first records from a given time on, as a table:",
            "kafkapy get-offsets --log-dirs /kafka/1 --topic orders --time 1500000000000 --output table",
        ),
    ),
)
def get_offsets(
    topic: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="A name, or a regular expression for several.", rich_help_panel=PARTITIONS),
    ] = None,
    partitions: Annotated[
        str | None,
        typer.Option(
            metavar="PARTITION[,PARTITION...]",
            help="Only the partitions with these numbers.",
            rich_help_panel=PARTITIONS,
        ),
    ] = None,
    topic_partitions: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC[:PARTITION][,...]",
            help="Rules TOPIC[:PARTITIONS]: a regular expression, then n, a-b (without b), a- or -b.",
            rich_help_panel=PARTITIONS,
        ),
    ] = None,
    exclude_internal_topics: Annotated[
        bool,
        typer.Option("--exclude-internal-topics", help="Omit Kafka's own topics.", rich_help_panel=PARTITIONS),
    ] = False,
    time: Annotated[
        str,
        typer.Option(
            metavar="SPEC|MS",
            help="latest, earliest, max-timestamp, earliest-local, latest-tiered, earliest-pending-upload, "
            "-1 to -6 for the same, or milliseconds: the first record at or after that time.",
        ),
    ] = "latest",
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show offsets of partitions: the latest, the earliest, or by time.

    The latest is the offset after the last record that consumers can read (the high watermark), so latest minus
    earliest is roughly the number of records; compaction and transactions leave gaps.
    """
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata import partition_filter
    from kafkapy.output.printing import print_rows

    skipped: list[TopicPartition] = []
    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        if topic_partitions is not None and (topic is not None or partitions is not None):
            fail("Error occurred: --topic-partitions cannot be used with --topic or --partitions")
        try:
            spec = partition_filter.parse_offset_spec(time)
            if topic_partitions is not None:
                rules = partition_filter.parse_rules(topic_partitions)
            else:
                rules = partition_filter.topic_and_partitions(topic, partitions)
            chosen = partition_filter.select_partitions(opened.image(), rules, exclude_internal_topics)
        except KafkaError as error:
            error.hint = _hint(opened.image().topics, topic, partitions, topic_partitions)
            fail(f"Error occurred: {error}", error)
        for missing in _missing(opened.image().topics, topic or "", partitions or ""):
            warn(f"kafkapy: {missing}")
        print_rows(output, _rows(opened, chosen, spec, skipped))
    if skipped:
        raise typer.Exit(1)


def _hint(
    topics: "Mapping[str, TopicImage]", topic: str | None, partitions: str | None, rules: str | None
) -> str | None:
    """What was probably meant: of the topics and partitions that are named by plain names and numbers."""
    from kafkapy.near_misses import hint

    named = [f"{topic or ''}:{partitions or ''}"] if rules is None else rules.split(",")
    for name, _, numbers in (each.partition(":") for each in named):
        for each in filter(None, [hint("topic", name, topics), *_missing(topics, name, numbers)]):
            return each
    return None


def _missing(topics: "Mapping[str, TopicImage]", topic: str, numbers: str) -> list[str]:
    """Lines about the partitions that a topic has not which is asked for them by its name."""
    from kafkapy.near_misses import partition_hint

    if topic not in topics:
        return []
    found = (partition_hint(topic, int(each), topics) for each in numbers.split(",") if each.isdecimal())
    return [each for each in found if each is not None]


def _rows(
    cluster: "Cluster", chosen: list["TopicPartition"], spec: int, skipped: list["TopicPartition"]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A line and a row for every partition that has such an offset; ``skipped`` gets those that could not be read, or
    not to their ends."""
    from kafkapy.backends.cluster import EARLIEST, EARLIEST_LOCAL

    hints: set[str | None] = set()
    for partition, offset in zip(chosen, cluster.offsets([(each, spec) for each in chosen]), strict=True):
        try:
            if isinstance(offset, KafkapyError):
                raise offset
            damage = None if spec in (EARLIEST, EARLIEST_LOCAL) else cluster.damage(partition)
        except KafkapyError as error:
            warn(f"Skip getting offsets for topic-partition {partition} due to error: {java_text(error)}")
            skipped.append(partition)
            if error.hint not in hints:
                hints.add(error.hint)
                tell_hint(error)
            continue
        if damage is not None:
            warn(f"kafkapy: {partition} is read only up to where it is damaged: {damage}")
            skipped.append(partition)
        if offset is not None:
            topic, number = partition
            row = {"type": "offset", "topic": topic, "partition": number, "offset": offset}
            yield f"{topic}:{number}:{offset}", row
