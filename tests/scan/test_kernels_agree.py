"""The compiled kernel against the plain one, which defines what is printed: the same bytes and the same problems.

Every test draws batches from a seeded generator: whole ones, damaged ones with a right checksum, and plain damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from kafkapy.errors import CompressionError
from kafkapy.formats.compression import Codec, decompress
from kafkapy.formats.record_batch import (
    HEADER_SIZE,
    BatchHeader,
    BatchOptions,
    Record,
    decode_header,
    encode_batch,
    encode_header,
)
from kafkapy.kernel import plain
from kafkapy.log.window import Window
from kafkapy.output.output_format import Output
from kafkapy.output.row_writer import JsonDocument, JsonLines, json_bytes
from kafkapy.scan.log_dump import LogDump
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.row_printer import RowPrinter
from tests.dumping import NOT_BUILT, has_compiled
from tests.segments import (
    any_batch,
    any_records,
    any_segment,
    batch_with_body,
    damaged_inside,
    entries,
    flip_bits,
    mutated,
    mutated_bytes,
)

needs_compiled = pytest.mark.skipif(not has_compiled, reason=NOT_BUILT)
STYLES = tuple(product((plain.TEXT, plain.JSON_LINES, plain.JSON_ARRAY), (False, True), (False, True), (True, False)))
COLUMNS = (
    "offset", "timestamp", "sequence", "key_start", "key_size", "value_start", "value_size", "headers_start",
    "header_count",
)  # fmt: skip
RECORD_STYLES = tuple(style for style in STYLES if style[1])
FILE = 'dir/a "b"\\é\n.log'


def compiled() -> ModuleType:
    from kafkapy.kernel import _kernel

    return _kernel


def segments(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Named windows of bytes that may hold anything."""
    for number in range(count):
        rng = Random(f"{seed}-{number}")
        data = any_segment(rng)
        if number % 3:
            data = mutated(rng, data)
        yield f"seed {seed}-{number}", data


def bodies(seed: int, count: int) -> Iterator[tuple[str, BatchHeader, bytes]]:
    """Named headers and uncompressed bodies, whole and damaged."""
    for number in range(count):
        rng = Random(f"{seed}-{number}")
        base = rng.choice((0, 5, 2**62, 2**63 - 3))
        options = BatchOptions(base, base_sequence=rng.choice((-1, 0, 2**31 - 2)))
        if rng.randrange(3) == 0:
            options = options._replace(log_append_time=99)
        whole = encode_batch(any_records(rng, base, rng.randrange(9)), options)
        header, body = decode_header(whole), whole[HEADER_SIZE:]
        if number % 2 and body:
            body = mutated_bytes(rng, body)
        if number % 7 == 0:
            header = header._replace(record_count=rng.choice((1, header.record_count + 1, 10_000)))
        if header.record_count:
            yield f"seed {seed}-{number}", header, body


def inflate(codec: int, data: memoryview) -> memoryview | None:
    """What a dump gives the kernel to decompress with: nothing comes of what does not decompress."""
    try:
        return memoryview(bytearray(decompress(Codec(codec), data)))
    except CompressionError:
        return None


def dump_all(kernel: ModuleType, data: bytes, style: tuple[int, bool, bool, bool], start: int) -> dict[str, Any]:
    """All that ``dump_batches`` tells about ``data``."""
    pieces: list[bytes] = []
    gaps: list[tuple[int, int]] = []
    lines, deep, payload, metadata = style
    writer = kernel.LineWriter(lambda piece: pieces.append(bytes(piece)), lines, deep, payload, metadata, FILE)
    columns = kernel.Columns()
    window = bytearray(start) + data
    note: Callable[[int, int], None] = lambda previous, offset: gaps.append((previous, offset))  # noqa: E731
    left_at = kernel.dump_batches(writer, columns, window, start, len(window), 1000, deep, note, inflate)
    writer.flush()
    return {
        "left_at": left_at,
        "problem": columns.problem,
        "bytes": b"".join(pieces),
        "gaps": gaps,
        "previous": columns.previous_offset,
    }


