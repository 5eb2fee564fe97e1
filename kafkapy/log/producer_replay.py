"""The producer state at an offset: the newest snapshot before it, and the batches from there on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.log.batch import batch_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkapy.formats.record_batch import BatchHeader
    from kafkapy.formats.transaction_index import AbortedTxn
    from kafkapy.log.producer_state import ProducerState
    from kafkapy.log.segment_reader import SegmentReader
    from kafkapy.log.window import Window


def replay(
    state: ProducerState, segments: Sequence[SegmentReader], end_offset: int, whole: bool = False
) -> list[AbortedTxn]:
    """Bring ``state`` forward to ``end_offset``; the transactions that were aborted on the way.

    With ``whole`` it is an error if batches before ``end_offset`` cannot be found.
    """
    aborted: list[AbortedTxn] = []
    for number, segment in enumerate(segments):
        following = segments[number + 1].base_offset if number + 1 < len(segments) else end_offset
        start = max(state.map_end_offset, segment.base_offset)
        if start >= min(following, end_offset):
            continue
        aborted += _replay_segment(state, segment.walk_from(start, whole), start, end_offset)
    state.map_end_offset = max(state.map_end_offset, end_offset)
    return aborted


def _replay_segment(
    state: ProducerState, batches: Iterator[tuple[Window, BatchHeader]], start: int, end_offset: int
) -> list[AbortedTxn]:
    aborted: list[AbortedTxn] = []
    for window, header in batches:
        if header.last_offset < start:
            continue
        if header.base_offset >= end_offset:
            break
        aborted += state.replay(header, lambda: batch_bytes(window, header.size))  # noqa: B023
        if header.last_offset + 1 >= end_offset:
            break
    return aborted
