"""Steps of brokers that go, come back and lag, and of time.

A step that names several brokers does to one after the other what it would do to each alone, in that order; all of them
have to be in the state for it before the first one is touched.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkapy.lab.laboratory import Laboratory
from kafkapy.lab.scenario import Step
from kafkapy.lab.step_kind import Play, StepKind, count, flag, some_brokers
from kafkapy.replication.broker_state import KILLED, LAGGING, RUNNING, STOPPED

ToBroker = Callable[[Laboratory, int, Step], str]


def _to_each(act: ToBroker, *states: str) -> Play:
    """What is done to one broker that is in one of ``states``, done to all that a step names."""

    def play(lab: Laboratory, step: Step) -> str:
        for broker_id in step.argument:
            lab.require_state(broker_id, *states)
        return " ".join([act(lab, broker_id, step) for broker_id in step.argument])

    return play


def _stop(lab: Laboratory, broker_id: int, _: Step) -> str:
    for partition in lab.partitions_on(broker_id):
        partition.stop(broker_id)
    lab.broker_left(broker_id)
    return f"Broker {broker_id} stops cleanly: its leaders move, and its log is synced."


def _kill(lab: Laboratory, broker_id: int, step: Step) -> str:
    for partition in lab.partitions_on(broker_id):
        partition.kill(broker_id, _loses(step))
    lab.broker_left(broker_id)
    return f"Broker {broker_id} crashes{_with_loss(step)}, and the controller fences it."


def _restart(lab: Laboratory, broker_id: int, step: Step) -> str:
    for partition in lab.partitions_on(broker_id):
        partition.restart(broker_id, _loses(step))
    lab.broker_left(broker_id)
    return f"Broker {broker_id} crashes{_with_loss(step)}, and is back before the controller notices."


def _start(lab: Laboratory, broker_id: int, _: Step) -> str:
    was_lagging = lab.state_of(broker_id) == LAGGING
    for partition in lab.partitions_on(broker_id):
        partition.start(broker_id)
    return f"Broker {broker_id} {'fetches again' if was_lagging else 'is back'}."


def _lag(lab: Laboratory, broker_id: int, _: Step) -> str:
    for partition in lab.partitions_on(broker_id):
        partition.lag(broker_id)
    return f"Broker {broker_id} is alive, but no longer fetches."


def _advance(lab: Laboratory, step: Step) -> str:
    for partition in lab.topics.values():
        partition.advance(step.argument)
    return f"{step.argument} ms pass."


def _loses(step: Step) -> bool:
    return bool(step.options.get("lose-unflushed"))


def _with_loss(step: Step) -> str:
    return ", losing what it had not synced" if _loses(step) else ""


BROKER_STEPS = {
    "stop": StepKind(_to_each(_stop, RUNNING, LAGGING), some_brokers),
    "kill": StepKind(_to_each(_kill, RUNNING, LAGGING), some_brokers, {"lose-unflushed": flag}),
    "restart": StepKind(_to_each(_restart, RUNNING, LAGGING), some_brokers, {"lose-unflushed": flag}),
    "start": StepKind(_to_each(_start, STOPPED, KILLED, LAGGING), some_brokers),
    "lag": StepKind(_to_each(_lag, RUNNING), some_brokers),
    "advance": StepKind(_advance, count),
}
