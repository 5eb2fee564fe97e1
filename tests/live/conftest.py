"""One running cluster for all tests of this directory, which leave its brokers at work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live_kafka import LiveKafka


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKafka]:
    """Three real brokers. They end with the last test of this directory: brokers that nobody asks cost time too."""
    with LiveKafka(tmp_path_factory.mktemp("live")) as cluster:
        yield cluster
