from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError
from kafkapy.formats.java_properties import java_date, load, store

DATE = datetime(2026, 11, 16, 3, 16, 57, tzinfo=UTC)

# What java.util.Properties of Java 17 made of each text.
LOADED = [
    ("a=b\n", {"a": "b"}),
    ("a : b", {"a": "b"}),
    ("a\tb c \n", {"a": "b c "}),
    ("  a = b\\\n   c\n", {"a": "bc"}),
    ("#x=1\n!y=2\nz=3", {"z": "3"}),
    ("a\\=b=c\\:d", {"a=b": "c:d"}),
    ("k=\\u0041\\u00e9", {"k": "Aé"}),
    ("k=\\ud83d\\ude00", {"k": "😀"}),
    ("a", {"a": ""}),
    ("a=", {"a": ""}),
    ("=v", {"": "v"}),
    ("\\ x=\\ y z ", {" x": " y z "}),
    ("a\\", {"a": ""}),
    ("a=b\\\r\n  \tc\r\nd=e\r", {"a": "bc", "d": "e"}),
    ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
    ("a=b\\\n#c\nd=e", {"a": "b#c", "d": "e"}),
    ("a\fb", {"a": "b"}),
    ("a==b", {"a": "=b"}),
    ("a = = b", {"a": "= b"}),
    ("a::b", {"a": ":b"}),
    ("a  :  = b", {"a": "= b"}),
    ("k=\\t\\n\\r\\f\\q", {"k": "\t\n\r\fq"}),
    ("a=1\na=2", {"a": "2"}),
    ("\\\n a=b", {"a": "b"}),
    ("\\\n!:", {}),
    ("x=é", {"x": "é"}),
    ("# c\\\na=b", {"a": "b"}),
    ("\n\n   \n a=1", {"a": "1"}),
    ("a\\ b c", {"a b": "c"}),
    ("a=b\\\n\n c=d", {"a": "b", "c": "d"}),
    ("a=\\\\\\\n\\tb", {"a": "\\\tb"}),
    ("a=b\x0bc\x85d\x1ce", {"a": "b\x0bc\x85d\x1ce"}),
]


@pytest.mark.parametrize(("text", "properties"), LOADED)
def test_load(text: str, properties: dict[str, str]) -> None:
    assert load(text.encode("latin-1")) == properties


@pytest.mark.parametrize("text", ["k=\\u00g1", "k=\\u12", "k=\\u 123", "\\u"])
def test_a_broken_unicode_escape_is_refused_in_javas_words(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(text.encode())
    assert str(caught.value) == "Malformed \\uxxxx encoding."


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("a b", " v w ", "a\\ b=\\ v w "),
        ("k:=#!", "v:=#!", "k\\:\\=\\#\\!=v\\:\\=\\#\\!"),
        ("t\t", "\n\r\f\\", "t\\t=\\n\\r\\f\\\\"),
        ("é中", "\x01\x7fé", "é中=\x01\x7fé"),
        ("", "", "="),
    ],
)
def test_store(key: str, value: str, line: str) -> None:
    assert store({key: value}, DATE) == f"#\n#Mon Nov 16 03:16:57 UTC 2026\n{line}\n"


latin_text = st.text(st.characters(max_codepoint=0xFF), max_size=20)


@given(st.dictionaries(latin_text, latin_text))
def test_what_is_stored_is_loaded(properties: dict[str, str]) -> None:
    assert load(store(properties, DATE).encode("latin-1")) == properties


@given(st.one_of(st.binary(max_size=60), st.text("\\u0a =:#!\t\f\r\n", max_size=30).map(str.encode)))
def test_hostile_bytes_raise_only_format_errors(data: bytes) -> None:
    with suppress(FormatError):
        load(data)


def test_the_date_carries_its_zone() -> None:
    assert java_date(datetime(1970, 1, 1, tzinfo=UTC)) == "Thu Jan 01 00:00:00 UTC 1970"
    assert java_date(datetime(2024, 2, 29, 9, 5, 7, tzinfo=timezone(timedelta(hours=1), "CET"))) == (
        "Thu Feb 29 09:05:07 CET 2024"
    )
