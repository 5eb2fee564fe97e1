"""Lines that a terminal would break in the middle of a word."""

import pytest

from kafkapy.output import at_words as module
from kafkapy.output.at_words import at_words


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "terminal_width", lambda: 20)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("", ""),
        ("twenty columns, yes.", "twenty columns, yes."),
        ("these are twenty-one.", "these are\n    twenty-one."),
        ("  2. a step (--topic shows them)", "  2. a step (--topic\n      shows them)"),
        ("name    value      from there", "name    value\n    from there"),
        ("in /a/path/that/has,no/room/here", "in /a/path/that/has,\n    no/room/here"),
        ("in /a/path/that/has/no/room/here", "in\n    /a/path/that/has/no/room/here"),
        ("  members  array<struct<a:string,b:int>>", "  members\n      array<struct<a:string,\n      b:int>>"),
        ("注文注文注文 注文注文", "注文注文注文\n    注文注文"),
    ],
)
def test_a_line_is_broken_where_a_word_ends(line: str, shown: str) -> None:
    assert at_words(line) == shown


def test_in_a_pipe_nothing_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "terminal_width", lambda: None)
    assert at_words("word " * 100) == "word " * 100
