"""The tables of the scenarios, worked out a second time without the code that they are there to show.

What ``tests.lab.arithmetic`` makes of the steps is compared with every cell that the files name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkapy.lab import library
from kafkapy.lab.scenario import Scenario, Setup, Step
from kafkapy.metadata.elections import UNCLEAN
from tests.lab.arithmetic import Arithmetic
from tests.lab.playing import scenario

SHIPPED = library.shipped()
NO_MATTER = ("fail-over-controller", "apply-as-old-controller", "consume", "work", "commit", "crash")
OF_BROKERS: dict[str, Callable[[Arithmetic, int, Step], None]] = {
    "fetch": lambda partition, broker, step: partition.fetch(broker, bool(step.options.get("wait"))),
    "fetch-request": lambda partition, broker, _: partition.request(broker),
    "fetch-response": lambda partition, broker, _: partition.respond(broker),
    "flush": lambda partition, broker, _: partition.flush(broker),
    "stop": lambda partition, broker, _: partition.leave(broker, "stopped"),
    "kill": lambda partition, broker, step: partition.leave(broker, "killed", bool(step.options.get("lose-unflushed"))),
    "restart": lambda partition, broker, _: partition.restart(broker),
    "start": lambda partition, broker, _: partition.start(broker),
}


class Reckoning:
    """All partitions of a scenario, and the batch that a producer may send again."""

    def __init__(self, setup: Setup) -> None:
        min_isr = int(setup.configs.get("min.insync.replicas", 1))
        self.acks = setup.acks
        self.partitions = {
            topic: Arithmetic(replicas, min_isr, setup.leader_epochs) for topic, replicas in setup.topics.items()
        }
        self.last: tuple[Arithmetic, tuple[str, ...], int, int | None] | None = None

    def take(self, step: Step) -> None:
        """One step."""
        named = [self.partitions[step.topic]] if step.topic else list(self.partitions.values())
        if step.action in OF_BROKERS:
            for broker in step.argument:
                for partition in named:
                    OF_BROKERS[step.action](partition, broker, step)
        elif step.action == "produce":
            batch = step.number if step.options.get("idempotent") else None
            self.last = named[0], step.argument, step.options.get("acks", self.acks), batch
            self._send()
        elif step.action == "retry":
            self._send()
        elif step.action == "elect":
            named[0].elect(step.argument.election == UNCLEAN)
        elif step.action == "fetch-round":
            for partition in named:
                partition.fetch_round()
        elif step.action == "catch-up":
            for partition in named:
                partition.catch_up()
        else:
            assert step.action in NO_MATTER, step.action

    def cells(self) -> dict[str, Any]:
        """By the subjects of claims."""
        return {
            f"{topic}-0 {cell}": value
            for topic, partition in self.partitions.items()
            for cell, value in partition.cells().items()
        }

    def _send(self) -> None:
        assert self.last is not None
        partition, values, acks, batch = self.last
        partition.produce(values, acks, batch)


def differences(played: Scenario) -> list[tuple[int, str, Any, Any]]:
    """The cells that the file has otherwise: the step, the cell, the file's value, the one that is worked out."""
    reckoning, found = Reckoning(played.setup), []
    for step in played.steps:
        reckoning.take(step)
        cells = reckoning.cells()
        for claim in step.claims:
            if claim.subject in cells and claim.expected != cells[claim.subject]:
                found.append((step.number, claim.subject, claim.expected, cells[claim.subject]))
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_every_cell_can_be_worked_out(name: str) -> None:
    assert differences(SHIPPED[name]) == []


def test_a_wrong_cell_is_found() -> None:
    wrong = scenario("- produce: m1\n  expect: {1: {leo: 1, hw: 1}, 2: {remote-leo: 0}}")
    assert differences(wrong) == [(1, "t-0 broker 1 hw", 1, 0)]


def test_every_cell_of_a_table_is_among_them() -> None:
    """A cell whose name is not known here would never be compared."""
    for name, shipped in SHIPPED.items():
        cells = Reckoning(shipped.setup).cells()
        subjects = {claim.subject for step in shipped.steps for claim in step.claims if "-0 " in claim.subject}
        assert subjects <= cells.keys(), name
