"""What an export is asked to do: the command line of ``kafkapy export`` as values."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkapy.errors import UsageError
from kafkapy.export.decoding import Decoding
from kafkapy.export.file_format import Compression, Format
from kafkapy.tables.scan import Scan

PARTITION_COLUMNS = ("topic", "partition", "date")
"""What ``--partition-by`` takes; ``date`` is the day of the timestamp, in UTC."""

GROWING_TABLES = frozenset(("records", "batches"))
"""Tables whose rows lie at offsets of the logs they are asked for, so that a run can go on where the last one ended.
Every other table is exported whole, in the place of what was there."""


class Request(NamedTuple):
    """``scan`` has the paths, the wanted topics and times, isolation, columns and what becomes of damage."""

    table: str
    format: Format
    out: str
    scan: Scan
    compression: Compression
    partition_by: tuple[str, ...] = ()
    decode_key: Decoding | None = None
    decode_value: Decoding | None = None
    exclude_internal: bool = False
    replace_recreated: bool = False
    overwrite: bool = False

    @property
    def grows(self) -> bool:
        """Whether a run adds to what is there."""
        return self.table in GROWING_TABLES

    @property
    def is_of_files(self) -> bool:
        """Whether rows are of files of partitions, not of records."""
        return self.table in ("partitions", "index_entries")

    def options(self) -> dict[str, Any]:
        """What all runs into one place must agree on, by the names of the options; kept in the manifest."""
        scan = self.scan
        return {
            "table": self.table,
            "to": self.format.value,
            "partition-by": list(self.partition_by),
            "decode-key": None if self.decode_key is None else self.decode_key.text,
            "decode-value": None if self.decode_value is None else self.decode_value.text,
            "columns": None if scan.columns is None else list(scan.columns),
            "from-time": scan.timestamps.start,
            "to-time": None if scan.timestamps.end is None else scan.timestamps.end - 1,
            "isolation": "read_committed" if scan.committed else "read_uncommitted",
            "mode": scan.mode.value,
        }


def check(request: Request) -> None:
    """Refuse options that do not go together."""
    for name in request.partition_by:
        if name not in PARTITION_COLUMNS:
            raise UsageError(f"--partition-by {name}: it can be {', '.join(PARTITION_COLUMNS)}")
    if len(set(request.partition_by)) < len(request.partition_by):
        raise UsageError("--partition-by names a column twice")
    decodes = request.decode_key is not None or request.decode_value is not None
    if decodes and request.table != "records":
        raise UsageError(f"--decode-key and --decode-value are for the table records: {request.table} is decoded")
    start, end = request.scan.timestamps
    if start is not None and end is not None and start >= end:
        raise UsageError("--from-time is after --to-time")
    if not request.grows:
        _check_whole(request)
    if request.format is Format.TEXT:
        _check_text(request, decodes)


def _check_whole(request: Request) -> None:
    given = {
        "--replace-recreated": request.replace_recreated,
        "--isolation read_committed": request.scan.committed and request.is_of_files,
        "--from-time": request.scan.timestamps.start is not None and request.table == "partitions",
        "--to-time": request.scan.timestamps.end is not None and request.table == "partitions",
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option}: not with the table {request.table}, which is exported whole each time")


def _check_text(request: Request, decodes: bool) -> None:
    if request.table != "records":
        raise UsageError("--to text has the lines of kafka-dump-log.sh, which are of the table records")
    given = {
        "--partition-by": bool(request.partition_by),
        "--columns": request.scan.columns is not None,
        "--decode-key and --decode-value": decodes,
        "--isolation read_committed": request.scan.committed,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option}: not with --to text, which has the lines of kafka-dump-log.sh and all of them")
