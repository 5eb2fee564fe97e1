"""``format("kafkalog")``: the same rows as in one process, whatever the options; and errors of one line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.tables.registry import TABLES, find_table
from kafkapy.tables.scan import Mode, Range, Scan
from tests.tables.logs import make_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def here(table: str, scan: Scan) -> Counter[str]:
    """The rows of a table, read in this process."""
    found = find_table(table)
    return Counter(
        repr(comparable(list(row.values())))
        for split in found.splits(scan)
        for batch in found.read(scan, split)
        for row in batch.to_pylist()
    )


def there(frame: DataFrame) -> Counter[str]:
    """The rows of a frame, collected from Spark as Arrow."""
    return Counter(repr(comparable(list(row.values()))) for row in frame.toArrow().to_pylist())


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items()}
    return [comparable(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def log_dir(tmp_path: Path) -> str:
    return make_log(tmp_path / "logs")


@pytest.mark.parametrize("table", TABLES)
def test_every_table_as_in_one_process(spark: SparkSession, brokers: list[str], table: str) -> None:
    wanted = here(table, Scan(tuple(brokers)))
    assert wanted
    assert there(spark.read.format("kafkalog").option("table", table).load(brokers)) == wanted


def test_small_splits_are_the_same_rows(spark: SparkSession, log_dir: str) -> None:
    frame = spark.read.format("kafkalog").option("splitSize", "2k").load(log_dir)
    assert frame.rdd.getNumPartitions() > 2
    assert there(frame) == here("records", Scan((log_dir,)))


@pytest.mark.parametrize(
    ("options", "bounds"),
    [
        ({"isolation": "READ_COMMITTED"}, {"committed": True}),
        ({"startingOffset": "20", "endingOffset": "31"}, {"offsets": Range(20, 31)}),
        (
            {"startingTimestamp": "1700000010000", "endingTimestamp": "2023-11-14T22:13:50Z"},
            {"timestamps": Range(1_700_000_010_000, 1_700_000_030_000)},
        ),
        ({"TOPIC": "orders, other", "partition": "0,4"}, {"topics": frozenset(["orders"])}),
        ({"topic": "other"}, {"topics": frozenset()}),
        ({"columns": "offset, value,headers"}, {"columns": ("offset", "value", "headers")}),
        ({"mode": "permissive"}, {"mode": Mode.PERMISSIVE}),
    ],
)
def test_options(spark: SparkSession, log_dir: str, options: dict[str, str], bounds: dict[str, Any]) -> None:
    empty = Path(log_dir, "other-0")
    empty.mkdir()
    (empty / "00000000000000000000.log").touch()
    wanted = here("records", Scan((log_dir,))._replace(**bounds))
    assert there(spark.read.format("kafkalog").options(**options).load(log_dir)) == wanted


def test_paths_may_be_an_option(spark: SparkSession, brokers: list[str]) -> None:
    wanted = here("partitions", Scan(tuple(brokers)))
    for name, value in {"path": ",".join(brokers), "paths": ",".join(brokers)}.items():
        options = {"table": "partitions", name: value}
        assert there(spark.read.format("kafkalog").options(**options).load()) == wanted
    one = spark.read.format("kafkalog").option("table", "partitions").option("broker", "2").load(brokers)
    assert there(one) == here("partitions", Scan(tuple(brokers), broker=2))


def test_a_schema_of_the_users_picks_columns(spark: SparkSession, log_dir: str) -> None:
    frame = spark.read.format("kafkalog").schema("value binary, offset long").load(log_dir)
    assert frame.columns == ["value", "offset"]
    assert there(frame) == here("records", Scan((log_dir,), columns=("value", "offset")))


def test_a_limit_takes_rows_from_the_front(spark: SparkSession, log_dir: str) -> None:
    assert [row.offset for row in spark.read.format("kafkalog").load(log_dir).limit(3).collect()] == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"topics": "orders"}, "kafkalog has no option topics: there are path, paths, table, topic"),
        ({"table": "rows"}, "option table: 'rows' is not one of records, batches"),
        ({"partition": "one"}, "option partition: 'one' is not numbers divided by commas"),
        ({"topic": "a,,b"}, "option topic: 'a,,b' is not a list divided by commas"),
        ({"startingOffset": "-1"}, "option startingOffset: '-1' is not a number"),
        ({"endingTimestamp": "soon"}, "option endingTimestamp: "),
        ({"isolation": "serializable"}, "option isolation: 'serializable' is not read_uncommitted or read_committed"),
        ({"mode": "lenient"}, "option mode: 'lenient' is not failfast, dropmalformed, permissive"),
        ({"splitSize": "big"}, "option splitSize: 'big' is not a size like 64m"),
        ({"pushFilters": "yes"}, "option pushFilters: 'yes' is not true or false"),
        ({"broker": "a"}, "option broker: 'a' is not a number"),
        ({"columns": "offset,price"}, "the table records has no column price: it has topic, partition"),
    ],
)
def test_a_wrong_option_is_named(spark: SparkSession, log_dir: str, options: dict[str, str], line: str) -> None:
    from kafkapy.spark.job import run_job

    with pytest.raises(UsageError) as error:
        run_job(spark, lambda: spark.read.format("kafkalog").options(**options).load(log_dir).count())
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("table", ["records", "partitions"])
def test_a_topic_that_is_not_there_is_named(spark: SparkSession, log_dir: str, table: str) -> None:
    from kafkapy.spark.job import run_job

    for name, hint in (("ordres", "; did you mean 'orders'?"), ("nope", "")):
        frames = spark.read.format("kafkalog").options(table=table, topic=f"orders,{name}")
        with pytest.raises(KafkapyError) as error:
            run_job(spark, lambda found=frames: found.load(log_dir).count())  # type: ignore[misc]
        assert str(error.value) == f"there is no topic '{name}' in {log_dir}{hint}"


def test_commits_may_be_for_a_topic_that_is_gone(spark: SparkSession, log_dir: str) -> None:
    frames = spark.read.format("kafkalog").options(table="offset_commits", topic="nope")
    assert frames.load(log_dir).count() == 0


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ("offset string", "the column offset is bigint, not string: cast what is read"),
        ("price long", "the table records has no column price"),
    ],
)
def test_a_schema_that_does_not_fit(spark: SparkSession, log_dir: str, schema: str, line: str) -> None:
    from kafkapy.spark.job import run_job

    with pytest.raises(UsageError, match=line):
        run_job(spark, lambda: spark.read.format("kafkalog").schema(schema).load(log_dir).count())


def test_damage_is_told_in_one_line(spark: SparkSession, golden: Path, tmp_path: Path) -> None:
    from kafkapy.spark.job import run_job

    tmp_path.joinpath("orders-0").symlink_to(golden / "damaged" / "flipped-byte-0")
    reader = spark.read.format("kafkalog")
    with pytest.raises(KafkapyError, match=r"orders-0/0+\.log: damaged at byte [0-9]+: ") as error:
        run_job(spark, lambda: reader.load(str(tmp_path)).collect())
    assert "\n" not in str(error.value)
    for mode in (Mode.DROPMALFORMED, Mode.PERMISSIVE):
        wanted = here("records", Scan((str(tmp_path),), mode=mode))
        assert there(spark.read.format("kafkalog").option("mode", mode).load(str(tmp_path))) == wanted


def test_a_directory_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    from kafkapy.spark.job import run_job

    with pytest.raises(KafkapyError, match="nowhere"):
        run_job(spark, lambda: spark.read.format("kafkalog").load(str(tmp_path / "nowhere")).count())


def test_an_error_of_a_query_is_sparks_own_line(spark: SparkSession) -> None:
    from kafkapy.spark.job import run_job

    with pytest.raises(KafkapyError) as error:
        run_job(spark, lambda: spark.sql("SELECT nosuch FROM range(3)").collect())
    assert str(error.value).startswith("[UNRESOLVED_COLUMN")
    assert "\n" not in str(error.value)
    assert "SQLSTATE" not in str(error.value)


def test_workers_are_forked_from_our_daemon(spark: SparkSession) -> None:
    def loaded(_: int) -> str:
        import gc
        import sys

        return json.dumps(["kafkapy.tables.records_table" in sys.modules, gc.get_freeze_count() > 10_000])

    assert spark.sparkContext.parallelize([0], 1).map(loaded).collect() == ["[true, true]"]
