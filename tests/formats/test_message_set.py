"""Message sets v0 and v1: plain and wrapped messages come out as they went in, and what is wrong is named."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import CorruptRecordError, FormatError
from kafkapy.formats.compression import Codec, compress
from kafkapy.formats.message_set import Message, inner_messages
from tests.segments import LEGACY_CODECS, OldMessage, encode_message, wrap_messages

maybe_bytes = st.one_of(st.none(), st.binary(max_size=30))
times = st.integers(-1, 2**62)
packers = st.sampled_from([codec for codec in LEGACY_CODECS if codec is not Codec.NONE])
magics = st.sampled_from([0, 1])
LOG_APPEND_TIME = 8


def read(data: bytes) -> Message:
    """The message that ``data`` is, by its own offset and size."""
    offset, size = struct.unpack_from(">qi", data)
    assert size + 12 == len(data)
    return Message(offset, memoryview(data)[12:])


@st.composite
def message_lists(draw: st.DrawFn) -> list[OldMessage]:
    offset, messages = draw(st.integers(0, 2**40)), []
    for _ in range(draw(st.integers(1, 5))):
        messages.append(OldMessage(offset, draw(maybe_bytes), draw(maybe_bytes), draw(times)))
        offset += draw(st.integers(1, 3))
    return messages


def fields(message: Message, magic: int) -> OldMessage:
    key, value = message.key, message.value
    assert message.key_size == (-1 if key is None else len(key))
    assert message.value_size == (-1 if value is None else len(value))
    assert (message.magic, message.is_valid) == (magic, True)
    kept = [None if part is None else bytes(part) for part in (key, value)]
    return OldMessage(message.offset, *kept, message.timestamp)


@given(st.builds(OldMessage, st.integers(0, 2**62), maybe_bytes, maybe_bytes, times, st.just(0)), magics)
def test_a_plain_message(message: OldMessage, magic: int) -> None:
    found = read(encode_message(message, magic))
    found.check_magic()
    assert found.codec is Codec.NONE
    assert fields(found, magic) == (message if magic == 1 else message._replace(timestamp=-1))
    assert found.timestamp_type == ("CreateTime" if magic else "NoTimestampType")


@given(message_lists(), packers, magics)
def test_a_wrapped_set(messages: list[OldMessage], codec: Codec, magic: int) -> None:
    wrapper = read(wrap_messages(messages, codec, magic, timestamp=77))
    assert (wrapper.codec, wrapper.offset) == (codec, messages[-1].offset)
    found = [fields(inner, magic) for inner in inner_messages(wrapper)]
    assert found == (messages if magic == 1 else [message._replace(timestamp=-1) for message in messages])


@given(message_lists(), packers)
def test_the_brokers_clock_counts_for_all_of_a_set(messages: list[OldMessage], codec: Codec) -> None:
    wrapper = read(wrap_messages(messages, codec, 1, LOG_APPEND_TIME, 12345))
    found = list(inner_messages(wrapper))
    assert {inner.timestamp_type for inner in found} == {"LogAppendTime"}
    assert {inner.timestamp for inner in found} == {12345}


@given(st.builds(OldMessage, st.integers(0, 9), maybe_bytes, maybe_bytes, times, st.just(0)), magics, st.data())
def test_every_byte_under_the_checksum_is_guarded(message: OldMessage, magic: int, choose: st.DataObject) -> None:
    data = bytearray(encode_message(message, magic))
    at = choose.draw(st.integers(12, len(data) - 1))
    data[at] ^= choose.draw(st.integers(1, 255))
    assert not read(bytes(data)).is_valid


def wrapper_of(inner: bytes | None, magic: int = 1, offset: int = 5, attributes: int = Codec.GZIP) -> Message:
    value = None if inner is None else compress(Codec.GZIP, inner)
    return read(encode_message(OldMessage(offset, None, value, 0, attributes), magic))


INNER = encode_message(OldMessage(0, b"k", b"v"), 1)


@pytest.mark.parametrize(
    ("wrapper", "error"),
    [
        (wrapper_of(None), "null value"),
        (wrapper_of(b""), "no inner records"),
        (wrapper_of(INNER[:-1]), "no inner records"),
        (wrapper_of(struct.pack(">qi", 0, 13) + bytes(20)), "less than the minimum record overhead"),
        (wrapper_of(INNER, attributes=Codec.ZSTD), "Invalid wrapper compressionType"),
        (wrapper_of(encode_message(OldMessage(9, None, b"v"), 1)), "wrapper offset '5' is less than the last inner"),
        (wrapper_of(encode_message(OldMessage(0, None, b"v", 0, 1), 1)), "Inner messages must not be compressed"),
        (wrapper_of(INNER, magic=7), "Invalid wrapper magic"),
    ],
)
def test_damage_in_a_set(wrapper: Message, error: str) -> None:
    with pytest.raises(CorruptRecordError, match=error):
        list(inner_messages(wrapper))


def test_a_partial_message_at_the_end_is_left_out() -> None:
    assert [bytes(m.value or b"") for m in inner_messages(wrapper_of(INNER + INNER[:-1]))] == [b"v"]


def test_a_wrapper_with_offset_0_keeps_relative_offsets() -> None:
    second = encode_message(OldMessage(1, b"k", b"v"), 1)
    assert [m.offset for m in inner_messages(wrapper_of(INNER + second, offset=0))] == [0, 1]


def test_a_magic_that_no_message_has() -> None:
    with pytest.raises(CorruptRecordError, match="Invalid magic used in LegacyRecord: -1"):
        read(encode_message(OldMessage(0, None, None), -1)).check_magic()


@given(st.binary(min_size=14, max_size=80), st.integers(0, 2**62))
def test_any_bytes_give_fields_or_a_format_error(data: bytes, offset: int) -> None:
    message = Message(offset, memoryview(data))
    for name in ("codec", "timestamp", "key_size", "value_size", "key", "value"):
        try:
            getattr(message, name)
        except FormatError:
            continue
    with suppress(FormatError):
        assert all(isinstance(inner, Message) for inner in inner_messages(message))
