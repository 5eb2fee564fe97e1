"""Making records of the metadata log, complete as they would come out of the log.

What replays a record (delta.py) finds every field in it, so a record made here leaves none out.
"""

from __future__ import annotations

from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord, record_schema


def new_record(name: str, version: int, value: Value) -> MetadataRecord:
    """The record, with every field that ``value`` leaves out at its default."""
    return MetadataRecord(name, version, record_schema(name).struct.defaults() | value)