@needs_compiled
@pytest.mark.parametrize("seed", range(4))
def test_dump_batches(seed: int) -> None:
    for name, data in segments(seed, 250):
        for style in STYLES:
            assert dump_all(compiled(), data, style, seed) == dump_all(plain, data, style, seed), (name, style)


def decoded(kernel: ModuleType, header: BatchHeader, body: bytes, capacity: int, complete: bool) -> list[Any]:
    """Every field of every record, with what ``decode`` says, part by part."""
    columns, found, start, records = kernel.Columns(capacity), [], 3, header.record_count
    padded = bytearray(3) + body + b"\x00\x01\x02"
    end = len(body) + 3
    while records > 0:
        start = columns.decode(header, padded, start, end, records, complete)
        gaps: list[tuple[int, int]] = []
        columns.gaps(lambda previous, offset, gaps=gaps: gaps.append((previous, offset)))
        rows = [list(getattr(columns, name)[: columns.count]) for name in COLUMNS]
        headers = [kernel.header_items(columns, padded, row) for row in range(columns.count)]
        found.append((start, columns.count, columns.problem, columns.previous_offset, gaps, rows, headers))
        records -= columns.count
        if columns.problem:
            break
    return found


@needs_compiled
@pytest.mark.parametrize("capacity", [1, 3, 4096])
def test_decode(capacity: int) -> None:
    for name, header, body in bodies(capacity, 600):
        for complete in (True, False):
            expected = decoded(plain, header, body, capacity, complete)
            assert decoded(compiled(), header, body, capacity, complete) == expected, (name, complete)


def written(kernel: ModuleType, header: BatchHeader, body: bytes, style: tuple[int, bool, bool, bool]) -> list[Any]:
    """What the functions over one body write and tell."""
    pieces: list[bytes] = []
    lines, deep, payload, metadata = style
    writer = kernel.LineWriter(lambda piece: pieces.append(bytes(piece)), lines, deep, payload, metadata, FILE)
    columns = kernel.Columns(4)
    problem = kernel.check_records(columns, header, body)
    columns.decode(header, body, 0, len(body), header.record_count, True)
    writer.batch(header, 77, True)
    writer.records(columns, body)
    writer.raw(b"-- selection\n")
    writer.records(columns, body, bytes(row % 2 for row in range(columns.count)))
    for row in range(columns.count):
        writer.head(columns, body, row)
    writer.row(b"{}")
    writer.raw(memoryview(b"end"))
    writer.flush()
    return [problem, columns.problem, columns.count, b"".join(pieces)]


@needs_compiled
@pytest.mark.parametrize("style", RECORD_STYLES)
def test_check_records_and_line_writer(style: tuple[int, bool, bool, bool]) -> None:
    for name, header, body in bodies(99, 200):
        assert written(compiled(), header, body, style) == written(plain, header, body, style), name


@needs_compiled
@pytest.mark.parametrize("damage", [None, 10, 4095, 4096, 4097, 8999])
def test_more_records_than_columns_hold(damage: int | None) -> None:
    records = [Record(n, n, b"k", b"v" * (n % 3)) for n in range(9000)]
    whole = encode_batch(records)
    body = bytearray(whole[HEADER_SIZE:])
    if damage is not None:
        body[len(encode_batch(records[:damage])) - HEADER_SIZE + 1] ^= 0x80
    for codec in (Codec.NONE, Codec.ZSTD):
        header = decode_header(whole)._replace(attributes=codec)
        data = batch_with_body(encode_header(header), bytes(body))
        for style in RECORD_STYLES:
            assert dump_all(compiled(), data, style, 0) == dump_all(plain, data, style, 0)


