"""How a plan is made: the values of ``--strategy``, see plans.py."""

from __future__ import annotations

from enum import StrEnum


class Strategy(StrEnum):
    """Kafka's placement, the fewest bytes, or the best balance."""

    KAFKA = "kafka"
    MINIMAL = "minimal"
    BALANCED = "balanced"
