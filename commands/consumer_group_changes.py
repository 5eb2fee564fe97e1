"""What ``kafkapy consumer-groups`` changes: resets and deletions."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.output.output_format import Output

from .consumer_group_errors import failed
from .consumer_group_holders import evict_left_behind, tell_holders, tell_left_behind
from .consumer_group_reset_target import reset_target
from .tool_errors import tell_hint, tell_missing_partitions, tell_problems, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.offset_reset import OffsetReset
    from kafkapy.backends.offset_targets import Reset
    from kafkapy.backends.selection import Selection
    from kafkapy.log.topic_partition import TopicPartition

    Deletions = dict[TopicPartition, KafkaError | None]

NO_ACTION = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are "
    "scripting this command and want to keep the current default behavior without prompting."
)


class Change(NamedTuple):
    """Where a change is made, to which groups (none: to all), and how it is told."""

    chosen: "Selection"
    groups: Sequence[str]
    sync: bool
    output: Output

    def open(self, to_write: bool = True) -> "closing[Cluster]":
        from kafkapy.backends.selection import open_cluster, open_cluster_for_writing

        return closing(open_cluster_for_writing(self.chosen, self.sync) if to_write else open_cluster(self.chosen))

    def group_ids(self, cluster: "Cluster") -> list[str]:
        from kafkapy.backends.group_selection import list_consumer_groups

        if self.groups:
            return sorted(set(self.groups))
        return [listing.group_id for listing in list_consumer_groups(cluster.groups())]


def reset_offsets(change: Change, options: Mapping[str, Any], execute: bool, export: bool) -> None:
    """Plan the resets of all groups, make them with ``execute``, and show them."""
    from kafkapy.backends.offset_reset import OffsetReset, Scope
    from kafkapy.backends.reset_file import reset_file_lines
    from kafkapy.output.group_change_lines import reset_lines
    from kafkapy.output.group_rows import reset_rows
    from kafkapy.output.printing import print_rows

    if export and change.output is not Output.KAFKA:
        raise UsageError("--export and --output both choose how to print: give only one of them")
    if not options["dry-run"] and not execute:
        warn(NO_ACTION)
    reset = None
    try:
        target = reset_target(change.output, options, change.groups)
        with change.open(execute) as cluster:
            reset = OffsetReset(cluster, Scope(options["topic"] or (), options["all-topics"]), target)
            groups = change.group_ids(cluster)
            (evict_left_behind if execute else tell_left_behind)(change.chosen, cluster, groups)
            plans = reset.plans(groups)
            if execute:
                _commit(cluster, plans)
            tell_problems(cluster.groups().problems)
    except UsageError:
        raise
    except KafkapyError as error:
        failed(change.output, error, reset.notes if reset else ())
    _tell(change.output, reset)
    exported = ((group, each.partition, each.new.offset) for group, resets in plans.items() for each in resets)
    lines = [*reset_file_lines(exported, len(change.groups) != 1), ""] if export else reset_lines(plans)
    rows = [row for group, resets in plans.items() for row in reset_rows(group, resets, execute)]
    print_rows(change.output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    if reset.errors:
        tell_holders(change.chosen, (group for group, resets in plans.items() if not resets))
        raise typer.Exit(1)


def _commit(cluster: "Cluster", plans: Mapping[str, Sequence["Reset"]]) -> None:
    for group, resets in plans.items():
        if resets:
            cluster.groups().alter_offsets(group, {reset.partition: reset.new for reset in resets})


def _tell(output: Output, reset: "OffsetReset") -> None:
    from kafkapy.output.printing import print_lines

    for kind, texts in (("Warn", reset.warnings), ("Error", reset.errors)):
        for text in texts:
            if output is Output.KAFKA:
                print_lines(["", f"{kind}: {text}"])
            else:
                warn(f"kafkapy: {text}")
    for note in reset.notes:
        warn(f"kafkapy: {note}")


def delete_groups(change: Change) -> None:
    """Delete groups, each by itself."""
    from kafkapy.backends.group_selection import missing_groups
    from kafkapy.output.group_change_lines import deletion_lines
    from kafkapy.output.group_rows import deleted_group_row
    from kafkapy.output.printing import print_rows

    with change.open() as cluster:
        groups = change.group_ids(cluster)
        evict_left_behind(change.chosen, cluster, groups)
        done = cluster.groups().delete_groups(groups)
        missing = missing_groups(done, cluster.groups())
        tell_problems(cluster.groups().problems)
    rows = [deleted_group_row(group, error) for group, error in done.items()]
    print_rows(change.output, [*((line, None) for line in deletion_lines(done)), *((None, row) for row in rows)])
    if any(done.values()):
        for error in missing:
            tell_hint(error)
        tell_holders(change.chosen, (group for group, error in done.items() if error))
        raise typer.Exit(1)


def delete_offsets(change: Change, topics: Sequence[str]) -> None:
    """Delete what a group has committed for topics or partitions."""
    from kafkapy.backends.group_selection import missing_groups
    from kafkapy.output.group_change_lines import offset_deletion_lines
    from kafkapy.output.group_rows import deleted_offset_row
    from kafkapy.output.printing import print_rows

    if len(change.groups) > 1:
        raise UsageError("Found multiple arguments for option group, but you asked for only one")
    (group,) = change.groups
    with change.open() as cluster:
        evict_left_behind(change.chosen, cluster, [group])
        done, error = delete_topic_offsets(cluster, group, topics)
        has_failed = bool(error or any(done.values()))
        missing = missing_groups({group: error}, cluster.groups())
        tell_problems(cluster.groups().problems)
        rows = [deleted_offset_row(group, *each) for each in sorted(done.items())]
        lines = offset_deletion_lines(group, done, error)
        print_rows(change.output, [*((line, None) for line in lines), *((None, row) for row in rows)])
        if has_failed:
            for each in missing:
                tell_hint(each)
            tell_missing_partitions(sorted(done), cluster)
    if has_failed:
        tell_holders(change.chosen, [group])
        raise typer.Exit(1)


def delete_topic_offsets(
    cluster: "Cluster", group: str, topics: Sequence[str]
) -> tuple["Deletions", KafkaError | None]:
    """What became of each partition, and what went wrong first. A topic that is not there is not asked for."""
    from kafkapy.backends.offset_targets import NO_TOPIC, named_partitions
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.output.group_change_lines import WHOLE_TOPIC

    partitions, missing = named_partitions(cluster.image(), topics)
    unknown = KafkaError("UnknownTopicOrPartitionException", NO_TOPIC)
    whole: Deletions = dict.fromkeys((TopicPartition(topic, WHOLE_TOPIC) for topic in missing), unknown)
    done, error = delete_partition_offsets(cluster, group, partitions)
    return {**done, **whole}, error


def delete_partition_offsets(
    cluster: "Cluster", group: str, partitions: Iterable["TopicPartition"]
) -> tuple["Deletions", KafkaError | None]:
    """The same, of partitions. What is wrong with the group is wrong with each of them."""
    asked = list(partitions)
    try:
        done = cluster.groups().delete_offsets(group, asked)
    except KafkaError as error:
        return dict.fromkeys(asked, error), error
    return done, next(filter(None, done.values()), None)
