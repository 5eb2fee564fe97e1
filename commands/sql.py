"""``kafkapy sql``: questions in SQL over the files of a cluster. No script of Kafka's does this."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.optional_packages import check_installed
from kafkapy.output.row_view import ALL, shown_view
from kafkapy.subcommand import Subcommand, examples, new_app
from kafkapy.tables.scan import Mode

from .cluster_options import ClusterOption, LogDirsOption, RefusedBootstrapOption, selection
from .spark_options import ConfOption, DriverMemoryOption, MasterOption, spark_options
from .tool_errors import warn

if TYPE_CHECKING:
    from kafkapy.output.sql_prompt import Tables
    from kafkapy.spark.left_out import LeftOut
    from kafkapy.spark.session import SparkOptions
    from kafkapy.spark.sql_session import Rows, SqlSession

WHAT = "What to query"
READING = "How the files are read"
SHOWING = "How to print the answer"
TERMINAL_ROWS = 100

app = new_app()


class SqlOutput(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    YAML = "yaml"
    PARQUET = "parquet"


class Isolation(StrEnum):
    """Which records of transactions are rows."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Which topics have the most records:",
            'kafkapy sql "SELECT topic, count(*) n FROM records GROUP BY topic ORDER BY n DESC"',
        ),
        (
            "The records of a key in a broker's directories, as JSON lines:",
            "kafkapy sql --log-dirs /kafka/1 --output jsonl "
            "\"SELECT value FROM records WHERE topic = 'orders' AND key = 'k7'\"",
        ),
        (
            "Every commit of a group, to a Parquet file:",
            "kafkapy sql --output parquet --out commits.parquet "
            "\"SELECT * FROM offset_commits WHERE group = 'billing'\"",
        ),
        ("The tables and their columns:", "kafkapy sql --tables"),
        ("Enter one query after another, at a prompt:", "kafkapy sql --log-dirs /kafka/1,/kafka/2"),
    ),
)
def sql(
    statement: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STATEMENT...]", help="SQL, as Spark has it.", show_default=False, rich_help_panel=WHAT
        ),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", "-f", metavar="FILE", help="A file with statements, separated by ;", rich_help_panel=WHAT
        ),
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="List tables and columns, and exit. Needs no Java.", rich_help_panel=WHAT)
    ] = False,
    mode: Annotated[
        Mode,
        typer.Option(
            help="What damage causes: an error, nothing, or a row with the columns damage, damage_file and "
            "damage_position.",
            rich_help_panel=READING,
        ),
    ] = Mode.FAILFAST,
    isolation: Annotated[
        Isolation,
        typer.Option(help="read_committed omits transactions that were aborted or are open.", rich_help_panel=READING),
    ] = Isolation.READ_UNCOMMITTED,
    broker: Annotated[
        int | None,
        typer.Option(
            metavar="BROKER", help="Read this broker's copies instead of the leaders'.", rich_help_panel=READING
        ),
    ] = None,
    output: Annotated[
        SqlOutput,
        typer.Option(
            help="How rows are written. Binary columns are shown as text if they are UTF-8, and otherwise as a "
            "hexadecimal literal, X'00FF'; Parquet keeps them as they are.",
            rich_help_panel=SHOWING,
        ),
    ] = SqlOutput.TABLE,
    out: Annotated[
        str | None, typer.Option("--out", metavar="PATH", help="The Parquet file.", rich_help_panel=SHOWING)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help=f"At most this many rows per statement; by default {TERMINAL_ROWS} for a table on a terminal.",
            rich_help_panel=SHOWING,
        ),
    ] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    driver_memory: DriverMemoryOption = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: RefusedBootstrapOption = None,
) -> None:
    """Query records, batches, commits, transactions and metadata in SQL, on Spark.

    Without a statement there is a prompt, with history and completion. Statements from a pipe are run one after the
    other, like those in a file.
    """
    if tables:
        _print_tables(output)
        return
    if (output is SqlOutput.PARQUET) != (out is not None):
        raise UsageError("--output parquet and --out PATH go together: the rows go to a file")
    if output is SqlOutput.PARQUET and shown_view().names:
        raise UsageError(
            "a Parquet file has the columns and the order of the statement: leave out --columns and --sort-by"
        )
    from kafkapy.backends.selection import file_paths
    from kafkapy.spark.java import check_pyspark

    paths = file_paths(selection(cluster, log_dirs, bootstrap_server), "sql")
    check_pyspark()
    from kafkapy.spark.left_out import LeftOut

    options = _source_options(paths, mode, isolation, broker)
    spark = spark_options(master, conf, driver_memory)
    texts = _texts(statement or [], file)
    with ExitStack() as stack:
        asked = _Questions(stack, spark, options, LeftOut(paths, broker), output, out, limit)
        if texts is None:
            _prompt(asked.run)
        for each in _statements(texts or [], output):
            asked.run(each)


