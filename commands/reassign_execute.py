"""``kafkapy reassign-partitions --execute``: a plan, carried out."""

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.counted import counted
from kafkapy.output.output_format import Output

from .json_files import java_string, read_json
from .reassign_left import Stage
from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.metadata.changes import AlterConfigs
    from kafkapy.metadata.reassignment.layout import Layout
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment
    from kafkapy.metadata.topics_image import PartitionRegistration


class Execution(NamedTuple):
    """What the options ask for; ``where`` are those that name the cluster."""

    path: str
    additional: bool
    throttle: int | None
    log_dirs_throttle: int | None
    disallow_factor_change: bool
    rollback_path: str | None
    batch_size: int | None
    batch_bytes: int | None
    wait: bool | None
    no_elect: bool
    timeout_ms: int
    where: str

    @property
    def has_batches(self) -> bool:
        return self.batch_size is not None or self.batch_bytes is not None

    @property
    def is_throttled(self) -> bool:
        return self.throttle is not None or self.log_dirs_throttle is not None

    def election_of(self, path: str) -> str:
        """The command that elects the preferred leaders of a plan's partitions."""
        from shlex import quote

        return f"kafkapy leader-election{self.where} --election-type preferred --path-to-json-file {quote(path)}"


def run_execute(chosen: "Selection", asked: Execution, output: Output) -> None:
    """Check the plan, keep the way back, then begin the moves; wait for them where nobody else carries them out, where
    it is asked for, and between batches."""
    if asked.wait is False and asked.has_batches:
        raise UsageError("--batch-size and --batch-bytes wait for each batch: leave --no-wait out")
    from kafkapy.backends.selection import open_cluster_for_writing

    plan = read_plan(asked.path)
    with closing(open_cluster_for_writing(chosen)) as opened:
        waits = asked.has_batches or (not opened.replica_control().goes_on if asked.wait is None else asked.wait)
        _prepare(opened, plan, asked, output)
        layout = _layout(chosen, opened, plan) if waits else None
        nothing_to_do = layout is not None and _is_done(opened, plan, layout)
        _run(opened, plan, layout, asked, output)
        if waits:
            done = counted(len(plan.replicas), "reassignment")
            warn(f"kafkapy: {done} {'already complete: all replicas were in place' if nothing_to_do else 'complete'}")
            _elect(opened, plan, asked)


def read_plan(path: str, to_execute: bool = True) -> "Reassignment":
    """A plan from a file, its log dirs as they stand there."""
    from kafkapy.metadata.reassignment.reassignment_json import EXAMPLE, parse_reassignment

    return read_json(path, lambda data: parse_reassignment(java_string(data), to_execute), EXAMPLE)


def _layout(chosen: "Selection", opened: "Cluster", plan: "Reassignment") -> "Layout":
    """The cluster as batches see it: who has what, and how large. What of the plan is under way already is told."""
    from kafkapy.backends.cluster_layout import cluster_layout
    from kafkapy.backends.selection import reopened

    with reopened(chosen, opened) as read:
        layout = cluster_layout(read, in_place=True)
        _tell_what_is_under_way(read, plan, layout)
    return layout


def _tell_what_is_under_way(cluster: "Cluster", plan: "Reassignment", layout: "Layout") -> None:
    from kafkapy.backends.cluster_layout import held_by_new_replicas
    from kafkapy.metadata.reassignment.plan_cost import bytes_moved
    from kafkapy.metadata.reassignment.verification import targets_of
    from kafkapy.output.plan_lines import human

    going = {
        partition: plan.replicas[partition]
        for partition, state in _states(cluster, plan).items()
        if state.is_reassigning and targets_of(state) == plan.replicas[partition]
    }
    if going:
        size = bytes_moved(layout, going)
        left = max(0, size - held_by_new_replicas(cluster, layout, going))
        them = counted(len(going), "reassignment")
        warn(f"kafkapy: {them} already under way: {human(left)} of {human(size)} left to copy")


