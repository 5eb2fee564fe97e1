from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from tests.coordinator.transactions import made, opened
from tests.golden_set import golden

__all__ = ["golden"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DirectoryCluster]:
    opened_cluster = opened(made(tmp_path / "cluster"))
    yield opened_cluster
    opened_cluster.close()
