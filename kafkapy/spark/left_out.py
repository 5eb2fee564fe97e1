"""What the answers to statements lack since only other brokers have it: one line, before the first that it matters to.

Tables are read by other processes, which cannot tell the user anything but an error. A statement that names a topic is
not told of others: where a partition of that topic is not here, it ends with an error by itself.
"""

from __future__ import annotations

from functools import cached_property

from kafkapy.backends.absent_partitions import AbsentPartitions
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.output.sql_text import names, texts
from kafkapy.tables.opening import absent, open_paths
from kafkapy.tables.registry import TABLES, find_table
from kafkapy.tables.scan import Scan

_NOT_OF_LOGS = frozenset(("metadata_records", "partitions"))
"""The one log is on every broker, and each partition is a row wherever its copies are."""


class LeftOut:
    """The partitions of log dirs that statements miss."""

    def __init__(self, paths: tuple[str, ...], broker: int | None) -> None:
        self._scan = Scan(paths, broker=broker)
        self._told: set[str] = set()

    def notes(self, statement: str) -> list[str]:
        """What is to be told of a statement, and was not told before."""
        tables = [table for table in TABLES if table in names(statement) and table not in _NOT_OF_LOGS]
        if not tables or not self._topics.isdisjoint(texts(statement)):
            return []
        topics = {getattr(find_table(table), "topic", None) for table in tables}
        missing = self._missing
        if None not in topics:
            missing = missing._replace(elsewhere=[each for each in missing.elsewhere if each.topic in topics])
        found = [note for note in missing.notes(is_named=False) if note not in self._told]
        self._told.update(found)
        return found

    @cached_property
    def _missing(self) -> AbsentPartitions:
        return absent(self._cluster, self._scan)

    @cached_property
    def _topics(self) -> frozenset[str]:
        return frozenset(self._cluster.image().topics)

    @cached_property
    def _cluster(self) -> LogDirsCluster:
        return open_paths(self._scan.paths)
