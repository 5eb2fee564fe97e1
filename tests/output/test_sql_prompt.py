"""The prompt of SQL without a terminal and without Spark: lines in, statements out."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import KafkapyError, Terminated
from kafkapy.output.sql_prompt import HELP, SqlPrompt, TableHelp

TABLES = {
    "records": TableHelp("What was written.", lambda: [("topic", "string"), ("offset", "bigint")]),
    "batches": TableHelp("Where it lies.", lambda: [("base_offset", "bigint")]),
}


class Runs:
    def __init__(self) -> None:
        self.statements: list[str] = []
        self.error: BaseException | None = None

    def __call__(self, statement: str) -> None:
        self.statements.append(statement)
        if self.error is not None:
            raise self.error


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def prompt(runs: Runs) -> SqlPrompt:
    return SqlPrompt(TABLES, runs)


def test_statements_over_lines(prompt: SqlPrompt, runs: Runs) -> None:
    for line in (
        "SELECT 1,",
        "",
        "  ';' -- a comment; with a semicolon",
        "; SELECT 2; SELECT",
        "3;",
        "-- nothing",
        ";",
    ):
        assert not prompt.take(line)
    assert runs.statements == ["SELECT 1,\n\n  ';' -- a comment; with a semicolon", "SELECT 2", "SELECT\n3"]


def test_words_that_one_tries_first(prompt: SqlPrompt, runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert [prompt.take(line) for line in ("exit", "quit;", " EXIT ")] == [True, True, True]
    assert not prompt.take("help")
    assert capfd.readouterr().out.splitlines() == list(HELP)
    assert not prompt.take("SELECT")
    assert not prompt.take("exit")
    assert not prompt.take(";")
    assert runs.statements == ["SELECT\nexit"]


def test_errors_are_told_and_do_not_end_it(prompt: SqlPrompt, runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    runs.error = KafkapyError("there is no column 'x'")
    assert not prompt.take("SELECT x; SELECT y;")
    runs.error = KeyboardInterrupt()
    assert not prompt.take("SELECT z;")
    assert capfd.readouterr().err.splitlines() == [*["kafkapy: there is no column 'x'"] * 2, "kafkapy: cancelled"]
    assert runs.statements == ["SELECT x", "SELECT y", "SELECT z"]


def test_ctrl_c_never_ends_it(
    prompt: SqlPrompt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Wherever it comes: here between the end of a line and the statement in it."""
    lines = iter(["SELECT 1;", "\\q"])
    take = SqlPrompt.take

    def interrupted(self: SqlPrompt, line: str) -> bool:
        if line.startswith("SELECT"):
            raise KeyboardInterrupt
        return take(self, line)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    monkeypatch.setattr(SqlPrompt, "take", interrupted)
    prompt.loop()
    assert capfd.readouterr().out == "^C\n"
    assert next(lines, None) is None


def test_sigterm_ends_it(prompt: SqlPrompt, runs: Runs) -> None:
    runs.error = Terminated()
    with pytest.raises(Terminated):
        prompt.take("SELECT 1;")


def test_commands(prompt: SqlPrompt, runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert not prompt.take("\\d")
    assert not prompt.take("  \\d RECORDS ")
    assert not prompt.take("\\d nope")
    assert not prompt.take("\\?")
    assert prompt.take("\\q")
    done = capfd.readouterr()
    assert done.out.splitlines()[:4] == [
        "records  What was written.",
        "batches  Where it lies.",
        "topic   string",
        "offset  bigint",
    ]
    assert done.err == "kafkapy: there is no table 'nope': there are records, batches\n"
    assert runs.statements == []


def test_completion(prompt: SqlPrompt) -> None:
    def candidates(text: str, before: str = "") -> list[str]:
        return list(prompt.candidates(text, before))

    assert candidates("rec") == ["records"]
    assert candidates("b") == ["base_offset", "batches", "between"]
    assert candidates("b", "from") == candidates("B", "\\d") == ["batches"]
    assert candidates("SEL") == ["SELECT"]
    assert candidates("OFF") == ["offset"]
    assert candidates("") == ["base_offset", "batches", "offset", "records", "topic"]


def test_readline_asks_for_one_after_the_other(prompt: SqlPrompt) -> None:
    assert [prompt.complete("ba", number) for number in range(3)] == ["base_offset", "batches", None]
