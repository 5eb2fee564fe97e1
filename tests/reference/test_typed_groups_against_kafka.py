"""Groups of every type in a directory that kafkapy wrote, as Kafka's tools describe them once a real broker has loaded
them, and as kafkapy does: the same lines. One broker, and one JVM for all of the tools.

Where Kafka prints in hash order, the lines are compared sorted.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands.running import run
from tests.coordinator import typed_groups
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

TOOLS = {
    "groups": "org.apache.kafka.tools.GroupsCommand",
    "share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
}
PARTITIONS = 7
CASES = (
    # members first: a broker forgets them when their sessions time out
    "share-groups --describe --group workers --members",
    "share-groups --describe --group workers --members --verbose",
    "share-groups --describe --group workers --state --verbose",
    "streams-groups --describe --group counters --members",
    "streams-groups --describe --group counters --members --verbose",
    "streams-groups --describe --group counters --state --verbose",
    "streams-groups --describe --group counters",
    "streams-groups --describe --group counters --offsets --verbose",
    "streams-groups --describe --group split --state",
    "streams-groups --list --state",
    "streams-groups --list",
    "groups --list",
    "groups --list --consumer",
    "groups --list --share",
    "groups --list --streams",
    "groups --list --group-type classic",
    "groups --list --protocol streams",
    "share-groups --list",
    "share-groups --list --state",
    "share-groups --list --state stable",
    "share-groups --describe --all-groups",
    "share-groups --describe --all-groups --verbose",
    "share-groups --describe --group fresh --group workers",
    "share-groups --describe --all-groups --state",
    "share-groups --describe --group fresh --members",
    "share-groups --describe --group nope",
    "share-groups --describe --group counters",
    "streams-groups --describe --group stopped",
    "streams-groups --describe --group stopped --members",
    "streams-groups --describe --group stopped --state --verbose",
    "streams-groups --describe --group nope",
    "streams-groups --describe --group workers",
)


class Printed(NamedTuple):
    out: str
    err: str


def run_tools(bootstrap: str) -> list[Printed]:
    lines = []
    for case in CASES:
        name, *args = case.split()
        lines.append("\t".join((TOOLS[name], *args, "--bootstrap-server", bootstrap)))
    command = [*kafka_java("GroupToolsMany")]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=300, check=True)
    return [
        Printed(*(base64.b64decode(part).decode() for part in line.split(","))) for line in done.stdout.splitlines()
    ]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Printed]]:
    kafka_libs()
    scratch = tmp_path_factory.mktemp("typed-groups")
    directory = typed_groups.made(scratch / "cluster")
    with RealCluster(directory, scratch) as real:
        real.wait_until_in_sync(PARTITIONS)
        theirs = dict(zip(CASES, run_tools(real.bootstrap), strict=True))
        running = scratch / "running"
        shutil.copytree(directory, running)
    return running, theirs


@pytest.mark.parametrize("case", CASES)
def test_the_same_lines(capfd: pytest.CaptureFixture[str], printed: tuple[Path, dict[str, Printed]], case: str) -> None:
    directory, theirs = printed
    name, *args = case.split()
    ours = run(capfd, name, "--cluster", directory, *args)
    kafka = theirs[case]
    assert sorted(ours.out.splitlines()) == sorted(kafka.out.splitlines())
    assert (ours.code != 0) == ("failed due to" in kafka.out)
    if ours.code == 0 and name != "groups":  # GroupsCommand tells on stderr that it could not exit
        assert ours.err == kafka.err
