"""``kafkapy reassign-partitions --execute``: a plan, carried out."""

from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output

from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.reassignment.layout import Layout
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment


class Execution(NamedTuple):
    """What the options ask for."""

    path: str
    additional: bool
    throttle: int | None
    log_dirs_throttle: int | None
    disallow_factor_change: bool
    rollback_path: str | None
    batch_size: int | None
    batch_bytes: int | None
    no_wait: bool
    no_elect: bool


def run_execute(chosen: "Selection", asked: Execution, output: Output) -> None:
    """Check the plan, keep the way back, then begin and carry out the moves."""
    if asked.no_wait and (asked.batch_size is not None or asked.batch_bytes is not None):
        raise UsageError("--batch-size and --batch-bytes wait for each batch: leave --no-wait out")
    from kafkapy.backends.cluster_layout import cluster_layout
    from kafkapy.backends.selection import open_cluster

    plan = read_plan(asked.path)
    opened = open_directory(chosen, "executing a reassignment")
    try:
        _prepare(opened, plan, asked, output)
        layout = cluster_layout(open_cluster(chosen), as_planned=True)
        nothing_to_do = _is_done(opened, plan, layout)
        _run(opened, plan, layout, asked, output)
        if not asked.no_wait:
            done = _counted(len(plan.replicas), "reassignment")
            warn(f"kafkapy: {done} complete{': nothing was to be done' if nothing_to_do else ''}")
            _elect(opened, plan, asked.no_elect)
    finally:
        opened.close()


def read_plan(path: str, to_execute: bool = True) -> "Reassignment":
    """A plan from a file, its log dirs as they stand there."""
    from kafkapy.metadata.reassignment.reassignment_json import parse_reassignment

    with open(path, encoding="utf-8") as file:
        return parse_reassignment(file.read(), to_execute)


def open_directory(chosen: "Selection", what: str) -> "DirectoryCluster":
    """The cluster directory, to be changed."""
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.errors import Unsupported

    opened = open_cluster_for_writing(chosen)
    if not isinstance(opened, DirectoryCluster):
        raise Unsupported(what, "--log-dirs", "these directories are only read; use --cluster for one to write")
    return opened


def _prepare(cluster: "DirectoryCluster", plan: "Reassignment", asked: Execution, output: Output) -> None:
    """All that comes before the first move: checks, the way back, throttles."""
    from kafkapy.backends.cluster_layout import replica_log_dirs
    from kafkapy.backends.reassigning import check, check_accepted, missing_brokers
    from kafkapy.backends.rollback_file import current_assignment, keep_rollback_file
    from kafkapy.metadata.reassignment.reassignment_json import format_reassignment
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import current_lines

    for broker in missing_brokers(cluster, plan.replicas):
        if broker in cluster.brokers.known:
            state = cluster.brokers[broker].state
            warn(f"kafkapy: broker {broker} is {state}: start it first (kafkapy cluster start-broker {broker})")
    check(cluster, plan, asked.additional)
    log_dirs = replica_log_dirs(cluster)
    if output == Output.KAFKA:
        print_lines(current_lines(format_reassignment(current_assignment(cluster.image(), plan.replicas), log_dirs)))
    check_accepted(cluster, plan.replicas, not asked.disallow_factor_change)
    kept = keep_rollback_file(cluster.image(), log_dirs, plan, asked.path, asked.rollback_path)
    found = "kept" if kept.is_new else "found, from when this plan was begun"
    warn(f"kafkapy: the way back is {found}: {kept.path}")
    _throttle(cluster, plan, asked, output)


def _throttle(cluster: "DirectoryCluster", plan: "Reassignment", asked: Execution, output: Output) -> None:
    from kafkapy.backends.rollback_file import current_assignment
    from kafkapy.metadata.reassignment.throttles import log_dir_throttle_changes, moves, throttle_changes
    from kafkapy.metadata.reassignment.under_way import reassignments_under_way
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import throttle_lines

    image = cluster.image()
    if asked.throttle is not None:
        current = current_assignment(image, plan.replicas)
        moving = moves(reassignments_under_way(image), plan.replicas, current)
        cluster.apply(*throttle_changes(moving, asked.throttle))
    if asked.log_dirs_throttle is not None:
        brokers = {broker for _, broker in plan.log_dirs}
        cluster.apply(*log_dir_throttle_changes(brokers, asked.log_dirs_throttle))
    if output == Output.KAFKA:
        print_lines(throttle_lines(asked.throttle, asked.log_dirs_throttle))


def _run(cluster: "DirectoryCluster", plan: "Reassignment", layout: "Layout", asked: Execution, output: Output) -> None:
    from kafkapy.backends.cluster_layout import replica_log_dirs
    from kafkapy.backends.reassigning import execute, in_parts
    from kafkapy.metadata.reassignment.plan_cost import bytes_moved, log_dir_moves
    from kafkapy.output.printing import print_rows
    from kafkapy.output.progress import Progress
    from kafkapy.output.reassignment_lines import started_rows

    parts = in_parts(layout, plan, asked.batch_size, asked.batch_bytes)
    between_log_dirs = sum(log_dir_moves(layout, plan, replica_log_dirs(cluster)).values())
    progress = Progress(bytes_moved(layout, plan.replicas) + between_log_dirs, quiet_stdout=len(parts) == 1)
    rows = []
    try:
        for number, part in enumerate(execute(cluster, parts, not asked.no_wait, progress.advance), 1):
            if len(parts) > 1:
                warn(f"kafkapy: batch {number} of {len(parts)}: {_counted(len(part.replicas), 'partition')}")
            if output == Output.KAFKA:
                print_rows(output, started_rows(part))
            rows += list(started_rows(part))
    finally:
        progress.close()
        if output != Output.KAFKA:
            print_rows(output, rows)


def _is_done(cluster: "DirectoryCluster", plan: "Reassignment", layout: "Layout") -> bool:
    from kafkapy.backends.cluster_layout import replica_log_dirs
    from kafkapy.metadata.reassignment.plan_cost import log_dir_moves

    states = {partition: cluster.replicas.registration(partition) for partition in plan.replicas}
    are_there = all(state.replicas == plan.replicas[each] for each, state in states.items())
    under_way = any(state.is_reassigning for state in states.values())
    return are_there and not under_way and not log_dir_moves(layout, plan, replica_log_dirs(cluster))


def _elect(cluster: "DirectoryCluster", plan: "Reassignment", no_elect: bool) -> None:
    """Let the preferred leaders take over, as the cost of the plan and its simulation have it."""
    from kafkapy.backends.leader_election import elect_leaders, partitions_in_need
    from kafkapy.metadata.elections import PREFERRED

    in_need = plan.replicas.keys() & set(partitions_in_need(cluster.image(), PREFERRED))
    if no_elect:
        if in_need:
            them = _counted(len(in_need), "partition")
            warn(f"kafkapy: {them} not led by the preferred leader (kafkapy leader-election elects it)")
        return
    results = elect_leaders(cluster, PREFERRED, in_need)
    elected = sum(each.error is None for each in results)
    if elected:
        warn(f"kafkapy: preferred leaders elected for {_counted(elected, 'partition')} (--no-elect leaves them)")
    for each in results:
        if each.error is not None:
            leader = "nobody" if each.leader is None else f"broker {each.leader}"
            preferred = cluster.replicas.registration(each.partition).preferred_replica
            warn(f"kafkapy: {each.partition} is led by {leader}: its preferred leader {preferred} is not in sync")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
