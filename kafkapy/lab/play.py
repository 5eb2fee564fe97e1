"""Playing a scenario: step by step, with what each did and whether all is as the scenario says.

Playing ends with the first step that is not: what follows would be about something else.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.lab.consequences import consequences
from kafkapy.lab.laboratory import Laboratory, StepError
from kafkapy.lab.scenario import Scenario, Step
from kafkapy.lab.steps import STEPS
from kafkapy.lab.view import LabView

NO_ERROR = "no error"


class Check(NamedTuple):
    """A claim, and what was found."""

    line: int
    subject: str
    expected: Any
    found: Any

    @property
    def passed(self) -> bool:
        return bool(self.expected == self.found)


class Played(NamedTuple):
    """A step that was played; ``step`` None is the setup. ``before`` is the view of the step before."""

    step: Step | None
    sentences: tuple[str, ...]
    before: LabView
    view: LabView
    checks: tuple[Check, ...] = ()

    @property
    def failures(self) -> list[Check]:
        """What is not as the scenario says."""
        return [check for check in self.checks if not check.passed]


def play(scenario: Scenario, directory: str) -> Generator[Played]:
    """Play on logs below ``directory``, which is new or empty; to be closed by who does not want all steps. A StepError
    names the line of a step that cannot be."""
    lab = Laboratory(directory, scenario.setup)
    try:
        view = lab.view()
        yield Played(None, (), view, view)
        for step in scenario.steps:
            played = _play_step(lab, step, view, scenario.location)
            yield played
            if played.failures:
                return
            view = played.view
    finally:
        lab.close()


def _play_step(lab: Laboratory, step: Step, before: LabView, location: str) -> Played:
    sentences: list[str] = []
    error = NO_ERROR
    try:
        if step.action is not None:
            sentences.append(STEPS[step.action].play(lab, step))
    except KafkaError as refusal:
        error = refusal.name
        sentences.append(f"Refused with {refusal.name}: {refusal}")
    except StepError as problem:
        raise StepError(f"{location}:{step.line}: step {step.number}, {step.text}: {problem}") from None
    lab.settle()
    after = lab.view()
    sentences += consequences(before, after)
    ended = Check(step.line, "the step ends in", step.fails or NO_ERROR, error)
    claimed = [Check(claim.line, claim.subject, claim.expected, claim.read(after)) for claim in step.claims]
    checks = [ended, *claimed] if step.fails or not ended.passed else claimed
    return Played(step, tuple(sentences), before, after, tuple(checks))
