"""Settings of Spark's that matter to what kafkapy runs on it: there are a thousand others, which work as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.completion.values import Asked

_SWITCH = ("true", "false")
SETTINGS: dict[str, tuple[str, ...]] = {
    "spark.authenticate": _SWITCH,
    "spark.cores.max": (),
    "spark.default.parallelism": (),
    "spark.driver.bindAddress": (),
    "spark.driver.cores": (),
    "spark.driver.extraJavaOptions": (),
    "spark.driver.host": (),
    "spark.driver.maxResultSize": (),
    "spark.driver.port": (),
    "spark.dynamicAllocation.enabled": _SWITCH,
    "spark.dynamicAllocation.maxExecutors": (),
    "spark.dynamicAllocation.minExecutors": (),
    "spark.eventLog.dir": (),
    "spark.eventLog.enabled": _SWITCH,
    "spark.executor.cores": (),
    "spark.executor.extraJavaOptions": (),
    "spark.executor.instances": (),
    "spark.executor.memory": (),
    "spark.executor.memoryOverhead": (),
    "spark.executor.pyspark.memory": (),
    "spark.jars": (),
    "spark.jars.packages": (),
    "spark.kubernetes.container.image": (),
    "spark.kubernetes.namespace": (),
    "spark.local.dir": (),
    "spark.network.timeout": (),
    "spark.pyspark.python": (),
    "spark.scheduler.mode": ("FIFO", "FAIR"),
    "spark.shuffle.compress": _SWITCH,
    "spark.speculation": _SWITCH,
    "spark.sql.adaptive.enabled": _SWITCH,
    "spark.sql.ansi.enabled": _SWITCH,
    "spark.sql.autoBroadcastJoinThreshold": (),
    "spark.sql.caseSensitive": _SWITCH,
    "spark.sql.execution.arrow.maxRecordsPerBatch": (),
    "spark.sql.shuffle.partitions": (),
    "spark.sql.warehouse.dir": (),
    "spark.task.cpus": (),
    "spark.task.maxFailures": (),
    "spark.ui.enabled": _SWITCH,
    "spark.ui.port": (),
    "spark.yarn.queue": (),
}


def spark_values(asked: Asked) -> Iterable[str]:
    """The values of such a setting, where they are few."""
    return SETTINGS.get(asked.of, ())
