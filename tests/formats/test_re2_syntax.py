"""RE2's syntax, as re2j 1.8 judges it; more of this is asked in tests/reference."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkapy.errors import FormatError
from kafkapy.formats.re2_syntax import check_syntax

RIGHT = [
    "", "a", "orders-.*", "a|b|", "(a|)*", "a*?", "a{2}", "a{2,}?", "a{0,1000}", "{", "a{,3}", "a{01}", "x{2", "^$",
    "(?i)A", "(?s-i:a)", "(?:a)*", "(?P<n>a)(?<m>b)", "[]a]", "[^]a]", "[a-]", "[-a]", "[[:alpha:]_]", "[[:^word:]]",
    r"[\d-z]", r"\d\D\s\S\w\W", r"\A\b\B\z", r"\pL\P{Greek}\p{^Lu}\p{Any}", r"\Qa*+", r"\Qa\E*", r"\x41\x{1F600}",
    r"\0\07\123", r"\a\f\n\r\t\v", r"\.\_\-", "\U0001f600+", "a(?i)*", "(?U)a+",
]  # fmt: skip
WRONG = {
    "missing closing )": ["(", "(a", "((a)", "(?:a"],
    "regexp/syntax: internal error": [")", "a)", "(a))"],
    "missing closing ]": ["[", "[a", "[]", "[^", "[a-", "[^]"],
    "missing argument to repetition operator": ["*", "a|*", "(*a)", "(?:+)", "{2}", r"\Q\E*", "(?i)*"],
    "invalid nested repetition operator": ["a**", "a*+", "a+??", "a{2}{3}", "a{2}*", "{*", "{{2}"],
    "invalid repeat count": ["a{1001}", "a{2,1}", "a{99999999999}", "a{1,1001}"],
    "invalid character class range": [r"\p{Klingon}", r"\p", r"\pQ", r"\p{Greek", "[z-a]", "[[:foo:]]", "[[:]"],
    "invalid escape sequence": [r"\1", r"\8", r"\Z", r"\G", r"\C", r"\x4", r"\x{110000}", r"[\b]", r"[a-\d]"],
    "trailing backslash at end of expression": ["\\", "a\\", "[a\\"],
    "invalid or unsupported Perl syntax": ["(?", "(?=a)", "(?!a)", "(?>a)", "(?i", "(?-)", "(?i-:a)", "(?x)", "(?P=n)"],
    "invalid named capture": ["(?P<n", "(?P<>a)", "(?<a b>c)", "(?<=a)", "(?<!a)", "(?P<ä>a)"],
    "duplicate capture group name": ["(?P<n>a)(?P<n>b)"],
}  # fmt: skip


@pytest.mark.parametrize("pattern", RIGHT)
def test_right(pattern: str) -> None:
    check_syntax(pattern)


@pytest.mark.parametrize(("pattern", "message"), [(each, why) for why, found in WRONG.items() for each in found])
def test_wrong(pattern: str, message: str) -> None:
    with pytest.raises(FormatError) as raised:
        check_syntax(pattern)
    assert str(raised.value) == message


@given(st.text("ab[](){}*+?|^$.\\-:,<>P0128dpQEx"))
@example("\\Q")
@example("[[:alpha:]")
def test_nothing_else_is_raised(pattern: str) -> None:
    with suppress(FormatError):
        check_syntax(pattern)


@given(st.text())
def test_what_is_escaped_is_right(text: str) -> None:
    check_syntax(re.sub(r"([^0-9A-Za-z])", r"\\\1", text))
    check_syntax("\\Q" + text.replace("\\E", "") + "\\E")
