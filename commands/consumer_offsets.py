"""``kafkapy consumer-offsets``: what the coordinators wrote, straight out of the internal topics' files."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.output.history_format import Format, Records
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
from .option_kinds import value
from .tool_errors import tell_near_miss, tell_problems, warn

if TYPE_CHECKING:
    from kafkapy.backends.offset_history import HistoryFilter
    from kafkapy.backends.selection import Selection

WHICH = "Which records (all given conditions must hold; a record without such a field is omitted)"
HASH = "Where a group is"
HOW = "How to print"

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Show every offset that a group committed, as far as the log still has it:",
            "kafkapy consumer-offsets --group billing",
        ),
        (
            "Print the lines of older Kafka versions, for scripts that read them:",
            "kafkapy consumer-offsets --log-dirs /kafka/1,/kafka/2 --format legacy",
        ),
        (
            "Show in a table what was committed for one partition within an hour:",
            "kafkapy consumer-offsets --topic orders --partition 0 --from-time 2026-11-16T09:00:00Z "
            "--to-time 2026-11-16T10:00:00Z --format table",
        ),
        ("Find the partition that keeps a group:", "kafkapy consumer-offsets --which-partition billing"),
    ),
)
def consumer_offsets(
    records: Annotated[
        Records,
        typer.Option(
            help="Offset commits, records of groups, transactions (of __transaction_state), or all of them.",
            rich_help_panel=WHICH,
        ),
    ] = Records.OFFSETS,
    group: Annotated[
        list[str] | None, value("--group", "GROUP", "Only of this group. Can be given more than once.", WHICH)
    ] = None,
    topic: Annotated[
        list[str] | None, value("--topic", "TOPIC", "Only for this topic. Can be given more than once.", WHICH)
    ] = None,
    partition: Annotated[
        list[int] | None,
        value(
            "--partition",
            "PARTITION",
            "Only for the partition with this number. Can be given more than once.",
            WHICH,
        ),
    ] = None,
    transactional_id: Annotated[
        list[str] | None,
        value(
            "--transactional-id",
            "TRANSACTIONAL-ID",
            "Only of this transactional id. Can be given more than once.",
            WHICH,
        ),
    ] = None,
    from_time: Annotated[
        str | None,
        value(
            "--from-time",
            "TIME",
            "Written at this time or later: epoch milliseconds, or ISO 8601 (UTC by default).",
            WHICH,
        ),
    ] = None,
    to_time: Annotated[str | None, value("--to-time", "TIME", "Written at this time or before.", WHICH)] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="json: one object per line, as console-consumer --formatter offsets (the default); legacy: the "
            "lines of Kafka 2.1 to 3.9; 1.0: those of Kafka 0.9 to 2.0; table: as --output table.",
            rich_help_panel=HOW,
        ),
    ] = None,
    which_partition: Annotated[
        list[str] | None,
        value(
            "--which-partition",
            "GROUP",
            "Print only which partition of __consumer_offsets keeps this group. Can be given more than once.",
            HASH,
        ),
    ] = None,
    partition_count: Annotated[
        int | None,
        value(
            "--partition-count",
            "N",
            "How many partitions __consumer_offsets has; by default what the cluster says, else 50.",
            HASH,
        ),
    ] = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Show committed offsets, groups and transactions as they are in the internal topics' logs.

    These logs keep every commit with its time until they are compacted: what a group had committed before, when it was
    moved, and when it was deleted. 'kafkapy consumer-groups' shows where groups are now.
    """
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    given = {
        "--group": group,
        "--topic": topic,
        "--partition": partition,
        "--transactional-id": transactional_id,
        "--from-time": from_time,
        "--to-time": to_time,
    }
    filters = {name: value for name, value in given.items() if value not in (None, [])}
    if which_partition:
        _check_alone(filters, form)
        _print_partitions(output, which_partition, partition_count, chosen)
        return
    _check_usage(filters, records, form, output, partition_count)
    from kafkapy.backends.offset_history import HistoryFilter

    wanted = HistoryFilter(
        frozenset(group or ()),
        frozenset(topic or ()),
        frozenset(partition or ()),
        _time("--from-time", from_time),
        _time("--to-time", to_time),
        frozenset(transactional_id or ()),
    )
    if form is Format.TABLE:
        output = Output.TABLE
    printed = _print(chosen, records, wanted, form or Format.JSON, output)
    if printed.problems:
        raise typer.Exit(1)
    if filters and not printed.has_records:
        warn(f"kafkapy: no record matches {_text(filters)}")
        _tell_near_misses(chosen, group or (), topic or (), transactional_id or ())


