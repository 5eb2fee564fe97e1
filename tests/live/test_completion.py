"""What shells are told of a running cluster, and that a silent one does not keep a user waiting."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from kafkapy.cli import main
from tests.live_kafka import LiveKafka

TOPIC = "completion-orders"
GROUP = "completion readers"
SECTIONS = (
    *("acls/", "clientQuotas/", "cluster/", "configs/", "delegationToken/", "features/", "producerIds/", "provenance"),
    *("scram/", "topics/"),
)


@pytest.fixture(scope="module", autouse=True)
def _names(live: LiveKafka) -> None:
    live.create_topic(TOPIC, partitions=3)
    live.commit(GROUP, TOPIC, {0: 0})
    where = ["configs", "--bootstrap-server", live.bootstrap, "--alter"]
    for entity, config in (
        ("--user=completion-alice", "SCRAM-SHA-256=[password=x]"),
        ("--client=completion-app", "producer_byte_rate=1000000"),
        ("--client-metrics=completion-slow", "interval.ms=1000"),
    ):
        assert main([*where, entity, "--add-config", config]) == 0


def offered(server: str, metavar: str, *words: str) -> list[str]:
    command = [sys.executable, "-m", "kafkapy", "__complete", "zsh", metavar, "--bootstrap-server", server, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("metavar", "words", "expected"),
    [
        ("TOPIC", ["completion-"], [TOPIC]),
        ("PARTITION", ["--topic", TOPIC, "--partition", ""], ["0", "1", "2"]),
        ("TOPIC[:PARTITION,...]", [f"{TOPIC}:1,"], [f"{TOPIC}:1,0", f"{TOPIC}:1,2"]),
        ("BROKER", [""], ["1", "2", "3"]),
        ("GROUP", ["completion r"], [GROUP]),
        ("TRANSACTIONAL-ID", ["no such id"], []),
        ("USER", ["completion-"], ["completion-alice"]),
        ("PRINCIPAL", ["User:completion-"], ["User:completion-alice"]),
        ("CLIENT-ID", ["completion-"], ["completion-app"]),
        ("CLIENT-METRICS", ["completion-"], ["completion-slow"]),
        ("ENTITY", ["--entity-type", "users", "--entity-name", "completion-"], ["completion-alice"]),
        ("IP", ["completion-"], []),
        ("TOKEN", [""], []),
        ("CONFIG=VALUE[,...]", ["--broker-logger", "1", "--add-config", "roo"], ["root="]),
        ("CONFIG=VALUE[,...]", ["--broker-logger", "1", "--add-config", "root=D"], ["root=DEBUG"]),
        ("METADATA-PATH", ["image/to"], ["image/topics/"]),
        ("METADATA-PATH", ["image/"], [f"image/{each}" for each in SECTIONS]),
        ("METADATA-PATH", ["image/topics/byName/completion-"], [f"image/topics/byName/{TOPIC}/"]),
        ("METADATA-PATH", [f"image/topics/byName/{TOPIC}/2"], [f"image/topics/byName/{TOPIC}/2"]),
        ("METADATA-PATH", ["image/scram/SCRAM-SHA-256/comp"], ["image/scram/SCRAM-SHA-256/completion-alice"]),
        ("PRODUCER-ID", ["--topic", TOPIC, "--partition", "0", ""], []),
        ("PRODUCER-ID", ["--topic", "no such topic", "--partition", "0", ""], []),
    ],
)
def test_names_of_a_running_cluster(live: LiveKafka, metavar: str, words: list[str], expected: list[str]) -> None:
    """Nothing is offered where a busy machine takes too long, so it is asked again."""
    live.until(lambda: offered(live.bootstrap, metavar, *words) == expected)


def test_ids_of_a_running_cluster(live: LiveKafka) -> None:
    (topic,) = (
        line
        for line in live.kafkapy("topics", "--bootstrap-server", live.bootstrap, "--describe", "--topic", TOPIC).lines
        if "TopicId" in line
    )
    topic_id = topic.partition("TopicId: ")[2].split()[0]
    assert offered(live.bootstrap, "TOPIC-ID", topic_id[:8]) == [topic_id]
    nodes, controllers = offered(live.bootstrap, "NODE", ""), offered(live.bootstrap, "CONTROLLER", "")
    assert set(controllers) <= set(nodes) != set()


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert offered(f"127.0.0.1:{server.getsockname()[1]}", "TOPIC", "") == []
