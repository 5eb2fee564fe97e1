"""The text checkpoints: their frame, leader epochs, and the offset checkpoints of a log dir."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError
from kafkapy.formats import checkpoint_file, leader_epoch_checkpoint, offset_checkpoint
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry, end_offset_for, epoch_for_offset

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
topics = st.text("abcXYZ019._-", min_size=1, max_size=249)
OFFSET_CHECKPOINTS = (
    offset_checkpoint.RECOVERY_POINT_FILE,
    offset_checkpoint.LOG_START_OFFSET_FILE,
    offset_checkpoint.HIGH_WATERMARK_FILE,
    offset_checkpoint.CLEANER_OFFSET_FILE,
)


@given(st.lists(st.tuples(INT32, INT64)))
def test_leader_epochs_round_trip(entries: list[tuple[int, int]]) -> None:
    assert leader_epoch_checkpoint.decode(leader_epoch_checkpoint.encode(entries), "f") == entries


@given(st.dictionaries(st.tuples(topics, INT32), INT64))
def test_offsets_round_trip_in_order(offsets: dict[tuple[str, int], int]) -> None:
    decoded = offset_checkpoint.decode(offset_checkpoint.encode(offsets), "f")
    assert list(decoded.items()) == list(offsets.items())


def test_offsets_are_the_same_in_every_spelling_that_java_takes() -> None:
    as_written = b"0\n2\na-b.c 0 1\nt_1 12 99\n"
    others = (as_written.replace(b"\n", b"\r\n"), as_written.replace(b" ", b"\t "), as_written.replace(b"99", b"+99"))
    assert offset_checkpoint.decode(as_written, "f") == {("a-b.c", 0): 1, ("t_1", 12): 99}
    assert all(offset_checkpoint.decode(other, "f") == {("a-b.c", 0): 1, ("t_1", 12): 99} for other in others)
    for short in (as_written[:-10], as_written.replace(b"\n2\n", b"\n3\n")):
        with pytest.raises(FormatError):
            offset_checkpoint.decode(short, "f")


hostile_text = st.text("0123 \t\r\n-+ax\x85é", max_size=40).map(str.encode)


@given(st.one_of(st.binary(max_size=60), hostile_text, hostile_text.map(lambda tail: b"0\n1\n" + tail)))
def test_hostile_bytes_raise_only_format_errors(data: bytes) -> None:
    for decode in (leader_epoch_checkpoint.decode, offset_checkpoint.decode):
        try:
            decode(data, "f")
        except FormatError:
            continue


@pytest.mark.parametrize("data", [b"", b"0", b"0\n", b"0\n0\n", b"0\r\n0"])
def test_files_without_entries(data: bytes) -> None:
    assert leader_epoch_checkpoint.decode(data, "f") == []
    assert offset_checkpoint.decode(data, "f") == {}


@pytest.mark.parametrize("data", [b"0\n2\n0 1\n1 20\n", b"0\n2\n0\t 1\n1 20", b"0\r2\r\n0 1 \r1 20"])
def test_lines_and_fields_are_cut_as_java_cuts_them(data: bytes) -> None:
    assert leader_epoch_checkpoint.decode(data, "f") == [(0, 1), (1, 20)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1\n0\n", "Unrecognised version:1, expected version: 0 in checkpoint file at: /d/f"),
        (b"x\n", "Malformed line in checkpoint file [/d/f]: x"),
        (b"\n", "Malformed line in checkpoint file [/d/f]: "),
        (b"0\n1_0\n", "Malformed line in checkpoint file [/d/f]: 1_0"),
        (b"0\n2\n0 1\n", "Expected [2] entries in checkpoint file [/d/f], but found only [1]"),
        (b"0\n-1\n", "Expected [-1] entries in checkpoint file [/d/f], but found only [0]"),
        (b"0\n0\n0 1\n", "Expected [0] entries in checkpoint file [/d/f], but found only [1]"),
        (b"0\n1\n0 1 2\n", "Malformed line in checkpoint file [/d/f]: 0 1 2"),
        (b"0\n1\n 0 1\n", "Malformed line in checkpoint file [/d/f]:  0 1"),
        (b"0\n1\n2147483648 1\n", "Malformed line in checkpoint file [/d/f]: 2147483648 1"),
        (b"0\n\xff", "not UTF-8 text at byte 2"),
    ],
)
def test_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        leader_epoch_checkpoint.decode(data, "/d/f")
    assert str(caught.value) == message


def test_the_frame() -> None:
    assert checkpoint_file.encode([]) == b"0\n0\n"
    assert offset_checkpoint.encode({("orders", 2): 198, ("orders", 0): 155}) == b"0\n2\norders 2 198\norders 0 155\n"


EPOCHS = [EpochEntry(2, 10), EpochEntry(4, 25), EpochEntry(7, 40)]


@pytest.mark.parametrize(
    ("requested", "answer"),
    [(-1, (-1, -1)), (0, (0, 10)), (2, (2, 25)), (3, (2, 25)), (4, (4, 40)), (6, (4, 40)), (7, (7, 99)), (8, (-1, -1))],
)
def test_end_offset_for(requested: int, answer: tuple[int, int]) -> None:
    assert end_offset_for(EPOCHS, requested, 99) == answer


def test_end_offset_for_without_epochs() -> None:
    assert end_offset_for([], 0, 99) == (-1, -1)


@pytest.mark.parametrize(("offset", "epoch"), [(9, None), (10, 2), (24, 2), (25, 4), (39, 4), (40, 7), (1000, 7)])
def test_epoch_for_offset(offset: int, epoch: int | None) -> None:
    assert epoch_for_offset(EPOCHS, offset) == epoch


def test_every_real_leader_epoch_checkpoint_reencodes_to_its_bytes(golden: Path, zk_era: Path) -> None:
    paths = [path for root in (golden, zk_era) for path in root.rglob(leader_epoch_checkpoint.FILE_NAME)]
    epochs = 0
    for path in paths:
        data = path.read_bytes()
        entries = leader_epoch_checkpoint.decode(data, str(path))
        assert leader_epoch_checkpoint.encode(entries) == data or (data, entries) == (b"", [])
        assert entries == sorted(entries)
        epochs += len(entries)
    assert len(paths) > 100
    assert epochs > 100


@pytest.mark.parametrize("name", OFFSET_CHECKPOINTS)
def test_every_real_offset_checkpoint_reencodes_to_its_bytes(golden: Path, zk_era: Path, name: str) -> None:
    paths = [path for root in (golden, zk_era) for path in root.rglob(name)]
    for path in paths:
        data = path.read_bytes()
        offsets = offset_checkpoint.decode(data, str(path))
        assert offset_checkpoint.encode(offsets) == data or (data, offsets) == (b"", {})
        # A checkpoint outlives the directories of deleted and moved partitions only until it is next written.
        if "clean" in path.parts and name == offset_checkpoint.RECOVERY_POINT_FILE:
            assert {f"{topic}-{partition}" for topic, partition in offsets} <= {p.name for p in path.parent.iterdir()}
    assert len(paths) == 8
