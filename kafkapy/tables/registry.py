"""Every table by its name; a table's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from kafkapy.errors import UsageError
from kafkapy.near_misses import did_you_mean

if TYPE_CHECKING:
    from kafkapy.tables.table import Table

TABLES = {
    "records": "What producers wrote: a row a record, markers of transactions included.",
    "batches": "The batches that records lie in, as DumpLogSegments shows their headers.",
    "index_entries": "The entries of .index, .timeindex and .txnindex files.",
    "offset_commits": "Every commit that __consumer_offsets still holds, with its time.",
    "group_metadata": "What __consumer_offsets holds of groups and their members.",
    "transactions": "What __transaction_state holds of transactional ids.",
    "metadata_records": "The records of the KRaft metadata log.",
    "partitions": "Each partition with its offsets, size and leader.",
}
"""The module ``kafkapy.tables.<name>_table`` has the table as ``TABLE``."""
TABLES_OF_TOPICS = frozenset(("records", "batches", "index_entries", "partitions"))
"""Those whose rows are of a topic that is there, and not of what another one tells of it."""


def find_table(name: str) -> Table:
    """The table of that name."""
    if name not in TABLES:
        hint = did_you_mean(name, TABLES) or f": there are {', '.join(TABLES)}"
        raise UsageError(f"there is no table '{name}'{hint}")
    table: Table = import_module(f"kafkapy.tables.{name}_table").TABLE
    return table
