"""``kafkapy share-groups``: kafka-share-groups.sh."""

from contextlib import closing
from typing import TYPE_CHECKING

import typer

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import examples, new_app

from . import share_group_options as own
from . import typed_group_options as options
from .cluster_options import (
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .tool_errors import finish
from .typed_group_usage import check_share_usage
from .typed_groups import Told, fail, group_ids, list_groups, none_failed, print_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkapy.backends.cluster import Cluster
    from kafkapy.coordinator.group_description import GroupDescription

app = new_app()


@app.command(
    cls=options.TypedGroups,
    epilog=examples(
        ("List share groups with their states:", "kafkapy share-groups --list --state"),
        ("Show how far a share group is in each partition:", "kafkapy share-groups --describe --group workers"),
        (
            "Show the members of all share groups, from real brokers' directories:",
            "kafkapy share-groups --describe --all-groups --members --log-dirs /kafka/1,/kafka/2",
        ),
        (
            "Let a share group of a running cluster read a topic again:",
            "kafkapy share-groups --bootstrap-server kafka-1:9092 --reset-offsets --group workers --topic jobs "
            "--to-earliest --execute",
        ),
    ),
)
def share_groups(
    ctx: typer.Context,
    list_: options.ListOption = False,
    describe: options.DescribeOption = False,
    delete: options.DeleteOption = False,
    reset_offsets: options.ResetOffsetsOption = False,
    delete_offsets: options.DeleteOffsetsOption = False,
    group: options.GroupOption = None,
    all_groups: options.AllGroupsOption = False,
    topic: own.TopicOption = None,
    all_topics: own.AllTopicsOption = False,
    offsets: options.OffsetsOption = False,
    members: options.MembersOption = False,
    state: options.StateOption = None,
    verbose: options.VerboseOption = False,
    to_earliest: options.ToEarliestOption = False,
    to_latest: options.ToLatestOption = False,
    to_datetime: options.ToDatetimeOption = None,
    dry_run: options.DryRunOption = False,
    execute: options.ExecuteOption = False,
    timeout: options.TimeoutOption = 30_000,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List, describe and delete share groups, and reset their offsets.

    The members of a share group are handed single records, as from a queue, and several may read one partition. The
    group has a start offset in each partition: everything before it is done.
    """
    check_share_usage(ctx.params)
    from kafkapy.backends.selection import open_cluster, open_cluster_for_writing
    from kafkapy.coordinator.group import GroupType

    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)._replace(timeout_ms=timeout)
    if list_ or describe:
        with closing(open_cluster(chosen)) as opened:
            if list_:
                list_groups(opened, GroupType.SHARE, state, output)
            else:
                _describe(opened, group, ctx.params, output)
        return
    from . import share_group_changes as changes

    with closing(open_cluster(chosen) if dry_run else open_cluster_for_writing(chosen)) as opened:
        if reset_offsets:
            changes.reset_offsets(opened, ctx.params, output)
        elif delete:
            changes.delete_groups(opened, group, output)
        else:
            assert group is not None
            changes.delete_offsets(opened, group[0], topic or (), output)


def _describe(opened: "Cluster", named: "Sequence[str] | None", params: dict[str, object], output: Output) -> None:
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.coordinator.group import GroupType
    from kafkapy.output.share_group_lines import offset_lines, offset_rows

    groups, ranges = opened.groups(), LogRanges(opened)
    try:
        answers = groups.describe_share_groups(group_ids(groups, GroupType.SHARE, named))
        described = none_failed(answers, groups, GroupType.SHARE)
        is_offsets = not params["members"] and params["state"] is None
        asked = groups.share_offsets(described, lambda partition: ranges.of(partition).end) if is_offsets else {}
        offsets = none_failed(asked, groups, GroupType.SHARE)
    except KafkaError as error:
        fail(GroupType.SHARE, error, output)
    verbose = bool(params["verbose"])

    def told_of(group: "GroupDescription") -> Told:
        if not is_offsets:
            return _described(opened, group, bool(params["members"]), verbose)
        found = offsets[group.group_id]
        return Told(offset_lines(group.group_id, found, verbose), offset_rows(group.group_id, found))

    print_groups(described.values(), told_of, output)
    finish([*groups.problems, *ranges.problems])


def _described(opened: "Cluster", group: "GroupDescription", members: bool, verbose: bool) -> Told:
    """The members of a group, or its state."""
    from kafkapy.output import group_rows, share_group_lines

    note = None if group.members else f"Share group '{group.group_id}' has no active members."
    if members:
        return Told(share_group_lines.member_lines(group, verbose), group_rows.member_rows(group), note)
    address = opened.groups().coordinator_address(group.coordinator)
    lines = share_group_lines.state_lines(group, address, verbose)
    return Told(lines, [group_rows.group_row(group, address)], note)
