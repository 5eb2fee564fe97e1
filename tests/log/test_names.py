from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError
from kafkapy.log.names import (
    PartitionDir,
    SegmentFile,
    offset_from_file_name,
    parse_partition_dir,
    parse_segment_file,
    partition_dirs,
    segment_files,
)

ID = "0123456789abcdef0123456789abcdef"
topics = st.text("abcXYZ019._-", min_size=1, max_size=249)
partitions = st.integers(0, 2**31 - 1)


@given(topics, partitions, st.sampled_from(["-delete", "-stray", "-future"]))
def test_partition_dirs_round_trip(topic: str, partition: int, mark: str) -> None:
    marked = PartitionDir(topic, partition, mark, ID)
    parsed = parse_partition_dir(marked.name)
    assert parsed[1:] == marked[1:]
    if len(topic) + len(f"-{partition}.{ID}{mark}") <= 255 or mark == "-future":
        assert parsed.topic == topic
    else:
        assert topic.startswith(parsed.topic)
        assert len(marked.name) == 255


@given(topics.filter(lambda topic: not topic.endswith(("-delete", "-stray", "-future"))), partitions)
def test_plain_partition_dirs_round_trip(topic: str, partition: int) -> None:
    plain = PartitionDir(topic, partition)
    assert plain.name == f"{topic}-{partition}"
    assert parse_partition_dir(plain.name) == plain


@pytest.mark.parametrize(
    "name",
    [
        "notatopic",
        "-0",
        "topic-",
        "topic-x",
        "topic-2147483648",
        "a-0-delete",
        "a-0.-delete",
        "a b-0.x-delete",
        "-0.x-stray",
        ".x-future",
    ],
)
def test_what_is_no_partition_dir(name: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_partition_dir(name, f"/d/{name}")
    assert str(caught.value).startswith(
        f"Found directory /d/{name}, '{name}' is not in the form of topic-partition or "
    )


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("a-b-3", PartitionDir("a-b", 3)),
        ("topic--1", PartitionDir("topic-", 1)),
        (f"my.topic-0.{ID}-delete", PartitionDir("my.topic", 0, "-delete", ID)),
        ("x-delete-0", PartitionDir("x-delete", 0)),
    ],
)
def test_partition_dirs(name: str, parsed: PartitionDir) -> None:
    assert parse_partition_dir(name) == parsed


@given(
    st.integers(0, 2**63 - 1),
    st.sampled_from([".log", ".index", ".timeindex", ".txnindex", ".snapshot"]),
    st.sampled_from(["", ".deleted", ".cleaned", ".swap"]),
)
def test_segment_files_round_trip(base_offset: int, suffix: str, state: str) -> None:
    file = SegmentFile(base_offset, suffix, state)
    assert parse_segment_file(file.name) == file
    assert offset_from_file_name(file.name) == base_offset
    assert file.name.index(".") == 20


@pytest.mark.parametrize("name", ["partition.metadata", "x.log", "0", ".log", "0.log.tmp", "0.log.deleted.swap", "a.b"])
def test_what_is_no_segment_file(name: str) -> None:
    assert parse_segment_file(name) is None


@pytest.mark.parametrize("name", ["x.log", "5", ".log", "99999999999999999999.log"])
def test_names_without_an_offset(name: str) -> None:
    with pytest.raises(FormatError):
        offset_from_file_name(name)


def test_segment_files_come_in_dump_order(tmp_path: Path) -> None:
    names = [
        "00000000000000000000.log",
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000000.txnindex",
        "00000000000000000009.log",
        "00000000000000000009.snapshot",
        "00000000000000000009-0000000001.checkpoint",
        "00000000000000000009-0000000002.checkpoint",
        "00000000000000000100.log",
    ]
    left_out = [
        "00000000000000000005.log.deleted",
        "00000000000000000005.log.swap",
        "00000000000000000005-0000000001.checkpoint.deleted",
        "00000000000000000005-0000000001-77.checkpoint.part",
        "leader-epoch-checkpoint",
        "bootstrap.checkpoint",
    ]
    for name in reversed(names + left_out):
        (tmp_path / name).touch()
    (tmp_path / "00000000000000000007.log").mkdir()
    assert segment_files(tmp_path) == [str(tmp_path / name) for name in names]


def test_a_log_dir_gives_its_partitions_in_order(tmp_path: Path) -> None:
    for name in ("b-0", "a-10", "a-2", "notatopic", f"a-1.{ID}-delete"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00000000000000000000.log").touch()
    (tmp_path / "a-3").touch()
    expected = [f"a-1.{ID}-delete", "a-2", "a-10", "b-0"]
    assert [Path(path).name for _, path in partition_dirs(tmp_path)] == expected
    assert [Path(path).name for _, path in partition_dirs(tmp_path, "")] == expected[1:]
    assert [Path(path).name for _, path in partition_dirs(tmp_path, "-delete")] == expected[:1]
    assert segment_files(tmp_path) == [str(tmp_path / name / "00000000000000000000.log") for name in expected]


def test_every_real_name_is_known(golden: Path, zk_era: Path) -> None:
    log_dirs = [path.parent for root in (golden, zk_era) for path in root.rglob("meta.properties")]
    for log_dir in log_dirs:
        found = partition_dirs(log_dir)
        assert {path for _, path in found} == {str(path) for path in log_dir.iterdir() if path.is_dir()}
        assert all(parsed.name == Path(path).name for parsed, path in found)
        kept = {str(path) for path in log_dir.glob("*/0*") if not path.name.endswith(".deleted")}
        assert set(segment_files(log_dir)) == kept
        for path in log_dir.glob("*/0*"):
            file = parse_segment_file(path.name)
            assert path.suffix == ".checkpoint" if file is None else file.name == path.name
    assert len(log_dirs) == 8
