"""Compaction: a round that was thought through (``cleaning_round``) is done.

Each group of segments is written as one, with the first one's base offset, under names ending in ``.cleaned``; synced,
dated as the last source, renamed to ``.swap``; the sources are renamed to ``.deleted``; the new files get their names.

Killed while ``.cleaned`` files are written, the next opening removes them and the log is as before. Killed after they
are named ``.swap``, it finishes the renaming. Groups are done one after the other, so some may be compacted and
others not, which reads the same. Who calls writes the cleaner checkpoint last: without it the round is done again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.log.cleaning_round import CleanedGroup, CleaningRound, cleaned_group

if TYPE_CHECKING:
    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.log.partition_log import PartitionLog
    from kafkapy.log.segment import LogSegment

WRITE_BYTES = 1 << 20


def clean(log: PartitionLog, cleaning: CleaningRound[LogSegment]) -> list[CleanedGroup]:
    """Do the round; what became of each group."""
    return [_clean_group(log, cleaning, group) for group in cleaning.groups]


def _clean_group(log: PartitionLog, cleaning: CleaningRound[LogSegment], group: list[LogSegment]) -> CleanedGroup:
    cleaned = log.new_cleaned_segment(group[0].base_offset)
    try:
        _write(cleaning, group, cleaned)
        cleaned.become_inactive()
        cleaned.set_modified(group[-1].modified)
    except OSError:
        cleaned.remove()
        raise
    done = cleaned_group(group, cleaned.size, cleaned.max_timestamp.timestamp)
    log.replace_segments(cleaned, group)
    return done


def _write(cleaning: CleaningRound[LogSegment], group: list[LogSegment], cleaned: LogSegment) -> None:
    headers: list[BatchHeader] = []
    data = bytearray()
    for header, batch in cleaning.batches(group):
        data += batch
        headers.append(header)
        if len(data) >= WRITE_BYTES:
            cleaned.append(bytes(data), headers)
            data, headers = bytearray(), []
    if headers:
        cleaned.append(bytes(data), headers)
    for txn in cleaning.take_aborted():
        cleaned.append_aborted_txn(txn)
