"""The work of an export: splits of a table into files of a staging directory.

A part may be done twice, in two places at once: each attempt begins files under names of its own, and only what one
attempt returns is made part of the export. Files are synced before they are told of.

Memory: what all open files hold is bounded; where it becomes too much, the file that holds most is flushed. Rows of so
many days that too many files would be open close the one that was written to longest ago.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.export.file_format import Compression, Format, suffix
from kafkapy.export.omitted import Omitted
from kafkapy.export.row_file import RowFile, open_row_file
from kafkapy.export.shape import Shape
from kafkapy.export.staging import new_name
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Scan
from kafkapy.tables.table import Split

if TYPE_CHECKING:
    import pyarrow as pa

HELD_BYTES = 64 << 20
MOST_OPEN = 32


class Job(NamedTuple):
    """What all parts have in common."""

    shape: Shape
    format: Format
    compression: Compression
    run: str
    """The staging directory."""


class Piece(NamedTuple):
    """A split, the scan that it is read by, and what its files are named after: the partition, the offset from which
    on it is exported, and the piece's number in that."""

    scan: Scan
    split: Split
    partition: TopicPartition | None
    offset: int
    number: int


class Written(NamedTuple):
    """A file that is done: where it is, and where it is to go, below the export."""

    partition: TopicPartition | None
    staged: str
    path: str
    rows: int
    bytes: int


def write_pieces(job: Job, pieces: tuple[Piece, ...]) -> tuple[list[Written], Omitted]:
    """Read the pieces of a part and write their rows; the files, and what is not in them."""
    import pyarrow as pa

    omitted = Omitted()
    try:
        return [written for piece in pieces for written in _write(job, piece, omitted)], omitted
    except pa.ArrowNotImplementedError as error:
        raise KafkapyError(f"{job.format} files cannot have these columns: {error}; try another --to") from error


def _write(job: Job, piece: Piece, omitted: Omitted) -> list[Written]:
    table = find_table(job.shape.table)
    scan = job.shape.scan(piece.scan)
    schema = job.shape.file_schema(piece.scan)
    files = _Files(job, piece, schema)
    leave_out = partial(omitted.rows, f"{piece.split.topic}-{piece.split.partition}")
    for batch in table.read(scan, piece.split, omitted.place):
        for directory, rows in job.shape.files(batch, schema, leave_out):
            if rows.num_rows:
                files.write(directory, rows)
    return files.close()


class _OpenFile(NamedTuple):
    file: RowFile
    staged: str
    directory: str


class _Files:
    """The files of one piece, by their directories; the one written to last is the last."""

    def __init__(self, job: Job, piece: Piece, schema: pa.Schema) -> None:
        self._job = job
        self._of = job.shape.table if piece.partition is None else str(piece.partition)
        self._piece = piece
        self._schema = schema
        self._open: dict[str, _OpenFile] = {}
        self._rows: dict[str, int] = {}
        self._done: list[Written] = []

    def write(self, directory: str, rows: pa.RecordBatch) -> None:
        """Add rows to the file of a directory."""
        found = self._open.pop(directory, None) or self._new(directory)
        self._open[directory] = found
        found.file.write(rows)
        self._rows[found.staged] = self._rows.get(found.staged, 0) + rows.num_rows
        while sum(each.file.held for each in self._open.values()) > HELD_BYTES:
            max(self._open.values(), key=lambda each: each.file.held).file.flush()

    def _new(self, directory: str) -> _OpenFile:
        if len(self._open) >= MOST_OPEN:
            self._close(next(iter(self._open)))
        job = self._job
        name = new_name(self._of, self._piece.offset, self._piece.number, suffix(job.format, job.compression))
        staged = os.path.join(job.run, name)
        return _OpenFile(open_row_file(job.format, staged, self._schema, job.compression), staged, directory)

    def _close(self, directory: str) -> None:
        file, staged, _ = self._open.pop(directory)
        file.close()
        path = os.path.join(directory, os.path.basename(staged))
        self._done.append(Written(self._piece.partition, staged, path, self._rows[staged], synced_size(staged)))

    def close(self) -> list[Written]:
        """End all files."""
        for directory in list(self._open):
            self._close(directory)
        return self._done


def synced_size(path: str) -> int:
    """The size of a file that will still be there after the machine has failed."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def packed(pieces: Iterator[Piece], limit: int) -> Iterator[tuple[Piece, ...]]:
    """Parts of about ``limit`` bytes: a task has a cost of its own, also where there is little to do."""
    some: list[Piece] = []
    size = 0
    for piece in pieces:
        if some and size + piece.split.size > limit:
            yield tuple(some)
            some, size = [], 0
        some.append(piece)
        size += piece.split.size
    if some:
        yield tuple(some)
