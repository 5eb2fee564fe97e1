"""A table of the console tools on a running cluster: a million records read, and a million lines sent.

    python benchmarks/live_console_cases.py [--rounds N] [--records N] [--kafkapy CMD]

Three real brokers are started, and a topic of three partitions is filled with records of 100 bytes. Then kafkapy and
Kafka's own console tools read all of it and send as much; they take turns, and only what the client itself uses counts.
Both must print the same lines, and what either sends must all be there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.kafka import BenchmarkError, Kafka  # noqa: E402
from benchmarks.measure import Cost, measure, median_cost  # noqa: E402
from benchmarks.one_table import Setting, run  # noqa: E402
from tests.live_kafka import LiveKafka  # noqa: E402

RECORDS = 1_000_000
PARTITIONS = 3
CONSUMER_TARGET = 3.0
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
FILLER = "abcdefghi" * 10


class Tools:
    """The two ways to run a console tool on one cluster."""

    def __init__(self, live: LiveKafka, kafkapy: Sequence[str], kafka: Kafka) -> None:
        self.live = live
        self._kafkapy = list(kafkapy)
        self._kafka = kafka

    def kafkapy(self, command: str, topic: str, *flags: str) -> list[str]:
        return [*self._kafkapy, command, "--bootstrap-server", self.live.bootstrap, "--topic", topic, *flags]

    def kafka(self, tool: str, topic: str, *flags: str) -> list[str]:
        return self._kafka.java(tool, "--bootstrap-server", self.live.bootstrap, "--topic", topic, *flags)


def write_lines(path: Path, count: int) -> None:
    """Lines of 100 characters, no two the same."""
    with open(path, "w", encoding="ascii") as lines:
        lines.writelines(f"{number:010d}{FILLER}\n" for number in range(count))


def alternating(rounds: int, *runs: Callable[[], Cost]) -> list[Cost]:
    """The median of each, one run of each after the other, so that all meet the same machine."""
    costs: list[list[Cost]] = [[] for _ in runs]
    for _ in range(rounds):
        for once, found in zip(runs, costs, strict=True):
            found.append(once())
    return [median_cost(each) for each in costs]


def consuming(tools: Tools, topic: str, count: int, work: Path, rounds: int) -> list[Cost]:
    """Both read the whole topic."""
    flags = ("--from-beginning", "--max-messages", str(count))
    ours, theirs = work / "kafkapy.out", work / "kafka.out"
    return alternating(
        rounds,
        lambda: measure(tools.kafkapy("console-consumer", topic, *flags), ours),
        lambda: measure(tools.kafka(CONSUMER, topic, *flags), theirs),
    )


def require_same_lines(ours: Path, theirs: Path, count: int) -> None:
    """Partitions come in any order."""
    found, wanted = (sorted(path.read_bytes().splitlines()) for path in (ours, theirs))
    if len(found) != count or found != wanted:
        raise BenchmarkError(f"kafkapy prints other records than Kafka's tool: {len(found):,} and {len(wanted):,}")


def producing(tools: Tools, lines: Path, count: int, work: Path, rounds: int) -> list[Cost]:
    """Both send all lines to topics of their own."""
    topics = [tools.live.create_topic(partitions=PARTITIONS) for _ in range(2)]
    commands = [tools.kafkapy("console-producer", topics[0]), tools.kafka(PRODUCER, topics[1])]
    costs = alternating(
        rounds,
        *(lambda command=command: measure(command, work / "out", stdin=lines) for command in commands),  # type: ignore[misc]
    )
    for topic in topics:
        require_count(tools, topic, count * rounds)
    return costs


def require_count(tools: Tools, topic: str, count: int) -> None:
    """Whether a topic has so many records."""
    ended = tools.live.kafka("GetOffsetShell", "--bootstrap-server", tools.live.bootstrap, "--topic", topic).lines
    found = sum(int(line.rpartition(":")[2]) for line in ended)
    if found != count:
        raise BenchmarkError(f"{topic} has {found:,} records, not {count:,}")


def row(what: str, count: int, costs: Sequence[Cost], target: float | None) -> str:
    ours, theirs = costs
    ratio = theirs.cpu_s / ours.cpu_s
    met = "" if target is None else f"{target:g}x: {'met' if ratio >= target else '**missed**'}"
    cells = [f"{each.cpu_s:.2f} | {each.wall_s:.1f} | {each.peak_bytes / 1e6:.0f}" for each in (ours, theirs)]
    return f"| {what} | {count:,} | {' | '.join(cells)} | {ratio:.1f}x | {met} |"


def console_table(setting: Setting) -> str:
    """Both measured on the same cluster, as a Markdown table."""
    work, rounds, count = setting.work, setting.rounds, setting.records
    lines, cluster = work / "console-lines", work / "console-cluster"
    write_lines(lines, count)
    cluster.mkdir()
    with LiveKafka(cluster) as live:
        tools = Tools(live, setting.kafkapy, setting.kafka)
        topic = live.create_topic(partitions=PARTITIONS)
        measure(tools.kafkapy("console-producer", topic), work / "out", stdin=lines)
        read = consuming(tools, topic, count, work, rounds)
        sent = producing(tools, lines, count, work, rounds)
    return "\n".join(
        [
            "| | records of 100 bytes | kafkapy CPU s | s | peak MB | Kafka CPU s | s | peak MB | ratio | target |",
            "|---|---|---|---|---|---|---|---|---|---|",
            row("console-consumer", count, read, CONSUMER_TARGET),
            row("console-producer", count, sent, None),
        ]
    )


if __name__ == "__main__":
    sys.exit(run("What it costs to read and send a million records.", console_table, RECORDS))
