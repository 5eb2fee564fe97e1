"""What is asked for on a command line, as a goal.

    topics and brokers    Kafka's own job: some topics' partitions go to a list of brokers
    drain                 brokers give away all they have
    add                   brokers that are new take their share from the others
    replication factor    every partition gets as many replicas
    rebalance             all brokers come to their shares
    demote                brokers lead nothing; not a byte moves
    fix racks             partitions with too many replicas in one rack are spread

``topics`` limits any job to some topics, ``broker_list`` to brokers that may be given replicas. Replicas on brokers
that are down stay there, and so do those on brokers that are gone, unless the job is to drain these or to rebalance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.goal import DEFAULT_TOLERANCE, Goal
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.rack_rule import RackRule
from kafkapy.near_misses import hinting_number


class Job(NamedTuple):
    """One of the jobs above; with none of the fields in the middle it is Kafka's own."""

    topics: frozenset[str] | None = None
    broker_list: tuple[int, ...] | None = None
    drain: frozenset[int] = frozenset()
    add: frozenset[int] = frozenset()
    replication_factor: int | None = None
    rebalance: bool = False
    demote: frozenset[int] = frozenset()
    fix_racks: bool = False
    rack_aware: bool = True

    @property
    def is_kafkas(self) -> bool:
        """Whether Kafka's tool has this job."""
        named = (self.drain, self.add, self.replication_factor, self.rebalance, self.demote, self.fix_racks)
        return not any(named)


def goal_of(layout: Layout, job: Job, tolerance: float = DEFAULT_TOLERANCE) -> Goal:
    """The goal of a job, with the fewest moves that do it."""
    _check_brokers(layout, job)
    if job.is_kafkas:
        goal = _move_topics(layout, job, tolerance)
    else:
        goal = _named_goal(layout, job)._replace(tolerance=tolerance)
    _check_racks(layout, goal)
    return goal


def balanced(layout: Layout, job: Job) -> Goal:
    """The goal of a job that is to leave the brokers as even as they can be; a demotion still moves no byte."""
    goal = goal_of(layout, job, tolerance=0.0)
    if job.demote:
        return goal._replace(scope=_scope(layout, job), balance_leaders=True)
    receivers = None if job.broker_list is None or job.is_kafkas else goal.receivers
    wide = goal._replace(scope=_scope(layout, job), rebalance=True, fix_racks=True, balance_leaders=True)
    return wide._replace(receivers=receivers)


def _scope(layout: Layout, job: Job) -> frozenset[TopicPartition]:
    topics = job.topics
    return frozenset(p for p in layout.replicas if topics is None or p.topic in topics)


def _move_topics(layout: Layout, job: Job, tolerance: float) -> Goal:
    listed = job.broker_list or ()
    brokers = tuple(broker for broker in layout.up if broker in listed)
    return Goal(_scope(layout, job), brokers, tolerance=tolerance, rack_aware=job.rack_aware)


def _named_goal(layout: Layout, job: Job) -> Goal:
    scope, goal = _scope(layout, job), _base_goal(layout, job)
    replicas = layout.replicas
    if job.drain:
        return goal._replace(scope=frozenset(p for p in scope if job.drain.intersection(replicas[p])))
    if job.add:
        return goal._replace(scope=scope, receivers=job.add, rebalance=True, balance_leaders=True)
    if job.replication_factor is not None:
        changed = frozenset(p for p in scope if len(replicas[p]) != job.replication_factor)
        return goal._replace(scope=changed, replication_factor=job.replication_factor, balance_leaders=False)
    if job.demote:
        led = frozenset(p for p in scope if job.demote.intersection(replicas[p]))
        return goal._replace(scope=led, demoted=job.demote, balance_leaders=False)
    if job.fix_racks:
        rule = RackRule({broker: layout.brokers[broker] for broker in goal.brokers})
        crowded = frozenset(p for p in scope if not rule.is_kept(replicas[p]))
        return goal._replace(scope=crowded, fix_racks=True, balance_leaders=False)
    gone = frozenset(b for found in replicas.values() for b in found).difference(layout.brokers)
    return goal._replace(
        scope=scope, rebalance=True, fix_racks=True, balance_leaders=True, kept=goal.kept.difference(gone)
    )


def _base_goal(layout: Layout, job: Job) -> Goal:
    """Nothing moves, everybody who is up may receive, and who is down or gone keeps what it has."""
    brokers = tuple(broker for broker in layout.up if broker not in job.drain)
    named = {b for found in layout.replicas.values() for b in found}.union(layout.brokers)
    receivers = None if job.broker_list is None else frozenset(job.broker_list)
    return Goal(
        frozenset(),
        brokers,
        receivers=receivers,
        rebalance=False,
        fix_racks=False,
        rack_aware=job.rack_aware,
        kept=frozenset(named).difference(brokers, job.drain),
    )


def _check_brokers(layout: Layout, job: Job) -> None:
    known = set(layout.brokers)
    held = {b for found in layout.replicas.values() for b in found}
    for broker in sorted(job.drain | job.demote):
        if broker not in known and broker not in held:
            raise _unknown(broker, known)
    for broker in sorted(job.add):
        if broker not in known:
            raise _unknown(broker, known)
        if broker in layout.fenced:
            raise _refused(f"Broker {broker} is not up, so it cannot be given replicas")
    if not job.is_kafkas and job.broker_list is not None:
        for broker in job.broker_list:
            if broker not in known:
                raise _unknown(broker, known)
            if broker in layout.fenced:
                raise _refused(f"Broker {broker} is not up, so it cannot be given replicas")
    if job.replication_factor is not None and job.replication_factor < 1:
        raise _refused(f"Replication factor must be at least 1, not {job.replication_factor}")


def _check_racks(layout: Layout, goal: Goal) -> None:
    """In Kafka's words."""
    rackless = [broker for broker in goal.brokers if layout.brokers[broker] is None]
    if goal.rack_aware and rackless and len(rackless) < len(goal.brokers):
        raise KafkaError(
            "AdminOperationException",
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information.",
        )


def _unknown(broker: int, known: Iterable[int]) -> KafkaError:
    return hinting_number(_refused(f"Unknown broker id {broker}"), "broker", broker, known)


def _refused(message: str) -> KafkaError:
    return KafkaError("AdminCommandFailedException", message)
