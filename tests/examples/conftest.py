"""The world that examples run in, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.world import make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    directory = tmp_path_factory.mktemp("world")
    make_world(directory, root)
    return directory