def _prepare(cluster: "Cluster", plan: "Reassignment", asked: Execution, output: Output) -> None:
    """All that comes before the first move: checks, the way back, throttles."""
    from kafkapy.backends.rollback_file import current_assignment, keep_rollback_file
    from kafkapy.metadata.reassignment.reassignment_json import format_reassignment
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import current_lines

    control = cluster.replica_control()
    control.check(plan, asked.additional, lambda line: warn(f"kafkapy: {line}"))
    log_dirs = control.places(plan.replicas.keys()).current
    if output == Output.KAFKA:
        print_lines(current_lines(format_reassignment(current_assignment(cluster.image(), plan.replicas), log_dirs)))
    control.check_accepted(plan.replicas, not asked.disallow_factor_change)
    kept = keep_rollback_file(cluster.image(), log_dirs, plan, asked.path, asked.rollback_path)
    found = "kept" if kept.is_new else "already there, from when this plan was started"
    warn(f"kafkapy: the way back is {found}: {kept.path}")
    if kept.is_new:
        _tell_who_is_not_restored(cluster, plan, asked, kept.path)
    _throttle(cluster, plan, asked, output)


def _states(cluster: "Cluster", plan: "Reassignment") -> "dict[TopicPartition, PartitionRegistration]":
    topics = cluster.image().topics
    return {partition: topics[partition.topic].partitions[partition.partition] for partition in sorted(plan.replicas)}


def _tell_who_is_not_restored(cluster: "Cluster", plan: "Reassignment", asked: Execution, path: str) -> None:
    """A reassignment sets no leaders: where another than the preferred one leads, the way back does not restore it."""
    from kafkapy.metadata.topics_image import NO_LEADER

    states = _states(cluster, plan)
    led = {p: state.leader for p, state in states.items() if state.leader not in (state.preferred_replica, NO_LEADER)}
    if led:
        named = ", ".join(f"{partition} (by broker {leader})" for partition, leader in led.items())
        warn(
            "kafkapy: the way back does not restore leaders, since a reassignment cannot set them; not led by their "
            f"preferred leader now: {named}"
        )
        warn(
            "kafkapy: when the way back is executed, the preferred leaders are elected; with --no-elect or "
            f"--no-wait, elect them with: {asked.election_of(path)}"
        )


def _throttle(cluster: "Cluster", plan: "Reassignment", asked: Execution, output: Output) -> None:
    """Set the throttles; each line tells of what has been set by then."""
    from kafkapy.backends.rollback_file import current_assignment
    from kafkapy.metadata.reassignment.throttles import log_dir_throttle_changes, moves, throttle_changes
    from kafkapy.output.printing import print_lines
    from kafkapy.output.reassignment_lines import MUST_VERIFY, between_brokers_line, between_log_dirs_line

    def tell(line: str) -> None:
        if output == Output.KAFKA:
            print_lines([line])

    if asked.is_throttled:
        tell(MUST_VERIFY)
    if asked.throttle is not None:
        current = current_assignment(cluster.image(), plan.replicas)
        moving = moves(cluster.replica_control().under_way(), plan.replicas, current)
        apply_configs(cluster, throttle_changes(moving, asked.throttle))
        tell(between_brokers_line(asked.throttle))
    if asked.log_dirs_throttle is not None:
        brokers = {broker for _, broker in plan.log_dirs}
        apply_configs(cluster, log_dir_throttle_changes(brokers, asked.log_dirs_throttle))
        tell(between_log_dirs_line(asked.log_dirs_throttle))


def apply_configs(cluster: "Cluster", changes: "list[AlterConfigs]") -> None:
    """Change configs; an error comes as it does out of Kafka's client."""
    from kafkapy.backends.plan_checks import from_admin

    try:
        cluster.apply(*changes)
    except KafkaError as error:
        raise from_admin(error) from None


