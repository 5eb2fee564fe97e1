"""Where statements end, and what they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.output.sql_text import asks_for_all_columns, first_word, is_blank, names, split_statements, texts


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("SELECT 1", [], "SELECT 1"),
        ("SELECT 1; SELECT 2 ;", ["SELECT 1", "SELECT 2"], ""),
        ("SELECT ';' AS a, \"it's;\", `x;y`;", ["SELECT ';' AS a, \"it's;\", `x;y`"], ""),
        (r"SELECT '\';' ; x", [r"SELECT '\';'"], " x"),
        ("SELECT 1 -- one; two\n; /* a;\nb */ SELECT 2;", ["SELECT 1 -- one; two", "/* a;\nb */ SELECT 2"], ""),
        ("SELECT 'open; SELECT 2;", [], "SELECT 'open; SELECT 2;"),
        ("SELECT 1; SELECT /* open ; ", ["SELECT 1"], " SELECT /* open ; "),
        (";; -- nothing\n;", [], ""),
    ],
)
def test_statements(text: str, statements: list[str], rest: str) -> None:
    assert split_statements(text) == (statements, rest)


@given(st.lists(st.sampled_from(["SELECT 1", "';'", '"', "'", "`", "--", "\n", ";", "/*", "*/", "\\", " "])))
def test_nothing_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    script = split_statements(text)
    assert text.endswith(script.rest)
    assert split_statements(script.rest) in (([], script.rest), ([], ""))
    assert not any(is_blank(each) for each in script.statements)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM records",
        "select distinct * from records",
        "SELECT r.* FROM records r",
        "SELECT topic, * FROM records",
        "SELECT count(*), max(struct(*)) FROM records",
        "TABLE records",
        "SELECT count(*) FROM records NATURAL JOIN batches",
        "SELECT * EXCEPT (key) FROM records",
    ],
)
def test_all_columns(statement: str) -> None:
    assert asks_for_all_columns(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM records",
        "SELECT COUNT ( * ) FROM records",
        "SELECT offset * 2, (offset + 1) * (partition) FROM records",
        "SELECT '*', topic -- *\n FROM records /* , * */",
    ],
)
def test_named_columns(statement: str) -> None:
    assert not asks_for_all_columns(statement)


def test_texts() -> None:
    assert texts("SELECT 'a' FROM t WHERE x = \"b c\" -- 'd'\n AND `e` = ''") == {"a", "b c", ""}


def test_names_and_verbs() -> None:
    assert names("SELECT `Key`, r.Offset FROM Records r WHERE topic = 'value'") >= {"key", "offset", "records", "topic"}
    assert "value" not in names("SELECT 1 WHERE topic = 'value'")
    assert first_word("-- a\n WITH x AS (SELECT 1) SELECT 1") == "with"
    assert first_word("(SELECT 1)") == "("
    assert first_word(" ") == ""
