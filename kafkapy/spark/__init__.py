"""Log directories on Spark: a data source for anyone's session, and sessions and jobs for kafkapy's own commands.

from kafkapy.spark import register

register(spark)
spark.read.format("kafkalog").load("/var/lib/kafka/data").createOrReplaceTempView("records")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(session: SparkSession) -> None:
    """Make ``format("kafkalog")`` known to a session, and send its executors the code."""
    from kafkapy.spark.data_source import KafkaLogDataSource
    from kafkapy.spark.shipment import ship

    session.dataSource.register(KafkaLogDataSource)
    ship(session.sparkContext)