def _run(cluster: "Cluster", plan: "Reassignment", layout: "Layout | None", asked: Execution, output: Output) -> None:
    """Execute the plan; without a layout nobody waits, and it goes as a whole."""
    from kafkapy.backends.plan_execution import Completed, HowToExecute, execute, in_parts
    from kafkapy.output.printing import print_rows
    from kafkapy.output.progress import Progress
    from kafkapy.output.reassignment_lines import started_rows

    parts = [plan] if layout is None else in_parts(layout, plan, asked.batch_size, asked.batch_bytes)
    how = HowToExecute(layout is not None, asked.timeout_ms, not asked.disallow_factor_change)
    progress = Progress(0 if layout is None else _bytes(cluster, plan, layout), quiet_stdout=len(parts) == 1)
    rows, stage = [], Stage(len(parts))
    try:
        for each in execute(cluster.replica_control(), parts, how, progress.advance):
            if isinstance(each, Completed):
                stage.complete = each.part
                continue
            stage.begun = each.part
            if len(parts) > 1 and each.partitions:
                progress.close()
                count = counted(len(each.partitions), "partition")
                warn(f"kafkapy: batch {each.part} of {len(parts)}: {count}")
            if output == Output.KAFKA:
                print_rows(output, started_rows(each.partitions, each.log_dirs))
            rows += list(started_rows(each.partitions, each.log_dirs))
    except BaseException as error:
        progress.close()  # nothing else is written on its line
        if isinstance(error, KeyboardInterrupt):
            warn("kafkapy: interrupted")
        stage.tell(asked.is_throttled)
        raise
    finally:
        progress.close()
        if output != Output.KAFKA:
            print_rows(output, rows)


def _bytes(cluster: "Cluster", plan: "Reassignment", layout: "Layout") -> int:
    """How much there is to copy."""
    from kafkapy.metadata.reassignment.plan_cost import bytes_moved, log_dir_moves

    current = cluster.replica_control().places(plan.replicas.keys()).current if plan.log_dirs else {}
    return bytes_moved(layout, plan.replicas) + sum(log_dir_moves(layout, plan, current).values())


def _is_done(cluster: "Cluster", plan: "Reassignment", layout: "Layout") -> bool:
    from kafkapy.metadata.reassignment.plan_cost import log_dir_moves

    states = _states(cluster, plan)
    are_there = all(state.replicas == plan.replicas[each] for each, state in states.items())
    if not are_there or any(state.is_reassigning for state in states.values()):
        return False
    current = cluster.replica_control().places(plan.replicas.keys()).current if plan.log_dirs else {}
    return not log_dir_moves(layout, plan, current)


def _elect(cluster: "Cluster", plan: "Reassignment", asked: Execution) -> None:
    """Let the preferred leaders take over, as the cost of the plan and its simulation have it."""
    from kafkapy.backends.leader_election import elect_leaders, partitions_in_need
    from kafkapy.metadata.elections import PREFERRED

    in_need = plan.replicas.keys() & set(partitions_in_need(cluster.image(), PREFERRED))
    if asked.no_elect:
        if in_need:
            them = counted(len(in_need), "partition")
            warn(f"kafkapy: {them} not led by the preferred leader; to elect it: {asked.election_of(asked.path)}")
        return
    results = elect_leaders(cluster, PREFERRED, in_need)
    elected = sum(each.error is None for each in results)
    if elected:
        warn(
            f"kafkapy: preferred leaders elected for {counted(elected, 'partition')} (--no-elect leaves leaders as "
            "they are)"
        )
    states = _states(cluster, plan)
    for each in results:
        if each.is_failure:
            leader = "nobody" if each.leader is None else f"broker {each.leader}"
            preferred = states[each.partition].preferred_replica
            warn(f"kafkapy: {each.partition} is led by {leader}: its preferred leader {preferred} is not in sync")
