"""``kafkapy streams-groups``: kafka-streams-groups.sh, as far as it looks."""

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

app = new_app()


@app.command(
    cls=TypedGroups,
    epilog=examples(
        ("List streams groups with their states:", "kafkapy streams-groups --list --state"),
        ("Show how far a streams group is in each partition:", "kafkapy streams-groups --describe --group wordcount"),
        (
            "Show the members of all streams groups, out of real brokers' directories:",
            "kafkapy streams-groups --describe --all-groups --members --log-dirs /kafka/1,/kafka/2",
        ),
    ),
)
def streams_groups(
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
    """List and describe streams groups."""
    check_usage("kafka-streams-groups.sh", ctx.params)
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.backends.selection import open_cluster
    from kafkapy.coordinator.group import GroupType

    opened = open_cluster(selection(cluster, log_dirs, bootstrap_server))
    if list_:
        list_groups(opened, GroupType.STREAMS, state, output)
        return
    coordinator, ranges = opened.groups(), LogRanges(opened)
    found = find_groups(coordinator, GroupType.STREAMS, group, output)

    def told_of(each: "ModernGroup") -> Told:
        if members:
            return _members(opened, each, verbose)
        return _offsets(opened, each, ranges, verbose) if state is None else _state(opened, each, verbose)

    print_groups(found, told_of, output)
    finish([*coordinator.store.problems, *ranges.problems])


def _members(opened: "Cluster", group: "ModernGroup", verbose: bool) -> Told:
    from kafkapy.coordinator.streams_group_description import describe_streams_group
    from kafkapy.output.streams_group_lines import member_lines, member_rows

    described = describe_streams_group(group, opened.groups().describe(group.group_id))
    return Told(member_lines(described, verbose), member_rows(described))


def _state(opened: "Cluster", group: "ModernGroup", verbose: bool) -> Told:
    from kafkapy.metadata.broker_address import broker_address
    from kafkapy.output.group_rows import group_row
    from kafkapy.output.streams_group_lines import state_lines

    description = opened.groups().describe(group.group_id)
    address = broker_address(opened.image(), description.coordinator)
    return Told(state_lines(description, address, verbose), [group_row(description, address)])


def _offsets(opened: "Cluster", group: "ModernGroup", ranges: "LogRanges", verbose: bool) -> Told:
    from kafkapy.coordinator.streams_group_description import streams_group_offsets
    from kafkapy.output.streams_group_lines import offset_lines, offset_rows

    coordinator = opened.groups()
    description = coordinator.describe(group.group_id)
    found = streams_group_offsets(description, coordinator.offsets(group.group_id), ranges.of)
    return Told(offset_lines(description, found, verbose), offset_rows(group.group_id, found))
