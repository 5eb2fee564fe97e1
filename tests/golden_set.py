"""What real brokers wrote: the golden sets under tests/golden, unpacked once a session into a temporary directory.

``golden`` is the set of a Kafka 4.3.1 cluster with KRaft, ``zk_era`` the one of Kafka 2.8.2 with ZooKeeper. They are
shared by all tests of a session: a test that changes files copies them first.
"""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

ARCHIVES = Path(__file__).parent / "golden"


@cache
def unpack(name: str) -> Path:
    """The directory that ``tests/golden/<name>.tar.xz`` was unpacked into."""
    directory = Path(tempfile.mkdtemp(prefix=f"kafkapy-{name}-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        archive.extractall(directory, filter="data")
    return directory


@pytest.fixture(scope="session")
def golden() -> Path:
    return unpack("golden")


@pytest.fixture(scope="session")
def zk_era() -> Path:
    return unpack("zk-era")
