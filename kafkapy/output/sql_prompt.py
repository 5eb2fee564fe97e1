"""The prompt of ``kafkapy sql``: statements over several lines, ended by a semicolon, with history and completion.

The history is a file of the user's (``$XDG_STATE_HOME/kafkapy/sql_history``, else under ~/.local/state), to which each
statement is added when it is entered, so that a crash loses none. Where it cannot be written there is none, and the
prompt works all the same. Ctrl-C drops what was typed, or cancels the statement that runs; Ctrl-D ends the prompt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kafkapy.errors import KafkapyError, Terminated
from kafkapy.near_misses import did_you_mean
from kafkapy.output.aligned import aligned
from kafkapy.output.printing import print_lines
from kafkapy.output.sql_text import is_blank, split_statements

PROMPT, CONTINUED = "kafkapy> ", "      -> "
HISTORY_LINES = 1000
HELP = (
    "Statements end with ;",
    r"\d         the tables",
    r"\d TABLE   the columns of a table",
    r"\q         end (as does Ctrl-D)",
)
WORDS = {"exit": "\\q", "quit": "\\q", "help": "\\?"}
"""What people type at a prompt that they do not know, and no statement is."""
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "HAVING", "JOIN", "LEFT JOIN", "USING", "ON", "WITH",
    "AS", "AND", "OR", "NOT", "IN", "IS NULL", "IS NOT NULL", "LIKE", "BETWEEN", "COUNT(*)", "DISTINCT", "UNION ALL",
    "OVER", "PARTITION BY", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "DESC", "EXPLODE", "DECODE",
)  # fmt: skip
BEFORE_TABLES = frozenset(("from", "join", "\\d"))
_DELIMITERS = " \t\n()=<>!+-*/%,;.'\"`"


class TableHelp(NamedTuple):
    """What a table is, and its columns with their types."""

    text: str
    columns: Callable[[], Sequence[tuple[str, str]]]


Tables = Mapping[str, TableHelp]


class SqlPrompt:
    """``run`` does a statement, and prints what comes of it."""

    def __init__(self, tables: Tables, run: Callable[[str], object]) -> None:
        self._tables = tables
        self._run = run
        self._typed = ""
        self._words: tuple[str, ...] = ()

    def loop(self) -> None:
        """Read and run until the end."""
        import readline

        readline.set_completer(self.complete)
        readline.set_completer_delims(_DELIMITERS)
        readline.parse_and_bind("tab: complete")
        readline.set_auto_history(False)
        history = _history_file()
        with suppress(OSError):
            readline.read_history_file(history)
        while True:
            try:
                if self._step(history):
                    return
            except Terminated:
                raise
            except KeyboardInterrupt:
                print_lines(["^C"])
                self._typed = ""

    def _step(self, history: str) -> bool:
        """Read a line and do what it says; True where it ends the prompt."""
        try:
            line = input(CONTINUED if self._typed else PROMPT)
        except EOFError:
            print_lines([""])
            return True
        entered = self._typed + line
        is_done = self.take(line)
        if not self._typed and entered.strip():
            _remember(history, " ".join(entered.split("\n")).strip())
        return is_done

    def take(self, line: str) -> bool:
        """Run what a line completes; True where it ends the prompt."""
        command = WORDS.get(line.strip(" \t;").lower(), line.strip())
        if not self._typed and command.startswith("\\"):
            return self._command(*command.split())
        script = split_statements(f"{self._typed}{line}\n")
        for statement in script.statements:
            self._try(lambda own=statement: self._run(own))  # type: ignore[misc]
        self._typed = "" if is_blank(script.rest) else script.rest
        return False

    def complete(self, text: str, number: int) -> str | None:
        """The completion with this number, as readline asks for them one after the other."""
        import readline

        if number == 0:
            before = readline.get_line_buffer()[: readline.get_begidx()].lower().split()
            self._words = tuple(self.candidates(text, before[-1] if before else ""))
        return self._words[number] if number < len(self._words) else None

    def candidates(self, text: str, before: str) -> Iterable[str]:
        """What a word may become, by the word before it."""
        own = text.lower()
        if before in BEFORE_TABLES:
            yield from sorted(name for name in self._tables if name.startswith(own))
            return
        names = {*self._tables, *(name for table in self._tables.values() for name, _ in table.columns())}
        yield from sorted(name for name in names if name.startswith(own))
        keywords = (word for word in KEYWORDS if word.lower().startswith(own))
        yield from (word.lower() if text.islower() else word for word in keywords) if text else ()

    def _command(self, name: str, *words: str) -> bool:
        if name == "\\q":
            return True
        if name == "\\d":
            self._try(lambda: print_lines(described(self._tables, words)))
        else:
            print_lines(HELP)
        return False

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Terminated:
            raise
        except KeyboardInterrupt:
            print("kafkapy: cancelled", file=sys.stderr, flush=True)
        except KafkapyError as error:
            print(f"kafkapy: {error}", file=sys.stderr, flush=True)


def described(tables: Tables, names: Sequence[str] = ()) -> Iterable[str]:
    """The tables, or the columns of some."""
    if not names:
        yield from aligned([(name, table.text) for name, table in tables.items()])
    for name in names:
        if name.lower() not in tables:
            hint = did_you_mean(name, tables) or f": there are {', '.join(tables)}"
            raise KafkapyError(f"there is no table '{name}'{hint}")
        yield from aligned(list(tables[name.lower()].columns()))


def _history_file() -> str:
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "kafkapy", "sql_history")


def _remember(history: str, entered: str) -> None:
    import readline

    readline.add_history(entered)
    readline.set_history_length(HISTORY_LINES)
    with suppress(OSError):
        os.makedirs(os.path.dirname(history), mode=0o700, exist_ok=True)
        readline.write_history_file(history)
