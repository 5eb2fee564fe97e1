"""``kafkapy log-dirs``: kafka-log-dirs.sh."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail

if TYPE_CHECKING:
    from kafkapy.backends.cluster import LogDir

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Show the size of every replica:", "kafkapy log-dirs --log-dirs /kafka/1,/kafka/2 --describe"),
        (
            "Show what one broker has of a topic, as CSV:",
            "kafkapy log-dirs --log-dirs /kafka/1,/kafka/2 --describe --topic-list orders --broker-list 1 --output csv",
        ),
    ),
)
def describe_log_dirs(
    describe: Annotated[bool, typer.Option("--describe", help="Show what is in the log dirs (required).")] = False,
    topic_list: Annotated[str, typer.Option(metavar="TOPIC[,TOPIC...]", help="Only these topics.")] = "",
    broker_list: Annotated[str, typer.Option(metavar="ID[,ID...]", help="Only these brokers.")] = "",
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show the log dirs of brokers: which replicas they hold, and how large these are."""
    if not describe:
        raise UsageError('Missing required argument "[describe]"')
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.log_dir_lines import log_dir_lines
    from kafkapy.output.printing import print_lines, print_rows

    wanted = _broker_ids(broker_list)
    found = open_cluster(selection(cluster, log_dirs, bootstrap_server)).log_dirs()
    present = sorted({log_dir.broker_id for log_dir in found if log_dir.broker_id is not None})
    missing = [str(broker) for broker in wanted if broker not in present]
    if missing:
        fail(
            f"ERROR: The given brokers do not exist from --broker-list: {','.join(missing)}. "
            f"Current existent brokers: {','.join(map(str, present))}"
        )
    chosen = [log_dir for log_dir in found if not wanted or log_dir.broker_id in wanted]
    topics = frozenset(filter(None, topic_list.split(",")))
    if output == Output.KAFKA:
        print_lines(log_dir_lines(chosen, topics))
    else:
        print_rows(output, [(None, row) for log_dir in chosen for row in _rows(log_dir, topics)])


def _broker_ids(text: str) -> list[int]:
    from kafkapy.errors import FormatError
    from kafkapy.formats.java_parsing import parse_int

    try:
        return [parse_int(broker) for broker in text.split(",") if broker]
    except FormatError as error:
        raise UsageError(f"--broker-list takes numbers: {error}") from None


def _rows(log_dir: "LogDir", topics: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "type": "replica",
            "broker_id": log_dir.broker_id,
            "log_dir": log_dir.path,
            "topic": replica.partition.topic,
            "partition": replica.partition.partition,
            "size": replica.size,
            "offset_lag": replica.offset_lag,
            "is_future": replica.is_future,
        }
        for replica in log_dir.replicas
        if not topics or replica.partition.topic in topics
    ]
