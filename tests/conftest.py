"""What every test shares."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOGETHER = ("live", "spark")
_ORDER = {"live": 0, "spark": 1, "reference": 2}


def pytest_configure() -> None:
    """Have Ctrl-C mean something also where a shell began us in the background, which ignores it; and let no cluster
    of whoever runs the tests be meant."""
    for name in ("KAFKAPY_CLUSTER", "KAFKAPY_CONTEXT", "KAFKAPY_VERBOSE"):
        os.environ.pop(name, None)
    os.environ["KAFKAPY_CONFIG"] = os.path.join(os.devnull, "config.yaml")
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``-n``, keep together what shares something that is dear to start: all tests of running clusters, all of
    Spark, and otherwise those of a file. The longest come first, so that all processes end at about the same time."""
    groups = {item: _group(item) for item in items}
    items.sort(key=lambda item: _ORDER.get(groups[item], _ORDER.get(groups[item].partition(os.sep)[0], len(_ORDER))))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(groups[item]))


def _group(item: pytest.Item) -> str:
    file = item.path.relative_to(ROOT / "tests")
    shared = {file.parts[0], *getattr(item, "fixturenames", ())}
    return next((name for name in TOGETHER if name in shared), str(file))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def sample(root: Path) -> Path:
    """A small partition directory that a Kafka 4.3.1 broker wrote."""
    return root / "docs" / "samples" / "orders-0"


@pytest.fixture(scope="session")
def kafkapy() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ``kafkapy`` as a process of its own, from the top of the checkout."""

    def run(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kafkapy", *args]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)

    return run
