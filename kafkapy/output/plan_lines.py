"""What a plan costs and what it looks like when it is played: short tables of text, and typed rows.

The text is for people and goes beside Kafka's lines; the rows have everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.balance import Imbalance
from kafkapy.metadata.reassignment.layout import Assignment, Layout
from kafkapy.metadata.reassignment.plan_cost import PlanCost, seconds_to_copy
from kafkapy.metadata.reassignment.reassignment_json import LogDirs, Reassignment
from kafkapy.metadata.reassignment.simulation import Step
from kafkapy.output.aligned import aligned

MOST_BROKERS = 20
BROKER_COLUMNS = ("broker", "in", "out", "disk", "at peak", "after", "replicas", "leaders")
STEP_COLUMNS = (*("batch", "step", "moving", "stalled", "copied", "fullest disk", "leaders", "ISR sizes", "URP"),)
STALLED = STEP_COLUMNS.index("stalled")
LogDirMoves = Mapping[tuple[TopicPartition, int], int]


def cost_lines(layout: Layout, cost: PlanCost, throttle: int | None) -> Iterator[str]:
    """The cost of a plan as a short table, 80 columns wide at most."""
    if not cost.partitions:
        yield f"Nothing to do: the plan changes the replicas of none of {len(layout.replicas)} partitions."
        return
    yield f"The plan changes {cost.partitions} of {len(layout.replicas)} partitions:"
    yield f"  replicas moved   {cost.replicas_moved}"
    yield f"  bytes moved      {cost.bytes_moved} ({human(cost.bytes_moved)})"
    yield f"  leaders moved    {cost.leaders_moved}"
    yield f"  rack violations  {cost.rack_violations_before} before, {cost.rack_violations_after} after"
    yield f"  imbalance        before: {_imbalance(cost.imbalance_before)}"
    yield f"                   after:  {_imbalance(cost.imbalance_after)}"
    yield f"                   (farthest from its share, {_counted(cost)};"
    yield "                   leaders: who leads now, and when --execute has elected)"
    if throttle is not None:
        yield f"  time             {duration(cost.seconds(throttle))} at {throttle} B/s for each broker"
    yield from _broker_lines(cost)


def log_dir_move_lines(moves: LogDirMoves, plan: Reassignment) -> Iterator[str]:
    """What goes from one log dir to another of the same broker."""
    if moves:
        yield (
            f"Between log dirs of a broker {_count(len(moves), 'replica')} with {human(sum(moves.values()))} "
            f"{'goes' if len(moves) == 1 else 'go'}"
        )
        yield "(not in the table above; each needs its size on the new log dir):"
    for partition, broker in list(moves)[:MOST_BROKERS]:
        yield f"  {partition} on broker {broker} to {plan.log_dirs[partition, broker]}"
    if len(moves) > MOST_BROKERS:
        yield f"  and {len(moves) - MOST_BROKERS} more (--output table shows all)"


def log_dir_move_rows(moves: LogDirMoves, plan: Reassignment, current: LogDirs) -> Iterator[dict[str, Any]]:
    """A row for each replica that goes to another log dir of its broker."""
    for (partition, broker), size in moves.items():
        yield {
            "type": "log_dir_move",
            "topic": partition.topic,
            "partition": partition.partition,
            "broker": broker,
            "log_dir_before": current[partition, broker],
            "log_dir": plan.log_dirs[partition, broker],
            "bytes": size,
        }


def cost_rows(layout: Layout, plan: Assignment, cost: PlanCost, throttle: int | None) -> Iterator[dict[str, Any]]:
    """The plan and its cost: rows of partitions, of the whole, of brokers, and of pairs of brokers."""
    for partition in sorted(plan):
        yield _partition_row(layout, partition, plan[partition])
    yield {
        "type": "plan_cost",
        "partitions": cost.partitions,
        "replicas_moved": cost.replicas_moved,
        "bytes_moved": cost.bytes_moved,
        "leaders_moved": cost.leaders_moved,
        "rack_violations_before": cost.rack_violations_before,
        "rack_violations_after": cost.rack_violations_after,
        "counted_before": list(cost.counted_before),
        "counted_after": list(cost.counted_after),
        **{f"{name}_imbalance_before": round(each, 6) for name, each in cost.imbalance_before._asdict().items()},
        **{f"{name}_imbalance_after": round(each, 6) for name, each in cost.imbalance_after._asdict().items()},
        "throttle": throttle,
        "seconds": None if throttle is None else round(cost.seconds(throttle), 3),
    }
    for broker, each in cost.brokers.items():
        yield {"type": "broker_cost", "broker": broker, **each._asdict()}
    for (source, target), size in cost.pairs.items():
        yield {"type": "pair_cost", "source": source, "target": target, "bytes": size}


def step_lines(steps: Iterable[Step]) -> Iterator[str]:
    """The steps of a plan that is played, one a line; URP are under-replicated partitions."""
    rows: list[tuple[str, ...]] = [STEP_COLUMNS]
    for step in steps:
        fullest = max(step.brokers, key=lambda broker: (step.brokers[broker].disk, -broker), default=None)
        leads = [state.leaders for state in step.brokers.values()]
        rows.append(
            (
                str(step.batch),
                step.name,
                str(step.moving),
                str(step.stalled),
                human(sum(step.pairs.values())),
                "" if fullest is None else f"{human(step.brokers[fullest].disk)} on {fullest}",
                f"{min(leads, default=0)}-{max(leads, default=0)}",
                ", ".join(f"{size}: {count}" for size, count in step.isr_sizes.items()),
                str(step.under_replicated),
            )
        )
    if all(row[STALLED] == "0" for row in rows[1:]):
        rows = [(*row[:STALLED], *row[STALLED + 1 :]) for row in rows]
    yield from aligned(rows, right=True)


def step_rows(steps: Iterable[Step], throttle: int | None) -> Iterator[dict[str, Any]]:
    """A row for each step, and one for each broker after it."""
    for number, step in enumerate(steps):
        yield {
            "type": "step",
            "step": number,
            "batch": step.batch,
            "name": step.name,
            "moving": step.moving,
            "stalled": step.stalled,
            "under_replicated": step.under_replicated,
            "without_leader": step.without_leader,
            "isr_sizes": {str(size): count for size, count in step.isr_sizes.items()},
            "bytes_copied": sum(step.pairs.values()),
            "seconds": None if throttle is None else round(seconds_to_copy(step.pairs, throttle), 3),
        }
        for broker, state in step.brokers.items():
            yield {"type": "step_broker", "step": number, "broker": broker, **state._asdict()}


def human(size: float) -> str:
    """Bytes as people say them, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """A time in the two largest units that matter."""
    whole = int(seconds + 0.5)
    for unit, name, smaller, short in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            return f"{whole // unit} {name} {whole % unit // smaller} {short}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"


