"""The CSV file of a reset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.reset_file import parse_reset_file, reset_file_lines
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition

T0 = TopicPartition("t", 0)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))
OFFSETS = st.dictionaries(
    NAMES,
    st.dictionaries(
        st.tuples(st.text("abc._-", min_size=1, max_size=40), st.integers(0, 2**31 - 1)).map(TopicPartition._make),
        st.integers(0, 2**63 - 1),
        min_size=1,
    ),
)


@given(OFFSETS)
def test_what_is_exported_is_read_again(offsets: dict[str, dict[TopicPartition, int]]) -> None:
    rows = [(group, partition, offset) for group, found in offsets.items() for partition, offset in found.items()]
    assert parse_reset_file("\n".join(reset_file_lines(rows, True)) + "\n\n", "f", ()).offsets == offsets
    for group, found in offsets.items():
        lines = reset_file_lines(((group, *each) for each in found.items()), False)
        assert parse_reset_file("\n".join(lines), "f", (group,)).offsets == {group: found}


def test_kafkas_quotes() -> None:
    rows = [("g", T0, 1), ("g g", T0, 2), ('"', T0, 3), ("x" * 24, T0, 4), ("x" * 25, T0, 5), ("a\\b", T0, 6)]
    assert [line.rpartition(",t,")[0] for line in reset_file_lines(rows, True)] == [
        "g",
        '"g g"',
        '""""',
        "x" * 24,
        '"' + "x" * 25 + '"',
        '"a\\b"',
    ]


def test_both_forms_for_one_group() -> None:
    t1 = TopicPartition("t", 1)
    short = parse_reset_file("t,0,5\r\n\r\nt, 1 ,+6\n", "f", ("g",))
    assert short == ({"g": {T0: 5, t1: 6}}, {T0: "f, line 1", t1: "f, line 3"})
    assert parse_reset_file("\ng,t,0,5\nh,t,0,6\n", "f", ("g",)).offsets == {"g": {T0: 5}, "h": {T0: 6}}
    assert parse_reset_file("", "f", ("g",)).offsets == {}


@pytest.mark.parametrize(
    ("text", "groups", "message"),
    [
        ("t,0", ("g",), "f, line 1: 't,0' is not topic,partition,offset"),
        ("g,t,0,5\nt,0,5", ("g",), "f, line 2: 't,0,5' is not group,topic,partition,offset"),
        ("t,0,5\nt,0", ("g",), "f, line 2: 't,0' is not topic,partition,offset"),
        ("t,0,5", ("g", "h"), "f, line 1: 't,0,5' is not group,topic,partition,offset"),
        ("t,0,", ("g",), "f, line 1: the offset '' is not a number, or is too large"),
        ("t,2147483648,1", ("g",), "f, line 1: the partition '2147483648' is not a number, or is too large"),
        ("t,0,1.5", ("g",), "f, line 1: the offset '1.5' is not a number, or is too large"),
        ("t,0,-1", ("g",), "f, line 1: Invalid negative offset: -1"),
        ("g,t,0,5\ng,t,1,-5", ("g", "h"), "f, line 2: Invalid negative offset: -5"),
        ("t,0," + "9" * 200_000, ("g",), "f, line 1: not CSV: field larger than field limit (131072)"),
    ],
)
def test_bad_lines_are_named(text: str, groups: tuple[str, ...], message: str) -> None:
    with pytest.raises(KafkapyError) as raised:
        parse_reset_file(text, "f", groups)
    assert str(raised.value).endswith(message)
