"""The compression codecs of record batches and message sets.

    id  name    stream
    0   none
    1   gzip    RFC 1952 members, one after the other
    2   snappy  xerial's: header 82 'SNAPPY' 00, version i32, compatible i32, then blocks of i32 size and raw snappy;
                without that header the whole input is one raw snappy block, as some other clients write it
    3   lz4     LZ4 frame of independent 64 KiB blocks; with magic 0 its header checksum is wrong and not looked at
    4   zstd    zstd frames without a content size; a window of more than 128 MiB is refused, as Kafka refuses it

Decompression always goes through a reader with ``readinto``: the caller chooses how much it takes at a time, so a
few kilobytes that claim to hold gigabytes cost no memory. Whatever is wrong with the input is a CompressionError.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Protocol

from kafkapy.errors import CompressionError, CorruptRecordError

ZSTD_MAX_WINDOW = 1 << 27
CHUNK = 1 << 16
XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
XERIAL_BLOCK = 32 * 1024
SNAPPY_MAX_RATIO = 32  # a copy of 3 bytes yields at most 64
GZIP_MEMBER_MIN = 18
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LZ4_HEADER_SIZE = 7
LZ4_INDEPENDENT_BLOCKS = 0x60  # and version 1
LZ4_BLOCK_CHECKSUM = 0x10
LZ4_CONTENT_SIZE = 0x08
LZ4_BLOCK_64K = 0x40

Buffer = bytes | bytearray | memoryview


class Codec(IntEnum):
    """A codec as the attributes of a batch name it."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @property
    def label(self) -> str:
        """The name Kafka prints."""
        return self.name.lower()


class Reader(Protocol):
    """What decompressed bytes are taken from."""

    def readinto(self, target: memoryview, /) -> int:
        """Fill ``target`` from its start; the number of bytes put there, 0 only at the end."""
        ...


def codec_for_id(number: int) -> Codec:
    """The codec with this id; Kafka's own words for an unknown one."""
    if number > Codec.ZSTD:
        raise CorruptRecordError(f"Unknown compression type id: {number}")
    return Codec(number)


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes:
    """``data`` as Kafka's clients would write it with this codec."""
    if codec is Codec.GZIP:
        import zlib

        deflate = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
        return deflate.compress(data) + deflate.flush()
    if codec is Codec.SNAPPY:
        return _compress_xerial(data)
    if codec is Codec.LZ4:
        from lz4 import frame

        block = frame.BLOCKSIZE_MAX64KB
        return bytes(frame.compress(data, block_size=block, block_linked=False, store_size=False))
    if codec is Codec.ZSTD:
        import zstandard

        return zstandard.ZstdCompressor(level=3 if level is None else level, write_content_size=False).compress(data)
    return bytes(data)


def decompressing_reader(codec: Codec, data: Buffer, magic: int = 2) -> Reader:
    """A reader of what ``data`` holds compressed."""
    view = memoryview(data)
    if codec is Codec.GZIP:
        return _GzipReader(view)
    if codec is Codec.SNAPPY:
        return _SnappyReader(view)
    if codec is Codec.LZ4:
        return _Lz4Reader(view, magic)
    if codec is Codec.ZSTD:
        return _ZstdReader(view)
    return _PlainReader(view)


def decompress(codec: Codec, data: Buffer, magic: int = 2, limit: int = 1 << 27) -> bytes:
    """All of what ``data`` holds compressed, or a CompressionError where that is more than ``limit`` bytes."""
    reader = decompressing_reader(codec, data, magic)
    chunks: list[bytes] = []
    total = 0
    scratch = bytearray(CHUNK)
    while n := reader.readinto(memoryview(scratch)):
        total += n
        if total > limit:
            raise CompressionError(f"{codec.label} data grows past {limit} bytes")
        chunks.append(bytes(memoryview(scratch)[:n]))
    return b"".join(chunks)


def _compress_xerial(data: Buffer) -> bytes:
    from cramjam import snappy

    out = bytearray(XERIAL_HEADER)
    for start in range(0, len(data), XERIAL_BLOCK):
        block = bytes(snappy.compress_raw(bytes(data[start : start + XERIAL_BLOCK])))
        out += len(block).to_bytes(4, "big") + block
    return bytes(out)


