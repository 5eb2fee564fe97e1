"""What every test shares."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
MEMORY, ROOM = "/dev/shm", 8 << 30
"""Where files cost no disk: tests make, sync and remove a million of them."""
TOGETHER = {"live": "live", "outages": "outages", "commands/test_sql.py": "spark", "spark": "spark"}
"""What shares a running cluster or a Spark session."""
_FIRST = ("live", "outages", "spark", "reference", "tour", "scan", "completion", "backends")


def pytest_configure() -> None:
    """Have Ctrl-C mean something also where a shell began us in the background, which ignores it; and let no cluster
    of whoever runs the tests be meant, nor the width of a terminal, which xdist hands on. How long an example of
    Hypothesis takes tells of the machine only. Processes that tests start do not all compile kafkapy anew. Directories
    of tests are in memory where there is room."""
    sys.dont_write_bytecode = False
    for name in ("KAFKAPY_CLUSTER", "KAFKAPY_CONTEXT", "KAFKAPY_VERBOSE", "COLUMNS", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    os.environ["KAFKAPY_CONFIG"] = os.path.join(os.devnull, "config.yaml")
    if _has_room(MEMORY):
        os.environ.setdefault("TMPDIR", MEMORY)
        tempfile.tempdir = None  # what it was before
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("kafkapy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("kafkapy")


def _has_room(directory: str) -> bool:
    try:
        return os.access(directory, os.W_OK) and shutil.disk_usage(directory).free >= ROOM
    except OSError:
        return False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first, so that with ``-n`` all processes end at about the same time."""
    order = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: order.get(_group(item.nodeid).split("/")[0], len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: those that have to do with brokers wait for them half of their time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n``, keep together what shares something that is dear to start."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    return ByGroup(config, log)


def _group(nodeid: str) -> str:
    """What is together, and otherwise the tests of a file."""
    file = nodeid.split("::", 1)[0].removeprefix("tests/")
    return TOGETHER.get(file) or TOGETHER.get(file.split("/", 1)[0], file)


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
