"""Every kind of step, by the word that a scenario uses."""

from __future__ import annotations

from kafkapy.lab.broker_steps import BROKER_STEPS
from kafkapy.lab.consumer_steps import CONSUMER_STEPS
from kafkapy.lab.controller_steps import CONTROLLER_STEPS
from kafkapy.lab.fetch_steps import FETCH_STEPS
from kafkapy.lab.produce_steps import PRODUCE_STEPS
from kafkapy.lab.step_kind import StepKind

STEPS: dict[str, StepKind] = {**PRODUCE_STEPS, **FETCH_STEPS, **BROKER_STEPS, **CONTROLLER_STEPS, **CONSUMER_STEPS}
