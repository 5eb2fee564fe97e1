"""``kafkapy reassign-partitions --simulate``: a plan played on a copy of the metadata."""

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.near_misses import hinting_number, partition_hint
from kafkapy.output.output_format import Output

from .reassign_execute import read_plan
from .reassign_layout import current_layout
from .tool_errors import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.reassignment.layout import Assignment, Layout
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment
    from kafkapy.metadata.reassignment.simulation import Step
    from kafkapy.metadata.topics_image import TopicImage


class Playing(NamedTuple):
    """Whether and how a plan is played."""

    is_asked: bool
    batch_size: int | None
    batch_bytes: int | None
    throttle: int | None


def run_simulate(chosen: "Selection", path: str, playing: Playing, output: Output) -> None:
    """Show what the plan in a file costs, and play it."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.reassignment.plan_cost import log_dir_moves, plan_cost
    from kafkapy.output.plan_lines import (
        cost_lines,
        cost_rows,
        log_dir_move_lines,
        log_dir_move_rows,
        step_lines,
        step_rows,
    )
    from kafkapy.output.printing import print_lines, print_rows

    whole = read_plan(path)
    plan = whole.replicas
    with closing(open_cluster(chosen)) as opened:
        layout = current_layout(opened, as_planned=True)
        _check(layout, plan, opened.image().topics)
        log_dirs = opened.replica_control().places(plan.keys()).current
        cost = plan_cost(layout, plan)
        moves = log_dir_moves(layout, whole, log_dirs)
        steps = played(opened, layout, whole, playing)
        if output == Output.KAFKA:
            costs = (*cost_lines(layout, cost, playing.throttle), *log_dir_move_lines(moves, whole))
            print_lines([*costs, "", *step_lines(steps), *_log_dir_lines(steps)])
        else:
            costs_as_rows = (
                *cost_rows(layout, plan, cost, playing.throttle),
                *log_dir_move_rows(moves, whole, log_dirs),
            )
            rows = (*costs_as_rows, *step_rows(steps, playing.throttle), *_log_dir_rows(steps))
            print_rows(output, ((None, row) for row in rows))


def played(cluster: "Cluster", layout: "Layout", plan: "Reassignment", playing: Playing) -> list["Step"]:
    """The steps of a plan, in the parts that --execute has."""
    from kafkapy.metadata.reassignment.log_dir_tally import LogDirTally
    from kafkapy.metadata.reassignment.plan_batches import batches
    from kafkapy.metadata.reassignment.simulation import simulate

    parts = batches(layout, plan.replicas, playing.batch_size, playing.batch_bytes)
    control = cluster.replica_control()
    log_dirs = LogDirTally(layout, plan, control.places().current if plan.log_dirs else {})
    return list(simulate(control.simulated(plan.replicas), layout, parts, log_dirs))


def _log_dir_lines(steps: list["Step"]) -> "Iterator[str]":
    """What the log dirs have that take part in moves between them."""
    from kafkapy.output.aligned import aligned
    from kafkapy.output.plan_lines import human

    rows = [("broker", "before", "at peak", "after", "log dir")]
    for broker, path in steps[0].log_dirs:
        disks = [step.log_dirs[broker, path] for step in steps]
        rows.append((str(broker), human(disks[0]), human(max(disks)), human(disks[-1]), path))
    if len(rows) > 1:
        yield ""
        yield from aligned(rows)


def _log_dir_rows(steps: list["Step"]) -> "Iterator[dict[str, Any]]":
    for number, step in enumerate(steps):
        for (broker, path), disk in step.log_dirs.items():
            yield {"type": "step_log_dir", "step": number, "broker": broker, "log_dir": path, "disk": disk}


def _check(layout: "Layout", plan: "Assignment", topics: "Mapping[str, TopicImage]") -> None:
    """As Kafka's --execute does, before it begins."""
    missing = [partition for partition in sorted(plan) if partition not in layout.replicas]
    if missing:
        message = f"Unable to find partition: {', '.join(map(str, missing))}"
        refused = KafkaError("UnknownTopicOrPartitionException", message)
        refused.hint = partition_hint(*missing[0], topics)
        raise refused
    for broker in sorted({broker for replicas in plan.values() for broker in replicas}):
        if broker not in layout.brokers:
            unknown = KafkaError("AdminCommandFailedException", f"Unknown broker id {broker}")
            raise hinting_number(unknown, "broker", broker, layout.brokers)
    given = {
        broker for partition, after in plan.items() for broker in set(after).difference(layout.replicas[partition])
    }
    for broker in sorted(given.intersection(layout.fenced)):
        warn(f"kafkapy: broker {broker} is down: --execute refuses this plan until it is up")
