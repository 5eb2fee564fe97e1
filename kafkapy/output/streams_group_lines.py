"""StreamsGroupCommand's tables, and the rows that say the same. No empty line stands before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafkapy.coordinator.group import GroupState
from kafkapy.coordinator.group_description import GroupDescription
from kafkapy.coordinator.streams_group_description import (
    StreamsGroupDescription,
    StreamsMember,
    StreamsPartitionOffset,
    TaskAssignment,
    Tasks,
)
from kafkapy.output.printf_table import Column, pad, printf_table, width_of
from kafkapy.output.share_group_lines import GROUP, coordinator_text

_KINDS = ("ACTIVE", "STANDBY", "WARMUP")


def offset_lines(
    description: GroupDescription, offsets: Sequence[StreamsPartitionOffset], verbose: bool
) -> Iterator[str]:
    """The table of a group's offsets; nothing where it has no members."""
    if not description.members:
        return
    columns = [GROUP, Column("TOPIC", 15, grows=True), Column("PARTITION", 10)]
    titles = ("CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG")
    columns += [Column(title, 15) for title in titles] if verbose else [Column("OFFSET-LAG", 0)]
    rows = []
    for offset in offsets:
        cells: list[object] = [description.group_id, *offset.partition]
        cells += [offset.committed, offset.leader_epoch, offset.end] if verbose else []
        rows.append([*cells, offset.lag])
    yield from printf_table(columns, rows)


def member_lines(description: StreamsGroupDescription, verbose: bool) -> Iterator[str]:
    """The table of a group's members; nothing where it has none."""
    members, group_id = description.members, description.group.group_id
    if not members:
        return
    grown = [Column(title, 15, grows=True) for title in ("MEMBER", "PROCESS", "CLIENT-ID")]
    if not verbose:
        rows = [(group_id, *member[:3], tasks_text(member.assignment)) for member in members]
        yield from printf_table([GROUP, *grown, Column("ASSIGNMENTS", 0)], rows)
        return
    # Kafka 4.3.1 has no space between the topology epoch and the member
    member_width = width_of((member.member_id for member in members), 15)
    merged = Column(pad("TOPOLOGY-EPOCH", 15) + pad("MEMBER", member_width), 15 + member_width)
    columns = [GROUP, Column("TARGET-ASSIGNMENT-EPOCH", 25), merged, Column("MEMBER-PROTOCOL", 15)]
    columns += [Column("MEMBER-EPOCH", 15), *grown[1:], Column("ASSIGNMENTS", 0)]
    yield from printf_table(columns, [_verbose_cells(description, member, member_width) for member in members])


def _verbose_cells(description: StreamsGroupDescription, member: StreamsMember, width: int) -> list[object]:
    epoch_and_member = pad(str(description.topology_epoch), 15) + pad(member.member_id, width)
    cells: list[object] = [description.group.group_id, description.group.target_assignment_epoch, epoch_and_member]
    tasks = tasks_text(member.assignment) + tasks_text(member.target, "TARGET-")
    protocol = "classic" if member.is_classic else "streams"
    return [*cells, protocol, member.member_epoch, member.process_id, member.client_id, tasks]


def tasks_text(assignment: TaskAssignment, prefix: str = "") -> str:
    """``ACTIVE: 0:[0,1]; 1:[2]; STANDBY: ...``"""
    kinds = zip(_KINDS, assignment, strict=True)
    return "".join(f"{prefix}{kind}: {_subtopologies(tasks)}" for kind, tasks in kinds if tasks)


def _subtopologies(tasks: Tasks) -> str:
    return "".join(f"{name}:[{','.join(map(str, partitions))}]; " for name, partitions in tasks.items())


def state_lines(description: GroupDescription, coordinator: str | None, verbose: bool) -> Iterator[str]:
    """The table of a group's state. ``coordinator`` is ``HOST:PORT``, where it is known."""
    if description.state is GroupState.EMPTY:  # Kafka 4.3.1 calls this an error, and goes on
        yield from ("", f"Error: Streams group '{description.group_id}' has no active members.")
    columns = [GROUP, Column("COORDINATOR (ID)", 25, grows=True), Column("STATE", 25)]
    cells: list[object] = [description.group_id, coordinator_text(description, coordinator, " "), description.state]
    if verbose:
        columns += [Column("GROUP-EPOCH", 15), Column("TARGET-ASSIGNMENT-EPOCH", 25)]
        cells += [description.group_epoch, description.target_assignment_epoch]
    yield from printf_table([*columns, Column("#MEMBERS", 0)], [[*cells, len(description.members)]])


def offset_rows(group_id: str, offsets: Iterable[StreamsPartitionOffset]) -> Iterator[dict[str, Any]]:
    """The offsets as rows."""
    for offset in offsets:
        yield {
            "type": "streams_group_offset",
            "group": group_id,
            "topic": offset.partition.topic,
            "partition": offset.partition.partition,
            "current_offset": offset.committed,
            "leader_epoch": offset.leader_epoch,
            "log_end_offset": offset.end,
            "lag": offset.lag,
        }


def member_rows(description: StreamsGroupDescription) -> Iterator[dict[str, Any]]:
    """The members as rows."""
    for member in description.members:
        yield {
            "type": "streams_member",
            "group": description.group.group_id,
            "member_id": member.member_id,
            "process_id": member.process_id,
            "client_id": member.client_id,
            "host": member.client_host,
            "member_epoch": member.member_epoch,
            "target_assignment_epoch": description.group.target_assignment_epoch,
            "topology_epoch": description.topology_epoch,
            **{f"{kind.lower()}_tasks": _lists(tasks) for kind, tasks in zip(_KINDS, member.assignment, strict=True)},
            **{
                f"target_{kind.lower()}_tasks": _lists(tasks) for kind, tasks in zip(_KINDS, member.target, strict=True)
            },
        }


def _lists(tasks: Tasks) -> dict[str, list[int]]:
    return {name: list(partitions) for name, partitions in tasks.items()}
