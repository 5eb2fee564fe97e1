"""Variable-length integers: round trips, Kafka's lengths, and what cannot be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptRecordError
from kafkapy.formats.varint import read_varint, read_varlong, write_varint

ints = st.integers(-(2**31), 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)


def written(value: int) -> bytes:
    out = bytearray()
    write_varint(value, out)
    return bytes(out)


@given(ints, st.binary(max_size=3), st.binary(max_size=3))
def test_ints_come_back(value: int, before: bytes, after: bytes) -> None:
    data = before + written(value) + after
    assert read_varint(data, len(before)) == (value, len(data) - len(after))
    assert read_varint(memoryview(data), len(before)) == (value, len(data) - len(after))


@given(longs)
def test_longs_come_back(value: int) -> None:
    assert read_varlong(written(value), 0) == (value, len(written(value)))


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (8191, "fe7f"),
        (-8192, "ff7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_the_bytes_are_kafkas(value: int, data: str) -> None:
    assert written(value).hex() == data


@given(longs)
def test_every_beginning_is_too_short(value: int) -> None:
    data = written(value)
    for end in range(len(data)):
        with pytest.raises(CorruptRecordError, match="past the end"):
            read_varlong(data[:end], 0)


def test_bits_that_do_not_fit_are_dropped() -> None:
    assert read_varint(bytes.fromhex("feffffff7f"), 0) == (2**31 - 1, 5)
    assert read_varlong(bytes.fromhex("feffffffffffffffff7f"), 0) == (2**63 - 1, 10)


def test_longer_than_any_integer() -> None:
    with pytest.raises(CorruptRecordError, match="longer than 5 bytes"):
        read_varint(bytes.fromhex("808080808000"), 0)
    with pytest.raises(CorruptRecordError, match="longer than 10 bytes"):
        read_varlong(b"\x80" * 10 + b"\x00", 0)


@given(st.binary(max_size=12), st.integers(0, 12))
def test_any_bytes_give_a_value_or_an_error(data: bytes, position: int) -> None:
    for read, bits, longest in ((read_varint, 32, 5), (read_varlong, 64, 10)):
        try:
            value, end = read(data, position)
        except CorruptRecordError:
            continue
        assert -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        assert position < end <= min(position + longest, len(data))