class _PlainReader:
    def __init__(self, data: memoryview) -> None:
        self._rest = data

    def readinto(self, target: memoryview, /) -> int:
        n = min(len(target), len(self._rest))
        target[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


class _ChunkReader:
    """A reader of chunks as they come."""

    _chunk = memoryview(b"")

    def _next_chunk(self, limit: int) -> bytes:
        """The next chunk, where possible of at most ``limit`` bytes; b"" at the end."""
        raise NotImplementedError

    def readinto(self, target: memoryview, /) -> int:
        filled = 0
        while filled < len(target):
            if not len(self._chunk):
                self._chunk = memoryview(self._next_chunk(len(target) - filled))
                if not len(self._chunk):
                    break
            n = min(len(target) - filled, len(self._chunk))
            target[filled : filled + n] = self._chunk[:n]
            self._chunk = self._chunk[n:]
            filled += n
        return filled


class _GzipReader(_ChunkReader):
    def __init__(self, data: memoryview) -> None:
        import zlib

        self._zlib = zlib
        self._rest = data
        self._pending = b""
        self._member: Any = zlib.decompressobj(31)

    def _next_chunk(self, limit: int) -> bytes:
        while True:
            if self._member.eof and not self._next_member():
                return b""
            if not self._pending:
                self._feed(CHUNK)
                if not self._pending:
                    raise CompressionError("gzip: Unexpected end of ZLIB input stream")
            try:
                chunk: bytes = self._member.decompress(self._pending, limit)
            except self._zlib.error as error:
                raise CompressionError(f"gzip: {error}") from None
            self._pending = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if chunk:
                return chunk

    def _feed(self, size: int) -> None:
        self._pending += bytes(self._rest[:size])
        self._rest = self._rest[size:]

    def _next_member(self) -> bool:
        # Java's GZIPInputStream goes on with another member and silently drops anything else
        self._feed(GZIP_MEMBER_MIN + 1)
        if len(self._pending) <= GZIP_MEMBER_MIN or not self._pending.startswith(b"\x1f\x8b\x08"):
            return False
        self._member = self._zlib.decompressobj(31)
        return True


class _SnappyReader(_ChunkReader):
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0
        self._raw = bytes(data[: len(XERIAL_MAGIC)]) != XERIAL_MAGIC
        if not self._raw:
            self._skip_header()

    def _skip_header(self) -> None:
        self._position += len(XERIAL_HEADER)
        if self._position > len(self._data):
            raise CompressionError("snappy: encountered EOF while reading stream header")

    def _next_chunk(self, limit: int) -> bytes:
        while self._position < len(self._data):
            if self._raw:
                block = self._data
                self._position = len(self._data)
            elif bytes(self._data[self._position : self._position + 4]) == XERIAL_MAGIC[:4]:
                self._skip_header()  # two streams, one after the other
                continue
            else:
                block = self._framed_block()
            if chunk := self._uncompress(block):
                return chunk
        return b""

    def _framed_block(self) -> memoryview:
        start = self._position + 4
        if start > len(self._data):
            raise CompressionError("snappy: encountered EOF while reading block size")
        end = start + int.from_bytes(self._data[self._position : start], "big", signed=True)
        if not start <= end <= len(self._data):
            raise CompressionError("snappy: encountered EOF while reading block data")
        self._position = end
        return self._data[start:end]

    @staticmethod
    def _uncompress(block: memoryview) -> bytes:
        from cramjam import DecompressionError, snappy

        compressed = bytes(block)
        try:
            size = snappy.decompress_raw_len(compressed)
            if size > SNAPPY_MAX_RATIO * len(compressed):
                raise CompressionError(f"snappy: a block of {len(compressed)} bytes claims to hold {size}")
            return bytes(snappy.decompress_raw(compressed))
        except DecompressionError as error:
            raise CompressionError(f"snappy: {error}") from None


class _Lz4Reader(_ChunkReader):
    def __init__(self, data: memoryview, magic: int) -> None:
        from lz4 import frame

        self._frame = frame.LZ4FrameDecompressor()
        self._pending, self._rest = _lz4_header(data, check_descriptor=magic > 0)

    def _next_chunk(self, limit: int) -> bytes:
        while not self._frame.eof:
            if self._frame.needs_input and not self._pending:
                self._pending, self._rest = bytes(self._rest[:CHUNK]), self._rest[CHUNK:]
                if not self._pending:
                    raise CompressionError("lz4: Stream ended prematurely")
            data, self._pending = self._pending, b""
            try:
                chunk = bytes(self._frame.decompress(data, limit))
            except (RuntimeError, EOFError, ValueError) as error:
                raise CompressionError(f"lz4: {error}") from None
            if chunk:
                return chunk
        return b""


def _lz4_header(data: memoryview, check_descriptor: bool) -> tuple[bytes, memoryview]:
    """A frame header for the library to read, and what follows the one in ``data``.

    Kafka reads frames of independent blocks only, and looks neither at the content size nor at the content checksum, so
    the header that the library gets has neither.
    """
    from lz4 import frame

    if len(data) < LZ4_HEADER_SIZE:
        raise CompressionError("lz4: Stream ended prematurely")
    flags, block = data[4], data[5]
    size = LZ4_HEADER_SIZE + (8 if flags & LZ4_CONTENT_SIZE else 0)
    if data[:4] != LZ4_MAGIC:
        raise CompressionError("lz4: Stream unsupported (invalid magic bytes)")
    if flags & 0xE3 != LZ4_INDEPENDENT_BLOCKS or block & 0x8F or block < LZ4_BLOCK_64K:
        raise CompressionError(f"lz4: Stream unsupported (flags {flags:#04x}, block size {block:#04x})")
    try:
        if check_descriptor:
            frame.get_frame_info(bytes(data[:size]))
        context = frame.create_compression_context()
        header = frame.compress_begin(
            context, block_size=block >> 4, block_linked=False, block_checksum=bool(flags & LZ4_BLOCK_CHECKSUM)
        )
    except (RuntimeError, ValueError) as error:
        raise CompressionError(f"lz4: {error}") from None
    return bytes(header), data[size:]


class _ZstdReader:
    _idle: ClassVar[list[Any]] = []  # a decompressor is dear to make, and serves one stream at a time

    def __init__(self, data: memoryview) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._decompressor = (
            self._idle.pop() if self._idle else zstandard.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW)
        )
        self._stream = self._decompressor.stream_reader(data, read_across_frames=True)

    def readinto(self, target: memoryview, /) -> int:
        filled = 0
        try:
            while self._stream is not None and filled < len(target):
                n: int = self._stream.readinto(target[filled:])
                if n == 0:
                    self._stream = None
                    self._idle.append(self._decompressor)
                filled += n
        except self._error as error:
            raise CompressionError(f"zstd: {error}") from None
        return filled
