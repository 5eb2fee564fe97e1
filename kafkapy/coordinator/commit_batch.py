"""The keys, values and offsets of a batch of commits, without a look at what they say.

A consumer commits the same partitions again and again, so that its batches are cut at the same places. Where to cut is
kept by the columns of starts and sizes, and a batch whose columns were seen before is cut by one call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from kafkapy.formats.compression import decompress
from kafkapy.formats.record_batch import CODEC_MASK, HEADER_SIZE
from kafkapy.kernel.kernel import Columns
from kafkapy.log.batch import Batch

FEW = 4  # records that are cut one by one
LAYOUTS_KEPT = 256

Cut = Callable[[bytes], tuple[bytes, ...]]


class CommitBatch(NamedTuple):
    """Equally long columns."""

    keys: Sequence[bytes]
    values: Sequence[bytes]
    offsets: Sequence[int]


def cut(batch: Batch, columns: Columns) -> CommitBatch | None:
    """The records of a batch, of which ``columns`` is overwritten; None where a key or a value is null, and where the
    batch must be looked at more closely."""
    header = batch.header
    count = header.record_count
    if header.magic < 2 or not 0 < count <= columns.capacity:
        return None
    data, start = batch.data, HEADER_SIZE
    if header.attributes & CODEC_MASK:
        data, start = decompress(header.codec, data[HEADER_SIZE:]), 0
    columns.decode(header, data, start, len(data), count, True)
    if columns.problem:
        return None
    keys = _slices(data, columns.key_start, columns.key_size)
    values = _slices(data, columns.value_start, columns.value_size)
    return None if keys is None or values is None else CommitBatch(keys, values, columns.offset)


def _slices(data: bytes, starts: Sequence[int], sizes: Sequence[int]) -> Sequence[bytes] | None:
    if len(starts) < FEW:
        if min(sizes) < 0:
            return None
        return [data[start : start + size] for start, size in zip(starts, sizes, strict=True)]
    cutter = _cutter(array("q", starts).tobytes(), array("q", sizes).tobytes())
    return None if cutter is None else cutter(data)


@lru_cache(maxsize=LAYOUTS_KEPT)
def _cutter(starts: bytes, sizes: bytes) -> Cut | None:
    """What cuts at these places; None where one is null."""
    pairs = list(zip(memoryview(starts).cast("q"), memoryview(sizes).cast("q"), strict=True))
    if any(size < 0 for _, size in pairs):
        return None
    return itemgetter(*(slice(start, start + size) for start, size in pairs))
