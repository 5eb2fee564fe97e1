"""Kafka's spellings of options, and properties that hold for any command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.java_args import normalise

REQUIRED = {"--files", "--producer-id"}
OPTIONAL = {"--key-decoder-class": "string"}


@pytest.mark.parametrize(
    ("given_args", "expected"),
    [
        ("--files x", "--files x"),
        ("-files x", "--files x"),
        ("-files=x", "--files=x"),
        ("--files=x=y", "--files=x=y"),
        ("--files= x", "--files x"),
        ("-print-data-log -files x", "--print-data-log --files x"),
        ("--key-decoder-class", "--key-decoder-class=string"),
        ("-key-decoder-class --files x", "--key-decoder-class=string --files x"),
        ("--key-decoder-class long --files x", "--key-decoder-class=long --files x"),
        ("--key-decoder-class=long", "--key-decoder-class=long"),
        ("--key-decoder-class=", "--key-decoder-class=string"),
        ("--producer-id -1 -files x", "--producer-id -1 --files x"),
        ("--files -files", "--files -files"),
        ("-fles x", "--fles x"),
        ("-h -15 - x", "--help -15 - x"),
        ("--files -h", "--files -h"),
        ("-t -15 - x", "-t -15 - x"),
        ("-files a -- -files b", "--files a -- -files b"),
        ("--files", "--files"),
    ],
)
def test_spellings(given_args: str, expected: str) -> None:
    assert normalise(given_args.split(), REQUIRED, OPTIONAL) == expected.split()


OPTIONS = "--files -files --files=a -producer-id --key-decoder-class -key-decoder-class=b --flag -flag"
words = st.sampled_from([*OPTIONS.split(), "-1", "-", "--", "-x", "a", "b=c"])
command_lines = st.lists(words, max_size=8)


@given(command_lines)
def test_a_second_pass_changes_nothing(args: list[str]) -> None:
    once = normalise(args, REQUIRED, OPTIONAL)
    assert normalise(once, REQUIRED, OPTIONAL) == once


@given(command_lines, command_lines)
def test_words_after_two_dashes_are_left_alone(before: list[str], after: list[str]) -> None:
    # The word in front keeps an option before it from taking the two dashes for its value.
    args = normalise([*before, "word", "--", *after], REQUIRED, OPTIONAL)
    assert args[len(args) - len(after) - 1 :] == ["--", *after]


@given(st.lists(st.sampled_from(["--files", "--flag", "--producer-id"]), max_size=6))
def test_one_dash_is_as_good_as_two(names: list[str]) -> None:
    two = [word for name in names for word in ((name, "v") if name in REQUIRED else (name,))]
    one = [word[1:] if word.startswith("--") else word for word in two]
    assert normalise(one, REQUIRED, OPTIONAL) == normalise(two, REQUIRED, OPTIONAL) == two
