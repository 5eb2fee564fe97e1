"""Statements of SQL on Spark, over the tables of one cluster.

A statement runs as a job that Ctrl-C cancels (see ``job``). Parquet is written under another name beside its place and
then moved there: after a crash there is the file of before, or none, and a directory whose name begins with a dot.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafkapy.errors import KafkapyError
from kafkapy.output.sql_text import first_word, names
from kafkapy.spark.errors import told_plainly
from kafkapy.spark.job import run_job
from kafkapy.spark.pushdown import is_scanned_once
from kafkapy.spark.sql_errors import is_unresolved, statement_error
from kafkapy.spark.sql_values import plain
from kafkapy.spark.sql_views import QUERIES, SqlViews
from kafkapy.tables.registry import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
Rows = Iterable[Sequence[Any]]


class SqlSession:
    """``options`` are those of the data source, which name the cluster and how to read it."""

    def __init__(self, session: SparkSession, options: Mapping[str, str]) -> None:
        self._session = session
        self._views = SqlViews(session, options)

    def run(
        self, statement: str, limit: int | None, is_streamed: bool, use: Callable[[list[str], Rows], T]
    ) -> T | None:
        """What ``use`` makes of the columns and rows of a statement, at most ``limit`` of these; None where it has no
        result, as one that makes a view. Rows are streamed as parts of them come, or are given when all are there and
        the progress bar is gone, as a terminal needs it."""

        def action(frame: DataFrame) -> Callable[[], T | None]:
            columns, makers = frame.columns, [plain(field.dataType) for field in frame.schema]
            if not columns:
                return lambda: None
            limited = _limited(frame, limit)
            rows = limited.toLocalIterator(True) if is_streamed else limited.collect()
            found = ([make(each) for make, each in zip(makers, row, strict=True)] for row in rows)
            if not is_streamed:
                return lambda: use(columns, found)
            result = use(columns, found)
            return lambda: result

        return self._run(statement, action)()

    def write_parquet(self, statement: str, limit: int | None, path: str) -> None:
        """Write the rows of a statement, at most ``limit`` of them, to one file."""
        directory, name = os.path.split(os.path.abspath(path))
        staging = os.path.join(directory, f".{name}.{os.getpid()}")

        def write(frame: DataFrame) -> None:
            self._session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
            _limited(frame, limit).coalesce(1).write.parquet(staging)

        try:
            self._run(statement, write)
            written = [each for each in sorted(os.listdir(staging)) if each.endswith(".parquet")]
            if len(written) != 1:
                raise KafkapyError(f"{path} was not written: no executor wrote to {directory} of this machine")
            os.replace(os.path.join(staging, written[0]), path)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _run(self, statement: str, action: Callable[[DataFrame], T]) -> T:
        return run_job(self._session, lambda: self._answer(statement, action))

    def _answer(self, statement: str, action: Callable[[DataFrame], T]) -> T:
        try:
            with told_plainly():
                return action(self._frame(statement))
        except KafkapyError as error:
            told = self._told(error, statement)
            if told is error:
                raise
            raise told from error

    def _frame(self, statement: str) -> DataFrame:
        try:
            with told_plainly():
                return self._planned(statement, True)
        except KafkapyError as error:
            if not is_unresolved(error):
                raise
        return self._planned(statement, False)

    def _planned(self, statement: str, is_narrow: bool) -> DataFrame:
        """The frame of a statement; its filters reach the files where it is a query with one scan."""
        pushes = first_word(statement) in QUERIES and self._views.can_push
        self._views.prepare(statement, is_narrow, pushes)
        frame = self._session.sql(statement)
        if not pushes or is_scanned_once(frame):
            return frame
        self._views.prepare(statement, is_narrow, pushes=False)
        return self._session.sql(statement)

    def _told(self, error: KafkapyError, statement: str) -> KafkapyError:
        named = [table for table in TABLES if table in names(statement)]
        columns = [column for table in named or TABLES for column in self._views.columns(table)]
        return statement_error(error, columns, self._functions)

    def _functions(self) -> list[str]:
        return [name for (name,) in self._session.sql("SHOW FUNCTIONS").collect() if name[0].isalpha()]


def _limited(frame: DataFrame, limit: int | None) -> DataFrame:
    return frame if limit is None else frame.limit(limit)
