"""Run after run: what each adds, and what it does when a log is not what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow.parquet as pq
import pytest

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.export.manifest import read_manifest
from kafkapy.export.run import Export
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.engine import LocalEngine
from kafkapy.tables.scan import Mode
from tests.export.growing import Growing, exported, held, lying_about, request, rows_of

T = TypeVar("T")
R = TypeVar("R")
ORDERS_0 = TopicPartition("orders", 0)


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    made = Growing(tmp_path / "cluster")
    made.create("orders")
    made.append("orders", 10)
    return made


def test_a_second_run_adds_only_what_is_new(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = request(growing.path, out)
    assert exported(asked).rows == 10
    before = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert exported(asked).rows == 0
    growing.append("orders", 7)
    assert exported(asked).rows == 7
    assert held(out) == rows_of(orders=17)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert lying_about(out) == set()
    manifest = read_manifest(str(out))
    assert manifest is not None
    assert manifest.partitions[ORDERS_0].ranges == ((0, 17),)


def test_a_topic_that_comes_later_is_added(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out, scan={"topics": frozenset(("orders",))}))
    growing.create("payments")
    growing.append("payments", 3)
    exported(request(growing.path, out))
    assert held(out) == rows_of(orders=10, payments=3)


def told_by(growing: Growing, out: Path, **given: bool) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    summary = Export(request(growing.path, out, **given), lines.append, Files(sync=False)).run(LocalEngine())
    return lines, summary.problems


def test_what_left_the_log_before_it_was_exported_is_told(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out))
    growing.append("orders", 10)
    growing.trim("orders", 15)
    lines, problems = told_by(growing, out)
    assert problems == []
    assert lines == [
        "orders-0: offsets 10 to 14 left the log before they were exported",
        "the log start of 1 partition has moved since the last run; old rows stay",
    ]
    manifest = read_manifest(str(out))
    assert manifest is not None
    assert manifest.partitions[ORDERS_0].ranges == ((0, 10), (15, 20))
    assert held(out) == sorted([*rows_of(orders=10), *rows_of(orders=(15, 20))])


def test_a_topic_that_was_made_again_is_left_alone_or_replaced(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    growing.create("payments")
    growing.append("payments", 2)
    exported(request(growing.path, out))
    growing.delete("orders")
    growing.create("orders")
    growing.append("orders", 4)
    growing.append("payments", 1)
    _, problems = told_by(growing, out)
    assert [problem.split(" (")[0] for problem in problems] == [
        "orders-0 is left alone: the topic was made again since the last run"
    ]
    assert held(out) == rows_of(orders=10, payments=3)
    lines, problems = told_by(growing, out, replace_recreated=True)
    assert (len(lines), problems) == (1, [])
    assert held(out) == rows_of(orders=4, payments=3)
    assert lying_about(out) == set()


def test_rows_of_a_topic_that_is_gone_stay(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out))
    growing.delete("orders")
    assert told_by(growing, out) == (["the topic orders is not there any more; its rows stay"], [])
    assert held(out) == rows_of(orders=10)


def test_a_topic_that_is_named_and_gone_keeps_no_other_from_being_exported(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    growing.create("payments")
    growing.append("payments", 2)
    asked = request(growing.path, out, scan={"topics": frozenset(("orders", "payments"))})
    exported(asked)
    growing.delete("orders")
    growing.append("payments", 1)
    lines: list[str] = []
    summary = Export(asked, lines.append, Files(sync=False)).run(LocalEngine())
    assert (lines, summary.problems) == (["the topic orders is not there any more; its rows stay"], [])
    assert held(out) == rows_of(orders=10, payments=3)
    with pytest.raises(KafkapyError, match="there is no topic 'orders'"):
        exported(asked._replace(overwrite=True))
    assert held(out) == rows_of(orders=10, payments=3)


def test_other_options_are_refused(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out))
    other = request(growing.path, out, partition_by=("topic",), scan={"mode": Mode.PERMISSIVE})
    with pytest.raises(KafkapyError, match=r"with --mode failfast, and this run has --mode permissive: use the same"):
        exported(other)
    exported(other._replace(overwrite=True))
    assert lying_about(out) == set()
    (file,) = out.rglob("part-*")
    assert file.parent.name == "topic=orders"
    assert "damage" in pq.ParquetFile(file).schema_arrow.names


def test_options_of_a_run_that_exported_nothing_do_not_bind(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KafkapyError, match="no topic 'ordres'"):
        exported(request(growing.path, out, scan={"topics": frozenset(("ordres",))}))
    exported(request(growing.path, out, scan={"mode": Mode.PERMISSIVE}))
    assert held(out) == rows_of(orders=10)


def test_a_directory_with_files_of_others_is_refused(growing: Growing, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    with pytest.raises(UsageError, match="has files that no export wrote"):
        exported(request(growing.path, tmp_path / "out", overwrite=True))


def test_a_file_as_the_place_is_refused(growing: Growing, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("kept")
    with pytest.raises(UsageError, match="/out is a file: name a directory"):
        exported(request(growing.path, tmp_path / "out"))


def test_a_topic_that_is_not_there_removes_nothing(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out))
    with pytest.raises(KafkapyError, match="there is no topic 'odrers'"):
        exported(request(growing.path, out, overwrite=True, scan={"topics": frozenset(("odrers",))}))
    assert held(out) == rows_of(orders=10)


def test_two_runs_at_once_are_refused(growing: Growing, tmp_path: Path) -> None:
    import subprocess
    import sys

    out = tmp_path / "out"
    exported(request(growing.path, out))
    holder = (
        "import sys; from kafkapy.export.staging import ExportLock\n"
        f"lock = ExportLock({str(out)!r}); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(KafkapyError, match=r"another export to .* is under way"):
            exported(request(growing.path, out))
        process.communicate()
    assert exported(request(growing.path, out)).rows == 0


class Twice:
    """Does each part twice, as a scheduler may, and takes the first result."""

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        for part in parts:
            first = work(part)
            work(part)
            yield first


def test_a_part_that_is_done_twice_does_not_double_rows(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out), Twice())
    assert held(out) == rows_of(orders=10)
    assert lying_about(out) == set()


class Failing:
    """Loses a worker, after it has written."""

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        for part in parts:
            work(part)
            raise KafkapyError("the worker is lost")
            yield


def test_a_run_that_fails_leaves_what_was_there(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(request(growing.path, out))
    growing.append("orders", 5)
    with pytest.raises(KafkapyError, match="the worker is lost"):
        exported(request(growing.path, out), Failing())
    assert held(out) == rows_of(orders=10)
    assert lying_about(out) == set()


def test_a_table_that_is_exported_whole_takes_the_place_of_the_last(growing: Growing, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = request(growing.path, out, table="offset_commits")
    exported(asked)
    exported(asked)
    assert lying_about(out) == set()


def test_many_small_splits_are_the_same_rows(growing: Growing, tmp_path: Path) -> None:
    for _ in range(5):
        growing.append("orders", 10)
    exported(request(growing.path, tmp_path / "out", scan={"split_bytes": 1}))
    assert held(tmp_path / "out") == rows_of(orders=60)
