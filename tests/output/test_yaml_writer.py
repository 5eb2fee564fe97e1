"""YAML: whatever a row holds, a reader of YAML gets the same."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.output.sink import Sink
from kafkapy.output.yaml_writer import YamlDocument, flow, text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_comes_back(value: Any) -> None:
    assert yaml.safe_load(f"- a: {flow(value)}\n  b: 1\n") == [{"a": value, "b": 1}]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "yes",
            "No",
            "on",
            "y",
            "NULL",
            "~",
            "",
            " ",
            "a ",
            "1",
            "-1",
            "1e3",
            "0x1f",
            "0o17",
            "017",
            "1_000",
            "12:30",
        ),
        *("2026-01-31", ".5", ".inf", "a: b", "a #b", "#a", "- a", "[a]", "{a}", "&a", "*a", "!a", "|", ">", "'a'"),
        *(
            '"a"',
            "%a",
            "@a",
            "`a`",
            "a\tb",
            "a\nb",
            "\x85",
            "\u2028",
            "\ufeff",
            "\x1b[2J",
            "a\\b",
            "=",
            "<<",
            "a:",
            "?",
        ),
    ],
)
def test_what_could_be_something_else_is_in_quotes(value: str) -> None:
    assert text(value)[0] == text(value)[-1] == '"'
    assert text(value).isprintable()
    assert yaml.safe_load(text(value)) == value


@pytest.mark.parametrize("value", ["orders", "__consumer_offsets", "/kafka/1", "read committed", "retention.ms", "x-1"])
def test_a_plain_text_is_plain(value: str) -> None:
    assert text(value) == value == yaml.safe_load(value)


def test_numbers_that_json_has_no_name_for() -> None:
    assert yaml.safe_load(flow([math.inf, -math.inf])) == [math.inf, -math.inf]
    assert math.isnan(yaml.safe_load(flow(math.nan)))


def test_rows_so_far_are_a_document(tmp_path: Path) -> None:
    path = tmp_path / "rows.yaml"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    writer = YamlDocument(Sink(descriptor))
    rows = [{"type": "t", "a": [1, "2"], "b": None}, {"type": "t", "a": [], "b": {"x y": False}}]
    for number, row in enumerate(rows, 1):
        writer.row(row)
        assert yaml.safe_load(path.read_text()) == {"schema_version": 1, "rows": rows[:number]}
    writer.finish()
    os.close(descriptor)
    assert yaml.safe_load(path.read_text()) == {"schema_version": 1, "rows": rows}
