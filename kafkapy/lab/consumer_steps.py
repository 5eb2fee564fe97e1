"""Steps of consumers, each known by its name, which is its group too."""

from __future__ import annotations

from kafkapy.lab.consumer import Consumer
from kafkapy.lab.laboratory import Laboratory, StepError
from kafkapy.lab.scenario import Step
from kafkapy.lab.step_kind import StepKind, count, name, words


def _consume(lab: Laboratory, step: Step) -> str:
    consumer = lab.consumers.get(step.argument)
    if consumer is None:
        consumer = lab.consumers[step.argument] = Consumer(step.argument, lab.partition(step), lab.offsets)
    start = consumer.position
    return f"Consumer {consumer.name} reads from offset {start}: {words(consumer.consume(step.options.get('max')))}."


def _work(lab: Laboratory, step: Step) -> str:
    consumer = _known(lab, step)
    return f"Consumer {consumer.name} works on {words(consumer.work(step.options.get('max')))}."


def _commit(lab: Laboratory, step: Step) -> str:
    consumer = _known(lab, step)
    return f"Consumer {consumer.name} commits offset {consumer.commit()}: from there it would continue."


def _crash(lab: Laboratory, step: Step) -> str:
    consumer = _known(lab, step)
    forgotten = consumer.crash()
    left = f" with {words(forgotten)} read but not worked on" if forgotten else ""
    return f"Consumer {consumer.name} crashes{left}. It will continue from its committed offset."


def _known(lab: Laboratory, step: Step) -> Consumer:
    consumer = lab.consumers.get(step.argument)
    if consumer is None:
        raise StepError(f"there is no consumer {step.argument}: its first step must be consume")
    return consumer


CONSUMER_STEPS = {
    "consume": StepKind(_consume, name, {"max": count}, "one"),
    "work": StepKind(_work, name, {"max": count}),
    "commit": StepKind(_commit, name),
    "crash": StepKind(_crash, name),
}