@needs_compiled
@pytest.mark.parametrize("body", [b"", b"\x00"])
def test_a_batch_of_no_records(body: bytes) -> None:
    for style in RECORD_STYLES:
        assert written(compiled(), BatchHeader(0), body, style) == written(plain, BatchHeader(0), body, style)


@needs_compiled
def test_compressed_bodies_with_damage_inside() -> None:
    for number in range(400):
        batch = damaged_inside(Random(number), 0)
        header = decode_header(batch)
        body = decompress(header.codec, batch[HEADER_SIZE:])
        problems = [kernel.check_records(kernel.Columns(), header, body) for kernel in (plain, compiled())]
        assert problems[0] == problems[1], f"seed {number}"


@needs_compiled
def test_a_flipped_bit_anywhere() -> None:
    """One batch, one flip at a time: close to what bit rot does."""
    batch = encode_batch(any_records(Random(5), 0, 4))
    for number in range(1500):
        body = flip_bits(Random(number), batch[HEADER_SIZE:])
        data = batch_with_body(batch, body, Codec.NONE)
        style = STYLES[number % len(STYLES)]
        assert dump_all(compiled(), data, style, 0) == dump_all(plain, data, style, 0), f"seed {number}"


@needs_compiled
def test_text_of_many_sizes() -> None:
    """Payloads around the widths that the kernel works in, with and without bytes that need care."""
    rng = Random(1)
    for size in [*range(70), 255, 256, 4095, 4096, 70_000]:
        for odd in (b"", b'"', b"\\", b"\x1f", b"\n", b"\xff", "é".encode(), b"\xed\xa0\x80", b"\xf0\x9d"):
            data = bytearray(b"x" * size)
            at = rng.randrange(size + 1)
            data[at:at] = odd
            batch = encode_batch([Record(0, 1, bytes(data), bytes(data) + odd)])
            for lines in (plain.TEXT, plain.JSON_LINES):
                style = (lines, True, True, True)
                assert dump_all(compiled(), batch, style, 0) == dump_all(plain, batch, style, 0), (size, odd)


class Collected:
    """Where rows or bytes go to be compared."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.data += data

    def row(self, row: dict[str, Any]) -> None:
        self.write(json_bytes(row) + b"\n")

    def write_rows(self, data: bytes) -> None:
        raise AssertionError("rows are to come as dataclasses")

    def finish(self) -> None:
        pass


def dump_rows(path: Path, options: DumpOptions, printer: RowPrinter) -> None:
    with Window(str(path)) as window:
        LogDump(str(path), window, printer, options.deep).run()
    printer.finish()


@pytest.mark.parametrize("flags", [{}, {"deep_iteration": True}, {"print_data_log": True}])
def test_json_lines_are_the_rows(tmp_path: Path, flags: dict[str, bool]) -> None:
    """The kernel in use writes the JSON that the dataclasses of rows would be."""
    path = tmp_path / 'a "b" é.log'
    for number in range(150):
        rng = Random(number)
        path.write_bytes(b"".join(any_batch(rng, 100 * n) for n in range(4)))
        if list(entries(path.read_bytes())) == []:
            continue
        encoded, rows = Collected(), Collected()
        options = DumpOptions((str(path),), output=Output.JSONL, **flags)
        dump_rows(path, options, RowPrinter(options, JsonLines(encoded), str(path)))  # type: ignore[arg-type]
        by_hand = options._replace(output=Output.CSV)
        dump_rows(path, by_hand, RowPrinter(by_hand, rows, str(path)))
        assert encoded.data.decode() == rows.data.decode(), f"seed {number}"
        document = Collected()
        options = options._replace(output=Output.JSON)
        writer = JsonDocument(document)  # type: ignore[arg-type]
        dump_rows(path, options, RowPrinter(options, writer, str(path)))
        writer.finish()
        lines = ",\n".join(rows.data.decode().split("\n")[:-1])
        assert document.data.decode() == f'{{"schema_version":1,"rows":[\n{lines}\n]}}\n'
