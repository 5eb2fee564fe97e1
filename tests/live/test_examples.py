"""The examples of the help and the documentation that ask a running cluster, on three real brokers of their own.

Examples take brokers, controllers and features away, so no other test can share the cluster. It has what examples name,
and what one of them alone needs is prepared for it (tests/live_preparations.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.examples.conftest import world
from tests.examples.pages import Example, Page, help_pages, markdown_pages
from tests.examples.running import enter, nothing_else, run_page
from tests.live_kafka import LiveKafka
from tests.live_preparations import PREPARATIONS, RELEASE, must

__all__ = ["world"]

BROKER = re.compile(r"(localhost|kafka-1|broker1|broker-1):909[23]")
LAST = "kafkapy features upgrade"
"""The page whose examples cannot be taken back."""


def is_live(example: Example) -> bool:
    return example.is_live


PAGES = [page for page in (*help_pages(), *markdown_pages()) if any(map(is_live, page.examples))]
PAGES.sort(key=lambda page: page.name == LAST)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKafka]:
    """The cluster with what examples name; its controllers can come and go."""
    # A producer that asks for a topic that is gone must not make it anew.
    properties = ["auto.create.topics.enable=false"]
    with LiveKafka(tmp_path_factory.mktemp("served"), properties, RELEASE) as live:
        must(live, "features", "upgrade", "--feature", "kraft.version=1")
        live.create_topic("orders", 3, 2)
        live.create_topic("jobs")
        live.produce("orders", (f"order {number}" for number in range(10)))
        live.produce("jobs", (f"job {number}" for number in range(5)))
        live.commit("billing", "orders", {0: 4})
        yield live


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(
    served: LiveKafka, page: Page, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def around(line: str) -> Iterator[Mapping[str, str]]:
        addresses = {"--bootstrap-controller localhost:9093": f"--bootstrap-controller {served.controllers}"}
        addresses |= {match[0]: served.bootstrap for match in BROKER.finditer(line)}
        with prepared(served, line) as ids:
            yield addresses | ids

    enter(tmp_path / "here", world, monkeypatch)
    run_page(page, is_live, around)


def prepared(served: LiveKafka, line: str) -> AbstractContextManager[Mapping[str, str]]:
    for beginning, preparation in PREPARATIONS.items():
        if line.startswith(f"kafkapy {beginning}"):
            return preparation(served)
    return nothing_else(line)


def test_what_is_prepared_is_there() -> None:
    lines = [example.line for page in PAGES for example in page.examples]
    assert [start for start in PREPARATIONS if not any(line.startswith(f"kafkapy {start}") for line in lines)] == []
