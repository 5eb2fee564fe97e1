"""One Spark session for all tests here, since its JVM takes seconds to start; and a cluster on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkapy.errors import KafkapyError
from tests.golden_set import golden, zk_era

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.standalone_cluster import StandaloneCluster

__all__ = ["golden", "zk_era"]


@pytest.fixture(scope="session")
def java_home() -> str:
    """The Java that runs Spark; tests are skipped where there is none, or no PySpark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from kafkapy.spark.java import find_java

    try:
        return find_java().home
    except KafkapyError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spark_cache(java_home: str) -> Iterator[Path]:
    """Where sessions of tests keep their class archive: where those of whoever runs the tests may have one already."""
    from kafkapy.spark.class_archive import cache_home

    cache = Path(os.environ.get("KAFKAPY_TEST_CACHE") or cache_home())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache.resolve()))
        from tests.spark.quick_java import make_archive

        make_archive()
        yield cache


@pytest.fixture(scope="session")
def spark(java_home: str, spark_cache: Path) -> Iterator[SparkSession]:
    """A session as commands have it. Commands that run in this process use it too."""
    from kafkapy.spark.session import SparkOptions, open_session
    from tests.spark.quick_java import C1_ONLY

    conf = {"spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": C1_ONLY}
    options = SparkOptions("local[2]", tuple(conf.items()))
    with open_session(options) as session:
        yield session


@pytest.fixture(scope="session")
def spark_cluster(
    java_home: str, spark_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandaloneCluster]:
    """A master; each test has the workers that it needs."""
    from tests.spark.standalone_cluster import StandaloneCluster

    with StandaloneCluster(tmp_path_factory.mktemp("standalone"), java_home) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def brokers(golden: Path) -> list[str]:
    """The log dirs of three brokers."""
    return sorted(str(each) for each in golden.joinpath("clean").iterdir())
