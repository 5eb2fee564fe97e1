"""The scenarios that come with kafkapy: every cell of every table is as the file says, and the file says every cell."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.lab import library
from kafkapy.lab.play import play
from kafkapy.lab.scenario import Scenario
from tests.lab.playing import cells

SHIPPED = library.shipped()
CELLS = ("leo", "hw", "remote-leo", "log")
every_scenario = pytest.mark.parametrize("scenario", SHIPPED.values(), ids=SHIPPED.keys())


def test_every_file_has_a_name() -> None:
    directory = os.path.dirname(library.path_of(library.NAMES[0]))
    assert sorted(os.listdir(directory)) == sorted(f"{name}.yaml" for name in library.NAMES)


@every_scenario
def test_every_cell_is_as_the_file_says(scenario: Scenario, tmp_path: Path) -> None:
    done = list(play(scenario, str(tmp_path)))
    assert [each.failures for each in done if each.failures] == []
    assert len(done) == len(scenario.steps) + 1


@every_scenario
def test_every_step_names_every_cell(scenario: Scenario) -> None:
    whole = set()
    for topic, replicas in scenario.setup.topics.items():
        whole |= {f"{topic}-0 {cell}" for cell in ("leader", "epoch", "isr")}
        whole |= {f"{topic}-0 broker {broker_id} {cell}" for broker_id in replicas for cell in CELLS}
    for step in scenario.steps:
        assert whole <= {claim.subject for claim in step.claims}, step.text


@every_scenario
def test_every_scenario_says_what_it_shows(scenario: Scenario) -> None:
    assert len(scenario.text) > 200
    assert len(scenario.title) <= 58, "kafkapy lab list is 80 columns wide"


@settings(max_examples=25)
@given(st.data())
def test_a_cell_that_is_another_is_found(data: st.DataObject) -> None:
    scenario = data.draw(st.sampled_from([each for each in SHIPPED.values() if len(each.steps) < 10]))
    number = data.draw(st.integers(0, len(scenario.steps) - 1))
    step = scenario.steps[number]
    wrong = data.draw(st.integers(0, len(step.claims) - 1))
    claims = [each._replace(expected="another") if n == wrong else each for n, each in enumerate(step.claims)]
    steps = list(scenario.steps)
    steps[number] = step._replace(claims=tuple(claims))
    with TemporaryDirectory() as directory:
        done = list(play(scenario._replace(steps=tuple(steps)), directory))
    assert [(each.line, each.subject) for each in done[-1].failures] == [step.claims[wrong][:2]]
    assert len(done) == number + 2, "nothing is played behind it"


def test_the_two_fetch_rounds(tmp_path: Path) -> None:
    """The tables of the textbook."""
    done = list(play(library.load("two-fetch-rounds"), str(tmp_path)))
    assert [each.step.text for each in done if each.step] == [
        "produce: m1", "fetch-request: 2", "fetch-response: 2", "fetch-request: 2", "fetch-response: 2",
    ]  # fmt: skip
    assert [cells(each) for each in done] == [
        {1: (0, 0, None), 2: (0, 0, 0)},
        {1: (1, 0, None), 2: (0, 0, 0)},
        {1: (1, 0, None), 2: (0, 0, 0)},
        {1: (1, 0, None), 2: (1, 0, 0)},
        {1: (1, 1, None), 2: (1, 0, 1)},
        {1: (1, 1, None), 2: (1, 1, 1)},
    ]


@pytest.mark.parametrize(
    ("before", "today"), [("data-loss", "data-loss-prevented"), ("divergence", "divergence-prevented")]
)
def test_the_steps_with_and_without_leader_epochs_are_the_same(before: str, today: str) -> None:
    assert [step.text for step in SHIPPED[before].steps] == [step.text for step in SHIPPED[today].steps]
    assert not SHIPPED[before].setup.leader_epochs
    assert SHIPPED[today].setup == SHIPPED[before].setup._replace(leader_epochs=True)


def final_logs(name: str, path: Path) -> dict[int, list[str]]:
    *_, last = play(SHIPPED[name], str(path))
    return {broker_id: [each.value for each in log] for broker_id, log in last.view.topics["t"].logs.items()}


def test_what_the_stories_end_in(tmp_path: Path) -> None:
    assert final_logs("data-loss", tmp_path / "1") == {1: ["m1"], 2: ["m1"]}
    assert final_logs("data-loss-prevented", tmp_path / "2") == {1: ["m1", "m2"], 2: ["m1", "m2"]}
    assert final_logs("divergence", tmp_path / "3") == {1: ["m1", "m2"], 2: ["m1", "m3"]}
    assert final_logs("divergence-prevented", tmp_path / "4") == {1: ["m1", "m3"], 2: ["m1", "m3"]}
    assert final_logs("producer-retries", tmp_path / "5")[2] == ["o1", "o1", "o2", "o3"]
