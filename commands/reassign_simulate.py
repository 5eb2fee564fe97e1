"""``kafkapy reassign-partitions --simulate``: a plan played on a copy of the metadata."""

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output

from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.reassignment.layout import Assignment, Layout
    from kafkapy.metadata.reassignment.simulation import Step


class Playing(NamedTuple):
    """Whether and how a plan is played."""

    is_asked: bool
    batch_size: int | None
    batch_bytes: int | None
    throttle: int | None


def run_simulate(chosen: "Selection", path: str, playing: Playing, output: Output) -> None:
    """Show what the plan in a file costs, and play it."""
    from kafkapy.backends.cluster_layout import cluster_layout, replica_log_dirs
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.reassignment.plan_cost import log_dir_moves, plan_cost
    from kafkapy.metadata.reassignment.plan_jobs import usable_brokers
    from kafkapy.metadata.reassignment.reassignment_json import parse_reassignment
    from kafkapy.output.plan_lines import (
        cost_lines,
        cost_rows,
        log_dir_move_lines,
        log_dir_move_rows,
        step_lines,
        step_rows,
    )
    from kafkapy.output.printing import print_lines, print_rows

    with open(path, encoding="utf-8") as file:
        whole = parse_reassignment(file.read())
    plan, opened = whole.replicas, open_cluster(chosen)
    layout, log_dirs = cluster_layout(opened, as_planned=True), replica_log_dirs(opened)
    _check(layout, plan)
    cost = plan_cost(layout, plan, usable_brokers(layout))
    moves = log_dir_moves(layout, whole, log_dirs)
    steps = played(opened, layout, plan, playing)
    if output == Output.KAFKA:
        costs = (*cost_lines(layout, cost, playing.throttle), *log_dir_move_lines(moves, whole))
        print_lines([*costs, "", *step_lines(steps)])
    else:
        costs_as_rows = (
            *cost_rows(layout, plan, cost, playing.throttle),
            *log_dir_move_rows(moves, whole, log_dirs),
        )
        rows = (*costs_as_rows, *step_rows(steps, playing.throttle))
        print_rows(output, ((None, row) for row in rows))


def played(cluster: "Cluster", layout: "Layout", plan: "Assignment", playing: Playing) -> list["Step"]:
    """The steps of a plan, in the parts that --execute has."""
    from kafkapy.metadata.reassignment.plan_batches import batches
    from kafkapy.metadata.reassignment.simulation import simulate

    parts = batches(layout, plan, playing.batch_size, playing.batch_bytes)
    return list(simulate(cluster.image(), layout, parts))


def _check(layout: "Layout", plan: "Assignment") -> None:
    """As Kafka's --execute does, before it begins."""
    missing = [str(partition) for partition in sorted(plan) if partition not in layout.replicas]
    if missing:
        raise KafkaError("UnknownTopicOrPartitionException", f"Unable to find partition: {', '.join(missing)}")
    for broker in sorted({broker for replicas in plan.values() for broker in replicas}):
        if broker not in layout.brokers:
            raise KafkaError("AdminCommandFailedException", f"Unknown broker id {broker}")
    given = {
        broker for partition, after in plan.items() for broker in set(after).difference(layout.replicas[partition])
    }
    for broker in sorted(given.intersection(layout.fenced)):
        warn(f"kafkapy: broker {broker} is down: --execute refuses this plan until it is up")
