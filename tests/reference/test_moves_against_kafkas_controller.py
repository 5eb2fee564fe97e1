"""Partitions that move while brokers stop, crash and come back, and nobody fetches: Kafka's own controller plays the
same, and comes to the same leaders, epochs, ISRs and ELRs."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import kill_broker, start_broker, stop_broker
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic, ElectLeader, Reassign
from tests.backends.contract import opened
from tests.kafka_jars import kafka_libs
from tests.reference.judge_controller import Judged, State, Story, assert_same, judge

BROKERS = (1, 2, 3, 4)
FILES = Files(sync=False)
SEED = 18
RANDOM_STORIES = 100
RANDOM_STEPS = 20
ADDED_AGAIN = [["reassign", "t", [3]], ["kill", 3], ["reassign", "t", [2]], ["start", 3]]
"""A replica that a move has removed stays eligible where too few are in sync, also when it is added again."""

Event = list[Any]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    kafka_libs()
    root = tmp_path_factory.mktemp("moves")
    random = Random(SEED)
    plays = [(min_isr, elr, ADDED_AGAIN) for min_isr in (1, 2, 3) for elr in (0, 1)]
    plays += [(random.randint(1, 3), random.randint(0, 1), _random_events(random)) for _ in range(RANDOM_STORIES)]
    return judge([_story(root / "cluster", *each) for each in plays], root)


def test_kafkas_controller_comes_to_the_same(judged: Judged) -> None:
    assert_same(judged)


def test_a_replica_that_is_added_again_does_not_lead_without_records(judged: Judged) -> None:
    (added,) = [
        kafkas
        for story, kafkas in judged
        if story.question["events"] is ADDED_AGAIN
        and (story.question["configs"]["min.insync.replicas"], story.question["elr"]) == (2, 1)
    ]
    assert [state["error"] for state in added] == ["", "", "UnknownServerException", ""]
    assert added[-1]["partitions"]["t"] == [-1, 2, [], [1, 2], [3], [], []]


def test_the_stories_are_about_something(judged: Judged) -> None:
    states = [state for _, kafkas in judged for state in kafkas]
    assert any(state["partitions"]["t"][0] == -1 for state in states)
    assert any(state["partitions"]["t"][3] for state in states)
    assert {"", "ElectionNotNeededException", "UnknownServerException"} <= {each["error"] for each in states}


def _story(directory: Path, min_isr: int, elr: int, events: list[Event]) -> Story:
    make_cluster(str(directory), len(BROKERS), wanted={"eligible.leader.replicas.version": elr}, files=FILES)
    cluster = opened(directory, files=FILES)
    cluster.apply(CreateTopic("t", assignments=((1, 2, 3),), configs={"min.insync.replicas": str(min_isr)}))
    configs = {"min.insync.replicas": min_isr}
    question = {"brokers": BROKERS, "topics": {"t": [1, 2, 3]}, "configs": configs, "elr": elr, "events": events}
    found: list[State | None] = [_played(cluster, event) for event in events]
    cluster.close()
    shutil.rmtree(directory)
    return Story(question, found, [f"event {number}, {event}" for number, event in enumerate(events)])


def _played(cluster: DirectoryCluster, event: Event) -> State:
    error = ""
    try:
        _play(cluster, event)
    except KafkaError as refusal:
        error = refusal.name
    now = cluster.image().topics["t"].partitions[0]
    moving = list(now.replicas), list(now.removing_replicas), list(now.adding_replicas)
    return {"error": error, "partitions": {"t": [now.leader, now.leader_epoch, list(now.isr), list(now.elr), *moving]}}


def _play(cluster: DirectoryCluster, event: Event) -> None:
    match event:
        case ["reassign", topic, replicas]:
            cluster.apply(Reassign(topic, 0, tuple(replicas)))
        case ["elect", topic, election]:
            cluster.apply(ElectLeader(topic, 0, election))
        case [action, broker]:
            {"stop": stop_broker, "kill": kill_broker, "start": start_broker}[action](cluster, broker)


def _random_events(random: Random) -> list[Event]:
    gone: set[int] = set()
    events: list[Event] = []
    for _ in range(RANDOM_STEPS):
        kind, broker = random.randrange(4), random.choice(BROKERS)
        if kind == 0:
            events.append(["reassign", "t", random.sample(BROKERS, random.randint(1, 3))])
        elif kind == 1:
            events.append(["elect", "t", random.choice(("PREFERRED", "UNCLEAN"))])
        elif broker in gone:
            gone.remove(broker)
            events.append(["start", broker])
        elif len(gone) < len(BROKERS) - 1:
            gone.add(broker)
            events.append([random.choice(("stop", "kill")), broker])
    return events
