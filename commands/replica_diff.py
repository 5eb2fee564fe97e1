"""``kafkapy replica-diff``: the copies of partitions held against each other. No script of Kafka's does this."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import KafkaError, Unsupported, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection

if TYPE_CHECKING:
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.replica_diff import PartitionReport
    from kafkapy.backends.selection import Selection
    from kafkapy.log.topic_partition import TopicPartition

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Compare the copies of a topic on three brokers:",
            "kafkapy replica-diff orders --log-dirs /kafka/1,/kafka/2,/kafka/3",
        ),
        (
            "Which copy of a partition to trust, and what to do with the others:",
            "kafkapy replica-diff orders:0 --log-dirs /kafka/1,/kafka/2,/kafka/3 --repair-plan",
        ),
        ("Check every partition of a cluster directory:", "kafkapy replica-diff --all-topics --cluster demo"),
    ),
)
def replica_diff(
    topic: Annotated[str | None, typer.Argument(metavar="TOPIC[:PARTITION]", hidden=True)] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Every partition in the log dirs, in the place of TOPIC.")
    ] = False,
    repair_plan: Annotated[
        bool,
        typer.Option(
            "--repair-plan",
            help="Say which copy to trust and why, and what to do with the others. Nothing is changed.",
        ),
    ] = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Compare the copies of partitions batch by batch: where they part, and which one to trust.

    Of a cluster directory those of all brokers are compared, also of such that do not run. The exit code is 1 where
    copies differ, are damaged or have lost records. One that is behind, begins at another offset, or was compacted
    differently, does not differ.
    """
    if (topic is None) != all_topics:
        raise UsageError("give a TOPIC or TOPIC:PARTITION, or --all-topics")
    from kafkapy.backends.repair_plan import repair_plan as planned
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.replica_diff_lines import partition_lines, partition_rows, table_rows

    opened = _open(selection(cluster, log_dirs, bootstrap_server))
    differing: list[TopicPartition] = []
    found = (
        (report, planned(report) if repair_plan else None)
        for report in _reports(opened, _partitions(opened, topic), differing, quiet_stdout=output != Output.KAFKA)
    )
    if output == Output.KAFKA:
        print_lines(line for report, plan in found for line in partition_lines(report, plan))
    else:
        rows = table_rows if output == Output.TABLE else partition_rows
        print_rows(output, ((None, row) for report, plan in found for row in rows(report, plan)))
    if differing:
        raise typer.Exit(1)


def _open(where: "Selection") -> "LogDirsCluster":
    import os

    from kafkapy.backends.directory_reader import DirectoryReader
    from kafkapy.backends.log_dirs import LogDirsCluster
    from kafkapy.backends.selection import open_cluster

    once = {os.path.realpath(path): path for path in reversed(where.log_dirs)}
    opened = open_cluster(where._replace(log_dirs=tuple(reversed(once.values()))))
    if isinstance(opened, DirectoryReader):  # it has only those of brokers that run
        brokers = opened.cluster_file.brokers
        return LogDirsCluster(*(os.path.join(where.directory, path) for each in brokers for path in each.log_dirs))
    if not isinstance(opened, LogDirsCluster):
        raise Unsupported("replica-diff", "a running cluster", "only files show every copy; use --log-dirs")
    return opened


def _partitions(cluster: "LogDirsCluster", wanted: str | None) -> list["TopicPartition"]:
    """The partitions that are meant, of those that are in the log dirs."""
    present = sorted(cluster.dirs.replicas)
    if wanted is None:
        return present
    topic, colon, number = wanted.partition(":")
    if colon and not number.isdecimal():
        raise UsageError(f"'{wanted}' is not of the form TOPIC or TOPIC:PARTITION")
    found = [each for each in present if each.topic == topic and (not colon or each.partition == int(number))]
    if not found:
        raise KafkaError("UnknownTopicOrPartitionException", f"no copy of {wanted} is in the given log dirs")
    return found


def _reports(
    cluster: "LogDirsCluster", partitions: list["TopicPartition"], differing: list["TopicPartition"], quiet_stdout: bool
) -> Iterator["PartitionReport"]:
    """Compares one partition after the other, and keeps those that differ."""
    from kafkapy.backends.replica_diff import diff_partition, size_to_compare
    from kafkapy.output.progress import Progress

    progress = Progress(sum(size_to_compare(cluster, partition) for partition in partitions), quiet_stdout)
    try:
        for partition in partitions:
            report = diff_partition(cluster, partition, progress.advance)
            if report.differs:
                differing.append(partition)
            yield report
    finally:
        progress.close()