def _partition_row(layout: Layout, partition: TopicPartition, after: tuple[int, ...]) -> dict[str, Any]:
    before = layout.replicas[partition]
    added = [broker for broker in after if broker not in before]
    return {
        "type": "planned_partition",
        "topic": partition.topic,
        "partition": partition.partition,
        "replicas": list(after),
        "replicas_before": list(before),
        "adding": added,
        "removing": [broker for broker in before if broker not in after],
        "bytes": len(added) * layout.size(partition),
    }


def _imbalance(found: Imbalance) -> str:
    return f"replicas {found.replicas:.1%}, leaders {found.leaders:.1%}, bytes {found.bytes:.1%}"


def _counted(cost: PlanCost) -> str:
    """Of how many brokers the imbalance is; those that the plan empties count before it only."""
    before, after = len(cost.counted_before), len(cost.counted_after)
    return f"of {before} up" if before == after else f"of {before} up, then of {after} not emptied"


def _broker_lines(cost: PlanCost) -> Iterator[str]:
    busiest = sorted(cost.brokers, key=lambda b: (-cost.brokers[b].bytes_in - cost.brokers[b].bytes_out, b))
    rows: list[tuple[str, ...]] = [BROKER_COLUMNS]
    for broker in sorted(busiest[:MOST_BROKERS]):
        each = cost.brokers[broker]
        sizes = (each.bytes_in, each.bytes_out, each.disk_before, each.disk_peak, each.disk_after)
        replicas = f"{each.replicas_before}->{each.replicas_after}"
        rows.append((str(broker), *map(human, sizes), replicas, f"{each.leaders_before}->{each.leaders_after}"))
    yield from aligned(rows, right=True)
    if len(busiest) > MOST_BROKERS:
        yield f"and {len(busiest) - MOST_BROKERS} brokers with less to do (--output table shows all)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
