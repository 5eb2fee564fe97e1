"""A run that is killed at any step leaves the old state or the new one, and the next run finds its way."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from tests.export.growing import Growing, exported, held, lying_about, request, rows_of
from tests.faults import FaultyFiles, Killed

T = TypeVar("T")
R = TypeVar("R")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Growing, Path]:
    """A cluster with 16 records, and an export that has the first 10."""
    directory = tmp_path_factory.mktemp("crash")
    growing = Growing(directory / "cluster")
    growing.create("orders")
    growing.append("orders", 10)
    exported(request(growing.path, directory / "out"))
    growing.append("orders", 6)
    return growing, directory / "out"


@pytest.mark.parametrize("overwrite", [False, True])
def test_killed_at_every_step(states: tuple[Growing, Path], tmp_path: Path, overwrite: bool) -> None:
    growing, before = states
    seen = set()
    for step in range(1000):
        out = tmp_path / str(step)
        shutil.copytree(before, out)
        files = FaultyFiles(step, Random(step))
        try:
            exported(request(growing.path, out, overwrite=overwrite), files=files)
        except Killed:
            files.lose_unsynced()
        else:
            break
        rows = held(out)
        assert rows in (rows_of(orders=10), rows_of(orders=16))
        seen.add(len(rows))
        exported(request(growing.path, out))
        assert held(out) == rows_of(orders=16)
        assert lying_about(out) == set()
    assert seen == {10, 16}
    assert step > 8


class Dying:
    """Is killed when the first part is written."""

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        for part in parts:
            work(part)
            raise Killed
            yield


def test_killed_while_parts_are_written(states: tuple[Growing, Path], tmp_path: Path) -> None:
    growing, before = states
    out = tmp_path / "out"
    shutil.copytree(before, out)
    (out / "mine.txt").write_text("not of the export")
    with pytest.raises(Killed):
        exported(request(growing.path, out), Dying())
    assert len(lying_about(out)) == 3  # the directory of the run, what was written into it, and what is not ours
    assert held(out) == rows_of(orders=10)
    exported(request(growing.path, out))
    assert held(out) == rows_of(orders=16)
    assert lying_about(out) == {"mine.txt"}


def test_killed_in_the_first_run(states: tuple[Growing, Path], tmp_path: Path) -> None:
    growing, _ = states
    for step in range(1000):
        out = tmp_path / str(step)
        files = FaultyFiles(step, Random(step))
        try:
            exported(request(growing.path, out), files=files)
        except Killed:
            files.lose_unsynced()
        else:
            break
        exported(request(growing.path, out))
        assert held(out) == rows_of(orders=16)
        assert lying_about(out) == set()
    assert step > 8
