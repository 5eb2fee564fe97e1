"""ShareGroupCommand's tables, and the rows that say the same. Before each table stands an empty line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafkapy.coordinator.group_description import GroupDescription, GroupListing
from kafkapy.coordinator.share_group_description import SharePartitionOffset
from kafkapy.output.group_lines import assignment_text
from kafkapy.output.printf_table import MISSING, Column, printf_table

GROUP = Column("GROUP", 15, grows=True)


def listing_lines(listings: Sequence[GroupListing], with_state: bool) -> Iterator[str]:
    """The ids of groups, or a table with their states; of streams groups, too."""
    if not with_state:
        return (listing.group_id for listing in listings)
    return printf_table([GROUP, Column("STATE", 0)], [(listing.group_id, listing.state) for listing in listings])


def listing_rows(listings: Iterable[GroupListing]) -> Iterator[dict[str, Any]]:
    """Groups of any type as rows."""
    for group_id, group_type, protocol, state in listings:
        row = {"group": group_id, "group_type": str(group_type), "protocol": protocol, "state": str(state)}
        yield {"type": "group", **row}


def offset_lines(group_id: str, offsets: Sequence[SharePartitionOffset], verbose: bool) -> Iterator[str]:
    """The table of a group's offsets."""
    yield ""
    if not offsets:
        yield f"Share group '{group_id}' has no offset information."
        return
    columns = [GROUP, Column("TOPIC", 15, grows=True), Column("PARTITION", 10)]
    columns += [Column("LEADER-EPOCH", 13)] * verbose + [Column("START-OFFSET", 13), Column("LAG", 0)]
    yield from printf_table(columns, [_offset_cells(group_id, offset, verbose) for offset in offsets])


def _offset_cells(group_id: str, offset: SharePartitionOffset, verbose: bool) -> list[object]:
    cells: list[object] = [group_id, *offset.partition]
    return [*cells, *[offset.leader_epoch] * verbose, offset.start_offset, offset.lag]


def member_lines(description: GroupDescription, verbose: bool) -> Iterator[str]:
    """The table of a group's members; nothing where it has none."""
    if not description.members:
        return
    columns = [GROUP, *(Column(title, 15, grows=True) for title in ("CONSUMER-ID", "HOST", "CLIENT-ID"))]
    columns += [Column("#PARTITIONS", 12)] + [Column("MEMBER-EPOCH", 13)] * verbose + [Column("ASSIGNMENT", 0)]
    rows = []
    for member in description.members:
        cells: list[object] = [description.group_id, member.member_id, member.host, member.client_id]
        assignment = assignment_text(member.assignment) if member.assignment else ""
        rows.append([*cells, len(member.assignment), *[member.member_epoch] * verbose, assignment])
    yield ""
    yield from printf_table(columns, rows)


def state_lines(description: GroupDescription, coordinator: str | None, verbose: bool) -> Iterator[str]:
    """The table of a group's state. ``coordinator`` is ``HOST:PORT``, where it is known."""
    columns = [GROUP, Column("COORDINATOR (ID)", 25, grows=True), Column("STATE", 15)]
    cells: list[object] = [description.group_id, coordinator_text(description, coordinator, "  "), description.state]
    if verbose:
        columns += [Column("GROUP-EPOCH", 12), Column("ASSIGNMENT-EPOCH", 17)]
        cells += [description.group_epoch, description.target_assignment_epoch]
    yield ""
    yield from printf_table([*columns, Column("#MEMBERS", 0)], [[*cells, len(description.members)]])


def coordinator_text(description: GroupDescription, coordinator: str | None, separator: str) -> str | None:
    """``HOST:PORT`` and the id; None where the group's partition has no leader."""
    if description.coordinator < 0:
        return None
    return f"{coordinator or MISSING}{separator}({description.coordinator})"


def offset_rows(group_id: str, offsets: Iterable[SharePartitionOffset]) -> Iterator[dict[str, Any]]:
    """The offsets as rows."""
    for offset in offsets:
        yield {
            "type": "share_group_offset",
            "group": group_id,
            "topic": offset.partition.topic,
            "partition": offset.partition.partition,
            "leader_epoch": offset.leader_epoch,
            "start_offset": offset.start_offset,
            "lag": offset.lag,
        }
