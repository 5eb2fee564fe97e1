"""Asks Kafka's own controller (JudgeController.java) what it makes of stories."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.kafka_java import kafka_java

State = dict[str, Any]
"""After an event: the error, and of each topic the leader, its epoch, the ISR, the ELR, and the replicas, those
that are removed and those that are added."""


class Story(NamedTuple):
    """What Kafka is asked to play, and what kafkapy found after each event, None in the middle of a step."""

    question: dict[str, Any]
    found: list[State | None]
    texts: list[str]


Judged = list[tuple[Story, list[State]]]
"""Stories, each with what Kafka made of it."""


def judge(stories: Sequence[Story], scratch: Path) -> Judged:
    """Have them all played in one JVM."""
    questions, answers = scratch / "questions", scratch / "answers"
    questions.write_text("".join(json.dumps(each.question) + "\n" for each in stories))
    command = [*kafka_java("org.apache.kafka.controller.JudgeController"), str(questions), str(answers)]
    done = subprocess.run(command, check=False, timeout=600, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(zip(stories, map(json.loads, answers.read_text().splitlines()), strict=True))


def assert_same(judged: Judged) -> None:
    for story, kafkas in judged:
        for found, kafka, text in zip(story.found, kafkas, story.texts, strict=True):
            assert found in (None, kafka), (text, found, kafka, story.question)
