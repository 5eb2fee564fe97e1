"""Filters as bounds: what Spark passes for a condition, and that no row is lost or gained by pushing it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.sql.datasource import EqualTo, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual, Not

from kafkapy.spark.filters import narrow
from kafkapy.tables.scan import Range, Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALL = Scan(("/logs",))
FLAG = "spark.sql.python.filterPushdown.enabled"


def at(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, UTC).replace(microsecond=microseconds)


@pytest.mark.parametrize(
    ("terms", "bounds"),
    [
        ([EqualTo(("offset",), 5)], {"offsets": Range(5, 6)}),
        ([GreaterThan(("offset",), 5), LessThan(("offset",), 9)], {"offsets": Range(6, 9)}),
        ([GreaterThanOrEqual(("offset",), 5), LessThanOrEqual(("offset",), 9)], {"offsets": Range(5, 10)}),
        ([In(("offset",), (7, 3, None)), LessThan(("offset",), 5)], {"offsets": Range(3, 5)}),
        ([EqualTo(("topic",), "a"), In(("topic",), ("a", "b"))], {"topics": frozenset("a")}),
        ([EqualTo(("topic",), "__cluster_metadata")], {"topics": frozenset()}),
        ([In(("partition",), (1, 2)), EqualTo(("partition",), 3)], {"partitions": frozenset()}),
        ([GreaterThan(("timestamp",), at(1000))], {"timestamps": Range(2, None)}),
        ([GreaterThan(("timestamp",), at(1001))], {"timestamps": Range(2, None)}),
        ([GreaterThan(("timestamp",), at(999))], {"timestamps": Range(1, None)}),
        ([LessThan(("timestamp",), at(1000))], {"timestamps": Range(None, 1)}),
        ([LessThan(("timestamp",), at(1001))], {"timestamps": Range(None, 2)}),
        ([LessThanOrEqual(("timestamp",), at(1000))], {"timestamps": Range(None, 2)}),
        ([EqualTo(("timestamp",), at(1000))], {"timestamps": Range(1, 2)}),
        ([EqualTo(("timestamp",), at(1500))], {"timestamps": Range(2, 2)}),
        ([Not(EqualTo(("offset",), 5)), EqualTo(("offset", "x"), 5), EqualTo(("key",), b"k")], {}),
        ([EqualTo(("offset",), "5"), GreaterThan(("timestamp",), 5)], {}),
    ],
)
def test_bounds(terms: list[Any], bounds: dict[str, Any]) -> None:
    assert narrow("records", ALL, terms) == ALL._replace(**bounds)


def test_what_options_bound_already() -> None:
    scan = ALL._replace(topics=frozenset(["a", "__cluster_metadata"]), offsets=Range(4, 8))
    terms = [In(("topic",), ("__cluster_metadata", "b")), GreaterThan(("offset",), 1), LessThan(("offset",), 6)]
    assert narrow("records", scan, terms) == ALL._replace(topics={"__cluster_metadata"}, offsets=Range(4, 6))


def test_columns_that_mean_something_else_in_a_table() -> None:
    terms = [EqualTo(("topic",), "orders"), EqualTo(("partition",), 0), GreaterThan(("offset",), 3)]
    assert narrow("offset_commits", ALL, terms) == ALL
    assert narrow("index_entries", ALL, terms) == ALL._replace(topics={"orders"}, partitions={0})


@pytest.fixture(scope="module")
def everything(spark: SparkSession, brokers: list[str]) -> Iterator[DataFrame]:
    """What conditions are about, read once and kept, so that nothing is pushed."""
    frame = records(spark, brokers).select("topic", "partition", "offset", "timestamp", "key").cache()
    yield frame
    frame.unpersist()


@pytest.mark.parametrize(
    "condition",
    [
        "offset = 7",
        "topic is not null and offset in (3, 5, 900)",
        "offset > 3 and offset <= 20 and partition = 1",
        "topic = 'orders' and timestamp > timestamp'2020-01-01 00:00:00.0005'",
        "topic like 'or%' and not partition = 0 and offset < 10",
        "timestamp between timestamp'2020-01-01' and timestamp'2020-01-02'",
        "partition is null or offset > 4000000000",
        "topic = '__cluster_metadata'",
        "topic in ('orders', 'nosuch') and key is not null",
    ],
)
def test_the_same_rows_pushed_and_not(
    spark: SparkSession, brokers: list[str], everything: DataFrame, condition: str
) -> None:
    assert found(records(spark, brokers, pushFilters="true"), condition) == found(everything, condition)


def test_the_same_rows_in_a_session_that_pushes_nothing(
    spark: SparkSession, brokers: list[str], everything: DataFrame
) -> None:
    condition = "offset > 3 and offset <= 20 and partition = 1"
    spark.conf.set(FLAG, "false")
    try:
        assert found(records(spark, brokers, pushFilters="true"), condition) == found(everything, condition) != []
    finally:
        spark.conf.set(FLAG, "true")


def test_a_narrow_question_is_planned_narrow(spark: SparkSession, brokers: list[str]) -> None:
    everything = records(spark, brokers, splitSize="1k")
    first = everything.select("topic", "partition", "offset").first()
    assert first is not None
    condition = f"topic = '{first.topic}' and partition = {first.partition} and offset = {first.offset}"
    narrow_one = records(spark, brokers, splitSize="1k", pushFilters="true").where(condition)
    assert narrow_one.count() == 1
    assert 10 * narrow_one.rdd.getNumPartitions() < everything.rdd.getNumPartitions()


def test_a_filter_of_one_query_is_none_of_another(spark: SparkSession, brokers: list[str]) -> None:
    """Spark would keep what was pushed."""
    frame = records(spark, brokers)
    whole = frame.count()
    few = frame.where("offset = 3").count()
    assert 0 < few < whole
    assert frame.count() == whole
    both = frame.where("offset = 3").unionAll(frame.where("partition = 0"))
    assert both.count() == few + frame.where("partition = 0").count()


@pytest.mark.parametrize(
    ("query", "once"),
    [
        ("SELECT count(*) FROM log WHERE offset = 3", True),
        ("SELECT topic, count(DISTINCT key), max(offset) FROM log GROUP BY topic ORDER BY 2", True),
        ("SELECT * FROM log a JOIN log b USING (topic, partition, offset) WHERE a.offset = 3", False),
        ("WITH x AS (SELECT * FROM log) SELECT * FROM x WHERE x.offset = 1 UNION ALL SELECT * FROM x", False),
        ("SELECT * FROM log WHERE log.offset = (SELECT max(l.offset) FROM log l WHERE l.partition = 1)", False),
        ("SELECT * FROM log WHERE key IN (SELECT key FROM log l WHERE l.partition = 1)", False),
    ],
)
def test_which_queries_may_push(spark: SparkSession, brokers: list[str], query: str, once: bool) -> None:
    from kafkapy.spark.pushdown import is_scanned_once

    records(spark, brokers, pushFilters="true").createOrReplaceTempView("log")
    assert is_scanned_once(spark.sql(query)) is once


def found(frame: DataFrame, condition: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.where(condition).select("topic", "partition", "offset").collect())


def records(spark: SparkSession, brokers: list[str], **options: str) -> DataFrame:
    return spark.read.format("kafkalog").options(**options).load(brokers)
