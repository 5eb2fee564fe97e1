"""``kafkapy replica-diff``: the copies of partitions held against each other. No script of Kafka's does this."""

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean, listed
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LinesOption, LogDirsOption, selection
from .tool_errors import tell_problems

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.replica_diff import PartitionReport, ReplicaDiff
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
        (
            "Compare what every broker of a running cluster has of a topic:",
            "kafkapy replica-diff orders --bootstrap-server broker1:9092",
        ),
    ),
)
def replica_diff(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC[:PARTITION]", help="Which partitions.", show_default=False)
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="All partitions in the log dirs, instead of TOPIC.")
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
    command_config: CommandConfigOption = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Compare the copies of partitions batch by batch: where they diverge, and which one to trust.

    In a cluster directory the copies of all brokers are compared, including brokers that are not running: committed
    records that are missing from the copy of a broker that does not fetch are data at risk. The exit code is 1 if
    copies differ, are damaged, have lost records, leave data at risk, or are not where they should be. A copy that is
    behind and fetches, begins at another offset, or was compacted differently does not count as different.

    In a running cluster every replica is fetched from its own broker, up to the high watermark. What is above it, and
    what brokers that are down have, cannot be seen there: files (--log-dirs) show it.
    """
    if (topic is None) != all_topics:
        raise UsageError("give a TOPIC or TOPIC:PARTITION, or --all-topics")
    from kafkapy.backends.repair_plan import repair_plan as planned
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.replica_diff_lines import partition_lines, partition_rows, table_rows

    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    where = None if chosen.log_dirs or chosen.is_live else chosen.options
    with closing(_open(chosen)) as opened:
        diff = opened.replica_diff()
        run = _Run(diff, quiet_stdout=output != Output.KAFKA)
        reports = run.reports(_partitions(opened, diff, topic))
        found = ((report, planned(report, where) if repair_plan else None) for report in reports)
        if output == Output.KAFKA:
            print_lines(line for report, plan in found for line in partition_lines(report, plan, where))
        else:
            rows = table_rows if output == Output.TABLE else partition_rows
            print_rows(output, ((None, row) for report, plan in found for row in rows(report, plan)))
    tell_problems(run.problems)
    if run.problems or run.differs:
        raise typer.Exit(1)


def _open(where: "Selection") -> "Cluster":
    """The cluster; a log dir that is named twice has one copy."""
    import os

    from kafkapy.backends.selection import open_cluster

    once = {os.path.realpath(path): path for path in reversed(where.log_dirs)}
    return open_cluster(where._replace(log_dirs=tuple(reversed(once.values()))))


def _partitions(opened: "Cluster", diff: "ReplicaDiff", wanted: str | None) -> list["TopicPartition"]:
    """The partitions that are meant, of those that are there."""
    present = diff.partitions()
    if wanted is None:
        return present
    topic, colon, number = wanted.partition(":")
    if colon and not number.isdecimal():
        raise UsageError(f"'{wanted}' is not of the form TOPIC or TOPIC:PARTITION")
    found = [each for each in present if each.topic == topic and (not colon or each.partition == int(number))]
    if not found:
        numbers = [each.partition for each in present if each.topic == topic]
        hint = did_you_mean(topic, {each.topic for each in present}, VERY_SIMILAR)
        if numbers:
            hint = f": they have {listed(set(numbers))} of it"
        elif not colon and wanted in map(str, present):  # as Kafka's lines and directories spell it
            hint = f"; did you mean '{':'.join(wanted.rsplit('-', 1))}'?"
        error = KafkaError("UnknownTopicOrPartitionException", f"no copy of {wanted} is in {diff.where}{hint}")
        known = opened.image().topics.get(topic)
        if known is not None and (not colon or int(number) in known.partitions):
            error.hint = "according to the metadata there should be one: kafkapy doctor explains what to do"
        raise error
    return found


class _Run:
    """Compares one partition after the other; keeps whether any differs, and those that cannot be read."""

    def __init__(self, diff: "ReplicaDiff", quiet_stdout: bool) -> None:
        self._diff = diff
        self._quiet_stdout = quiet_stdout
        self.differs = False
        self.problems: list[str] = []

    def reports(self, partitions: list["TopicPartition"]) -> Iterator["PartitionReport"]:
        from kafkapy.output.progress import Progress
        from kafkapy.output.replica_diff_lines import not_read_lines

        progress = Progress(self._diff.prepare(partitions), self._quiet_stdout)
        try:
            for partition in partitions:
                try:
                    report = self._diff.diff(partition, progress.advance)
                except KafkaError as error:
                    self.problems.append(f"{partition}: {error}")
                    continue
                self.differs |= report.differs or bool(report.missing_brokers)
                if self._quiet_stdout:
                    tell_problems(f"{partition}: {line}" for line in not_read_lines(report))
                yield report
        finally:
            progress.close()
