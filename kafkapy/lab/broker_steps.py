"""Steps of brokers that go, come back and lag, and of time."""

from __future__ import annotations

from kafkapy.lab.laboratory import Laboratory
from kafkapy.lab.scenario import Step
from kafkapy.lab.step_kind import StepKind, broker, count, flag
from kafkapy.replication.broker_state import KILLED, LAGGING, RUNNING, STOPPED


def _stop(lab: Laboratory, step: Step) -> str:
    lab.require_state(step.argument, RUNNING, LAGGING)
    for partition in lab.partitions_on(step.argument):
        partition.stop(step.argument)
    lab.broker_left(step.argument)
    return f"Broker {step.argument} stops in good order: its leaders move, its log is synced."


def _kill(lab: Laboratory, step: Step) -> str:
    lab.require_state(step.argument, RUNNING, LAGGING)
    lose = bool(step.options.get("lose-unflushed"))
    for partition in lab.partitions_on(step.argument):
        partition.kill(step.argument, lose)
    lab.broker_left(step.argument)
    return f"Broker {step.argument} crashes{_with_loss(lose)}, and the controller fences it."


def _restart(lab: Laboratory, step: Step) -> str:
    lab.require_state(step.argument, RUNNING, LAGGING)
    lose = bool(step.options.get("lose-unflushed"))
    for partition in lab.partitions_on(step.argument):
        partition.restart(step.argument, lose)
    lab.broker_left(step.argument)
    return f"Broker {step.argument} crashes{_with_loss(lose)}, and is back before the controller notices."


def _start(lab: Laboratory, step: Step) -> str:
    lab.require_state(step.argument, STOPPED, KILLED, LAGGING)
    was_lagging = lab.state_of(step.argument) == LAGGING
    for partition in lab.partitions_on(step.argument):
        partition.start(step.argument)
    return f"Broker {step.argument} {'fetches again' if was_lagging else 'is back'}."


def _lag(lab: Laboratory, step: Step) -> str:
    lab.require_state(step.argument, RUNNING)
    for partition in lab.partitions_on(step.argument):
        partition.lag(step.argument)
    return f"Broker {step.argument} is alive, but its fetches stand still."


def _advance(lab: Laboratory, step: Step) -> str:
    for partition in lab.topics.values():
        partition.advance(step.argument)
    return f"{step.argument} ms pass."


def _with_loss(lose: bool) -> str:
    return ", losing what it had not synced" if lose else ""


BROKER_STEPS = {
    "stop": StepKind(_stop, broker),
    "kill": StepKind(_kill, broker, {"lose-unflushed": flag}),
    "restart": StepKind(_restart, broker, {"lose-unflushed": flag}),
    "start": StepKind(_start, broker),
    "lag": StepKind(_lag, broker),
    "advance": StepKind(_advance, count),
}
