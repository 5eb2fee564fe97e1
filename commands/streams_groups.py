"""``kafkapy streams-groups``: kafka-streams-groups.sh."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import typer

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import examples, new_app

from . import streams_group_options as own
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
from .typed_group_usage import check_streams_usage
from .typed_groups import Told, fail, list_groups, none_failed, print_groups

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.backends.groups import GroupOffsets, StreamsDescriptions
    from kafkapy.coordinator.streams_group_description import StreamsGroupDescription

app = new_app()


@app.command(
    cls=options.TypedGroups,
    epilog=examples(
        ("List streams groups with their states:", "kafkapy streams-groups --list --state"),
        ("Show how far a streams group is in each partition:", "kafkapy streams-groups --describe --group wordcount"),
        (
            "Show the members of all streams groups, from real brokers' directories:",
            "kafkapy streams-groups --describe --all-groups --members --log-dirs /kafka/1,/kafka/2",
        ),
        (
            "Let a stopped application of a running cluster start over:",
            "kafkapy streams-groups --bootstrap-server kafka-1:9092 --reset-offsets --group wordcount "
            "--all-input-topics --to-earliest --delete-all-internal-topics --execute",
        ),
    ),
)
def streams_groups(
    ctx: typer.Context,
    list_: options.ListOption = False,
    describe: options.DescribeOption = False,
    delete: options.DeleteOption = False,
    reset_offsets: options.ResetOffsetsOption = False,
    delete_offsets: options.DeleteOffsetsOption = False,
    group: options.GroupOption = None,
    all_groups: options.AllGroupsOption = False,
    input_topic: own.InputTopicOption = None,
    all_input_topics: own.AllInputTopicsOption = False,
    offsets: options.OffsetsOption = False,
    members: options.MembersOption = False,
    state: options.StateOption = None,
    verbose: options.VerboseOption = False,
    to_earliest: options.ToEarliestOption = False,
    to_latest: options.ToLatestOption = False,
    to_current: own.ToCurrentOption = False,
    to_offset: own.ToOffsetOption = None,
    shift_by: own.ShiftByOption = None,
    to_datetime: options.ToDatetimeOption = None,
    by_duration: own.ByDurationOption = None,
    from_file: own.FromFileOption = None,
    dry_run: options.DryRunOption = False,
    execute: options.ExecuteOption = False,
    export: own.ExportOption = False,
    delete_internal_topic: own.DeleteInternalTopicOption = None,
    delete_all_internal_topics: own.DeleteAllInternalTopicsOption = False,
    timeout: options.TimeoutOption = 30_000,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List, describe and delete streams groups, and reset their offsets.

    A streams group consists of the instances of a Kafka Streams application that let the broker divide their tasks. It
    reads input topics, and keeps internal topics of its own.
    """
    check_streams_usage(ctx.params)
    from kafkapy.backends.selection import open_cluster, open_cluster_for_writing
    from kafkapy.coordinator.group import GroupType

    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)._replace(timeout_ms=timeout)
    if list_ or describe:
        with closing(open_cluster(chosen)) as opened:
            if list_:
                list_groups(opened, GroupType.STREAMS, state, output)
            else:
                _describe(opened, group, ctx.params, output)
        return
    from . import streams_group_changes as changes

    with closing(open_cluster(chosen) if dry_run else open_cluster_for_writing(chosen)) as opened:
        if reset_offsets:
            changes.reset_offsets(opened, ctx.params, output)
        elif delete:
            changes.delete_groups(opened, group, delete_all_internal_topics, output)
        else:
            assert group is not None
            changes.delete_offsets(opened, group[0], None if all_input_topics else input_topic or (), output)


def _describe(opened: "Cluster", named: Sequence[str] | None, params: dict[str, Any], output: Output) -> None:
    """Group by group in the order in which they are named; the first that is not there ends it."""
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.coordinator.group import GroupType

    groups, ranges = opened.groups(), LogRanges(opened)
    try:
        ids = list(named or ()) or [listing.group_id for listing in groups.list(types=[GroupType.STREAMS])]
        described = groups.describe_streams_groups(ids)
        committed: GroupOffsets = {}
        if not params["members"] and params["state"] is None:
            committed = _committed(opened, described, ranges)
        there = _before_first_error(ids, described)
        print_groups(there, lambda each: _told(opened, each, committed, ranges, params), output)
        none_failed({group_id: described[group_id] for group_id in ids}, groups, GroupType.STREAMS)
    except KafkaError as error:
        fail(GroupType.STREAMS, error, output)
    finish([*groups.problems, *ranges.problems])


def _before_first_error(ids: Sequence[str], described: "StreamsDescriptions") -> "list[StreamsGroupDescription]":
    found: list[StreamsGroupDescription] = []
    for group_id in ids:
        answer = described[group_id]
        if isinstance(answer, KafkaError):
            break
        found.append(answer)
    return found


def _committed(opened: "Cluster", described: "StreamsDescriptions", ranges: "LogRanges") -> "GroupOffsets":
    """What the groups have committed; the logs that they read are looked up, too."""
    there = [each.group for each in described.values() if not isinstance(each, KafkaError)]
    ranges.learn({each for group in there for member in group.members for each in member.assignment})
    return opened.groups().committed_offsets(group.group_id for group in there)


def _told(
    opened: "Cluster",
    described: "StreamsGroupDescription",
    committed: "GroupOffsets",
    ranges: "LogRanges",
    params: dict[str, Any],
) -> Told:
    from kafkapy.output import streams_group_lines as lines

    group, verbose = described.group, params["verbose"]
    if params["members"]:
        return Told(lines.member_lines(described, verbose), lines.member_rows(described))
    if params["state"] is not None:
        from kafkapy.output.group_rows import group_row

        address = opened.groups().coordinator_address(group.coordinator)
        return Told(lines.state_lines(group, address, verbose), [group_row(group, address)])
    from kafkapy.backends.offset_reset import checked
    from kafkapy.coordinator.streams_group_description import streams_group_offsets

    found = streams_group_offsets(group, checked(committed[group.group_id]), ranges.of)
    return Told(lines.offset_lines(group, found, verbose), lines.offset_rows(group.group_id, found))
