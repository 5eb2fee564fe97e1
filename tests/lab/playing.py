"""Playing scenarios that a test writes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from kafkapy.lab.play import Played, play
from kafkapy.lab.scenario import Scenario
from kafkapy.lab.scenario_file import parse_scenario

SETUP = "{topics: {t: [1, 2]}}"


def scenario(steps: str, setup: str = SETUP) -> Scenario:
    """A scenario of these steps; the first stands in line 4."""
    return parse_scenario(f"title: A test\nsetup: {setup}\nsteps:\n{dedent(steps).strip()}\n", "test.yaml")


def played(path: Path, steps: str, setup: str = SETUP) -> list[Played]:
    """All steps, behind the setup, with nothing that is not as expected."""
    done = list(play(scenario(steps, setup), str(path)))
    assert [each.failures for each in done if each.failures] == []
    return done


def cells(done: Played, topic: str = "t") -> dict[int, tuple[int, int, int | None]]:
    """Of each broker its log end offset, its high watermark, and what the leader knows of it."""
    rows = done.view.topics[topic].table.replicas
    return {row.broker_id: (row.log_end_offset, row.high_watermark, row.remote_log_end_offset) for row in rows}
