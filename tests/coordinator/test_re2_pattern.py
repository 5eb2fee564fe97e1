"""RE2's expressions as Python's. tests/reference asks re2j about random ones."""

import pytest

from kafkapy.coordinator.re2_pattern import compile_re2
from kafkapy.errors import FormatError


@pytest.mark.parametrize(
    ("regex", "matching", "others"),
    [
        ("orders|pay.*", ("orders", "payments"), ("orders2", "xpay")),
        ("a(?i)b|c", ("ab", "aB", "C"), ("Ab", "aC")),
        ("a{,2}", ("a{,2}",), ("", "a", "aa")),
        (r"t[[:digit:]]+\z", ("t1", "t22"), ("t", "tx")),
        (r"\Qa.b\E*", ("a.", "a.bb"), ("axb",)),
        (r"\p{Lu}\pL+[^\d_]", ("Abc", "Ab-"), ("abc", "Ab1", "Ab_")),
        (r"[]a-]+", ("]", "a-"), ("b",)),
        (r"a*(?s)*", ("", "aaa"), ("b",)),
        (r"\x61\142", ("ab",), ("x61",)),
        ("(?P<n>a)(?<m>b)", ("ab",), ("a",)),
    ],
)
def test_what_matches(regex: str, matching: tuple[str, ...], others: tuple[str, ...]) -> None:
    pattern = compile_re2(regex)
    assert [name for name in (*matching, *others) if pattern.fullmatch(name)] == list(matching)


@pytest.mark.parametrize("regex", ["(?=a)", r"(a)\1", "a**", "[", r"\Z", "a{1001}"])
def test_what_python_may_know_and_re2_does_not(regex: str) -> None:
    with pytest.raises(FormatError):
        compile_re2(regex)
