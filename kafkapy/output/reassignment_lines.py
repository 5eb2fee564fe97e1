"""ReassignPartitionsCommand's lines, each beside the row that says the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.verification import (
    COMPLETED,
    IN_PROGRESS,
    NOT_FOUND,
    LogDirMoveState,
    PartitionState,
)
from kafkapy.metadata.topics_image import PartitionRegistration

MUST_VERIFY = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)

Rows = Iterator[tuple[str | None, dict[str, Any] | None]]


def under_way_rows(
    found: Mapping[TopicPartition, PartitionRegistration],
) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """``--list``."""
    yield ("Current partition reassignments:" if found else "No partition reassignments found."), None
    for partition, state in found.items():
        line = f"{partition}: replicas: {_ids(state.replicas)}."
        if state.adding_replicas:
            line += f" adding: {_ids(state.adding_replicas)}."
        if state.removing_replicas:
            line += f" removing: {_ids(state.removing_replicas)}."
        row = {
            "type": "reassignment",
            "topic": partition.topic,
            "partition": partition.partition,
            "replicas": list(state.replicas),
            "adding": list(state.adding_replicas),
            "removing": list(state.removing_replicas),
            "isr": list(state.isr),
        }
        yield line, row


def generated_lines(current: str, proposed: str) -> list[str]:
    """``--generate``: what is there and what is proposed, as JSON."""
    return [
        "Current partition replica assignment", current, "",
        "Proposed partition reassignment configuration", proposed,
    ]  # fmt: skip


def current_lines(current: str) -> list[str]:
    """``--execute``: how to go back."""
    return [
        "Current partition replica assignment", "", current, "",
        "Save this to use as the --reassignment-json-file option during rollback",
    ]  # fmt: skip


def between_brokers_line(rate: int) -> str:
    """``--execute --throttle``."""
    return f"The inter-broker throttle limit was set to {rate} B/s"


def between_log_dirs_line(rate: int) -> str:
    """``--execute --replica-alter-log-dirs-throttle``."""
    return f"The replica-alter-dir throttle limit was set to {rate} B/s"


def started_rows(
    partitions: Mapping[TopicPartition, tuple[int, ...]], log_dirs: Mapping[tuple[TopicPartition, int], str]
) -> Rows:
    """``--execute``: what has begun."""
    if partitions:
        names = ",".join(map(str, sorted(partitions)))
        yield f"Successfully started partition reassignment{_s(partitions)} for {names}", None
    for partition, replicas in sorted(partitions.items()):
        yield None, _row("started_reassignment", partition) | {"replicas": list(replicas)}
    yield from moving_rows(log_dirs)


def moving_rows(log_dirs: Mapping[tuple[TopicPartition, int], str]) -> Rows:
    """Moves between log dirs that have begun; Kafka's lines end with a blank."""
    for (partition, broker), path in sorted(log_dirs.items(), key=lambda each: (each[0][1], each[0][0])):
        line = f"Successfully started moving log directory to {path} for replica {partition} with broker {broker} "
        yield line, _row("started_move", partition) | {"broker": broker, "log_dir": path}


def partition_state_rows(states: Iterable[PartitionState], lags: Mapping[tuple[TopicPartition, int], int]) -> Rows:
    """``--verify``; ``lags`` are how many offsets a replica is behind, where that is known."""
    yield "Status of partition reassignment:", None
    for each in states:
        found = each.registration
        lacking = [lags.get((each.partition, broker)) for broker in found.adding_replicas]
        row = _row("verified_reassignment", each.partition) | {
            "state": each.state,
            "target": list(each.target),
            "replicas": list(found.replicas),
            "adding": list(found.adding_replicas),
            "removing": list(found.removing_replicas),
            "isr": list(found.isr),
            "offset_lag": None if None in lacking else sum(lag for lag in lacking if lag is not None),
        }
        yield _partition_line(each), row


def _partition_line(each: PartitionState) -> str:
    if each.state == IN_PROGRESS:
        return f"Reassignment of partition {each.partition} is still in progress."
    if each.state == COMPLETED:
        return f"Reassignment of partition {each.partition} is completed."
    replicas, target = _ids(each.registration.replicas), _ids(each.target)
    return (
        f"There is no active reassignment of partition {each.partition}, but replica set is {replicas} rather than "
        f"{target}."
    )


def move_state_rows(states: Iterable[LogDirMoveState]) -> Rows:
    """``--verify``, the moves between log dirs; Kafka prints an empty line for none."""
    told = False
    for each in states:
        told = True
        yield (
            _move_line(each),
            _row("verified_move", each.partition)
            | {
                "broker": each.broker_id,
                "state": each.state,
                "target": each.target,
                "log_dir": each.current,
                "moving_to": each.future,
            },
        )
    if not told:
        yield "", None


def _move_line(each: LogDirMoveState) -> str:
    replica, where = f"{each.partition}-{each.broker_id}", f"Partition {each.partition} on broker {each.broker_id}"
    if each.state == NOT_FOUND:
        return (
            f"Partition {each.partition} is not found in any live log dir on broker {each.broker_id}. There is likely "
            "an offline log directory on the broker."
        )
    if each.state == IN_PROGRESS and each.future != each.target:
        return f"{where} is being moved to log dir {each.future} instead of {each.target}."
    if each.state == IN_PROGRESS:
        return f"Reassignment of replica {replica} is still in progress."
    if each.state == COMPLETED:
        return f"Reassignment of replica {replica} completed successfully."
    return f"{where} is not being moved from log dir {each.current} to {each.target}."


def cancelled_rows(cancelled: Iterable[TopicPartition]) -> Rows:
    """``--cancel``."""
    gone = sorted(cancelled)
    names = ",".join(map(str, gone))
    line = f"Successfully cancelled partition reassignment{_s(gone)} for: {names}"
    yield (line if gone else "None of the specified partition reassignments are active."), None
    for partition in gone:
        yield None, _row("cancelled_reassignment", partition)


NO_MOVES = "None of the specified partition moves are active."
"""What ``--cancel`` prints without the end of a line."""


def broker_throttles_line(brokers: Collection[int]) -> str:
    """Throttles of brokers that are taken away."""
    return f"Clearing broker-level throttles on broker{_s(brokers)} {_ids(sorted(brokers))}"


def topic_throttles_line(topics: Collection[str]) -> str:
    """Throttles of topics that are taken away."""
    return f"Clearing topic-level throttles on topic{_s(topics)} {','.join(sorted(topics))}"


def _row(kind: str, partition: TopicPartition) -> dict[str, Any]:
    return {"type": kind, "topic": partition.topic, "partition": partition.partition}


def _s(items: Collection[Any]) -> str:
    return "" if len(items) == 1 else "s"


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
