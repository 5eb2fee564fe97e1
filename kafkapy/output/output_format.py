"""The values of ``--output``."""

from __future__ import annotations

from enum import StrEnum


class Output(StrEnum):
    """How rows are written; ``kafka`` is the text of Kafka's own tool."""

    KAFKA = "kafka"
    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    YAML = "yaml"
