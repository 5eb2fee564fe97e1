"""The options of commands that can run on Spark, and who does their work then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError

from .option_kinds import value

if TYPE_CHECKING:
    from kafkapy.spark.session import SparkOptions
    from kafkapy.tables.engine import Engine

SPARK = "Spark"
MASTER = "local[*]"


class EngineName(StrEnum):
    """Who does the work."""

    LOCAL = "local"
    SPARK = "spark"


EngineOption = Annotated[
    EngineName,
    typer.Option("--engine", help="Run in this process, or on Spark.", rich_help_panel=SPARK),
]
MasterOption = Annotated[
    str | None,
    value("--master", "URL", f"Spark's master: {MASTER} (the default), spark://HOST:PORT, yarn, k8s://URL.", SPARK),
]
ConfOption = Annotated[
    list[str] | None,
    value("--conf", "SPARK-SETTING=VALUE", "A Spark setting. Can be repeated.", SPARK),
]
DriverMemoryOption = Annotated[
    str | None,
    value("--driver-memory", "SIZE", "Memory of Spark's driver: 4g.", SPARK),
]


def spark_options(master: str | None, conf: Sequence[str] | None, driver_memory: str | None) -> SparkOptions:
    """What was said about Spark."""
    from kafkapy.spark.session import SparkOptions, check

    options = SparkOptions(master or MASTER, tuple(_setting(each) for each in conf or ()), driver_memory)
    check(options)
    return options


@contextmanager
def open_engine(
    engine: EngineName, master: str | None, conf: Sequence[str] | None, driver_memory: str | None
) -> Iterator[Engine]:
    """Who does the work of a command; Spark's options ask for Spark."""
    given = {"--master": master, "--conf": conf, "--driver-memory": driver_memory}
    if engine is EngineName.LOCAL:
        from kafkapy.tables.engine import LocalEngine

        for name, value in given.items():
            if value:
                raise UsageError(f"{name} only works on Spark: give --engine spark too")
        yield LocalEngine()
        return
    from kafkapy.spark.java import check_pyspark

    check_pyspark()
    from kafkapy.spark.engine import SparkEngine
    from kafkapy.spark.session import open_session

    with open_session(spark_options(master, conf, driver_memory)) as session:
        yield SparkEngine(session)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--conf: '{text}' is not KEY=VALUE")
    return key, value
