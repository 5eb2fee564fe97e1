"""The tables as views of a session, each made when a statement first names it.

Spark prunes no columns of a Python source, so that even a count would carry every value into the JVM. A query therefore
gets views of those columns only that it names; of a cheap one, where it counts. Whatever may need more than it names (a
star, a view of the user's own) gets all. A view that the user drops is made again when it is named next.

Filters that reach the files are kept by the frame that they were pushed to (see ``pushdown``), so views that push are
made anew for each statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkapy.output.sql_text import asks_for_all_columns, first_word, names
from kafkapy.tables.registry import TABLES, find_table
from kafkapy.tables.scan import Mode
from kafkapy.tables.table import DAMAGE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = frozenset(("select", "with", "from", "("))
MAKING_VIEWS = frozenset(("create", "cache"))
CHEAP = {"records": "partition", "batches": "partition"}
"""What to read where nothing but the number of rows is wanted; of the other tables the first column will do."""


class SqlViews:
    """Views over the log dirs that ``options`` (of the data source) name."""

    def __init__(self, session: SparkSession, options: Mapping[str, str]) -> None:
        self._session = session
        self._options = dict(options)
        self._made: dict[str, tuple[str, ...]] = {}  # those that push no filters
        self._has_own_views = False

    @property
    def can_push(self) -> bool:
        """Whether a view serves one statement only."""
        return not self._has_own_views

    def prepare(self, statement: str, is_narrow: bool, pushes: bool) -> None:
        """Have the views that a statement names, with the columns that it names, or with all."""
        verb, words = first_word(statement), names(statement)
        self._has_own_views = self._has_own_views or verb in MAKING_VIEWS
        needs_all = verb not in QUERIES or self._has_own_views or asks_for_all_columns(statement)
        for table in TABLES:
            if table in words or self._has_own_views or verb == "show":
                known = self.columns(table)
                wanted = known if needs_all or not is_narrow else tuple(each for each in known if each in words)
                self._make(table, wanted or (CHEAP.get(table, known[0]),), pushes)
        if verb == "drop":
            self._made.clear()

    def columns(self, table: str) -> tuple[str, ...]:
        """Every column of a table, with those for damage where they are asked for."""
        damage = DAMAGE.names if self._options.get("mode") == Mode.PERMISSIVE else ()
        return (*find_table(table).schema.names, *damage)

    def _make(self, table: str, columns: tuple[str, ...], pushes: bool) -> None:
        if not pushes and self._made.get(table) == columns:
            return
        own = {"table": table, "columns": ",".join(columns), "pushFilters": str(pushes).lower()}
        reader = self._session.read.format("kafkalog").options(**self._options, **own)
        reader.load().createOrReplaceTempView(table)
        self._made.pop(table, None)
        if not pushes:
            self._made[table] = columns
