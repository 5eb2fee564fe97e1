"""``kafkapy share-groups``: kafka-share-groups.sh, as far as it looks."""

from typing import TYPE_CHECKING

import typer

from kafkapy.output.output_format import Output
from kafkapy.subcommand import examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, LogDirsOption, OutputOption, selection
from .tool_errors import finish
from .typed_group_options import (
    AllGroupsOption,
    DeleteOffsetsOption,
    DeleteOption,
    DescribeOption,
    GroupOption,
    ListOption,
    MembersOption,
    OffsetsOption,
    ResetOffsetsOption,
    StateOption,
    TypedGroups,
    VerboseOption,
    check_usage,
)
from .typed_groups import Told, find_groups, list_groups, print_groups

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.coordinator.group import ModernGroup
    from kafkapy.coordinator.share_state import ShareStates

app = new_app()


@app.command(
    cls=TypedGroups,
    epilog=examples(
        ("List share groups with their states:", "kafkapy share-groups --list --state"),
        ("Show how far a share group is in each partition:", "kafkapy share-groups --describe --group workers"),
        (
            "Show the members of all share groups, out of real brokers' directories:",
            "kafkapy share-groups --describe --all-groups --members --log-dirs /kafka/1,/kafka/2",
        ),
    ),
)
def share_groups(
    ctx: typer.Context,
    list_: ListOption = False,
    describe: DescribeOption = False,
    delete: DeleteOption = False,
    reset_offsets: ResetOffsetsOption = False,
    delete_offsets: DeleteOffsetsOption = False,
    group: GroupOption = None,
    all_groups: AllGroupsOption = False,
    offsets: OffsetsOption = False,
    members: MembersOption = False,
    state: StateOption = None,
    verbose: VerboseOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List and describe share groups."""
    check_usage("kafka-share-groups.sh", ctx.params)
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.backends.selection import open_cluster
    from kafkapy.coordinator.group import GroupType

    opened = open_cluster(selection(cluster, log_dirs, bootstrap_server))
    if list_:
        list_groups(opened, GroupType.SHARE, state, output)
        return
    coordinator, ranges = opened.groups(), LogRanges(opened)
    found = find_groups(coordinator, GroupType.SHARE, sorted(set(group)) if group else None, output)
    from kafkapy.coordinator.share_state import ShareStates

    states = ShareStates(opened)

    def told_of(each: "ModernGroup") -> Told:
        if members or state is not None:
            return _described(opened, each, members, verbose)
        return _offsets(opened, each, states, ranges, verbose)

    print_groups(found, told_of, output)
    finish([*coordinator.store.problems, *states.problems, *ranges.problems])


def _described(opened: "Cluster", group: "ModernGroup", members: bool, verbose: bool) -> Told:
    """The members of a group, or its state."""
    from kafkapy.metadata.broker_address import broker_address
    from kafkapy.output import group_rows, share_group_lines

    description = opened.groups().describe(group.group_id)
    note = None if description.members else f"Share group '{group.group_id}' has no active members."
    if members:
        lines = share_group_lines.member_lines(description, verbose)
        return Told(lines, group_rows.member_rows(description), note)
    address = broker_address(opened.image(), description.coordinator)
    lines = share_group_lines.state_lines(description, address, verbose)
    return Told(lines, [group_rows.group_row(description, address)], note)


def _offsets(
    opened: "Cluster", group: "ModernGroup", states: "ShareStates", ranges: "LogRanges", verbose: bool
) -> Told:
    from kafkapy.coordinator.share_group_description import share_group_offsets
    from kafkapy.output.share_group_lines import offset_lines, offset_rows

    found = share_group_offsets(group, opened.image(), states, lambda partition: ranges.of(partition).end)
    return Told(offset_lines(group.group_id, found, verbose), offset_rows(group.group_id, found))
