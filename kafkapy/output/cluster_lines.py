"""Lines and rows of ``kafkapy cluster``.

A line names one partition, or sums up; tables fit into 80 columns unless names are long. Every row
has a ``type``; titles and sums have none. Kafka's own topics have a hundred partitions that say the same, so lines sum
them up unless they are asked for; rows have all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.output.aligned import aligned
from kafkapy.output.counted import counted

if TYPE_CHECKING:
    from kafkapy.backends.cluster_status import BrokerStatus, PartitionStatus, ReplicaStatus
    from kafkapy.backends.election_losses import ElectionLoss
    from kafkapy.backends.failures import Lost, Moved, Replicated
    from kafkapy.log.topic_partition import TopicPartition

Pair = tuple[str | None, dict[str, Any] | None]


class Shown(NamedTuple):
    """Which topics are to be told of, by their names, in rows and in lines."""

    in_rows: Callable[[str], bool]
    in_lines: Callable[[str], bool]

    def pair(self, partition: TopicPartition, pair: Pair) -> Pair:
        """As much of a pair as is to be told."""
        line, row = pair
        return line if self.in_lines(partition.topic) else None, row if self.in_rows(partition.topic) else None

    def hides(self, partition: TopicPartition) -> bool:
        """Whether there is no line."""
        return not self.in_lines(partition.topic)


REPLICA_TITLES = ("Broker", "State", "Role", "InSync", "LogStart", "LogEnd", "HighWatermark")
REASONS = {"unflushed": "which it had not flushed", "not_on_leader": "which its leader does not have"}


def clock_pair(offset_ms: int) -> Pair:
    """How far simulated time is ahead."""
    return f"Clock: {offset_ms} ms ahead", {"type": "clock", "offset_ms": offset_ms}


def broker_pairs(brokers: Sequence[BrokerStatus]) -> Iterator[Pair]:
    """A table of the brokers; a row for each."""
    cells = [
        (
            each.broker_id,
            each.rack or "-",
            each.state,
            _time(each.since_timestamp),
            each.leaders,
            each.replicas,
            each.in_sync,
        )
        for each in brokers
    ]
    lines = aligned([("Broker", "Rack", "State", "Since", "Leaders", "Replicas", "InSync"), *cells])
    yield next(lines), None
    for broker, line in zip(brokers, lines, strict=True):
        yield line, {"type": "broker", **broker._asdict()}


def summary_pair(partitions: Sequence[PartitionStatus]) -> Pair:
    """How many partitions there are, and how many are not as they should be."""
    leaderless, under_replicated = _unwell(partitions)
    line = f"Partitions: {len(partitions)}, without a leader: {leaderless}, with replicas not in sync: "
    return f"{line}{under_replicated}", None


def is_unwell(partitions: Sequence[PartitionStatus]) -> bool:
    """Whether any has no leader, or a replica that is not in sync or has no log."""
    logs = (replica.log_end_offset for each in partitions for replica in each.replicas)
    return any(_unwell(partitions)) or None in logs


def _unwell(partitions: Sequence[PartitionStatus]) -> tuple[int, int]:
    """How many have no leader, and how many have replicas that are not in sync."""
    registrations = [each.registration for each in partitions]
    return sum(each.leader < 0 for each in registrations), sum(
        len(each.isr) < len(each.replicas) for each in registrations
    )


def status_pairs(partitions: Iterable[PartitionStatus], shown: Shown) -> Iterator[Pair]:
    """All partitions; of a topic without lines, one that sums it up."""
    for topic, group in groupby(partitions, lambda each: each.partition.topic):
        of_topic = list(group)
        if not shown.in_lines(topic):
            yield f"{topic}: {counted(len(of_topic), 'partition')}, {_sync(of_topic)} (--topic shows them)", None
        for each in of_topic:
            yield from (shown.pair(each.partition, pair) for pair in partition_pairs(each))


def _sync(partitions: Sequence[PartitionStatus]) -> str:
    leaderless, under_replicated = _unwell(partitions)
    without = f", {leaderless} without a leader" if leaderless else ""
    return f"{under_replicated} with replicas not in sync{without}" if under_replicated else f"all in sync{without}"


def partition_pairs(status: PartitionStatus) -> Iterator[Pair]:
    """A line for a partition, then a table of its replicas; a row for each replica."""
    topic, partition = status.partition
    registration = status.registration
    yield (
        f"{status.partition}: leader {_leader(registration.leader)}, epoch {registration.leader_epoch}, "
        f"replicas {_ids(registration.replicas)}, isr {_ids(registration.isr)}, elr {_ids(registration.elr)}",
        None,
    )
    lines = aligned([REPLICA_TITLES, *map(_replica_cells, status.replicas)], indent="  ")
    yield next(lines), None
    for replica, line in zip(status.replicas, lines, strict=True):
        row = {
            "type": "replica",
            "topic": topic,
            "partition": partition,
            "leader": None if registration.leader < 0 else registration.leader,
            "leader_epoch": registration.leader_epoch,
            "isr": list(registration.isr),
            "elr": list(registration.elr),
            **replica._asdict(),
        }
        yield line, row


def _replica_cells(replica: ReplicaStatus) -> tuple[object, ...]:
    return (
        replica.broker_id,
        replica.state,
        "leader" if replica.is_leader else "follower",
        "yes" if replica.is_in_sync else "no",
        _offset(replica.log_start_offset),
        _offset(replica.log_end_offset),
        _offset(replica.high_watermark),
    )


def change_pairs(changes: Sequence[Moved | Lost], shown: Shown, done: str | None = None) -> Iterator[Pair]:
    """What became of leaders and ISRs, and what logs lost; ``done`` is what was done, if no partition tells of it."""
    from kafkapy.backends.failures import Moved

    for each in changes:
        yield shown.pair(each.partition, _moved_pair(each) if isinstance(each, Moved) else _lost_pair(each))
    moved = [each for each in changes if isinstance(each, Moved)]
    if not moved:
        yield f"{'' if done is None else f'{done}. '}No leader and no ISR changed.", None
    hidden = sum(shown.hides(each.partition) for each in changes)
    if len(changes) > 1 or hidden:
        yield _changes_summary(changes, moved, hidden), None


def _changes_summary(changes: Sequence[Moved | Lost], moved: Sequence[Moved], hidden: int) -> str:
    from kafkapy.backends.failures import Lost

    lost = [each.log_end_offset_before - each.log_end_offset for each in changes if isinstance(each, Lost)]
    parts = [
        f"{counted(sum(each.leader != each.leader_before for each in moved), 'leader')} changed",
        f"{counted(sum(each.isr != each.isr_before for each in moved), 'ISR')} changed",
        f"{counted(sum(each.leader < 0 for each in moved), 'partition')} left without a leader",
    ]
    if lost:
        parts.append(f"{counted(sum(lost), 'offset')} lost in {counted(len(lost), 'log')}")
    if hidden:
        parts.append(_not_shown(hidden))
    return f"In all: {', '.join(parts)}."


def _not_shown(hidden: int) -> str:
    return f"{counted(hidden, 'line')} not shown"


def _moved_pair(each: Moved) -> Pair:
    parts = []
    if each.leader != each.leader_before:
        parts.append(f"leader {_leader(each.leader_before)} -> {_leader(each.leader)}")
    if each.isr != each.isr_before:
        parts.append(f"isr {_ids(each.isr_before)} -> {_ids(each.isr)}")
    if each.elr != each.elr_before:
        parts.append(f"elr {_ids(each.elr_before)} -> {_ids(each.elr)}")
    if each.is_unclean and each.is_of_last_known_leader:
        parts.append("an unclean election of the last known leader: only what it had not flushed is lost")
    elif each.is_unclean:
        parts.append("an unclean election: what only others have is lost")
    row = {
        "type": "moved",
        "topic": each.partition.topic,
        "partition": each.partition.partition,
        "leader_before": each.leader_before,
        "leader": each.leader,
        "isr_before": list(each.isr_before),
        "isr": list(each.isr),
        "elr_before": list(each.elr_before),
        "elr": list(each.elr),
        "is_unclean": each.is_unclean,
    }
    return f"{each.partition}: {', '.join(parts)}", row


def _lost_pair(each: Lost) -> Pair:
    lost = _lost(each.log_end_offset_before, each.log_end_offset)
    return f"{each.partition}: broker {each.broker_id} lost {lost}, {REASONS[each.reason]}", _row("lost", each)


def election_loss_line(loss: ElectionLoss) -> str:
    """What an unclean election lost."""
    return (
        f"{loss.partition}: lost {_lost(loss.end_offset, loss.first_offset)}, which broker {_ids(loss.brokers)} has: "
        f"broker {loss.leader}, which was not in sync, now leads"
    )


def lagging_pairs(broker_id: int, waiting: Sequence[TopicPartition], shown: Shown) -> Iterator[Pair]:
    """What waits for a broker from now on."""
    for each in waiting:
        row = {"type": "lagging", "topic": each.topic, "partition": each.partition, "broker_id": broker_id}
        yield shown.pair(each, (f"{each}: acks=all waits for broker {broker_id}", row))
    start = f"'kafkapy cluster start-broker {broker_id}'"
    yield (
        f"Broker {broker_id}, an in-sync follower of {counted(len(waiting), 'partition')}, does not fetch until "
        f"{start}.",
        None,
    )
    if waiting:
        yield "It leaves their ISRs when 'kafkapy cluster advance' has let enough time pass.", None


def catch_up_pairs(broker_id: int, out_of_sync: Sequence[TopicPartition]) -> Iterator[Pair]:
    """What is left to do for a broker that was started."""
    if out_of_sync:
        yield (
            f"Broker {broker_id} is out of the ISR of {counted(len(out_of_sync), 'partition')}: it catches up with "
            "'kafkapy cluster replicate --until-caught-up'.",
            None,
        )


def replicated_pairs(done: Sequence[Replicated], shown: Shown) -> Iterator[Pair]:
    """What followers fetched."""
    for each in done:
        yield shown.pair(each.partition, (_replicated_line(each), _row("replicated", each)))
    hidden = sum(shown.hides(each.partition) for each in done)
    if not done:
        yield "Nothing was left to fetch.", None
    elif hidden:
        yield f"In all: {counted(len(done), 'replica')} fetched, {_not_shown(hidden)}.", None


def _replicated_line(each: Replicated) -> str:
    line = (
        f"{each.partition}: broker {each.broker_id} from offset {each.log_end_offset_before} to {each.log_end_offset}, "
        f"high watermark {each.high_watermark}, {'in sync' if each.is_in_sync else 'not in sync'}"
    )
    if each.truncated_from is None or each.truncated_to is None:
        return line
    return f"{line}; lost {_lost(each.truncated_from, each.truncated_to)}, {REASONS['not_on_leader']}"


def _row(kind: str, each: Replicated | Lost) -> dict[str, Any]:
    fields = {name: value for name, value in each._asdict().items() if name != "partition"}
    return {"type": kind, "topic": each.partition.topic, "partition": each.partition.partition, **fields}


def _lost(end_before: int, end: int) -> str:
    if end_before - end == 1:
        return f"1 offset, {end}"
    return f"{end_before - end} offsets, {end} to {end_before - 1}"


def _time(ms: int | None) -> str:
    """A time in UTC, without fractions of a second."""
    return "-" if ms is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ms // 1000))


def _offset(offset: int | None) -> str:
    return "none" if offset is None else str(offset)


def _leader(leader: int) -> str:
    return "none" if leader < 0 else str(leader)


def _ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids)) or "none"
