"""``kafkapy log-dirs``: kafka-log-dirs.sh."""

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .tool_errors import fail, tell_near_miss

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster, LogDir

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show the size of every replica:", "kafkapy log-dirs --log-dirs /kafka/1,/kafka/2 --describe"),
        ("Ask running brokers:", "kafkapy log-dirs --bootstrap-server localhost:9092 --describe"),
        (
            "Show which replicas of a topic one broker has, as CSV:",
            "kafkapy log-dirs --log-dirs /kafka/1,/kafka/2 --describe --topic-list orders --broker-list 1 --output csv",
        ),
    ),
)
def describe_log_dirs(
    describe: Annotated[bool, typer.Option("--describe", help="Show what is in the log dirs (required).")] = False,
    topic_list: Annotated[str, typer.Option(metavar="TOPIC[,TOPIC...]", help="Only these topics.")] = "",
    broker_list: Annotated[str, typer.Option(metavar="BROKER[,BROKER...]", help="Only these brokers.")] = "",
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show the log dirs of brokers: which replicas they hold, and how large they are.

    A log dir is a directory, usually one per disk, in which a broker keeps its replicas (log.dirs). The answer is JSON,
    as Kafka's tool prints it; --output table is easier to read.
    """
    if not describe:
        raise UsageError('Missing required argument "[describe]"')
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.log_dir_lines import log_dir_lines
    from kafkapy.output.printing import print_lines, print_rows

    wanted = _broker_ids(broker_list)
    with closing(open_cluster(selection(cluster, log_dirs, bootstrap_server, command_config))) as opened:
        _check_brokers(opened, wanted)
        found = opened.log_dirs(wanted or None)
        topics = frozenset(filter(None, topic_list.split(",")))
        if output == Output.KAFKA:
            print_lines(log_dir_lines(found, topics))
        else:
            print_rows(output, [(None, row) for log_dir in found for row in _rows(log_dir, topics)])
    known = {replica.partition.topic for log_dir in found for replica in log_dir.replicas}
    for topic in sorted(topics.difference(known)):
        tell_near_miss("topic", topic, known)


def _broker_ids(text: str) -> list[int]:
    from kafkapy.errors import FormatError
    from kafkapy.formats.java_parsing import parse_int

    try:
        return list(dict.fromkeys(parse_int(broker) for broker in text.split(",") if broker))
    except FormatError as error:
        raise UsageError(f"--broker-list takes numbers: {error}") from None


def _check_brokers(opened: "Cluster", wanted: list[int]) -> None:
    present = opened.log_dir_brokers() if wanted else []
    missing = [str(broker) for broker in wanted if broker not in present]
    if missing:
        fail(
            f"ERROR: The given brokers do not exist from --broker-list: {','.join(missing)}. "
            f"Current existent brokers: {','.join(map(str, present))}"
        )


def _rows(log_dir: "LogDir", topics: frozenset[str]) -> list[dict[str, Any]]:
    of_dir = {"type": "replica", "broker_id": log_dir.broker_id, "log_dir": log_dir.path, "error": log_dir.error}
    disk = {"total_bytes": log_dir.total_bytes, "usable_bytes": log_dir.usable_bytes}
    return [
        {
            **of_dir,
            "topic": replica.partition.topic,
            "partition": replica.partition.partition,
            "size": replica.size,
            "offset_lag": replica.offset_lag,
            "is_future": replica.is_future,
            **disk,
        }
        for replica in log_dir.replicas
        if not topics or replica.partition.topic in topics
    ]
