"""LeaderElectionCommand itself, on real brokers that boot from a cluster directory, and kafkapy on a copy of it.

One broker is booted once, and one JVM runs the tool for all cases. With one broker every leader is the preferred one:
elections that change something are in the golden set, and what is asked here is everything that the tool refuses.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.metadata.changes import CreateTopic
from tests.commands.running import Done, run
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

ENTRY = '{"topic": "t", "partition": 0}'
FILES = {
    "good": f'{{"partitions": [{ENTRY}, {{"topic": "u", "partition": 0}}, {{"topic": "t", "partition": 9}}]}}',
    "twice": f'{{"partitions": [{ENTRY}, {ENTRY}]}}',
    "empty": "",
    "list": "[1, 2]",
    "object": "{}",
    "number": '{"partitions": 1}',
    "entries": '{"partitions": [1]}',
    "field": '{"partitions": [{"topic": "t"}]}',
    "string": '{"partitions": [{"topic": 1, "partition": 0}]}',
    "integer": '{"partitions": [{"topic": "t", "partition": "0"}]}',
    "large": '{"partitions": [{"topic": "t", "partition": 3000000000}]}',
    "null": '{"partitions": null}',
}
PREFERRED = ["--election-type", "preferred"]
CASES: dict[str, list[str]] = {
    "all preferred": [*PREFERRED, "--all-topic-partitions"],
    "all unclean": ["--election-type", "UNCLEAN", "--all-topic-partitions"],
    "one preferred": [*PREFERRED, "--topic", "t", "--partition", "0"],
    "one unclean": ["--election-type", "unclean", "--topic", "t", "--partition", "0"],
    "no topic": [*PREFERRED, "--topic", "u", "--partition", "0"],
    "no partition": [*PREFERRED, "--topic", "t", "--partition", "9"],
    "no type": ["--all-topic-partitions"],
    "nothing": PREFERRED,
    "both": [*PREFERRED, "--all-topic-partitions", "--topic", "t", "--partition", "0"],
    "topic alone": [*PREFERRED, "--topic", "t"],
    "partition alone": [*PREFERRED, "--all-topic-partitions", "--partition", "0"],
} | {name: [*PREFERRED, "--path-to-json-file", name] for name in FILES}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The cluster directory for Kafka with the files, and a copy for kafkapy."""
    kafka_libs()
    root = tmp_path_factory.mktemp("elections")
    make_cluster(str(root / "kafkas"), 1)
    opened = DirectoryCluster(str(root / "kafkas"), seed=7)
    opened.apply(CreateTopic("t", 2, 1))
    opened.close()
    shutil.copytree(root / "kafkas", root / "ours")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root / "kafkas", root / "ours"


@pytest.fixture(scope="module")
def answers(places: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    scratch = tmp_path_factory.mktemp("brokers")
    jobs, results = scratch / "jobs", scratch / "results"
    with RealCluster(places[0], scratch) as real:
        real.wait_until_in_sync(2)
        where = ["--bootstrap-server", real.bootstrap]
        jobs.write_text("".join(json.dumps([*where, *args]) + "\n" for args in CASES.values()))
        subprocess.run(
            [*kafka_java("ElectMany"), str(jobs), str(results)],
            check=True, timeout=300, capture_output=True, cwd=places[0].parent,
        )  # fmt: skip
    found = [json.loads(line) for line in results.read_text().splitlines()]
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_same_words(
    name: str,
    places: tuple[Path, Path],
    answers: dict[str, dict[str, Any]],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(places[1].parent)
    ours = run(capfd, "leader-election", "--cluster", places[1], *CASES[name])
    kafkas = answers[name]
    message = kafkas["err"].partition("\n")[0]
    assert (sorted(ours.lines), ours.code > 0) == (sorted(kafkas["out"].splitlines()), kafkas["code"] > 0)
    assert said(ours) == message.removeprefix("com.fasterxml.jackson.databind.JsonMappingException: ")


def said(done: Done) -> str:
    """The first line on stderr that is no hint, without what kafkapy puts around a message about the command line."""
    lines = (line for line in done.err.splitlines() if not line.startswith("kafkapy: there is no "))
    line = next(lines, "").removeprefix("kafkapy: ")
    return line.removesuffix(". Try 'kafkapy leader-election --help'.")
