"""``kafkapy reassign-partitions --cancel``: taking back what of a plan is under way."""

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.output.output_format import Output

from .reassign_execute import apply_configs, read_plan
from .reassign_verify import clear_throttles, move_states
from .tool_errors import tell_missing_partitions, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.replica_control import ReplicaDirs
    from kafkapy.backends.selection import Selection
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.metadata.reassignment.layout import Assignment
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment


class Cancellation(NamedTuple):
    """What the options ask for; ``where`` are those that name the cluster."""

    path: str
    preserve_throttles: bool
    timeout_ms: int
    where: str


def run_cancel(chosen: "Selection", asked: Cancellation, output: Output) -> None:
    """Take back what of a plan is under way, then the throttles; tell what stays changed."""
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.output.printing import print_rows
    from kafkapy.output.reassignment_lines import NO_MOVES, cancelled_rows, moving_rows

    plan = read_plan(asked.path, to_execute=False)
    with closing(open_cluster_for_writing(chosen)) as opened:
        control = opened.replica_control()
        rollback = _rollback_file(opened, plan, asked.path) if control.knows_topics else None
        cancelled = set(control.under_way(plan.replicas.keys()))
        control.cancel(cancelled)
        if output == Output.KAFKA:
            print_rows(output, cancelled_rows(cancelled))
        kept = _moved_back(opened, plan, asked.timeout_ms)
        moving = list(moving_rows(kept))
        print_rows(output, moving if output == Output.KAFKA else [*cancelled_rows(cancelled), *moving])
        if rollback is not None:
            _tell_what_stays(opened, rollback, asked.where)
        elif control.knows_topics:
            _tell_what_may_stay(opened, plan, cancelled)
        if control.knows_topics:
            tell_missing_partitions(sorted(plan.replicas), opened)
        if output == Output.KAFKA and not kept:
            _print_open_line(NO_MOVES)
        if not asked.preserve_throttles:
            clear_throttles(opened, plan, output, partial(apply_configs, opened))


def _moved_back(cluster: "Cluster", plan: "Reassignment", timeout_ms: int) -> "ReplicaDirs":
    """Give up the moves between log dirs that are under way: each replica stays where it is."""
    from kafkapy.metadata.reassignment.verification import IN_PROGRESS

    moving = [each for each in move_states(cluster, plan) if each.state == IN_PROGRESS]
    stay = {(each.partition, each.broker_id): each.current for each in moving if each.current is not None}
    begun: ReplicaDirs = {}
    for some in cluster.replica_control().begin_log_dir_moves(stay, timeout_ms):
        begun |= some
    return begun


def _print_open_line(text: str) -> None:
    from kafkapy.output.sink import Sink

    Sink().write(text.encode())


def _rollback_file(cluster: "Cluster", plan: "Reassignment", path: str) -> str | None:
    """The file that --execute kept; a plan that does not fit the cluster was never executed."""
    from kafkapy.backends.rollback_file import find_rollback_file

    topics = cluster.image().topics
    if any(each.topic not in topics or each.partition not in topics[each.topic].partitions for each in plan.replicas):
        return None
    places = cluster.replica_control().places(plan.replicas.keys())
    return find_rollback_file(cluster.image(), places.current, plan, path)


def _tell_what_stays(cluster: "Cluster", rollback: str, where: str) -> None:
    from shlex import quote

    from kafkapy.metadata.reassignment.left_changed import left_changed

    before = read_plan(rollback)
    places = cluster.replica_control().places(before.replicas.keys())
    found = left_changed(cluster.image(), places.current, before)
    if found.replicas:
        warn(
            f"kafkapy: already complete, so the replicas differ from before: {_named(found.replicas, before.replicas)}"
        )
    if found.order:
        warn(
            f"kafkapy: the old replicas stay, in a different order than before: {_named(found.order, before.replicas)}"
        )
    if found.log_dirs:
        named = ", ".join(f"{each} on broker {broker} in {path}" for (each, broker), path in found.log_dirs.items())
        warn(f"kafkapy: already moved, so the replicas stay in a different log dir than before: {named}")
    if any(found):
        command = f"kafkapy reassign-partitions{where} --execute --reassignment-json-file {quote(rollback)}"
        warn(f"kafkapy: to put them back: {command}")


def _tell_what_may_stay(cluster: "Cluster", plan: "Reassignment", cancelled: "set[TopicPartition]") -> None:
    from kafkapy.metadata.reassignment.left_changed import maybe_changed

    found = maybe_changed(cluster.image(), plan, cancelled)
    if found.replicas:
        warn(f"kafkapy: not under way, so they stay as they are in the plan: {_named(found.replicas)}")
    if found.order:
        warn(f"kafkapy: the old replicas stay, maybe in a different order than before: {_named(found.order)}")
    if any(found):
        warn("kafkapy: how they were before is unknown: there is no rollback file beside this plan")


def _named(replicas: "Assignment", before: "Assignment | None" = None) -> str:
    """Partitions with their replicas."""
    told = []
    for partition, found in replicas.items():
        was = "" if before is None else f", before {_ids(before[partition])}"
        told.append(f"{partition} ({_ids(found)}{was})")
    return "; ".join(told)


def _ids(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers))
