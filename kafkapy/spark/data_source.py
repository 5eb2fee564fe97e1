"""``format("kafkalog")``: PySpark's Python data source over ``kafkapy.tables``.

    spark.dataSource.register(KafkaLogDataSource)
    spark.read.format("kafkalog").option("topic", "orders").load("/var/lib/kafka/data")

A split of a table is a partition of Spark's, and its Arrow batches go to the JVM as they are. Spark makes the source
and plans a read in Python workers on the driver's side, and reads in workers of the executors; between them travel
options, scan and splits. Python sources get no columns pruned: the option ``columns``, or a ``schema(...)`` of fewer
columns, spares reading the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, Filter, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from kafkapy.errors import UsageError
from kafkapy.spark.filters import narrow
from kafkapy.spark.source_options import parse_options
from kafkapy.spark.worker import find_libraries, freeze_once
from kafkapy.tables.opening import check_topics, open_paths
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Scan
from kafkapy.tables.table import read_schema

if TYPE_CHECKING:
    import pyarrow as pa


class KafkaLogDataSource(DataSource):
    """One table of some log dirs; its options are those of ``source_options``."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._table, self._scan, self._push_filters = parse_options(options)

    @classmethod
    def name(cls) -> str:
        """What ``format`` takes."""
        return "kafkalog"

    def schema(self) -> StructType:
        """The columns, where the user gives no schema."""
        return from_arrow_schema(read_schema(find_table(self._table), self._scan))

    def reader(self, schema: StructType) -> KafkaLogReader:
        """Reads the columns of a schema, which may be of the user's own."""
        scan = self._scan._replace(columns=tuple(schema.names))
        for field in from_arrow_schema(read_schema(find_table(self._table), scan)):
            wanted = schema[field.name].dataType
            if wanted.simpleString() != field.dataType.simpleString():
                kind = field.dataType.simpleString()
                raise UsageError(f"the column {field.name} is {kind}, not {wanted.simpleString()}: cast what is read")
        if scan.topics is not None:
            check_topics(self._table, scan.topics, open_paths(scan.paths), scan.paths)
        return KafkaLogReader(self._table, scan, schema, self._push_filters)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """None: brokers own these files."""
        raise UsageError(f"the table {self._table} is only read: kafkapy writes no records by way of Spark")


class KafkaLogReader(DataSourceReader):
    """Plans a scan, and reads its splits."""

    def __init__(self, table: str, scan: Scan, schema: StructType, push_filters: bool) -> None:
        self._table = table
        self._scan = scan
        self._schema = schema
        if push_filters:
            self.pushFilters = _PushFilters(self)  # type: ignore[method-assign]

    def partitions(self) -> list[InputPartition]:
        """A partition for each split."""
        return [InputPartition(split) for split in find_table(self._table).splits(self._scan)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a split; Spark plans one partition of nothing where there is no split."""
        find_libraries()
        if partition.value is not None:
            schema = to_arrow_schema(self._schema, timezone="UTC")
            for batch in find_table(self._table).read(self._scan, partition.value):
                yield batch.cast(schema)
        freeze_once()

    def bound(self, filters: Iterable[Filter]) -> None:
        """Leave out what filters leave out."""
        self._scan = narrow(self._table, self._scan, filters)


class _PushFilters:
    """``pushFilters`` of a reader, also for sessions that push none.

    Spark 4.1 to 4.3 refuse a reader that overrides the method while ``spark.sql.python.filterPushdown.enabled`` is off,
    which it is by default. They look at the function behind the method, so here it is the inherited one.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: KafkaLogReader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        """Bound the scan, and leave every filter to Spark."""
        self._reader.bound(filters)
        return filters
