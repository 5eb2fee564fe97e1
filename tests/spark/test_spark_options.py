"""The options about Spark that commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands.spark_options import EngineName, open_engine, spark_options
from kafkapy.completion.spark_settings import SETTINGS
from kafkapy.errors import UsageError
from kafkapy.tables.engine import LocalEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_options_amount_to() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    assert spark_options(None, None, None) == ("local[*]", (), None)
    given = spark_options("yarn", ["spark.a=1=2", "spark.b="], "2g")
    assert given == ("yarn", (("spark.a", "1=2"), ("spark.b", "")), "2g")
    with pytest.raises(UsageError, match=r"--conf: 'spark\.a' is not KEY=VALUE"):
        spark_options(None, ["spark.a"], None)


def test_this_process_is_an_engine() -> None:
    with open_engine(EngineName.LOCAL, None, None, None) as engine:
        assert isinstance(engine, LocalEngine)


@pytest.mark.parametrize(
    ("given", "name"),
    [(("yarn", None, None), "--master"), ((None, ["a=b"], None), "--conf"), ((None, None, "1g"), "--driver-memory")],
)
def test_options_about_spark_want_spark(given: tuple[str | None, list[str] | None, str | None], name: str) -> None:
    wanted = f"{name} only works on Spark: give --engine spark too"
    with pytest.raises(UsageError, match=wanted), open_engine(EngineName.LOCAL, *given):
        pass


def test_spark_is_an_engine(spark: object) -> None:
    with open_engine(EngineName.SPARK, None, None, None) as engine:
        assert list(engine.map(abs, [-1, -2])) == [1, 2]


def test_every_setting_that_completions_offer_is_one_of_sparks(spark: SparkSession) -> None:
    """Spark knows a setting when the class that declares it is loaded; one it reads without declaring it."""
    jvm = spark._jvm
    assert jvm is not None
    for name in ("internal.config.package", "deploy.k8s.Config", "deploy.yarn.config.package"):
        jvm.java.lang.Class.forName(f"org.apache.spark.{name}$")
    entries = jvm.org.apache.spark.internal.config.ConfigEntry
    unknown = {name for name in SETTINGS if entries.findEntry(name) is None}
    assert unknown == {"spark.local.dir"}
