"""``kafkapy reassign-partitions --verify`` and ``--cancel``: how far a plan is, and taking back what is under way."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output

from .reassign_execute import open_directory, read_plan

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment
    from kafkapy.metadata.reassignment.verification import LogDirMoveState


def run_verify(chosen: "Selection", path: str, preserve_throttles: bool, output: Output) -> None:
    """Tell how far each move is; when none is under way any more, take the throttles away."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.reassignment.under_way import reassignments_under_way
    from kafkapy.metadata.reassignment.verification import partition_states
    from kafkapy.output.printing import print_rows
    from kafkapy.output.reassignment_lines import move_state_rows, partition_state_rows

    plan = read_plan(path, to_execute=False)
    opened = open_cluster(chosen)
    moves = _move_states(opened, plan)

    def rows() -> Iterator[tuple[str | None, dict[str, Any] | None]]:
        lags = {} if output == Output.KAFKA else _lags(opened)
        yield from partition_state_rows(partition_states(opened.image(), plan.replicas), lags)
        yield from move_state_rows(moves)

    print_rows(output, rows())
    if not reassignments_under_way(opened.image()) and all(each.is_done for each in moves) and not preserve_throttles:
        _clear_throttles(chosen, opened, plan, output)


def run_cancel(chosen: "Selection", path: str, preserve_throttles: bool, output: Output) -> None:
    """Take back what of a plan is under way, then the throttles."""
    from kafkapy.backends.cluster_layout import replica_log_dirs
    from kafkapy.backends.log_dir_moves import cancel_moves
    from kafkapy.backends.reassigning import cancel
    from kafkapy.metadata.reassignment.under_way import reassignments_under_way
    from kafkapy.metadata.reassignment.verification import IN_PROGRESS
    from kafkapy.output.printing import print_rows
    from kafkapy.output.reassignment_lines import NO_MOVES, cancelled_rows, moving_rows

    plan = read_plan(path, to_execute=False)
    opened = open_directory(chosen, "cancelling a reassignment")
    try:
        cancelled = reassignments_under_way(opened.image()).keys() & plan.replicas.keys()
        cancel(opened, cancelled)
        moving = [each for each in _move_states(opened, plan) if each.state == IN_PROGRESS]
        current = replica_log_dirs(opened)
        kept = {(each.partition, each.broker_id): current[each.partition, each.broker_id] for each in moving}
        cancel_moves(opened, kept)
    finally:
        opened.close()
    print_rows(output, (*cancelled_rows(cancelled), *moving_rows(kept)))
    if output == Output.KAFKA and not kept:
        _print_open_line(NO_MOVES)
    if not preserve_throttles:
        _clear_throttles(chosen, opened, plan, output)


def _print_open_line(text: str) -> None:
    from kafkapy.output.sink import Sink

    Sink().write(text.encode())


def _move_states(cluster: "Cluster", plan: "Reassignment") -> "list[LogDirMoveState]":
    import os

    from kafkapy.backends.cluster_layout import replica_log_dirs
    from kafkapy.metadata.reassignment.verification import log_dir_move_states

    if not plan.log_dirs:
        return []
    targets = {replica: os.path.abspath(path) for replica, path in plan.log_dirs.items()}
    return list(log_dir_move_states(targets, replica_log_dirs(cluster), replica_log_dirs(cluster, future=True)))


def _lags(cluster: "Cluster") -> dict[Any, int]:
    return {
        (replica.partition, log_dir.broker_id): replica.offset_lag
        for log_dir in cluster.log_dirs()
        for replica in log_dir.replicas
        if not replica.is_future
    }


def _clear_throttles(chosen: "Selection", cluster: "Cluster", plan: "Reassignment", output: Output) -> None:
    """Of all brokers that are up and of those in the plan; where nothing is to be cleared, nothing is written."""
    from kafkapy.backends.reassigning import from_admin
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.reassignment.throttles import clearing_changes
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import cleared_lines

    brokers = set(cluster.live_brokers).union(*plan.replicas.values())
    topics = {partition.topic for partition in plan.replicas}
    if output == Output.KAFKA:
        print_lines(cleared_lines(brokers, topics))
    changes = clearing_changes(cluster.image(), brokers, topics)
    if not changes:
        return
    opened = open_cluster_for_writing(chosen)
    try:
        opened.apply(*changes)
    except KafkaError as error:
        raise from_admin(error) from None
    finally:
        opened.close()
