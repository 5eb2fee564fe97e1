"""The largest timestamp in a batch, from its records."""

from __future__ import annotations

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.compression import Codec
from kafkapy.formats.message_set import Message, inner_messages
from kafkapy.formats.record_batch import HEADER_SIZE, LOG_OVERHEAD, decode_record, decode_records
from kafkapy.log.batches import Entry, read_header
from kafkapy.log.window import Window
from kafkapy.scan.large_batch import Body, LargeRecord, spans

NO_TIMESTAMP = -1


def max_record_timestamp(window: Window, entry: Entry) -> int:
    """The largest timestamp of the records of ``entry``, where the window stands; -1 where it has none."""
    if not window.ensure(entry.size):
        return _largest_of_stream(window, entry)
    data = window.view[window.start : window.start + entry.size]
    if entry.is_legacy:
        message = Message(entry.offset, data[LOG_OVERHEAD:])
        messages = (message,) if message.codec is Codec.NONE else inner_messages(message)
        return max((inner.timestamp for inner in messages), default=NO_TIMESTAMP)
    header = read_header(window, entry)
    if entry.size < HEADER_SIZE:
        raise CorruptRecordError(f"a batch of {entry.size} bytes is too small to have records")
    return max((record.timestamp for record in decode_records(header, data[HEADER_SIZE:])), default=NO_TIMESTAMP)


def _largest_of_stream(window: Window, entry: Entry) -> int:
    """The same of a batch that does not fit into the window."""
    if entry.is_legacy:
        raise CorruptRecordError(f"a message of {entry.size} bytes is larger than kafkapy reads")
    header = read_header(window, entry)
    body = Body(window, entry, header.codec)
    follow, largest = body.open(), NO_TIMESTAMP
    for span in spans(body.open(), header.record_count):
        record = LargeRecord(body, span, follow)
        largest = max(largest, decode_record(header, record.without_data(), 0)[0].timestamp)
        record.close()
    return largest
