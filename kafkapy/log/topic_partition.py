"""A partition of a topic, as every layer above names it."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """Sorts by topic, then by partition number."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
