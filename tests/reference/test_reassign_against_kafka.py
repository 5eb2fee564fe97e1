"""Files and options of reassign-partitions against Kafka's own command, all questions in one JVM.

Files are damaged at random: a word is taken out, doubled or replaced by a value of another kind. Where the words
of a refusal are those of Kafka's JSON library, only that there is one is compared.
"""

from __future__ import annotations

import json
import subprocess
from random import Random
from typing import Any

import pytest

from kafkapy.commands.reassign_options import chosen_action
from kafkapy.errors import KafkaError, UsageError
from kafkapy.metadata.reassignment.reassignment_json import (
    format_reassignment,
    parse_brokers,
    parse_reassignment,
    parse_topics,
)
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java

SEED = 6
STRANGE: tuple[Any, ...] = (
    None, True, 1, 1.0, -1, 2**31, 2**31 - 1, "1", "any", "/d", "é\u0001\"\\", [], [1, 1], {}, {"topic": "t"},
)  # fmt: skip
PLAN = {
    "version": 1,
    "partitions": [
        {"topic": "b", "partition": 10, "replicas": [3, 1], "log_dirs": ["any", "/d"]},
        {"topic": "b", "partition": 9, "replicas": [1, 2, 3]},
        {"topic": "a", "partition": 0, "replicas": [2]},
    ],
}
TOPICS = {"version": 1, "topics": [{"topic": "b"}, {"topic": "a"}]}
BROKER_LISTS = ("1", "2,1", "1,2,", ",1", "", ",", "x", "1, 2", "3,1,3,1", "+1", "2147483648", "-1", "1,1,1")
RAW = ("", "{", "nope", "[]", "3", '"x"', "null", "{} trailing", '{"partitions":[NaN]}', '{"version":1,"version":2}')
OPTIONS = (
    ("generate", "list"),
    (),
    ("generate",),
    ("generate", "topics_to_move_json_file"),
    ("generate", "topics_to_move_json_file", "broker_list"),
    ("generate", "topics_to_move_json_file", "broker_list", "disable_rack_aware"),
    ("generate", "topics_to_move_json_file", "broker_list", "reassignment_json_file"),
    ("execute",),
    ("execute", "reassignment_json_file"),
    ("execute", "reassignment_json_file", "throttle"),
    ("execute", "reassignment_json_file", "broker_list"),
    ("verify",),
    ("verify", "reassignment_json_file"),
    ("verify", "reassignment_json_file", "throttle"),
    ("cancel",),
    ("cancel", "reassignment_json_file"),
    ("cancel", "reassignment_json_file", "disable_rack_aware"),
    ("list",),
    ("list", "broker_list"),
    ("verify", "cancel", "reassignment_json_file"),
)
ACTIONS = ("generate", "execute", "verify", "cancel", "list")
FLAGS = (*ACTIONS, "disable_rack_aware")


def damaged(document: Any, random: Random) -> Any:
    """A copy with something of another kind in one place, or nothing there, or twice."""
    copy = json.loads(json.dumps(document))
    place, key = random.choice(list(places(copy)))
    kind = random.randrange(4)
    if kind == 0:
        del place[key]
    elif kind == 1 and isinstance(place, list):
        place.append(place[key])
    else:
        place[key] = random.choice(STRANGE)
    return copy


def places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, found in items:
        yield value, key
        yield from places(found)


def questions() -> list[dict[str, Any]]:
    random = Random(SEED)
    plans = [json.dumps(PLAN), *RAW, *(json.dumps(damaged(PLAN, random)) for _ in range(400))]
    topics = [json.dumps(TOPICS), *RAW, *(json.dumps(damaged(TOPICS, random)) for _ in range(150))]
    asked: list[dict[str, Any]] = [{"ask": "execute", "data": data} for data in plans]
    asked += [{"ask": "generate", "data": data, "brokers": "1"} for data in topics]
    asked += [{"ask": "generate", "data": "{}", "brokers": brokers} for brokers in BROKER_LISTS]
    return asked + [{"ask": "options", "given": given, "args": words(given)} for given in OPTIONS]


def words(given: tuple[str, ...]) -> list[str]:
    found = ["--bootstrap-server", "x:1"]
    for name in given:
        found += [f"--{name.replace('_', '-')}", *(() if name in FLAGS else ("1",))]
    return found


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each question with Kafka's answer."""
    kafka_libs()
    directory = tmp_path_factory.mktemp("reassign-against-kafka")
    jobs, results = directory / "jobs", directory / "results"
    asked = questions()
    jobs.write_text("".join(json.dumps(question) + "\n" for question in asked))
    subprocess.run(
        [*kafka_java("JudgeReassign"), str(jobs), str(results)], check=True, timeout=600, capture_output=True
    )
    return list(zip(asked, map(json.loads, results.read_text().splitlines()), strict=True))


def ours(question: dict[str, Any]) -> dict[str, Any]:
    try:
        if question["ask"] == "execute":
            return {"value": format_reassignment(*parse_reassignment(question["data"]))}
        if question["ask"] == "generate":
            return {"value": [list(parse_brokers(question["brokers"])), parse_topics(question["data"])]}
        given = question["given"]
        chosen_action({name: name in given for name in ACTIONS}, [name for name in given if name not in ACTIONS])
        return {"value": "accepted"}
    except KafkaError as error:
        return {"error": error.name, "message": str(error)}
    except UsageError as error:
        return {"error": "IllegalStateException", "message": str(error)}


@pytest.mark.parametrize("kind", ["execute", "generate", "options"])
def test_answers_are_kafkas(answered: list[tuple[dict[str, Any], dict[str, Any]]], kind: str) -> None:
    for question, theirs in answered:
        if question["ask"] != kind:
            continue
        found = ours(question)
        if "at [Source:" in theirs.get("message", ""):
            assert found.get("error") == theirs["error"], question
        else:
            assert found == theirs, question
