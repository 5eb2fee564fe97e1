"""One run of an export: plan, write into the staging directory, commit.

Only one run at a time works on a place. Whatever stops one, the place holds what it held before, or all of the run
(commit.py); a run that can still do so tidies up after itself, after any other the next one does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.export.commit import Move, commit
from kafkapy.export.file_format import Format
from kafkapy.export.manifest import FILE_NAME, FileEntry, Manifest, read_manifest, write_manifest
from kafkapy.export.omitted import Omitted
from kafkapy.export.plan import Plan, Step, next_entry, plan
from kafkapy.export.request import Request
from kafkapy.export.shape import Shape
from kafkapy.export.source import Source
from kafkapy.export.staging import DIRECTORY, ExportLock, clean, new_run
from kafkapy.export.text_work import text_part, write_text
from kafkapy.export.work import Job, Piece, Written, packed, write_pieces
from kafkapy.log.files import Files
from kafkapy.output.progress import Progress
from kafkapy.tables.engine import Engine

Tell = Callable[[str], object]


class Summary(NamedTuple):
    """What a run has added."""

    rows: int
    bytes: int
    files: int
    seconds: float
    problems: list[str]


class Export:
    """A request, and the place it is for."""

    def __init__(self, request: Request, tell: Tell, files: Files | None = None) -> None:
        self._request = request
        self._tell = tell
        self._files = files or Files()
        self._out = os.path.abspath(request.out)
        decodings = (("key", request.decode_key), ("value", request.decode_value))
        known = tuple((name, how) for name, how in decodings if how is not None)
        self._shape = Shape(request.table, request.scan.columns, request.scan.mode, request.partition_by, known)
        if request.format is not Format.TEXT:
            self._shape.scan(request.scan)
            self._shape.file_schema(request.scan)

    def plan(self) -> Plan:
        """What a run would do now; nothing is changed."""
        return self._planned(Source(self._request), self._manifest())

    def run(self, engine: Engine) -> Summary:
        """Export what is new."""
        started = time.monotonic()
        old = self._manifest()
        self._files.mkdir(os.path.join(self._out, DIRECTORY))
        lock = ExportLock(self._out)
        try:
            if read_manifest(self._out) is None:
                write_manifest(self._out, old, self._files)
            else:
                old = self._manifest()
            if clean(self._out, self._kept(), self._files):
                self._tell(f"removed what a run that did not end has left in {self._out}")
            written, problems = self._run(engine, old)
        finally:
            lock.release()
        seconds = time.monotonic() - started
        total_rows, total_bytes = sum(each.rows for each in written), sum(each.bytes for each in written)
        return Summary(total_rows, total_bytes, len(written), seconds, problems)

    def _run(self, engine: Engine, old: Manifest) -> tuple[list[Written], list[str]]:
        source = Source(self._request)
        planned = self._planned(source, old)
        for note in planned.notes:
            self._tell(note)
        run = new_run(self._out, self._files)
        try:
            written = list(self._written(engine, source, planned.steps, run))
            self._commit(run, old, planned, written)
        except (Exception, KeyboardInterrupt):
            clean(self._out, self._kept(), self._files)
            raise
        return written, planned.problems

    def _manifest(self) -> Manifest:
        """The manifest that is there, or a new one; options that differ from its own are refused, unless nothing was
        exported with them."""
        options = self._request.options()
        found = read_manifest(self._out)
        if found is None:
            self._check_empty()
            return Manifest(options, {})
        if not found.partitions and not found.files:
            return Manifest(options, {})
        if not self._request.overwrite:
            _check_options(self._out, found.options, options)
        return found

    def _check_empty(self) -> None:
        if os.path.exists(self._out) and not os.path.isdir(self._out):
            raise UsageError(f"--out {self._out} is a file: name a directory")
        if os.path.isdir(self._out) and set(os.listdir(self._out)) - {DIRECTORY, FILE_NAME + ".tmp"}:
            raise UsageError(f"--out {self._out} has files that no export wrote: name an empty directory")

    def _kept(self) -> set[str]:
        found = read_manifest(self._out)
        return set() if found is None else {file.path for file in found.all_files()}

    def _planned(self, source: Source, old: Manifest) -> Plan:
        request = self._request
        done = old.partitions if request.grows and not request.overwrite else {}
        exported = frozenset(partition.topic for partition in done)
        source.check_topics(exported)
        if not request.grows:
            return Plan([], [], [], [])
        made = plan(source.states(), done, self._request.replace_recreated)
        lost, notes = source.losses()
        made.problems.extend(lost)
        made.notes.extend(notes)
        for name in sorted(exported - source.topics()):
            made.notes.append(f"the topic {name} is not there any more; its rows stay")
        return made

    def _written(self, engine: Engine, source: Source, steps: Sequence[Step], run: str) -> Iterator[Written]:
        request = self._request
        if request.format is Format.TEXT:
            texts = [
                text_part(source.log(step.partition), step, request.scan) for step in steps if step.start < step.end
            ]
            for written, told in _progressing(engine, partial(write_text, run), texts, lambda part: part.size):
                yield from written
                for line in told:
                    self._tell(line)
            return
        job = Job(self._shape, request.format, request.compression, run)
        pieces = source.pieces(steps) if request.grows else source.whole()
        parts = list(packed(pieces, request.scan.split_bytes))
        omitted = Omitted()
        for files, missing in _progressing(engine, partial(write_pieces, job), parts, _size):
            yield from files
            omitted.add(missing)
        for line in omitted.lines():
            self._tell(line)

    def _commit(self, run: str, old: Manifest, planned: Plan, written: Sequence[Written]) -> None:
        by_partition: dict[Any, list[FileEntry]] = {}
        for each in written:
            by_partition.setdefault(each.partition, []).append(FileEntry(each.path, each.rows, each.bytes))
        done = {} if self._request.overwrite else dict(old.partitions)
        for partition in planned.removed:
            del done[partition]
        done |= {step.partition: next_entry(step, by_partition.get(step.partition, ())) for step in planned.steps}
        new = Manifest(self._request.options(), done, tuple(by_partition.get(None, ())))
        moves = [Move(each.staged, each.path) for each in written]
        commit(self._out, run, moves, old, new, self._files)


def _progressing(engine: Engine, work: Callable[[Any], Any], parts: Sequence[Any], size: Callable[[Any], int]) -> Any:
    progress = Progress(sum(map(size, parts)), quiet_stdout=True)
    try:
        for part, result in zip(parts, engine.map(work, parts), strict=True):
            progress.advance(size(part))
            yield result
    finally:
        progress.close()


def _size(part: tuple[Piece, ...]) -> int:
    return sum(piece.split.size for piece in part)


def _check_options(out: str, kept: dict[str, Any], asked: dict[str, Any]) -> None:
    for name in sorted({*kept, *asked}):
        if kept.get(name) != asked.get(name):
            raise KafkapyError(
                f"{out} was exported with {_told(name, kept.get(name))}, and this run has "
                f"{_told(name, asked.get(name))}: use the same options, another --out, or --overwrite to start anew"
            )


def _told(name: str, value: Any) -> str:
    if value is None or value == []:
        return f"no --{name}"
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"--{name} {text if len(text) <= 60 else text[:57] + '...'}"
