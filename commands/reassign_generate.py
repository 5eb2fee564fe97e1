"""``kafkapy reassign-partitions --generate``: plans and what they cost."""

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.metadata.reassignment.strategy import Strategy
from kafkapy.near_misses import hinting, missing_number
from kafkapy.output.output_format import Output

from .json_files import java_string, read_json
from .reassign_layout import current_layout
from .tool_errors import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.reassignment.layout import Layout
    from kafkapy.metadata.reassignment.plan_jobs import Job
    from kafkapy.metadata.reassignment.plans import Planned

    from .reassign_simulate import Playing


class Generation(NamedTuple):
    """What the options ask for."""

    topics_file: str | None
    broker_list: str | None
    disable_rack_aware: bool
    drain: list[int] | None
    add: list[int] | None
    replication_factor: int | None
    rebalance: bool
    demote: list[int] | None
    fix_racks: bool
    strategy: Strategy | None
    tolerance: float | None
    seed: int | None


def run_generate(chosen: "Selection", asked: Generation, save: str | None, playing: "Playing", output: Output) -> None:
    """Plan, and print the plan and its cost."""
    from kafkapy.backends.selection import open_cluster

    if asked.tolerance is not None and not 0 <= asked.tolerance <= 1:
        raise UsageError(f"--tolerance must be between 0 and 1, not {asked.tolerance}")
    job = _job(asked)
    strategy = asked.strategy or (Strategy.KAFKA if job.is_kafkas else Strategy.MINIMAL)
    with closing(open_cluster(chosen)) as opened:
        layout = current_layout(opened, as_planned=strategy is not Strategy.KAFKA)
        planned = _plan(layout, job, strategy, asked)
        if save is not None:
            _save(save, planned)
        _print(opened, layout, planned, playing, output)


def _job(asked: Generation) -> "Job":
    from kafkapy.metadata.reassignment.plan_jobs import Job
    from kafkapy.metadata.reassignment.reassignment_json import TOPICS_EXAMPLE, parse_brokers, parse_topics

    brokers = None if asked.broker_list is None else parse_brokers(asked.broker_list)
    topics = None
    if asked.topics_file is not None:
        listed = read_json(asked.topics_file, lambda data: parse_topics(java_string(data)), TOPICS_EXAMPLE)
        topics = frozenset(listed)
    return Job(
        topics,
        brokers,
        frozenset(asked.drain or ()),
        frozenset(asked.add or ()),
        asked.replication_factor,
        asked.rebalance,
        frozenset(asked.demote or ()),
        asked.fix_racks,
        not asked.disable_rack_aware,
    )


def _plan(layout: "Layout", job: "Job", strategy: Strategy, asked: Generation) -> "Planned":
    from random import Random

    from kafkapy.metadata.reassignment.plans import make_plan

    known = {partition.topic for partition in layout.replicas}
    for topic in sorted(job.topics or ()):
        if topic not in known:
            name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
            error = KafkaError("UnknownTopicOrPartitionException", f"{name}: Topic {topic} not found.")
            raise hinting(error, "topic", topic, known)
    if job.is_kafkas:
        _tell_of_brokers_left_out(layout, job)
    seed = asked.seed
    if seed is None and strategy is not Strategy.KAFKA:  # Kafka's draw is only compared with, and the plan the same
        seed = 0
    return make_plan(layout, job, strategy, asked.tolerance, Random(seed))


def _tell_of_brokers_left_out(layout: "Layout", job: "Job") -> None:
    """Kafka's job leaves brokers that are not up out without a word."""
    for broker in job.broker_list or ():
        if broker not in layout.brokers:
            warn(f"kafkapy: left out of --broker-list: {missing_number('broker', broker, layout.brokers)}")
        elif broker in layout.fenced:
            warn(f"kafkapy: broker {broker} of --broker-list is down, and left out")


def _save(path: str, planned: "Planned") -> None:
    """Write the plan; one of nothing is none, since --execute takes none that is empty. What is there already is kept:
    it may be a plan that is being executed, which --verify and --cancel need."""
    import os

    from kafkapy.log.files import Files
    from kafkapy.metadata.reassignment.reassignment_json import format_reassignment

    if not planned.plan:
        there = "; the existing file holds another plan" if os.path.exists(path) else ""
        warn(f"kafkapy: --save: there is nothing to do, so {path} is not written{there}")
        return
    data = format_reassignment(planned.plan).encode() + b"\n"
    try:
        if os.path.exists(path) and not _holds(path, data):
            raise KafkapyError(f"--save: {path} already exists, and is not this plan: name another file, or remove it")
        Files().write_atomic(os.path.abspath(path), data)
    except OSError as error:
        raise KafkapyError(f"--save: cannot write {path}: {error.strerror}") from None


def _holds(path: str, data: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(data) + 1) == data


def _print(opened: "Cluster", layout: "Layout", planned: "Planned", playing: "Playing", output: Output) -> None:
    """Kafka's lines to stdout with the cost on stderr, or rows of both."""
    from kafkapy.metadata.reassignment.plan_cost import plan_cost
    from kafkapy.metadata.reassignment.plans import rollback
    from kafkapy.metadata.reassignment.reassignment_json import Reassignment, format_reassignment
    from kafkapy.output.plan_lines import cost_lines, cost_rows, step_lines, step_rows
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.reassignment_lines import generated_lines
    from kafkapy.output.sink import Sink

    from .reassign_simulate import played

    plan = planned.plan
    cost = plan_cost(layout, plan)
    steps = played(opened, layout, Reassignment(dict(plan), {}), playing) if playing.is_asked and plan else []
    if output == Output.KAFKA:
        current = format_reassignment(rollback(layout, plan), opened.replica_control().places(plan.keys()).current)
        print_lines(generated_lines(current, format_reassignment(plan)))
        print_lines(
            [*cost_lines(layout, cost, playing.throttle), *_rival_lines(planned), *_demoted_lines(layout, planned)],
            Sink(2),
        )
        print_lines(["", *step_lines(steps)] if steps else [])
    else:
        costs = (*cost_rows(layout, plan, cost, playing.throttle), *_rival_rows(planned))
        print_rows(output, ((None, row) for row in (*costs, *step_rows(steps, playing.throttle))))


def _rival_lines(planned: "Planned") -> "Iterator[str]":
    """Where Kafka's draw moves less than the tolerance takes, what was done about it."""
    from kafkapy.output.plan_lines import human

    rival, tolerance = planned.rival, planned.goal.tolerance
    if rival is None:
        return
    drawn, within = human(rival.bytes_drawn), human(rival.bytes_within_tolerance)
    if rival.is_matched:
        yield (
            f"Kafka's draw moves {drawn}, a plan within {tolerance:.0%} of the shares {within}: this one moves no "
            f"more than the draw, and is as balanced (--tolerance {tolerance:g} keeps to the shares)"
        )
    else:
        yield f"Kafka's draw would move {drawn} instead of {within}, but misses --tolerance {tolerance:g}"


def _demoted_lines(layout: "Layout", planned: "Planned") -> "Iterator[str]":
    """What a broker that is demoted goes on leading."""
    after = layout.after(planned.plan)
    still = sorted(partition for partition in planned.goal.scope if after.leader(partition) in planned.goal.demoted)
    if still:
        yield f"Still led, since no other replica is up and in sync: {', '.join(map(str, still))}"


def _rival_rows(planned: "Planned") -> "Iterator[dict[str, Any]]":
    if planned.rival is not None:
        yield {"type": "kafka_draw", **planned.rival._asdict()}
