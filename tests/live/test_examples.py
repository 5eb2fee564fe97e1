"""The examples of the help and the documentation that ask a running cluster, on three real brokers.

The brokers have the topics and groups that examples name, and are shared with all tests here: what would take away from
them what others need is only parsed (tests/examples/test_examples.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.conftest import world
from tests.examples.pages import Example, Page, help_pages, markdown_pages
from tests.examples.running import enter, run_page
from tests.live_clients import Sent
from tests.live_kafka import LiveKafka

__all__ = ["world"]

ONLY_PARSED = {
    "cluster unregister": "a broker that runs cannot be unregistered",
    "features --bootstrap-server localhost:9092 downgrade": "takes features from the other tests; Kafka refuses some",
    "features --bootstrap-server localhost:9092 disable": "takes features from the other tests",
    "metadata-quorum --bootstrap-server localhost:9092 --command-config": "adds a controller that is not there",
    "metadata-quorum --bootstrap-server localhost:9092 remove": "removes a controller that is not there",
    "share-groups --bootstrap-server": "needs a share group, which takes members of it",
    "streams-groups --bootstrap-server": "needs a streams group, which takes an application",
    "transactions --bootstrap-server localhost:9092 abort": "needs a transaction at that very offset",
    "transactions --bootstrap-server localhost:9092 forceT": "takes away the transaction of the examples",
    "reassign-partitions --bootstrap-server": "throttles brokers that the other tests use",
}
"""What is not run, by what stands after ``kafkapy``, and why."""

BROKER = re.compile(r"(localhost|kafka-1|broker1|broker-1):909[23]")


def runs(example: Example) -> bool:
    return example.is_live and not any(f"kafkapy {start}" in example.line for start in ONLY_PARSED)


PAGES = [page for page in (*help_pages(), *markdown_pages()) if any(map(runs, page.examples))]


@pytest.fixture(scope="module")
def served(live: LiveKafka) -> Iterator[LiveKafka]:
    """The cluster with what examples name."""
    topics = [live.create_topic("orders", 3, 2), live.create_topic("pay", 1, 1)]
    live.produce("orders", (f"order {number}" for number in range(10)))
    live.commit("billing", "orders", {0: 4})
    with live.begin_transaction("pay-1", Sent("pay", "not yet")):
        yield live
    live.delete_topics(*topics)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(
    served: LiveKafka, page: Page, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path / "here", world, monkeypatch)
    lines = " ".join(example.line for example in page.examples)
    other = {"--bootstrap-controller localhost:9093": f"--bootstrap-controller {served.controllers}"}
    run_page(page, runs, other | {match[0]: served.bootstrap for match in BROKER.finditer(lines)})
