"""One tour for all tests that look at it, in a pipe and without Java."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tour.transcript import Transcript, environment, read, tools, tour


@pytest.fixture(scope="session")
def path_without_java(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tools(tmp_path_factory.mktemp("tools") / "bin")


@pytest.fixture(scope="session")
def taken(tmp_path_factory: pytest.TempPathFactory, path_without_java: str) -> Transcript:
    """A tour that was taken to its end, and whose directory is kept."""
    directory = tmp_path_factory.mktemp("tour")
    done = tour("--keep", str(directory), env=environment(path_without_java))
    assert (done.returncode, done.stderr) == (0, "")
    return read(done.stdout, directory)


@pytest.fixture(scope="session")
def kept(taken: Transcript) -> Path:
    return taken.directory
