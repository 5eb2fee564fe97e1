"""Bytes as Java's decoder would print them, whole and in pieces.

What Java makes of malformed sequences was seen with ``new String(bytes, UTF_8).getBytes(UTF_8)`` of Java 17.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.formats.java_text import complete_length, java_utf8, java_utf8_pieces

# bytes that begin, go on with and break sequences, more often than chance would bring them together
PARTS = "61 7f 80 bf c0 c2 df e0 ed a0 ef f0 90 9f f4 f5 ff c3a9 e8aa9e f09d849e eda080 edb0"  # é, 語, 𝄞, surrogates
sequences = st.lists(st.sampled_from([bytes.fromhex(part) for part in PARTS.split()]), max_size=12).map(b"".join)
anything = st.one_of(st.binary(max_size=30), sequences)


@given(st.text())
def test_text_stays(text: str) -> None:
    data = text.encode("utf-8", "ignore")
    assert java_utf8(data) == data


@pytest.mark.parametrize(
    ("data", "replaced"),
    [
        ("ff", "?"),
        ("c080", "??"),
        ("c3", "?"),
        ("e28282e282", "\u2082?"),
        ("e282", "?"),
        ("e2", "?"),
        ("e08080", "???"),
        ("eda080", "?"),
        ("edbfbf", "?"),
        ("eda0", "?"),
        ("eda041", "?A"),
        ("eda080edb080", "??"),
        ("ed41", "?A"),
        ("f09d84", "?"),
        ("f09d", "?"),
        ("f0808080", "????"),
        ("f4908080", "????"),
        ("f5808080", "????"),
        ("8080", "??"),
        ("61e282c3a962", "a?éb"),
    ],
)
def test_what_java_replaces(data: str, replaced: str) -> None:
    assert java_utf8(bytes.fromhex(data)).decode() == replaced.replace("?", "\ufffd")


@given(anything)
def test_the_result_is_utf8_and_final(data: bytes) -> None:
    once = java_utf8(data)
    once.decode()
    assert java_utf8(once) == once


@given(anything, st.lists(st.integers(0, 30), max_size=6))
def test_pieces_give_what_the_whole_gives(data: bytes, cuts: list[int]) -> None:
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(ends)]
    assert b"".join(java_utf8_pieces(pieces)) == java_utf8(data)


@given(anything)
def test_byte_by_byte(data: bytes) -> None:
    assert b"".join(java_utf8_pieces(data[n : n + 1] for n in range(len(data)))) == java_utf8(data)


@given(anything, anything)
def test_the_complete_part_does_not_depend_on_what_follows(data: bytes, following: bytes) -> None:
    cut = complete_length(data)
    assert len(data) - 3 <= cut <= len(data)
    assert java_utf8(data[:cut]) + java_utf8(data[cut:] + following) == java_utf8(data + following)
