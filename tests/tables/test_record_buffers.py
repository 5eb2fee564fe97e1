"""The compiled kernel against the plain one, which defines what the buffers hold."""

from __future__ import annotations

from random import Random
from types import ModuleType

import pytest

from kafkapy.formats.record_batch import Record, decode_header, decode_records
from kafkapy.kernel import plain
from kafkapy.kernel.buffer_names import HEADERS, KEY, VALUE
from kafkapy.log.inflater import Inflater
from tests.dumping import NOT_BUILT, has_compiled
from tests.segments import any_batch, any_segment, entries, mutated

EVERYTHING = (-(2**63), 2**63 - 1, -(2**63), 2**63 - 1)
MOST_BYTES = 1 << 20

Bounds = tuple[int, int, int, int]


def gathered(
    kernel: ModuleType,
    data: bytes,
    fields: int = KEY | VALUE | HEADERS,
    bounds: Bounds = EVERYTHING,
    rows: int = 1 << 16,
    aborted: frozenset[int] = frozenset(),
) -> tuple[int, int, int, dict[str, bytes]]:
    """Where the kernel stopped, how many rows and bytes there are, and the buffers."""
    buffers = kernel.RecordBuffers(fields, bounds, MOST_BYTES)
    left_out = (lambda producer_id, offset: producer_id in aborted) if aborted else None
    end = kernel.gather_batches(
        buffers, kernel.Columns(), bytearray(data), 0, len(data), 1000, rows, Inflater().inflate, left_out
    )
    return end, buffers.count, buffers.size, buffers.take()


@pytest.mark.skipif(not has_compiled, reason=NOT_BUILT)
def test_both_kernels_fill_the_same_buffers() -> None:
    from kafkapy.kernel import _kernel

    rows = 0
    for number in range(1500):
        rng = Random(number)
        data = any_segment(rng)
        if number % 3 == 0:
            data = mutated(rng, data)
        bounds = EVERYTHING
        if rng.randrange(2):
            bounds = (rng.randrange(8), rng.randrange(4, 30), rng.choice((-(2**63), 0, 5, 10**12)), 2**63 - 1)
        aborted = frozenset(rng.choices(range(-1, 5), k=rng.randrange(3)))
        asked = (data, rng.randrange(8), bounds, rng.choice((1, 3, 1000)), aborted)
        wanted = gathered(plain, *asked)
        assert gathered(_kernel, *asked) == wanted, f"seed {number}"
        rows += wanted[1]
    assert rows > 1000


def test_the_buffers_hold_what_the_decoder_finds() -> None:
    rng = Random("buffers")
    data, wanted = b"", []
    for _ in range(60):
        one = any_batch(rng, len(wanted))
        header = decode_header(one)
        if header.is_control or header.magic != 2 or header.record_count == 0:
            continue
        found: list[Record] = list(decode_records(header, one[61:]))
        wanted += found
        data += one
    end, count, _, buffers = gathered(plain, data)
    assert (end, count) == (len(data), len(wanted))
    offsets = memoryview(buffers["offsets"]).cast("q")
    assert list(offsets) == [record.offset for record in wanted]
    ends = memoryview(buffers["value_ends"]).cast("i")
    values = [
        buffers["value_data"][ends[n] : ends[n + 1]] if buffers["value_bits"][n >> 3] >> (n & 7) & 1 else None
        for n in range(count)
    ]
    assert values == [record.value for record in wanted]
    positions = memoryview(buffers["run_positions"]).cast("q")
    assert set(positions) <= {1000 + position for position, _, _ in entries(data)}


def test_it_stops_where_there_is_enough() -> None:
    rng = Random("enough")
    data = b"".join(any_batch(rng, 10 * number, most_records=4) for number in range(40))
    end, count, _, _ = gathered(plain, data, rows=10)
    assert 10 <= count < 14
    assert 0 < end < len(data)
