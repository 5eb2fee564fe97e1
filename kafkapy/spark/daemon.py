"""Spark's Python daemon (``spark.python.daemon.module``), with what reading needs loaded before workers are forked.

PySpark's own daemon imports nothing before it forks, since libraries may start threads, which a fork loses. Those that
are loaded here do not start any but jemalloc's, which begins it again in a child. A worker then has everything from
its first task on, in memory that it shares with the others, and no garbage to look for in it.

Where something is missing, workers say so when they need it: the daemon itself starts at any rate.
"""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from importlib import import_module

from kafkapy.spark.worker import find_libraries

MODULES = (
    *("pyarrow", "pyarrow.parquet", "pyspark.worker", "pyspark.sql.worker.plan_data_source_read"),
    *("kafkapy.spark.data_source", "kafkapy.tables.records_table", "kafkapy.tables.batches_table"),
)


def load() -> None:
    """Import what most tasks need, and freeze it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads would start as it is imported
    find_libraries()
    for name in MODULES:
        with suppress(ImportError):
            import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    load()
    manager()
