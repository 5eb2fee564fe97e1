"""The values of offset commits as columns, without a Python object for each.

Invariant: what comes out is what ``decode_value`` says of each value. Values of one size nearly always have one layout
(see ``offset_records``): where every byte that decides on it is the same in all of them, the bytes of a field lie one
size apart, and a column is cut out of all values by a slice for each of its bytes. Other values are decoded one by one,
which also finds damage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.coordinator.offset_and_metadata import NO_EXPIRE_TIMESTAMP
from kafkapy.coordinator.offset_records import decode_value
from kafkapy.formats.message_reader import decode_utf8
from kafkapy.formats.uuid import ZERO_UUID, uuid_text

FIELDS = {
    "committed_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "metadata": pa.string(),
    "commit_timestamp": pa.int64(),
    "expire_timestamp": pa.int64(),
    "topic_id": pa.string(),
}
"""In the order of ``OffsetAndMetadata``."""

_OFFSET_AT, _EPOCH_AT, _METADATA_SIZE_AT = 2, 10, 14
_ONE_BYTE_SIZES = range(1, 0x80)
_TOPIC_ID_TAG = b"\1\0\x10"
_TOPIC_ID_SIZE = 16


class Layout(NamedTuple):
    """Where the metadata lies, whether a topic's id ends the value, and the places that make it so."""

    metadata: slice
    has_topic_id: bool
    deciding: tuple[int, ...]


class Values(NamedTuple):
    """Values of one size and layout, also as bytes without anything between them."""

    array: pa.Array
    data: bytes
    size: int
    layout: Layout


def value_columns(values: pa.Array, wanted: Sequence[str]) -> dict[str, pa.Array]:
    """The ``FIELDS`` that are wanted, times in ms and -1 where Kafka has no number; a tombstone is null in all. A
    SchemaError where a value is damaged."""
    names = [name for name in FIELDS if name in wanted]
    sizes = pc.fill_null(pc.binary_length(values), -1)
    known = pc.unique(sizes).to_pylist()
    if len(known) <= 1:
        return _of_one_size(values, next(iter(known), -1), names)
    masks = [pc.equal(sizes, size) for size in known]
    parts = [_of_one_size(values.filter(mask), size, names) for size, mask in zip(known, masks, strict=True)]
    order = pc.sort_indices(pa.concat_arrays([pc.indices_nonzero(mask) for mask in masks]))
    return {name: pa.concat_arrays([part[name] for part in parts]).take(order) for name in names}


def _of_one_size(values: pa.Array, size: int, names: Sequence[str]) -> dict[str, pa.Array]:
    if size < 0:
        return {name: pa.nulls(len(values), FIELDS[name]) for name in names}
    data = b"".join(values.to_pylist()) if values.offset else values.buffers()[2].to_pybytes()[: size * len(values)]
    layout = _layout(data[:size])
    if layout is None or any(data[place::size].count(data[place]) != len(values) for place in layout.deciding):
        decoded: list[Sequence[Any]] = list(zip(*map(decode_value, values.to_pylist()), strict=True))
        return {name: pa.array(decoded[number], FIELDS[name]) for number, name in enumerate(FIELDS) if name in names}
    return {name: _COLUMNS[name](Values(values, data, size, layout)) for name in names}


def _layout(value: bytes) -> Layout | None:
    """The layout of a value of version 3 or 4; None where it must be looked at more closely."""
    if len(value) <= _METADATA_SIZE_AT + 1:
        return None
    if value[:2] == b"\0\4" and value[_METADATA_SIZE_AT] in _ONE_BYTE_SIZES:
        end = _METADATA_SIZE_AT + value[_METADATA_SIZE_AT]  # the size is written as one more
        tags = value[end + 8 :]
        has_topic_id = tags[:3] == _TOPIC_ID_TAG and len(tags) == len(_TOPIC_ID_TAG) + _TOPIC_ID_SIZE
        if tags != b"\0" and not has_topic_id:
            return None
        deciding = range(end + 8, end + 8 + (3 if has_topic_id else 1))
        return Layout(slice(_METADATA_SIZE_AT + 1, end), has_topic_id, (0, 1, _METADATA_SIZE_AT, *deciding))
    if value[:2] == b"\0\3":
        start = _METADATA_SIZE_AT + 2
        end = start + int.from_bytes(value[_METADATA_SIZE_AT:start], "big", signed=True)
        if start <= end == len(value) - 8:
            return Layout(slice(start, end), False, (0, 1, _METADATA_SIZE_AT, _METADATA_SIZE_AT + 1))
    return None


def _integers(values: Values, at: int, kind: pa.DataType) -> pa.Array:
    """The integers that begin at ``at`` of each value, most significant byte first."""
    width, count = kind.byte_width, len(values.array)
    column = bytearray(count * width)
    for byte in range(width):
        column[byte::width] = values.data[at + width - 1 - byte :: values.size]  # Arrow has the least one first
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(column)])


def _texts(values: pa.Array, start: int, stop: int, decode: Callable[[bytes], str]) -> pa.Array:
    """Bytes of each value as text; few are different."""
    encoded = pc.binary_slice(values, start, stop).dictionary_encode()
    return pa.array(map(decode, encoded.dictionary.to_pylist()), pa.string()).take(encoded.indices)


def _topic_ids(values: Values) -> pa.Array:
    if not values.layout.has_topic_id:
        return pa.repeat(ZERO_UUID, len(values.array))
    return _texts(values.array, values.size - _TOPIC_ID_SIZE, values.size, uuid_text)


_COLUMNS: dict[str, Callable[[Values], pa.Array]] = {
    "committed_offset": lambda values: _integers(values, _OFFSET_AT, pa.int64()),
    "leader_epoch": lambda values: _integers(values, _EPOCH_AT, pa.int32()),
    "metadata": lambda values: _texts(
        values.array, values.layout.metadata.start, values.layout.metadata.stop, decode_utf8
    ),
    "commit_timestamp": lambda values: _integers(values, values.layout.metadata.stop, pa.int64()),
    "expire_timestamp": lambda values: pa.repeat(pa.scalar(NO_EXPIRE_TIMESTAMP, pa.int64()), len(values.array)),
    "topic_id": _topic_ids,
}
