"""The whole tour: its steps in their order, and what to try when it is over."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.tour.step import Step
from kafkapy.tour.steps import (
    cluster,
    dump,
    files,
    group,
    lag,
    produce,
    reassignment,
    sql,
    throughput,
    topics,
    transactions,
)

STEPS: tuple[Step, ...] = (
    cluster.STEP,
    topics.STEP,
    produce.STEP,
    transactions.STEP,
    group.STEP,
    files.STEP,
    dump.STEP,
    lag.STEP,
    throughput.STEP,
    reassignment.STEP,
    sql.STEP,
)


class Suggestion(NamedTuple):
    """Something to try next."""

    text: str
    line: str


SUGGESTIONS = (
    Suggestion("Crash a broker, and see leaders move:", "kafkapy cluster kill-broker 2 && kafkapy cluster status"),
    Suggestion("Watch the high watermark move, step by step:", "kafkapy lab run two-fetch-rounds"),
    Suggestion("See how Kafka finds a record:", "kafkapy lookup --topic orders --partition 0 --offset 3"),
    Suggestion(
        "Let the group start over:",
        "kafkapy consumer-groups --reset-offsets --group billing --topic orders \\\n    --to-earliest --execute",
    ),
    Suggestion("Start a real Kafka broker on this directory:", "kafkapy storage broker-properties --broker 1"),
    Suggestion("Read the log dirs of real brokers:", "kafkapy topics --describe --log-dirs /kafka/1,/kafka/2"),
    Suggestion("Query a running cluster:", "kafkapy topics --describe --bootstrap-server localhost:9092"),
    Suggestion(
        "Print rows for a program, with the columns that it needs:",
        "kafkapy topics --describe --topic orders --output json \\\n    --columns topic,partition,leader",
    ),
    Suggestion("List all commands, and the options of one:", "kafkapy --help; kafkapy topics --help"),
)
