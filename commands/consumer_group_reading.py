"""What ``kafkapy consumer-groups`` only shows: lists, descriptions, and whether a regular expression is one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import typer

from kafkapy.errors import FormatError, KafkaError
from kafkapy.output.output_format import Output

from .consumer_group_errors import failed
from .tool_errors import finish, tell_problems

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.group_lag import LagTotal, LogRanges, MemberOffsets
    from kafkapy.backends.selection import Selection
    from kafkapy.coordinator.group_description import GroupDescription

Told = Callable[["GroupDescription"], tuple[Iterable[str], Iterable[dict[str, Any]]]]
"""The lines and the rows of a group."""


def validate_regex(regex: str, output: Output) -> None:
    """Say whether brokers would take it."""
    from kafkapy.formats.re2_syntax import check_syntax
    from kafkapy.output.printing import print_rows

    error = None
    try:
        check_syntax(regex)
    except FormatError as refusal:
        error = str(refusal)
    line = f"The regular expression `{regex}` is {'valid' if error is None else f'invalid: {error}'}."
    print_rows(output, [(line, {"type": "regex", "regex": regex, "valid": error is None, "error": error})])
    if error is not None:
        raise typer.Exit(1)


def list_groups(chosen: "Selection", state: str | None, type_: str | None, output: Output) -> None:
    """List groups, with their states and types where ``state`` and ``type_`` are given, also as empty words."""
    from kafkapy.backends.group_selection import (
        describe_consumer_groups,
        list_consumer_groups,
        parse_states,
        parse_types,
    )
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.group_lines import list_lines
    from kafkapy.output.printing import print_rows

    states, types = parse_states(state or ""), parse_types(type_ or "")
    with closing(open_cluster(chosen)) as cluster:
        groups = cluster.groups()
        listings = list_consumer_groups(groups, states, types)
        if output is Output.KAFKA:
            lines = list_lines(listings, type_ is not None, state is not None)
            print_rows(output, ((line, None) for line in lines))
        else:
            from kafkapy.output.group_rows import group_row

            found = describe_consumer_groups(groups, (listing.group_id for listing in listings))
            rows = (group_row(each, groups.coordinator_address(each.coordinator)) for each in found)
            print_rows(output, ((None, row) for row in rows))
        finish(groups.problems)


def describe_groups(chosen: "Selection", named: Sequence[str], options: Mapping[str, Any], output: Output) -> None:
    """Describe the groups that are named, or all."""
    from kafkapy.backends.group_lag import LogRanges
    from kafkapy.backends.group_selection import describe_consumer_groups, list_consumer_groups
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(chosen)) as cluster:
        groups, ranges = cluster.groups(), LogRanges(cluster)
        try:
            ids = named or [listing.group_id for listing in list_consumer_groups(groups)]
            described = describe_consumer_groups(groups, ids)
            told = _told(cluster, described, ranges, options)
        except KafkaError as error:
            tell_problems(groups.problems)  # a group may be missing because of them
            failed(output, error)
        if output is Output.KAFKA:
            _print_groups(described, told)
        else:
            rows = ((None, row) for description in described for row in told(description)[1])
            print_rows(output, rows)
        finish([*groups.problems, *ranges.problems])


def _print_groups(described: Iterable["GroupDescription"], told: Told) -> None:
    """Group by group, since what is told on stderr of a group stands before its table."""
    from kafkapy.output.group_lines import note
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    out, err = Sink(), Sink(2)
    for description in described:
        line = note(description)
        if line is not None:
            print_lines(["", line], err)
        print_lines(told(description)[0], out)


def _told(
    cluster: "Cluster", described: Sequence["GroupDescription"], ranges: "LogRanges", options: Mapping[str, Any]
) -> Told:
    """What the options ask to be told of each of the groups. What makes rows is loaded only where rows are wanted."""
    from kafkapy.output import group_lines

    verbose: bool = options["verbose"]

    def state(group: "GroupDescription") -> tuple[Iterable[str], Iterable[dict[str, Any]]]:
        address = cluster.groups().coordinator_address(group.coordinator)
        return group_lines.state_lines(group, address, verbose), _state_rows(group, address)

    if options["members"]:
        return lambda group: (group_lines.member_lines(group, verbose), _member_rows(group))
    return _offsets_told(cluster, described, ranges, options) if options["state"] is None else state


def _state_rows(group: "GroupDescription", address: str | None) -> Iterator[dict[str, Any]]:
    from kafkapy.output.group_rows import group_row

    yield group_row(group, address)


def _member_rows(group: "GroupDescription") -> Iterator[dict[str, Any]]:
    from kafkapy.output.group_rows import member_rows

    yield from member_rows(group)


def _offset_rows(
    group: "GroupDescription", offsets: Iterable["MemberOffsets"], sums: Iterable["LagTotal"]
) -> Iterator[dict[str, Any]]:
    from kafkapy.output.group_rows import offset_rows, total_rows

    yield from offset_rows(group, offsets)
    yield from total_rows(group.group_id, sums)


def _offsets_told(
    cluster: "Cluster", described: Sequence["GroupDescription"], ranges: "LogRanges", options: Mapping[str, Any]
) -> Told:
    from kafkapy.backends.group_lag import group_offsets, lagging, totals
    from kafkapy.backends.offset_reset import checked
    from kafkapy.output import group_lines

    found = cluster.groups().committed_offsets(group.group_id for group in described)
    committed = {group_id: checked(offsets) for group_id, offsets in found.items()}
    members = (member for group in described for member in group.members)
    ranges.learn({*chain(*committed.values()), *chain(*(member.assignment for member in members))})

    def offsets(group: "GroupDescription") -> tuple[Iterable[str], Iterable[dict[str, Any]]]:
        found = group_offsets(group, committed[group.group_id], ranges)
        sums = totals(found) if options["totals"] else []
        shown = found if options["offsets"] or not options["totals"] else []
        if options["lagging"]:
            shown = lagging(found)
        lines = group_lines.offset_lines(group.group_id, shown, options["verbose"])
        return (
            chain(lines, group_lines.total_lines(group.group_id, sums)),
            _offset_rows(group, shown, sums),
        )

    return offsets
