"""Lines as records: Kafka's layout, its separators and its words for what is wrong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.line_reader import Line, LineMessageReader, ReaderOptions, read_lines
from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import Header


def reader(**properties: str) -> LineMessageReader:
    return LineMessageReader(ReaderOptions.of({name.replace("_", "."): text for name, text in properties.items()}))


def lines_of(*reads: bytes) -> list[bytes]:
    left = iter(reads)
    return [line for lines in read_lines(lambda _: next(left, b"")) for line in lines]


def test_headers_key_and_value() -> None:
    parsed = reader(parse_key="true", parse_headers=" TRUE ").parse(b"h1:v1,h2:v:2,h3:\tk\tv\tw")
    assert parsed == Line(b"k", b"v\tw", (Header("h1", b"v1"), Header("h2", b"v:2"), Header("h3", b"")))


def test_a_line_is_a_value_where_nothing_else_is_asked_for() -> None:
    assert reader(parse_key="yes").parse(b"a:b\tc") == Line(None, b"a:b\tc")


def test_separators_of_several_characters() -> None:
    options = {
        "key_separator": "=>",
        "headers_delimiter": "||",
        "headers_key_separator": "->",
        "headers_separator": ";+",
    }
    parsed = reader(parse_key="true", parse_headers="true", **options).parse("a->1;;b->é||ключ=>v=>w".encode())
    assert parsed == Line("ключ".encode(), b"v=>w", (Header("a", b"1"), Header("b", "é".encode())))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"N\tN\tN", Line(None, None, ())),
        (b"h:N\tk\tNN", Line(b"k", b"NN", (Header("h", None),))),
    ],
)
def test_the_null_marker(line: bytes, expected: Line) -> None:
    assert reader(parse_key="true", parse_headers="true", null_marker="N").parse(line) == expected


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"nothing", "No headers delimiter found on line number 2: 'nothing'"),
        (b"h:v\tnovalue", "No key separator found on line number 2: 'h:v\tnovalue'"),
        (b"h\tk\tv", "No header key separator found in pair 'h' on line number 2"),
        (b"\tk\tv", "No header key separator found in pair '' on line number 2"),
        (b"N:v\tk\tv", "Header keys should not be equal to the null marker 'N' as they can't be null"),
    ],
)
def test_what_is_missing_is_told_in_kafkas_words(line: bytes, error: str) -> None:
    lines = reader(parse_key="true", parse_headers="true", null_marker="N")
    lines.parse(b"h:v\tk\tv")
    with pytest.raises(KafkaError, match=f"^{re.escape(error)}$"):
        lines.parse(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"nothing", Line(None, b"nothing")),
        (b"h:v\tvalue", Line(None, b"value", (Header("h", b"v"),))),
        (b"h,g:1\tk\tv", Line(b"k", b"v", (Header("h", None), Header("g", b"1")))),
    ],
)
def test_ignore_error_takes_what_there_is(line: bytes, expected: Line) -> None:
    assert reader(parse_key="true", parse_headers="true", ignore_error="true").parse(line) == expected


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"headers_delimiter": ","}, "headers.delimiter and headers.separator may not be equal"),
        ({"headers_delimiter": ":"}, "headers.delimiter and headers.key.separator may not be equal"),
        ({"headers_separator": ":"}, "headers.separator and headers.key.separator may not be equal"),
        ({"null_marker": "\t"}, "null.marker and key.separator may not be equal"),
        ({"null_marker": ":"}, "null.marker and headers.key.separator may not be equal"),
        ({"headers_separator": "["}, "headers.separator is an invalid regex"),
    ],
)
def test_properties_that_cannot_be(properties: dict[str, str], error: str) -> None:
    with pytest.raises(KafkaError, match=error):
        reader(**properties)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a:1,,b:2,,", ["a", "", "b"]), (",a:1", ["", "a"]), (",", []), ("a:1", ["a"])],
)
def test_headers_are_split_as_java_does(text: str, expected: list[str]) -> None:
    parsed = reader(parse_headers="true", ignore_error="true").parse(text.encode() + b"\tv")
    assert [header.key for header in parsed.headers] == expected


def test_lines_end_as_java_ends_them() -> None:
    assert lines_of(b"a\nb\r\nc\rd\n\n\r\re") == [b"a", b"b", b"c", b"d", b"", b"", b"", b"e"]
    assert lines_of() == []
    assert lines_of(b"\n") == [b""]


def test_what_is_not_text_becomes_a_replacement_character() -> None:
    assert lines_of(b"a\xff\n\xe2\x82") == ["a\ufffd".encode(), "\ufffd".encode()]


def test_lines_come_as_soon_as_they_are_ended() -> None:
    reads = iter([b"one\ntw", b"o\n", b""])
    assert list(read_lines(lambda _: next(reads))) == [[b"one"], [b"two"]]


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", "é".encode(), b"\xc3"])), st.data())
def test_where_reads_are_cut_changes_nothing(parts: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(whole) - 1)), max_size=5)))
    reads = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert lines_of(*[read for read in reads if read]) == lines_of(whole) if whole else True
    text = whole.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    expected = text.split("\n")
    assert lines_of(whole) == [line.encode() for line in (expected if expected[-1] else expected[:-1])]
