"""Folding a command line changes nothing of what a shell makes of it."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.command_tree import command_tree, walk
from kafkapy.folded_line import folded

LINES = [line for node in walk(command_tree()) for _, line in node.examples]
words = st.lists(st.text("ab-'\"| \t", max_size=8), min_size=1, max_size=12)


def unfolded(lines: list[str]) -> str:
    """What a shell reads: a backslash at the end of a line takes the line's end away."""
    return "\n".join(lines).replace("\\\n", "")


@given(words=words, width=st.integers(1, 100))
def test_a_shell_takes_it_as_one_line(words: list[str], width: int) -> None:
    line = shlex.join(words)
    assert shlex.split(unfolded(folded(line, width))) == words


@pytest.mark.parametrize("line", LINES)
def test_examples_fit_into_80_columns(line: str) -> None:
    lines = folded(line, 76)
    assert shlex.split(unfolded(lines)) == shlex.split(line)
    assert max(map(len, lines)) <= 76
