"""Which records of internal topics, and in which form: the values of options of ``consumer-offsets``."""

from __future__ import annotations

from enum import StrEnum


class Records(StrEnum):
    """Which records."""

    OFFSETS = "offsets"
    GROUPS = "groups"
    TRANSACTIONS = "transactions"
    ALL = "all"


class Format(StrEnum):
    """JSON is Kafka's object, a line each; LEGACY the lines of Kafka 2.1 to 3.9, KAFKA_1_0 those of 0.9 to 2.0. Only
    offset commits, classic groups and transactions have such lines: there, the other records are left out."""

    JSON = "json"
    LEGACY = "legacy"
    KAFKA_1_0 = "1.0"
    TABLE = "table"
