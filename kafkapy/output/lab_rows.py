"""What a scenario comes to as typed rows: of each step what it did, every replica, every consumer, every check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkapy.lab.play import Played
from kafkapy.lab.scenario import Scenario

Row = dict[str, Any]


def played_rows(played: Played) -> Iterator[Row]:
    """The rows of a step; the setup is step 0."""
    step = played.step
    number = 0 if step is None else step.number
    yield {
        "type": "lab_step",
        "step": number,
        "line": None if step is None else step.line,
        "action": None if step is None else step.action,
        "text": "the beginning" if step is None else step.text,
        "did": " ".join(played.sentences),
        "controller_epoch": played.view.controller_epoch,
        "time_ms": played.view.time_ms,
    }
    yield from _replica_rows(number, played)
    for consumer in played.view.consumers.values():
        lists = {"in_hand": list(consumer.in_hand), "done": list(consumer.done)}
        yield {"type": "lab_consumer", "step": number, **consumer._asdict(), **lists}
    for check in played.checks:
        cells = {"expected": _plain(check.expected), "found": _plain(check.found), "passed": check.passed}
        yield {"type": "lab_check", "step": number, "line": check.line, "subject": check.subject, **cells}


def scenario_rows(name: str, scenario: Scenario) -> Row:
    """A scenario that comes with kafkapy."""
    return {"type": "scenario", "name": name, "title": scenario.title, "steps": len(scenario.steps)}


def step_rows(scenario: Scenario) -> Iterator[Row]:
    """The steps of a scenario that is not played."""
    for step in scenario.steps:
        yield {"type": "step", "step": step.number, "line": step.line, "text": step.text, "say": step.say}


def _replica_rows(number: int, played: Played) -> Iterator[Row]:
    for partition in played.view.topics.values():
        table = partition.table
        for row in table.replicas:
            yield {
                "type": "lab_replica",
                "step": number,
                "topic": table.partition.topic,
                "partition": table.partition.partition,
                "leader": table.leader,
                "leader_epoch": table.leader_epoch,
                "isr": list(table.isr),
                "elr": list(table.elr),
                **row._asdict(),
                "log": [each.value for each in partition.logs[row.broker_id]],
                "log_epochs": [each.epoch for each in partition.logs[row.broker_id]],
            }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
