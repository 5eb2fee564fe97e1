"""ConsumerGroupCommand's lists and descriptions of groups.

A description is an empty line and a table. Rows of offsets may be hundreds of thousands, so all that the rows of one
member share is put together once, and only the rest is formatted row by row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafkapy.backends.group_lag import LagTotal, MemberOffsets, OffsetState
from kafkapy.coordinator.group import GroupState
from kafkapy.coordinator.group_description import GroupDescription, GroupListing, MemberDescription
from kafkapy.coordinator.offset_and_metadata import NO_LEADER_EPOCH
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.printf_table import MISSING, Column, pad, printf_table, width_of

ALL_TOPICS = "*"  # no topic can have this name
GROUP = Column("GROUP", 15, grows=True)
TOPIC = Column("TOPIC", 15, grows=True)
PARTITION = Column("PARTITION", 10)
_REBALANCING = frozenset(
    (
        GroupState.PREPARING_REBALANCE,
        GroupState.COMPLETING_REBALANCE,
        GroupState.ASSIGNING,
        GroupState.RECONCILING,
    )
)


def note(description: GroupDescription) -> str | None:
    """What is told of a group before its table."""
    if description.state is GroupState.EMPTY:
        return f"Consumer group '{description.group_id}' has no active members."
    if description.state in _REBALANCING:
        return f"Warning: Consumer group '{description.group_id}' is rebalancing."
    return None


def list_lines(listings: Sequence[GroupListing], with_type: bool, with_state: bool) -> Iterator[str]:
    """Ids alone, or a table with types and states."""
    if not with_type and not with_state:
        return (listing.group_id for listing in listings)
    columns = [Column("GROUP", width_of((listing.group_id for listing in listings), GROUP.width) + 10)]
    columns += [Column("TYPE", 20)] * with_type + [Column("STATE", 20)] * with_state
    rows = [[listing.group_id, *[listing.type] * with_type, *[listing.state] * with_state] for listing in listings]
    return printf_table(columns, rows)


def offset_lines(group_id: str, offsets: Sequence[MemberOffsets], verbose: bool) -> Iterator[str]:
    """The table of a group's offsets; nothing for a group that has none."""
    if not offsets:
        return
    group = width_of([group_id], GROUP.width)
    topic = width_of({state.partition.topic for _, states in offsets for state in states}, TOPIC.width)
    consumer_id = width_of((member.member_id for member, _ in offsets if member), 15)
    host = width_of((member.host for member, _ in offsets if member), 15)
    numbers = f" %-{topic}s %-10s {'%-15s ' if verbose else ''}%-15s %-15s %-15s "

    def template(first: str, consumer: str, at: str, client: str) -> str:
        shared = pad(first, group), f"{pad(consumer, consumer_id)} {pad(at, host)} {client}"
        return numbers.join(part.replace("%", "%%") for part in shared)

    epoch = ("LEADER-EPOCH",) if verbose else ()
    titles = ("TOPIC", "PARTITION", *epoch, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    yield ""
    yield template("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID") % titles
    for member, states in offsets:
        of_member = (MISSING,) * 3 if member is None else (member.member_id, member.host, member.client_id)
        yield from _offset_rows(template(group_id, *of_member), states, verbose)


def _offset_rows(template: str, states: Iterable[OffsetState], verbose: bool) -> Iterator[str]:
    for (topic, number), committed, (_, end), lag in states:
        offset, epoch = (committed.offset, committed.leader_epoch) if committed else (MISSING, NO_LEADER_EPOCH)
        ends = MISSING if end is None else end, MISSING if lag is None else lag
        if verbose:
            yield template % (topic, number, MISSING if epoch == NO_LEADER_EPOCH else epoch, offset, *ends)
        else:
            yield template % (topic, number, offset, *ends)


def total_lines(group_id: str, totals: Sequence[LagTotal]) -> Iterator[str]:
    """The table of a group's lag by topic, then of all; kafkapy's own. UNKNOWN-LAG counts the partitions that are not
    in LAG, since nothing was committed for them or their log is not here."""
    if totals:
        yield ""
        columns = GROUP, TOPIC, Column("PARTITIONS", 10), Column("UNKNOWN-LAG", 15), Column("LAG", 0)
        yield from printf_table(columns, [(group_id, total.topic or ALL_TOPICS, *total[1:]) for total in totals])


def member_lines(description: GroupDescription, verbose: bool) -> Iterator[str]:
    """The table of a group's members; its header also where there are none."""
    members = description.members
    has_instances = any(member.group_instance_id for member in members)
    is_mixed = {True, False} <= {member.is_upgraded for member in members}
    columns = [GROUP, Column("CONSUMER-ID", 15, grows=True)]
    columns += [Column("GROUP-INSTANCE-ID", 17, grows=True)] * has_instances
    columns += [Column("HOST", 15, grows=True), Column("CLIENT-ID", 15, grows=True), Column("#PARTITIONS", 15)]
    if verbose:
        columns += [Column("CURRENT-EPOCH", 15), Column("CURRENT-ASSIGNMENT", 20, grows=True)]
        columns += [Column("TARGET-EPOCH", 15), Column("TARGET-ASSIGNMENT", 20, grows=True)]
        columns += [Column("UPGRADED", 0)] * is_mixed
    else:
        columns.append(Column("", 0))
    yield ""
    yield from printf_table(
        columns, [_member_cells(description, member, has_instances, verbose, is_mixed) for member in members]
    )


def _member_cells(
    description: GroupDescription, member: MemberDescription, has_instances: bool, verbose: bool, is_mixed: bool
) -> list[object]:
    cells: list[object] = [description.group_id, member.member_id]
    cells += [member.group_instance_id or ""] * has_instances
    cells += [member.host, member.client_id, len(member.assignment)]
    if not verbose:
        return [*cells, ""]
    cells += [member.member_epoch, assignment_text(member.assignment)]
    cells += [description.target_assignment_epoch, assignment_text(member.target_assignment or ())]
    upgraded = None if member.is_upgraded is None else str(member.is_upgraded).lower()
    return [*cells, upgraded] if is_mixed else cells


def assignment_text(partitions: Iterable[TopicPartition]) -> str:
    """``t1:0,1;t2:0``."""
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, number in partitions:
        topics[topic].append(number)
    return ";".join(sorted(f"{topic}:{_numbers(found)}" for topic, found in topics.items())) or MISSING


def _numbers(numbers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def state_lines(description: GroupDescription, coordinator: str | None, verbose: bool) -> Iterator[str]:
    """The table of a group's state. ``coordinator`` is ``HOST:PORT``, where it is known."""
    known = description.coordinator >= 0
    broker = f"{coordinator or MISSING}  ({description.coordinator})" if known else None
    cells: list[object] = [description.group_id, broker, description.partition_assignor or None, description.state]
    columns = [
        GROUP,
        Column("COORDINATOR (ID)", 25, grows=True),
        Column("ASSIGNMENT-STRATEGY", 20),
        Column("STATE", 20),
    ]
    if verbose:
        columns += [Column("GROUP-EPOCH", 15), Column("TARGET-ASSIGNMENT-EPOCH", 25)]
        cells += [description.group_epoch, description.target_assignment_epoch]
    yield ""
    yield from printf_table([*columns, Column("#MEMBERS", 0)], [[*cells, len(description.members)]])
