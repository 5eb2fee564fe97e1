"""Steps of the controller: elections, ISRs, and a controller that does not know that it is one no more."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.lab.laboratory import Laboratory, StepError
from kafkapy.lab.place import Place
from kafkapy.lab.scenario import Setup, Step
from kafkapy.lab.step_kind import StepKind, brokers, numbers
from kafkapy.metadata.changes import AlterPartition, ElectLeader
from kafkapy.metadata.elections import PREFERRED, UNCLEAN

ELECTIONS = {"preferred": PREFERRED, "unclean": UNCLEAN}


class Order(NamedTuple):
    """What a controller orders: an election or an ISR, the other is empty."""

    election: str
    isr: tuple[int, ...]

    def change(self, topic: str) -> ElectLeader | AlterPartition:
        """The order for a topic's partition."""
        return ElectLeader(topic, 0, self.election) if self.election else AlterPartition(topic, 0, self.isr)

    @property
    def text(self) -> str:
        return f"{self.election.lower()} election" if self.election else f"ISR {numbers(self.isr)}"


def _election(what: str, place: Place, _: Setup) -> Order:
    return Order(ELECTIONS[place.one_of(what, ELECTIONS)], ())


def _isr(what: str, place: Place, setup: Setup) -> Order:
    return Order("", brokers(what, place, setup))


def _order(what: str, place: Place, setup: Setup) -> Order:
    fields = place.fields(what, ("elect", "alter-isr"))
    if len(fields) != 1:
        raise place.error(f"{what}: expected elect or alter-isr")
    [(name, value)] = fields.items()
    return (_election if name == "elect" else _isr)(name, value, setup)


def _apply(lab: Laboratory, step: Step) -> str:
    partition = lab.partition(step)
    partition.apply(step.argument.change(partition.topic_partition.topic))
    return f"The controller orders for {partition.topic_partition}: {step.argument.text}."


def _fail_over(lab: Laboratory, _: Step) -> str:
    for partition in lab.topics.values():
        partition.fail_over_controller()
    return (
        f"Another node becomes the controller, in controller epoch {lab.controller_epoch}. The old one is still alive."
    )


def _apply_as_old(lab: Laboratory, step: Step) -> str:
    if lab.controller_epoch == 1:
        raise StepError("there is no old controller: it takes a fail-over-controller first")
    partition, epoch = lab.partition(step), lab.controller_epoch - 1
    partition.apply(step.argument.change(partition.topic_partition.topic), epoch)
    return f"The controller of epoch {epoch} orders for {partition.topic_partition}: {step.argument.text}."


CONTROLLER_STEPS = {
    "elect": StepKind(_apply, _election, topic="one"),
    "alter-isr": StepKind(_apply, _isr, topic="one"),
    "fail-over-controller": StepKind(_fail_over),
    "apply-as-old-controller": StepKind(_apply_as_old, _order, topic="one"),
}
