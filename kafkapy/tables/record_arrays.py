"""The kernel's buffers as Arrow arrays, without a copy; what a whole batch shares is spread over its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.formats.java_text import java_utf8
from kafkapy.formats.record_batch import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from kafkapy.kernel.kernel import RecordBuffers

UTC = pa.timestamp("us", tz="UTC")
HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", UTC),
        ("timestamp_type", pa.string()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(HEADER)),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("sequence", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("batch_position", pa.int64()),
    ]
)

Buffers = dict[str, pa.Buffer]
Maker = Callable[[Buffers, int], pa.Array]


class RecordArrays:
    """Makes batches of the columns that ``schema`` names."""

    def __init__(self, schema: pa.Schema, topic: str, partition: int) -> None:
        self._schema = schema
        makers: dict[str, Maker] = {
            "topic": partial(_constant, pa.scalar(topic, pa.string())),
            "partition": partial(_constant, pa.scalar(partition, pa.int32())),
            "offset": lambda buffers, count: _fixed(pa.int64(), count, None, buffers["offsets"]),
            "timestamp": lambda buffers, count: _fixed(UTC, count, buffers["time_bits"], buffers["times"]),
            "timestamp_type": partial(_shared, "run_attributes", _timestamp_types),
            "key": lambda buffers, count: _data(buffers, "key", count),
            "value": lambda buffers, count: _data(buffers, "value", count),
            "headers": _headers,
            "producer_id": partial(_shared, "run_producer_ids", _as(pa.int64())),
            "producer_epoch": partial(_shared, "run_producer_epochs", _as(pa.int16())),
            "sequence": lambda buffers, count: _fixed(pa.int32(), count, None, buffers["sequences"]),
            "leader_epoch": partial(_shared, "run_leader_epochs", _as(pa.int32())),
            "transactional": partial(_shared, "run_attributes", _has(TRANSACTIONAL)),
            "control": partial(_shared, "run_attributes", _has(CONTROL)),
            "batch_position": partial(_shared, "run_positions", _as(pa.int64())),
        }
        self._makers: list[Maker] = [makers.get(field.name) or partial(_nulls, field.type) for field in schema]

    def batch(self, filled: RecordBuffers) -> pa.RecordBatch:
        """The rows of buffers, which are empty after it."""
        count = filled.count
        taken: dict[str, bytes] = filled.take()
        buffers = {name: pa.py_buffer(data) for name, data in taken.items()}
        return pa.RecordBatch.from_arrays([make(buffers, count) for make in self._makers], schema=self._schema)


def _fixed(kind: pa.DataType, count: int, bits: pa.Buffer | None, data: pa.Buffer) -> pa.Array:
    return pa.Array.from_buffers(kind, count, [bits, data])


def _nulls(kind: pa.DataType, _: Buffers, count: int) -> pa.Array:
    return pa.nulls(count, kind)


def _constant(value: pa.Scalar, _: Buffers, count: int) -> pa.Array:
    return pa.repeat(value, count)


def _data(buffers: Buffers, name: str, count: int, kind: pa.DataType | None = None) -> pa.Array:
    columns = [buffers.get(f"{name}_bits"), buffers[f"{name}_ends"], buffers[f"{name}_data"]]
    return pa.Array.from_buffers(kind or pa.binary(), count, columns)


def _headers(buffers: Buffers, count: int) -> pa.Array:
    inner = len(buffers["header_key_ends"]) // 4 - 1
    keys = _data(buffers, "header_key", inner, pa.string())
    try:
        keys.validate(full=True)
    except pa.ArrowInvalid:
        raw = _data(buffers, "header_key", inner)
        keys = pa.array([java_utf8(key).decode() for key in raw.to_pylist()], pa.string())
    items = pa.StructArray.from_arrays([keys, _data(buffers, "header_value", inner)], fields=list(HEADER))
    return pa.Array.from_buffers(pa.list_(HEADER), count, [None, buffers["header_ends"]], children=[items])


def _shared(name: str, make: Callable[[pa.Array], pa.Array], buffers: Buffers, _: int) -> pa.Array:
    """A column of runs, spread."""
    runs = len(buffers["run_ends"]) // 4
    ends = _fixed(pa.int32(), runs, None, buffers["run_ends"])
    values = make(_fixed(pa.int64(), runs, None, buffers[name]))
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))


def _as(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda values: values.cast(kind)


def _has(bit: int) -> Callable[[pa.Array], pa.Array]:
    return lambda attributes: pc.not_equal(pc.bit_wise_and(attributes, bit), 0)


def _timestamp_types(attributes: pa.Array) -> pa.Array:
    return pc.if_else(_has(LOG_APPEND_TIME)(attributes), "LogAppendTime", "CreateTime")
