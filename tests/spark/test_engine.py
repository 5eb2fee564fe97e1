"""Jobs on Spark: results in order, and errors as they are in one process."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import pytest

from kafkapy.errors import DamagedFileError, KafkapyError, UsageError
from kafkapy.tables.engine import LocalEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkapy.spark.engine import SparkEngine


@pytest.fixture
def engine(spark: SparkSession) -> SparkEngine:
    from kafkapy.spark.engine import SparkEngine

    return SparkEngine(spark)


def test_results_come_in_the_order_of_the_parts(engine: SparkEngine) -> None:
    parts = [(n, "x" * n) for n in range(7)]
    work = lambda part: (part[0] ** 2, part[1])  # noqa: E731 - functions of this module cannot be imported there
    assert list(engine.map(work, parts)) == list(LocalEngine().map(work, parts))


def test_each_part_is_a_task(engine: SparkEngine, spark: SparkSession) -> None:
    from pyspark import TaskContext

    assert list(engine.map(lambda part: TaskContext.get().partitionId(), "abc")) == [0, 1, 2]  # type: ignore[union-attr]


def test_no_parts_are_no_job(engine: SparkEngine) -> None:
    assert list(engine.map(partial(os.path.join, "/"), [])) == []


@pytest.mark.parametrize(
    ("raised", "args", "kind", "line"),
    [
        (DamagedFileError, ("/a b/0.log", 17, "no é"), KafkapyError, "/a b/0.log: damaged at byte 17: no é"),
        (UsageError, ("no such topic: x",), UsageError, "no such topic: x"),
        (PermissionError, (13, "Permission denied", "/x"), KafkapyError, "/x: Permission denied"),
        (OSError, (28, "No space left on device"), KafkapyError, "No space left on device"),
        (ValueError, ("two\nlines",), KafkapyError, "a Python worker of Spark's failed: ValueError: two"),
        (KeyError, (), KafkapyError, "a Python worker of Spark's failed: KeyError: "),
    ],
)
def test_an_error_in_a_task(
    engine: SparkEngine, raised: type[Exception], args: tuple[object, ...], kind: type[KafkapyError], line: str
) -> None:
    def fail(part: int) -> int:
        if part == 1:
            raise raised(*args)
        return part

    with pytest.raises(KafkapyError) as told:
        list(engine.map(fail, [0, 1]))
    assert type(told.value) is kind
    assert str(told.value) == line
