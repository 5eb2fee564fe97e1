"""The codecs: round trips, other writers' streams, damage, and data that claims to be huge."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
import zstandard
from cramjam import snappy
from hypothesis import given
from hypothesis import strategies as st
from lz4 import frame

from kafkapy.errors import CompressionError, CorruptRecordError
from kafkapy.formats.compression import Codec, codec_for_id, compress, decompress, decompressing_reader

CODECS = tuple(Codec)
PACKERS = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
datas = st.one_of(st.binary(max_size=300), st.binary(min_size=1, max_size=40).map(lambda data: data * 3000))
MB = 1 << 20


@given(st.sampled_from(CODECS), datas)
def test_round_trip(codec: Codec, data: bytes) -> None:
    for view in (data, bytearray(data), memoryview(data)):
        assert decompress(codec, compress(codec, view)) == data


@given(st.sampled_from(CODECS), datas, st.lists(st.integers(1, 5000), min_size=1, max_size=5))
def test_a_reader_gives_as_much_as_is_asked_for(codec: Codec, data: bytes, sizes: list[int]) -> None:
    reader = decompressing_reader(codec, compress(codec, data))
    out, turn = b"", 0
    while True:
        target = bytearray(sizes[turn % len(sizes)])
        n = reader.readinto(memoryview(target))
        out += target[:n]
        turn += 1
        if n < len(target):
            break
    assert out == data
    assert reader.readinto(memoryview(bytearray(10))) == 0


@given(st.sampled_from(PACKERS), datas, st.data())
def test_damage_gives_an_error_or_data(codec: Codec, data: bytes, choose: st.DataObject) -> None:
    packed = bytearray(compress(codec, data))
    at = choose.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= choose.draw(st.integers(1, 255))
    end = choose.draw(st.one_of(st.just(len(packed)), st.integers(0, len(packed))))
    for magic in (0, 1, 2):
        try:
            assert isinstance(decompress(codec, bytes(packed[:end]), magic, limit=4 * MB), bytes)
        except CompressionError:
            continue


@given(st.sampled_from(PACKERS), st.binary(max_size=60))
def test_noise_gives_an_error_or_data(codec: Codec, noise: bytes) -> None:
    for start in (b"", compress(codec, b"")[:8]):
        try:
            decompress(codec, start + noise, limit=MB)
        except CompressionError:
            continue


@given(st.sampled_from((Codec.GZIP, Codec.LZ4)), st.binary(min_size=1, max_size=100), st.data())
def test_a_truncated_stream_is_an_error(codec: Codec, data: bytes, choose: st.DataObject) -> None:
    packed = compress(codec, data)
    end = choose.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(CompressionError):
        decompress(codec, packed[:end])


def bomb(codec: Codec, size: int) -> bytes:
    """A little data that holds ``size`` zeros."""
    if codec is Codec.ZSTD:
        return zstandard.ZstdCompressor(level=1).compress(bytes(size))
    if codec is Codec.SNAPPY:
        block = bytes(snappy.compress_raw(bytes(8 * MB)))
        head = compress(codec, b"")
        return head + (len(block).to_bytes(4, "big") + block) * (size // (8 * MB))
    if codec is Codec.LZ4:
        return bytes(frame.compress(bytes(size), block_size=frame.BLOCKSIZE_MAX4MB, block_linked=False))
    return compress(codec, bytes(size))


@pytest.mark.parametrize("codec", PACKERS)
def test_a_bomb_stops_at_the_limit_without_the_memory(codec: Codec) -> None:
    packed = bomb(codec, 512 * MB if codec is Codec.ZSTD else 64 * MB)
    tracemalloc.start()
    try:
        with pytest.raises(CompressionError, match=f"{codec.label} data grows past {MB} bytes"):
            decompress(codec, packed, limit=MB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24 * MB


def test_a_snappy_block_that_claims_too_much_is_refused_before_it_is_read() -> None:
    huge = bytes.fromhex("ffffffff0f") + b"\x00" * 20
    with pytest.raises(CompressionError, match="claims to hold 4294967295"):
        decompress(Codec.SNAPPY, huge)


def test_a_zstd_window_of_more_than_128_mib_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28, write_content_size=False)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = stream.compress(b"x" * 1000) + stream.flush()
    with pytest.raises(CompressionError, match="zstd"):
        decompress(Codec.ZSTD, packed)


def test_gzip_of_several_members_and_of_other_writers() -> None:
    assert decompress(Codec.GZIP, gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"
    assert decompress(Codec.GZIP, gzip.compress(b"one") + b"\x00" * 30) == b"one"
    with pytest.raises(CompressionError):
        decompress(Codec.GZIP, zlib.compress(b"no gzip header"))


def test_snappy_without_frames_and_in_two_streams() -> None:
    assert decompress(Codec.SNAPPY, bytes(snappy.compress_raw(b"raw block"))) == b"raw block"
    assert decompress(Codec.SNAPPY, compress(Codec.SNAPPY, b"one ") + compress(Codec.SNAPPY, b"two")) == b"one two"
    assert compress(Codec.SNAPPY, b"")[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


def test_zstd_of_several_frames() -> None:
    assert decompress(Codec.ZSTD, compress(Codec.ZSTD, b"one ") + compress(Codec.ZSTD, b"two")) == b"one two"


class TestLz4Frames:
    """Kafka's own reader of LZ4 frames: independent blocks only, content size and checksum not looked at."""

    data = b"some lz4 data " * 5000

    @pytest.mark.parametrize(
        "options",
        [
            {"store_size": True},
            {"store_size": False},
            {"content_checksum": True},
            {"block_checksum": True},
            {"block_size": frame.BLOCKSIZE_MAX4MB, "content_checksum": True, "block_checksum": True},
        ],
    )
    def test_all_that_kafka_reads(self, options: dict[str, int]) -> None:
        assert decompress(Codec.LZ4, frame.compress(self.data, block_linked=False, **options)) == self.data

    def test_linked_blocks_are_refused(self) -> None:
        with pytest.raises(CompressionError, match="Stream unsupported"):
            decompress(Codec.LZ4, frame.compress(self.data, block_linked=True))

    def test_another_magic_is_refused_also_with_magic_0(self) -> None:
        packed = bytearray(compress(Codec.LZ4, self.data))
        packed[0] ^= 1
        for magic in (0, 1, 2):
            with pytest.raises(CompressionError, match="invalid magic bytes"):
                decompress(Codec.LZ4, bytes(packed), magic)

    def test_a_wrong_header_checksum_is_only_good_with_magic_0(self) -> None:
        packed = bytearray(compress(Codec.LZ4, self.data))
        packed[6] ^= 1
        assert decompress(Codec.LZ4, bytes(packed), 0) == self.data
        with pytest.raises(CompressionError):
            decompress(Codec.LZ4, bytes(packed), 1)

    def test_a_wrong_content_checksum_is_not_looked_at(self) -> None:
        packed = bytearray(frame.compress(self.data, block_linked=False, content_checksum=True, store_size=False))
        packed[-1] ^= 1
        assert decompress(Codec.LZ4, bytes(packed)) == self.data

    def test_a_wrong_block_checksum_is_an_error(self) -> None:
        packed = bytearray(frame.compress(self.data, block_linked=False, block_checksum=True, store_size=False))
        packed[-5] ^= 1
        with pytest.raises(CompressionError):
            decompress(Codec.LZ4, bytes(packed))


def test_codec_ids() -> None:
    assert [codec_for_id(number).label for number in range(5)] == ["none", "gzip", "snappy", "lz4", "zstd"]
    with pytest.raises(CorruptRecordError, match="Unknown compression type id: 5"):
        codec_for_id(5)
