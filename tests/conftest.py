"""What every test shares."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
TOGETHER = ("live", "spark")
WITH_SPARK = ("commands/test_sql.py",)
_ORDER = {"live": 0, "spark": 1, "reference": 2, "tour": 3, "scan": 4, "completion": 5, "backends": 6}


def pytest_configure() -> None:
    """Have Ctrl-C mean something also where a shell began us in the background, which ignores it; and let no cluster
    of whoever runs the tests be meant. How long an example of Hypothesis takes tells of the machine only. Processes
    that tests start do not all compile kafkapy anew."""
    sys.dont_write_bytecode = False
    for name in ("KAFKAPY_CLUSTER", "KAFKAPY_CONTEXT", "KAFKAPY_VERBOSE", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    os.environ["KAFKAPY_CONFIG"] = os.path.join(os.devnull, "config.yaml")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("kafkapy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("kafkapy")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first, so that with ``-n`` all processes end at about the same time."""
    items.sort(key=lambda item: _ORDER.get(_group(item.nodeid).split("/")[0], len(_ORDER)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n``, keep together what shares something that is dear to start."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    return ByGroup(config, log)


def _group(nodeid: str) -> str:
    """All tests of running clusters, all of Spark, and otherwise those of a file."""
    file = nodeid.split("::", 1)[0].removeprefix("tests/")
    directory = "spark" if file in WITH_SPARK else file.split("/", 1)[0]
    return directory if directory in TOGETHER else file


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