class _Questions:
    """Starts Spark for the first statement, and prints what comes of each."""

    def __init__(
        self,
        stack: ExitStack,
        spark: "SparkOptions",
        options: dict[str, str],
        left_out: "LeftOut",
        output: SqlOutput,
        out: str | None,
        limit: int | None,
    ) -> None:
        self._stack = stack
        self._spark = spark
        self._options = options
        self._left_out = left_out
        self._output = output
        self._out = out
        self._is_terminal = os.isatty(1)
        self._is_cut = self._is_terminal and limit is None and output is SqlOutput.TABLE
        self._limit = TERMINAL_ROWS + 1 if self._is_cut else limit
        self._session: SqlSession | None = None

    def run(self, statement: str) -> None:
        """Do a statement; one that does not end when it is interrupted takes Spark with it."""
        from kafkapy.spark.job import StillRunning

        try:
            self._run(statement)
        except StillRunning:
            self._session = None
            self._stack.__exit__(*sys.exc_info())  # by the error, at which a JVM is not waited for
            raise

    def _run(self, statement: str) -> None:
        session = self._started()
        for note in self._left_out.notes(statement):
            warn(f"kafkapy: {note}")
        if self._out is not None:
            session.write_parquet(statement, self._limit, self._out)
            return
        count = session.run(statement, self._limit, not self._is_terminal, self._print)
        if self._is_cut and count is not None and count > TERMINAL_ROWS:
            print(f"kafkapy: only the first {TERMINAL_ROWS} rows are shown: give --limit for more", file=sys.stderr)

    def _started(self) -> "SqlSession":
        if self._session is None:
            from kafkapy.spark.session import open_session
            from kafkapy.spark.sql_session import SqlSession

            self._session = SqlSession(self._stack.enter_context(open_session(self._spark)), self._options)
        return self._session

    def _print(self, columns: list[str], rows: "Rows") -> int:
        """How many rows there were, of which a terminal is not shown the last one too many."""
        import shutil
        from itertools import islice

        from kafkapy.output.sink import Sink
        from kafkapy.output.sql_printer import print_result

        width = shutil.get_terminal_size().columns if self._is_terminal else None
        left = iter(rows)
        shown = islice(left, TERMINAL_ROWS) if self._is_cut else left
        count = print_result(self._output, columns, shown, width, Sink())
        return count + sum(1 for _ in left)


def _source_options(paths: tuple[str, ...], mode: Mode, isolation: Isolation, broker: int | None) -> dict[str, str]:
    """The cluster as the data source takes it."""
    import json

    own = {"paths": json.dumps(paths), "mode": mode, "isolation": isolation}
    return own if broker is None else own | {"broker": str(broker)}


def _texts(statements: list[str], file: str | None) -> list[str] | None:
    """What was given; None where somebody is to type it."""
    if file is not None:
        if statements:
            raise UsageError("give statements, or --file, not both")
        with open(file, encoding="utf-8") as opened:
            return [opened.read()]
    if statements:
        return statements
    return None if sys.stdin.isatty() else [sys.stdin.read()]


def _statements(texts: list[str], output: SqlOutput) -> Iterator[str]:
    """Each statement; the last of a text needs no semicolon."""
    from kafkapy.output.sql_text import is_blank, split_statements

    found = []
    for text in texts:
        script = split_statements(text)
        found += script.statements
        if not is_blank(script.rest):
            found.append(script.rest.strip())
    if output in (SqlOutput.PARQUET, SqlOutput.JSON, SqlOutput.YAML) and len(found) > 1:
        raise UsageError(f"--output {output} holds one result: give one statement, not {len(found)}")
    yield from found


def _tables() -> "Tables":
    from kafkapy.output.sql_prompt import TableHelp
    from kafkapy.tables.registry import TABLES

    return {name: TableHelp(text, lambda own=name: _columns(own)) for name, text in TABLES.items()}  # type: ignore[misc]


def _columns(table: str) -> list[tuple[str, str]]:
    from kafkapy.tables.registry import find_table
    from kafkapy.tables.sql_types import sql_columns

    return sql_columns(find_table(table).schema)


def _print_tables(output: SqlOutput) -> None:
    from kafkapy.output.sink import Sink
    from kafkapy.output.sql_printer import print_result

    check_installed("pyarrow")
    if output is not SqlOutput.TABLE or shown_view() != ALL:
        rows = ((name, *column) for name in _tables() for column in _columns(name))
        print_result(output, ["table", "column", "type"], rows, None, Sink())
        return
    from kafkapy.output.aligned import aligned
    from kafkapy.output.at_words import at_words
    from kafkapy.output.printing import print_lines

    for name, table in _tables().items():
        print_lines(map(at_words, [f"{name}: {table.text}", *aligned(table.columns(), "  "), ""]))


def _prompt(run: Callable[[str], None]) -> None:
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sql_prompt import HELP, SqlPrompt

    print_lines(HELP)
    SqlPrompt(_tables(), run).loop()
