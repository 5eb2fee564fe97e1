"""``dump-log --summary``: what a log holds, in a few lines, from batch headers and sizes.

Records are counted by the batch headers; compressed batches are decompressed to measure them, and decoded no further.
Times are those of the headers: the first record's of each batch and the largest. A batch that fails its checksum
counts as damage and its header is not trusted; without ``--resync`` the rest after unreadable bytes is one loss.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kafkapy.errors import CorruptRecordError, FormatError, KafkapyError
from kafkapy.formats.compression import CHUNK, Codec, Reader, decompressing_reader
from kafkapy.formats.message_set import Message, inner_messages
from kafkapy.formats.record_batch import DELETE_HORIZON, HEADER_SIZE, LOG_OVERHEAD, NO_PRODUCER_ID, BatchHeader
from kafkapy.log.batches import Entry, next_entry, read_header
from kafkapy.log.names import LOG_SUFFIX
from kafkapy.log.resync import is_valid_entry, next_valid
from kafkapy.log.window import Window
from kafkapy.output.output_format import Output
from kafkapy.output.progress import Progress
from kafkapy.output.row_writer import row_writer
from kafkapy.output.sink import Sink
from kafkapy.scan.large_batch import Body
from kafkapy.scan.options import DumpOptions

SHOWN = 20


@dataclass
class Summary:
    """What was found in one file."""

    file: str
    bytes: int = 0
    batches: int = 0
    records: int = 0
    control_batches: int = 0
    transactional_batches: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    codecs: Counter[str] = field(default_factory=Counter)
    magics: Counter[int] = field(default_factory=Counter)
    leader_epochs: Counter[int] = field(default_factory=Counter)
    producers: Counter[int] = field(default_factory=Counter)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    gap_count: int = 0
    missing_offsets: int = 0
    damage: list[dict[str, Any]] = field(default_factory=list)

    @property
    def codec_ratio(self) -> float | None:
        """How many bytes a compressed byte stands for, None where nothing is compressed."""
        return round(self.uncompressed_bytes / self.compressed_bytes, 3) if self.compressed_bytes else None

    def row(self) -> dict[str, Any]:
        """The summary as a row."""
        counters: dict[str, Counter[Any]] = {
            "codecs": self.codecs,
            "magics": self.magics,
            "leader_epochs": self.leader_epochs,
        }
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, Counter) and name != "gaps"}
        return {
            "type": "summary",
            **plain,
            "codec_ratio": self.codec_ratio,
            **{name: {str(key): n for key, n in sorted(counter.items())} for name, counter in counters.items()},
            "producers": {str(producer): n for producer, n in self.producers.most_common(SHOWN)},
            "producer_count": len(self.producers),
            "gaps": [{"after": after, "next": following} for after, following in self.gaps],
        }


def summarize(files: list[str], options: DumpOptions, sink: Sink) -> int:
    """Print a summary of every .log among ``files``; 1 where one is damaged."""
    logs = [path for path in files if path.endswith(LOG_SUFFIX)]
    if not logs:
        raise KafkapyError("--summary reads .log files, and none was given")
    damaged, is_done = False, False
    names = list(Summary("").row())
    rows = None
    if options.output is not Output.KAFKA:
        rows = row_writer(options.output.value, sink, {"summary": names}, options.view, if_empty=names)
    progress = Progress(sum(os.path.getsize(path) for path in logs if os.path.exists(path)), quiet_stdout=True)
    try:
        for path in logs:
            try:
                summary = _Summarizer(path, options, progress).run()
            except BrokenPipeError:
                raise  # about the output, not the file
            except OSError as error:
                raise KafkapyError(f"{path}: {error.strerror}") from None
            damaged = damaged or bool(summary.damage)
            if rows is None:
                sink.write(_text(summary).encode("utf-8", "surrogateescape"))
            else:
                rows.row(summary.row())
        is_done = True
    finally:
        progress.close()
        if rows is not None:
            rows.finish(is_cut_short=not is_done)
    return 1 if damaged else 0


class _Summarizer:
    def __init__(self, path: str, options: DumpOptions, progress: Progress) -> None:
        self._summary = Summary(path)
        self._options = options
        self._progress = progress
        self._scratch = memoryview(bytearray(CHUNK))

    def run(self) -> Summary:
        summary = self._summary
        with Window(summary.file, self._options.max_bytes) as window:
            summary.bytes = window.limit
            while window.remaining > 0:
                start = window.position
                try:
                    entry = next_entry(window)
                    reason = "no whole batch"
                except CorruptRecordError as error:
                    entry, reason = None, str(error)
                if entry is not None and is_valid_entry(window, entry):
                    self._count(window, entry)
                    window.seek(entry.end)
                elif entry is not None:
                    self._damaged(start, entry.end, "checksum does not hold")
                    window.seek(entry.end)
                else:
                    self._skip(window, reason)
                self._progress.advance(window.position - start)
        return summary

    def _skip(self, window: Window, reason: str) -> None:
        start, found = window.position, None
        if self._options.resync:
            last = self._summary.last_offset
            found = next_valid(window, start + 1, -1 if last is None else last)
        end = window.limit if found is None else found
        self._damaged(start, end, reason)
        window.seek(end)

    def _damaged(self, start: int, end: int, reason: str) -> None:
        self._summary.damage.append({"start": start, "end": end, "bytes": end - start, "reason": reason})

    def _count(self, window: Window, entry: Entry) -> None:
        try:
            if entry.is_legacy:
                if not window.ensure(entry.size):
                    raise CorruptRecordError(f"a message of {entry.size} bytes is larger than kafkapy reads")
                self._count_message(
                    Message(entry.offset, window.view[window.start + LOG_OVERHEAD : window.start + entry.size])
                )
            else:
                header = read_header(window, entry)
                self._measure(header.codec, entry.size - HEADER_SIZE, lambda: _body_reader(window, entry, header.codec))
                self._count_batch(header)
        except FormatError as error:
            self._damaged(entry.position, entry.end, str(error))

    def _count_batch(self, header: BatchHeader) -> None:
        summary = self._summary
        summary.records += header.record_count
        summary.control_batches += header.is_control
        summary.transactional_batches += header.is_transactional
        summary.magics[header.magic] += 1
        summary.leader_epochs[header.partition_leader_epoch] += 1
        if header.producer_id != NO_PRODUCER_ID:
            summary.producers[header.producer_id] += 1
        summary.missing_offsets += max(0, header.last_offset_delta + 1 - header.record_count)
        first_time = header.max_timestamp if header.is_log_append_time else header.base_timestamp
        self._span(header.base_offset, header.last_offset)
        if not header.attributes & DELETE_HORIZON:
            self._time(first_time)
        self._time(header.max_timestamp)

    def _count_message(self, message: Message) -> None:
        message.check_magic()
        inner = [message] if message.codec is Codec.NONE else list(inner_messages(message))
        value = message.value or memoryview(b"")
        self._measure(message.codec, len(value), lambda: decompressing_reader(message.codec, value, message.magic))
        self._summary.records += len(inner)
        self._summary.magics[message.magic] += 1
        self._span(inner[0].offset, message.offset)
        for each in inner:
            self._time(each.timestamp)

    def _measure(self, codec: Codec, compressed: int, reader_of: Callable[[], Reader]) -> None:
        if codec is not Codec.NONE:
            reader, size = reader_of(), 0
            while n := reader.readinto(self._scratch):
                size += n
            self._summary.compressed_bytes += compressed
            self._summary.uncompressed_bytes += size
        self._summary.batches += 1
        self._summary.codecs[codec.label] += 1

    def _span(self, first: int, last: int) -> None:
        summary = self._summary
        if summary.last_offset is not None and first != summary.last_offset + 1:
            summary.gap_count += 1
            summary.missing_offsets += max(0, first - summary.last_offset - 1)
            if len(summary.gaps) < SHOWN:
                summary.gaps.append((summary.last_offset, first))
        if summary.first_offset is None:
            summary.first_offset = first
        summary.last_offset = last

    def _time(self, timestamp: int) -> None:
        if timestamp < 0:
            return
        summary = self._summary
        summary.first_timestamp = min(
            timestamp, timestamp if summary.first_timestamp is None else summary.first_timestamp
        )
        summary.last_timestamp = max(timestamp, timestamp if summary.last_timestamp is None else summary.last_timestamp)


def _body_reader(window: Window, entry: Entry, codec: Codec) -> Reader:
    if window.ensure(entry.size):
        return decompressing_reader(codec, window.view[window.start + HEADER_SIZE : window.start + entry.size])
    return Body(window, entry, codec).reader()


def _text(summary: Summary) -> str:
    lines = [
        ("Batches", f"{summary.batches} ({_counts(summary.codecs)})" if summary.batches else "0"),
        ("Records", f"{summary.records}"),
        ("Bytes", f"{summary.bytes}"),
        ("Offsets", _range(summary.first_offset, summary.last_offset)),
        ("Times", _range(_time_text(summary.first_timestamp), _time_text(summary.last_timestamp))),
    ]
    if summary.codec_ratio is not None:
        sizes = f"{summary.compressed_bytes} bytes compressed, {summary.uncompressed_bytes} uncompressed"
        lines.append(("Codec ratio", f"{summary.codec_ratio} ({sizes})"))
    lines.append(("Magic", _counts(summary.magics)))
    if summary.leader_epochs:
        lines.append(("Leader epochs", _counts(summary.leader_epochs)))
    if summary.transactional_batches or summary.control_batches:
        marks = f"{summary.transactional_batches} transactional, {summary.control_batches} control"
        lines.append(("Transactions", f"{marks} batches"))
    lines.append(("Producers", _producers(summary)))
    lines.append(("Gaps", _gaps(summary)))
    lines.append(("Damage", _places(len(summary.damage))))
    text = f"Summary of {summary.file}\n" + "".join(f"  {name + ':':<15}{value}\n" for name, value in lines)
    for place in summary.damage:
        text += f"    bytes {place['start']} to {place['end'] - 1} ({place['bytes']} bytes): {place['reason']}\n"
    return text


def _counts(counter: Counter[Any]) -> str:
    return ", ".join(f"{key}: {n}" for key, n in sorted(counter.items())) or "none"


def _places(count: int) -> str:
    return f"{count} place{'' if count == 1 else 's'}" if count else "none"


def _range(first: Any, last: Any) -> str:
    return "none" if first is None else f"{first} to {last}"


def _time_text(timestamp: int | None) -> str | None:
    if timestamp is None:
        return None
    try:
        return f"{timestamp} ({datetime.fromtimestamp(timestamp / 1000, UTC).isoformat(timespec='milliseconds')})"
    except (OverflowError, ValueError, OSError):
        return str(timestamp)


def _producers(summary: Summary) -> str:
    if not summary.producers:
        return "none with an id"
    shown = ", ".join(f"id {producer}: {n}" for producer, n in summary.producers.most_common(SHOWN))
    return f"{len(summary.producers)} (batches of {shown}{' ...' if len(summary.producers) > SHOWN else ''})"


def _gaps(summary: Summary) -> str:
    if not summary.missing_offsets and not summary.gap_count:
        return "none"
    shown = ", ".join(f"{following} follows {after}" for after, following in summary.gaps)
    between = f"{summary.gap_count} between batches" + (f": {shown}" if shown else "")
    return f"{summary.missing_offsets} offsets have no record; {between}{' ...' if summary.gap_count > SHOWN else ''}"
