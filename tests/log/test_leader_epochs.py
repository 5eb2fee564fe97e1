from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.log.files import Files
from kafkapy.log.leader_epochs import LeaderEpochs


def make(directory: Path, *entries: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs(str(directory), Files(sync=False))
    for epoch, offset in entries:
        epochs.assign(epoch, offset)
    return epochs


def test_a_new_log_has_a_file_without_bytes(tmp_path: Path) -> None:
    epochs = make(tmp_path)
    epochs.flush()
    assert Path(epochs.path).read_bytes() == b""
    assert epochs.latest_epoch is None


def test_an_epoch_is_on_disk_when_it_is_assigned(tmp_path: Path) -> None:
    epochs = make(tmp_path, (0, 0), (2, 10))
    assert Path(epochs.path).read_bytes() == b"0\n2\n0 0\n2 10\n"
    assert make(tmp_path).entries == epochs.entries


def test_the_same_epoch_begins_once(tmp_path: Path) -> None:
    assert make(tmp_path, (1, 5), (1, 9)).entries == [(1, 5)]


def test_an_epoch_without_records_gives_way(tmp_path: Path) -> None:
    assert make(tmp_path, (1, 5), (3, 10), (4, 10)).entries == [(1, 5), (4, 10)]


def test_truncation_from_the_end(tmp_path: Path) -> None:
    epochs = make(tmp_path, (1, 0), (2, 10), (3, 20))
    epochs.truncate_from_end(20)
    assert epochs.entries == [(1, 0), (2, 10)]
    epochs.flush()
    assert make(tmp_path).entries == [(1, 0), (2, 10)]
    epochs.truncate_from_end(0)
    assert epochs.entries == []


def test_truncation_from_the_start_moves_the_epoch_that_wrote_there(tmp_path: Path) -> None:
    epochs = make(tmp_path, (1, 0), (2, 10), (3, 20))
    epochs.truncate_from_start(15)
    assert epochs.entries == [(2, 15), (3, 20)]
    epochs.truncate_from_start(20)
    assert epochs.entries == [(3, 20)]


def test_end_offsets(tmp_path: Path) -> None:
    epochs = make(tmp_path, (1, 0), (4, 10))
    assert epochs.end_offset_for(4, 33) == (4, 33)
    assert epochs.end_offset_for(2, 33) == (1, 10)
    assert epochs.end_offset_for(5, 33) == (-1, -1)
    assert epochs.epoch_for_offset(9) == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=12))
def test_epochs_and_offsets_always_increase(assigned: list[tuple[int, int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        epochs = make(Path(name))
        for epoch, offset in assigned:
            epochs.assign(epoch, offset)
            assert epochs.latest_epoch == epoch
            pairs = list(zip(epochs.entries, epochs.entries[1:], strict=False))
            assert all(left.epoch < right.epoch and left.start_offset < right.start_offset for left, right in pairs)
            assert make(Path(name)).entries == epochs.entries
