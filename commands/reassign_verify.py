"""``kafkapy reassign-partitions --verify``: how far a plan is."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkapy.output.output_format import Output

from .reassign_execute import apply_configs, read_plan
from .tool_errors import tell_missing_partitions

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.changes import AlterConfigs
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment
    from kafkapy.metadata.reassignment.verification import LogDirMoveState


def run_verify(chosen: "Selection", path: str, preserve_throttles: bool, output: Output) -> None:
    """Tell how far each move is; when none is under way any more, take the throttles away."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.reassignment.verification import partition_states
    from kafkapy.output.printing import print_rows
    from kafkapy.output.reassignment_lines import move_state_rows, partition_state_rows

    plan = read_plan(path, to_execute=False)
    with closing(open_cluster(chosen)) as opened:
        control = opened.replica_control()
        under_way = control.under_way()
        moves = move_states(opened, plan)

        def rows() -> Iterator[tuple[str | None, dict[str, Any] | None]]:
            planned = {partition: state for partition, state in under_way.items() if partition in plan.replicas}
            lags = {} if output == Output.KAFKA else control.lags(planned)
            yield from partition_state_rows(partition_states(opened.image(), plan.replicas, under_way), lags)
            yield from move_state_rows(moves)

        print_rows(output, rows())
        if opened.replica_control().knows_topics:
            tell_missing_partitions(sorted(plan.replicas), opened)
        if not under_way and all(each.is_done for each in moves) and not preserve_throttles:
            clear_throttles(opened, plan, output, partial(_change, chosen, opened))


def move_states(cluster: "Cluster", plan: "Reassignment") -> "list[LogDirMoveState]":
    """How far each replica is that the plan gives a log dir."""
    import os

    from kafkapy.metadata.reassignment.verification import log_dir_move_states

    if not plan.log_dirs:
        return []
    targets = {replica: os.path.abspath(path) for replica, path in plan.log_dirs.items()}
    places = cluster.replica_control().places({partition for partition, _ in plan.log_dirs})
    return list(log_dir_move_states(targets, places.current, places.future))


def clear_throttles(
    opened: "Cluster", plan: "Reassignment", output: Output, change: "Callable[[list[AlterConfigs]], None]"
) -> None:
    """Of all brokers that are up and of those in the plan; first those of brokers, as Kafka's tool does."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import broker_throttles_line, topic_throttles_line

    brokers = set(opened.live_brokers).union(*plan.replicas.values())
    topics = {partition.topic for partition in plan.replicas}
    control = opened.replica_control()
    for line, changes in (
        (broker_throttles_line(brokers), control.throttle_clearing(brokers, ())),
        (topic_throttles_line(topics), control.throttle_clearing((), topics)),
    ):
        if output == Output.KAFKA:
            print_lines([line])
        if changes:
            change(changes)


def _change(chosen: "Selection", opened: "Cluster", changes: "list[AlterConfigs]") -> None:
    from kafkapy.backends.selection import reopened

    with reopened(chosen, opened, to_write=True) as written:
        apply_configs(written, changes)
