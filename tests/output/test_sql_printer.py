"""Rows of queries as tables, JSON and CSV."""

import json

import pytest
from rich.cells import cell_len

from kafkapy.output.sink import Sink
from kafkapy.output.sql_printer import PAGE_ROWS, print_result, table_lines

Capture = pytest.CaptureFixture[str]


def test_a_table() -> None:
    rows = [("orders", 5, None, True), ("a\tb\n\x1b[1m", 123, [1, {"x": "y"}], False)]
    assert list(table_lines(["topic", "n", "list", "ok"], rows)) == [
        "topic         |   n | list          | ok",
        "--------------+-----+---------------+------",
        "orders        |   5 |               | true",
        'a\\tb\\n\\x1b[1m | 123 | [1,{"x":"y"}] | false',
    ]


def test_texts_give_way_and_numbers_do_not() -> None:
    lines = list(table_lines(["value", "offset"], [("x" * 500, 12345678901234567890)], 60))
    assert {len(line) for line in lines} == {60}
    assert lines[2].startswith("xxx")
    assert "… | 12345678901234567890" in lines[2]


def test_what_fits_only_if_times_are_cut_is_a_block_of_lines_a_row() -> None:
    rows = [(f"2026-11-18T21:30:00.00{n}Z", "x" * 50, 12345678901234567890, None) for n in range(2)]
    columns = ["timestamp", "value", "offset", "key"]
    assert table_lines(columns, rows, 80)[2] == f"2026-11-18T21:30:00.000Z | {'x' * 23}… | 12345678901234567890 |"
    assert table_lines(columns, rows, 60, has_header=False) == [
        "timestamp  2026-11-18T21:30:00.000Z",
        f"value      {'x' * 49}",
        "           x",
        "offset     12345678901234567890",
        "key",
        "",
        "timestamp  2026-11-18T21:30:00.001Z",
        f"value      {'x' * 49}",
        "           x",
        "offset     12345678901234567890",
        "key",
        "",
    ]
    assert "  12345678901234567890" in table_lines(columns, rows, 5), "no number is broken"
    assert len(table_lines(columns, [], 5)) == 2, "the columns, where there are no rows"


@pytest.mark.parametrize(
    ("count", "last"), [(0, "(0 rows)"), (1, "(1 row)"), (PAGE_ROWS + 1, f"({PAGE_ROWS + 1} rows)")]
)
def test_how_many(capfd: Capture, count: int, last: str) -> None:
    assert print_result("table", ["n"], ((n,) for n in range(count)), None, Sink()) == count
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1] == last
    assert sum(line.strip().isdigit() for line in lines) == count


def test_json_and_csv(capfd: Capture) -> None:
    columns, rows = ["a", "a", "b"], [(1, "x,\n", None), (2.5, "é", [True])]
    assert print_result("json", columns, rows, None, Sink()) == 2
    document = json.loads(capfd.readouterr().out)
    assert document["rows"] == [{"a": 1, "a_2": "x,\n", "b": None}, {"a": 2.5, "a_2": "é", "b": [True]}]
    print_result("jsonl", columns, rows, None, Sink())
    assert [json.loads(line) for line in capfd.readouterr().out.splitlines()] == document["rows"]
    print_result("csv", columns, rows, None, Sink())
    assert capfd.readouterr().out == 'a,a,b\n1,"x,\n",\n2.5,é,[true]\n'
    for output, text in (("json", '{"schema_version":1,"rows":[]}\n'), ("jsonl", ""), ("csv", "a,a,b\n")):
        assert print_result(output, columns, [], None, Sink()) == 0
        assert capfd.readouterr().out == text


def test_a_plan_stands_as_its_lines() -> None:
    plan = "== Physical Plan ==\n*(1) Project [" + "x" * 80 + "]\n+- Scan\t(2)\n\n"
    lines = ["== Physical Plan ==", f"*(1) Project [{'x' * 80}]", "+- Scan\\t(2)"]
    for width in (None, 40):
        assert table_lines(["plan"], [(plan,)], width) == ["plan", "----", *lines]
        assert table_lines(["plan"], [(plan,)], width, has_header=False) == lines
    assert table_lines(["value"], [("a\nb",), ("c",)])[2] == "a\\nb", "a row is a line where there are several"
    assert table_lines(["value", "n"], [("a\nb", 1)])[2] == "a\\nb  | 1"


def test_wide_characters_take_two_columns() -> None:
    rows = [("日本語", 1, "ascii"), ("a", 22, "値は日本語で、かなり長い")]
    head, line, *lines = table_lines(["key", "n", "value"], rows)
    assert len({cell_len(each.rpartition("|")[0]) for each in (head, *lines)}) == 1
    assert cell_len(line) == cell_len(lines[1])
    longer = [(key, n, value * 2) for key, n, value in rows]
    cut = table_lines(["key", "n", "value"], longer, 40)
    assert max(map(cell_len, cut)) <= 40
    assert cut[3].endswith("…")
