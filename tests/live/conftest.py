"""One running cluster for all tests of this directory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live_kafka import LiveKafka


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "pair: compares kafkapy with Kafka's own tool on a running cluster")


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKafka]:
    """Three real brokers. They end with the last test of this directory: brokers that nobody asks cost time too."""
    with LiveKafka(tmp_path_factory.mktemp("live")) as cluster:
        yield cluster