def _tell_near_misses(
    chosen: "Selection", groups: Sequence[str], topics: Sequence[str], transactional_ids: Sequence[str]
) -> None:
    """Tell which were probably meant by those that are not there."""
    from kafkapy.backends.selection import open_cluster

    with suppress(KafkapyError), closing(open_cluster(chosen)) as opened:
        for topic in topics:
            tell_near_miss("topic", topic, opened.image().topics)
        for group in groups:
            tell_near_miss("group", group, (each.group_id for each in opened.groups().list()))
        for each in transactional_ids:
            known = (found.metadata.transactional_id for found in opened.transactions().list_transactions())
            tell_near_miss("transactional id", each, known)


def _check_alone(filters: Mapping[str, Any], form: Format | None) -> None:
    others = [*filters, *["--format"] * (form is not None)]
    if others:
        raise UsageError(f"--which-partition reads no records: leave out {', '.join(others)}")


def _check_usage(
    filters: Mapping[str, Any], records: Records, form: Format | None, output: Output, partition_count: int | None
) -> None:
    if form is not None and output is not Output.KAFKA:
        raise UsageError("--format and --output are two ways to say how to print: give one of them")
    if partition_count is not None:
        raise UsageError("--partition-count is for --which-partition")
    if records is Records.TRANSACTIONS and not filters.keys().isdisjoint(("--group", "--topic", "--partition")):
        raise UsageError("--group, --topic and --partition are for offset commits and groups, not for transactions")
    if records in (Records.OFFSETS, Records.GROUPS) and "--transactional-id" in filters:
        raise UsageError("--transactional-id is for --records transactions")


def _text(filters: Mapping[str, Any]) -> str:
    """The filters as they were given."""
    values = {name: value if isinstance(value, list) else [value] for name, value in filters.items()}
    return " ".join(f"{name} {each}" for name, found in values.items() for each in found)


class Printed(NamedTuple):
    """What became of a run: the problems that were met, and told, and whether any record fit."""

    problems: list[str]
    has_records: bool


def _print(chosen: "Selection", records: Records, wanted: "HistoryFilter", form: Format, output: Output) -> Printed:
    """Print all."""
    from kafkapy.backends.offset_history import history
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.history_printer import by_kind, columns_of, history_rows, print_texts, sources
    from kafkapy.output.printing import print_rows
    from kafkapy.output.sink import Sink

    problems: list[str] = []

    def tell(problem: str) -> None:
        problems.append(problem)
        tell_problems([problem])

    with closing(open_cluster(chosen)) as opened:
        found = [(kind, history(opened, topic, wanted, tell)) for topic, kind in sources(records)]
        if output is Output.KAFKA:
            sink = Sink()
            wrote = [print_texts(form, kind, batches, sink.write, tell) for kind, batches in found]
            return Printed(problems, any(wrote))
        in_order = by_kind if output in (Output.CSV, Output.TABLE) else iter
        rows = chain.from_iterable(in_order(history_rows(kind, batches, tell)) for kind, batches in found)
        first = list(islice(rows, 1))
        print_rows(output, chain(first, rows), columns_of(records))
        return Printed(problems, bool(first))


def _print_partitions(output: Output, groups: list[str], count: int | None, chosen: "Selection") -> None:
    from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, partition_for
    from kafkapy.output.printing import print_rows

    if count is not None and count < 1:
        raise UsageError(f"--partition-count: {count} is not a number of partitions")
    if "" in groups:
        raise UsageError("--which-partition: the id of a group cannot be empty")
    partitions = count or _partition_count(chosen)

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for group in groups:
            number = partition_for(group, partitions)
            yield (
                str(number),
                {"type": "group_partition", "group": group, "topic": CONSUMER_OFFSETS, "partition": number},
            )

    print_rows(output, rows())


def _partition_count(chosen: "Selection") -> int:
    """What the cluster says; Kafka's default where none is named or there, or it has no such topic yet."""
    import os

    from kafkapy.backends.selection import Selection, open_cluster
    from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, PARTITIONS

    if chosen == Selection() and not os.path.isdir(chosen.directory):
        return PARTITIONS
    with closing(open_cluster(chosen)) as opened:
        topic = opened.image().topics.get(CONSUMER_OFFSETS)
    # without a metadata log, there are at least as many as the highest number of a directory tells
    return max(topic.partitions) + 1 if topic is not None else PARTITIONS


def _time(option: str, given: str | None) -> int | None:
    from kafkapy.output.timestamps import parse_timestamp

    try:
        return None if given is None else parse_timestamp(given)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
