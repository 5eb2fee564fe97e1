"""Which statements miss something that only other brokers have."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic
from kafkapy.spark.left_out import LeftOut


@pytest.fixture
def disks(tmp_path: Path) -> list[str]:
    """The disks of two brokers: the first has t-0, the second t-1, t-2 and the commits."""
    directory = tmp_path / "c"
    make_cluster(str(directory), 2, files=Files(sync=False))
    opened = DirectoryCluster(str(directory), Files(sync=False))
    opened.apply(
        CreateTopic("t", assignments=((1,), (2,), (2,))), CreateTopic("__consumer_offsets", assignments=((2,),))
    )
    opened.close()
    return [str(directory / name) for name in ("broker-1", "broker-2")]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("SELECT count(*) FROM records", "3 partitions"),
        ("SELECT count(*) FROM Batches WHERE topic LIKE 't%'", "3 partitions"),
        ("SELECT * FROM offset_commits", "1 partition"),
        ("SELECT * FROM records JOIN offset_commits USING (topic)", "3 partitions"),
    ],
)
def test_what_is_told(disks: list[str], statement: str, count: str) -> None:
    first = LeftOut((disks[0],), None)
    assert first.notes(statement) == [f"left out: {count} that only other brokers have copies of"]
    assert first.notes(statement) == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "SELECT count(*) FROM partitions",
        "SELECT count(*) FROM metadata_records",
        "SELECT count(*) FROM records WHERE topic = 't'",
        "SELECT 'records'",
        "SELECT * FROM transactions",
    ],
)
def test_what_misses_nothing_or_fails_by_itself(disks: list[str], statement: str) -> None:
    assert LeftOut((disks[0],), None).notes(statement) == []


def test_who_asks_for_one_broker_gets_what_it_has(disks: list[str]) -> None:
    assert LeftOut((disks[0],), 1).notes("SELECT count(*) FROM records") == []
    assert LeftOut(tuple(disks), None).notes("SELECT count(*) FROM records") == []
