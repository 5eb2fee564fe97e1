"""A table of short questions to a running cluster: what topics there are, what they look like, where logs end, and lag.

    python benchmarks/live_cases.py [--rounds N] [--kafkapy CMD]

Three real brokers are started with 2,000 partitions and a group that has committed offsets. kafkapy and Kafka's own
tool ask the same, in turns; what the brokers do is not counted. Both must print the same lines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.kafka import BenchmarkError  # noqa: E402
from benchmarks.measure import Cost, measure, median_cost  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402
from tests.live_clients import Sent  # noqa: E402
from tests.live_kafka import LiveKafka  # noqa: E402

TARGET = 5.0
TOPICS = 20
PARTITIONS = 100
GROUP = "lag"


class Question(NamedTuple):
    """The same asked of both: Kafka's class, kafkapy's command, and the flags of both."""

    name: str
    tool: str
    command: str
    flags: tuple[str, ...]


QUESTIONS = (
    Question("topics --list", "TopicCommand", "topics", ("--list",)),
    Question("topics --describe", "TopicCommand", "topics", ("--describe",)),
    Question("get-offsets", "GetOffsetShell", "get-offsets", ()),
    Question(
        "consumer-groups --describe --group",
        "consumer.group.ConsumerGroupCommand",
        "consumer-groups",
        ("--describe", "--group", GROUP),
    ),
)


def ask(question: Question, setting: Setting, bootstrap: str) -> tuple[Cost, Cost]:
    """Both ask in turns."""
    server = ("--bootstrap-server", bootstrap, *question.flags)
    ours, theirs = setting.work / "kafkapy.out", setting.work / "kafka.out"
    commands = (
        ([*setting.kafkapy, question.command, *server], ours),
        (setting.kafka.java(f"org.apache.kafka.tools.{question.tool}", *server), theirs),
    )
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for _ in range(setting.rounds):
        for (command, printed), found in zip(commands, costs, strict=True):
            found.append(measure(command, printed))
    require_same_lines(question.name, ours, theirs)
    return median_cost(costs[0]), median_cost(costs[1])


def require_same_lines(name: str, ours: Path, theirs: Path) -> None:
    """Kafka's tools print some in the order of a hash map."""
    found, wanted = (sorted(path.read_bytes().splitlines()) for path in (ours, theirs))
    if found != wanted:
        raise BenchmarkError(f"{name}: kafkapy prints other lines than Kafka's tool: {len(found)} and {len(wanted)}")


def row(question: Question, costs: Sequence[Cost]) -> str:
    ours, theirs = costs
    ratio = theirs.cpu_s / ours.cpu_s
    cells = [f"{each.cpu_s:.2f} | {each.wall_s:.2f} | {each.peak_bytes / 1e6:.0f}" for each in costs]
    met = "met" if ratio >= TARGET else "**missed**"
    return f"| `{question.name}` | {' | '.join(cells)} | {ratio:.1f}x | {TARGET:g}x: {met} |"


def fill(live: LiveKafka) -> None:
    """Topics, some records, and a group that has read them in part."""
    topics = [live.create_topic(partitions=PARTITIONS, replicas=2) for _ in range(TOPICS)]
    live.send(*(Sent(topics[0], "x", partition=number) for number in range(PARTITIONS) for _ in range(2)))
    live.commit(GROUP, topics[0], dict.fromkeys(range(PARTITIONS), 1))
    live.wait_until_in_sync()


def live_table(setting: Setting) -> str:
    """All questions, as a Markdown table."""
    cluster = setting.work / "live-cluster"
    cluster.mkdir()
    with LiveKafka(cluster) as live:
        fill(live)
        rows = [row(question, ask(question, setting, live.bootstrap)) for question in QUESTIONS]
    return "\n".join(
        [
            "| | kafkapy CPU s | s | peak MB | Kafka CPU s | s | peak MB | ratio | target |",
            "|---|---|---|---|---|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    sys.exit(run("What short questions to a running cluster cost.", live_table))
