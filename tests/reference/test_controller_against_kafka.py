"""Who leads, in which epoch, who is in sync and who is eligible: the lab's controller beside Kafka's own classes.

Every scenario that comes with kafkapy, and stories of random failures, are played by kafkapy and by Kafka's
ReplicationControlManager, all in one JVM. Kafka's plays what is the controller's: brokers that stop, crash and return,
and elections. ISRs that leaders asked for are told to it, since they follow from fetches, which it does not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkapy.errors import KafkaError
from kafkapy.lab.laboratory import Laboratory
from kafkapy.lab.library import shipped
from kafkapy.lab.scenario import Scenario, Step
from kafkapy.lab.steps import STEPS
from kafkapy.lab.view import LabView
from tests.kafka_jars import kafka_libs
from tests.lab.playing import scenario
from tests.reference.judge_controller import Judged, Story, assert_same, judge

SEED = 6
RANDOM_STORIES = 120
RANDOM_STEPS = 25
OF_BROKERS = ("stop", "kill", "start")
ALL_CRASH = [f"- kill: {broker}" for broker in (3, 2, 1)] + [f"- start: {broker}" for broker in (1, 2, 3)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """All stories, each with what Kafka made of it."""
    kafka_libs()
    root = tmp_path_factory.mktemp("controller")
    random = Random(SEED)
    crashes = [_all_crash(min_isr) for min_isr in (1, 2, 3)]
    scenarios = [*shipped().values(), *crashes, *(_random_scenario(random) for _ in range(RANDOM_STORIES))]
    stories = [_story(each, root / str(number)) for number, each in enumerate(scenarios)]
    return judge(stories, root)


def test_kafkas_controller_comes_to_the_same(judged: Judged) -> None:
    assert_same(judged)


def test_the_stories_are_about_something(judged: Judged) -> None:
    """Among them are partitions without a leader, with eligible leader replicas, and every answer to an election."""
    states = [state for story, _ in judged for state in story.found if state is not None]
    partitions = [each for state in states for each in state["partitions"].values()]
    assert any(leader == -1 for leader, *_ in partitions)
    assert any(elr for _, _, _, elr, *_ in partitions)
    assert max(epoch for _, epoch, *_ in partitions) > 5
    assert {state["error"] for state in states} == {
        "",
        "ElectionNotNeededException",
        "PreferredLeaderNotAvailableException",
        "EligibleLeadersNotAvailableException",
    }


def _story(played: Scenario, directory: Path) -> Story:
    lab = Laboratory(str(directory), played.setup)
    question: dict[str, Any] = {
        "topics": played.setup.topics,
        "configs": played.setup.configs,
        "elr": played.setup.eligible_leader_replicas,
        "events": [],
    }
    story = Story(question, [], [])
    for step in played.steps:
        before, error = lab.view(), ""
        try:
            if step.action is not None:
                STEPS[step.action].play(lab, step)
        except KafkaError as refusal:
            error = refusal.name
        lab.settle()
        _note(story, step, before, lab.view(), error)
    lab.close()
    return story


def _note(story: Story, step: Step, before: LabView, after: LabView, error: str) -> None:
    """The events of a step that concern the controller. It is compared after the last one."""
    events: list[list[Any]] = []
    if step.action in OF_BROKERS:
        events = [[step.action, broker_id] for broker_id in step.argument]
    elif step.action == "elect":
        events = [["elect", step.topic or next(iter(after.topics)), step.argument.election]]
    else:
        error = ""  # of a producer, or of a controller that is not in office
        for topic, partition in after.topics.items():
            if partition.table.isr != before.topics[topic].table.isr:
                events.append(["isr", topic, partition.table.isr])
    story.question["events"] += events
    story.texts.extend(f"step {step.number}, {step.text}" for _ in events)
    story.found.extend([None] * (len(events) - 1))
    if events:
        story.found.append({"error": error, "partitions": _partitions(after, story.question["topics"])})


def _partitions(view: LabView, assignment: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    return {
        topic: [
            *(each.table.leader, each.table.leader_epoch, list(each.table.isr), list(each.table.elr)),
            *(list(assignment[topic]), [], []),
        ]
        for topic, each in view.topics.items()
    }


def _all_crash(min_isr: int) -> Scenario:
    """In the end nobody is eligible, and the last known leader leads."""
    configs = f"{{min.insync.replicas: {min_isr}}}"
    return scenario(
        "\n".join(ALL_CRASH), f"{{topics: {{t: [1, 2, 3]}}, eligible-leader-replicas: on, configs: {configs}}}"
    )


def _random_scenario(random: Random) -> Scenario:
    states = dict.fromkeys((1, 2, 3), "running")
    steps = [_random_step(random, states) for _ in range(RANDOM_STEPS)]
    flags = ["on" if random.random() < 0.5 else "off" for _ in range(2)]
    setup = (
        f"{{topics: {{t: {random.sample((1, 2, 3), 3)}}}, eligible-leader-replicas: {flags[0]}, configs: "
        f"{{min.insync.replicas: {random.choice((1, 2, 3))}, unclean.leader.election.enable: {flags[1]}}}}}"
    )
    return scenario("\n".join(steps), setup)


def _random_step(random: Random, states: dict[int, str]) -> str:
    """A step that can be; ``states`` are those of the brokers, and are changed with it."""
    broker_id = random.choice((1, 2, 3))
    if random.random() < 0.5:
        return random.choice(
            ("- catch-up", "- {produce: a, acks: 1}", "- fetch-round", "- elect: preferred", "- elect: unclean",
             "- advance: 30001")
        )  # fmt: skip
    if states[broker_id] in ("stopped", "killed"):
        states[broker_id] = "running"
        return f"- start: {broker_id}"
    action, states[broker_id] = random.choice((("stop", "stopped"), ("kill", "killed")))
    if action == "kill" and random.random() < 0.5:
        return f"- {{kill: {broker_id}, lose-unflushed: on}}"
    return f"- {action}: {broker_id}"
