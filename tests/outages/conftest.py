"""One running cluster for all tests of this directory, which stop its brokers, kill them and let them come back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.broker_processes import BrokerProcesses
from tests.live_kafka import LiveKafka


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKafka]:
    """Three real brokers, each a process. They end with the last test of this directory."""
    with LiveKafka(tmp_path_factory.mktemp("outages"), brokers=BrokerProcesses) as cluster:
        yield cluster
