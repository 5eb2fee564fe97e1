"""What coordinators, the history and the search for hanging transactions say of damaged files of real brokers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.hanging_transactions import OpenTransaction, Scope, Skipped, find_hanging
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.offset_history import HistoryFilter, history
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkapy.coordinator.share_state import SHARE_GROUP_STATE, ShareStateKey, ShareStates
from kafkapy.formats.record_batch import Record

Damage = Callable[[Path], None]
LOG = "00000000000000000000.log"


def overwrite(position: int, data: bytes) -> Damage:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(position)
            file.write(data)

    return damage


DAMAGES: dict[str, tuple[Damage, str]] = {
    "size of the first batch": (overwrite(8, b"\x7f\xff\xff\xff"), "{}: damaged at byte 0: the batch has a size of 21"),
    "size in the middle": (overwrite(1268 + 9, b"\x00\xff"), "{}: damaged at byte 1268: the batch has a size of "),
    "zeros": (overwrite(1268, bytes(100)), "{}: damaged at byte 1268: Found record size 0 smaller than minimum"),
    "checksum": (overwrite(1268 + 70, b"\xfe\xdc\xba"), "{}: damaged at byte 1268: Record is corrupt (stored crc = "),
    "cut": (
        lambda path: os.truncate(path, 3000),
        "{}: damaged at byte 2973: the batch has a size of 118 bytes, the fi",
    ),
    "cut between batches": (lambda path: os.truncate(path, 1268), "{}: ends at byte 1268 and offset "),
    "gone": (os.unlink, f"{{parent}}: {LOG} is missing, though its index is there"),
}


@pytest.fixture(params=DAMAGES)
def case(request: pytest.FixtureRequest) -> tuple[Damage, str]:
    return DAMAGES[request.param]


@pytest.fixture
def brokers(golden: Path, tmp_path: Path) -> Path:
    shutil.copytree(golden / "clean", tmp_path / "clean")
    return tmp_path / "clean"


def opened(brokers: Path, *numbers: int) -> LogDirsCluster:
    return LogDirsCluster(*(str(brokers / f"broker-{number}") for number in numbers))


def groups(cluster: LogDirsCluster) -> list[str]:
    return [each.group_id for each in cluster.groups().list()]


def recorded(cluster: LogDirsCluster) -> tuple[list[Record], list[str]]:
    """The history of partition 0, and what was told."""
    told: list[str] = []
    found = list(history(cluster, CONSUMER_OFFSETS, HistoryFilter(), told.append))
    return [record for batch in found if batch.partition.partition == 0 for record in batch.records], told


def test_one_copy_of_the_groups(brokers: Path, case: tuple[Damage, str]) -> None:
    damage, expected = case
    path = brokers / "broker-1" / "__consumer_offsets-0" / LOG
    before, in_log = groups(opened(brokers, 1)), len(recorded(opened(brokers, 1))[0])
    assert "audit" in before
    damage(path)
    found = opened(brokers, 1)
    assert set(groups(found)) <= set(before)
    problems = found.groups().store.problems
    assert problems[0].startswith(expected.format(path, parent=path.parent))
    assert not [each for each in problems if not each.startswith(str(path.parent))]
    assert [each for each in recorded(found)[1] if each not in problems] == []
    assert len(recorded(found)[0]) < in_log, "the history steps over the same"


def test_a_whole_copy_is_read_instead(brokers: Path, case: tuple[Damage, str]) -> None:
    damage, _ = case
    before = opened(brokers, 1, 2, 3)
    in_log, _ = recorded(before)
    expected = {group: before.groups().offsets(group) for group in groups(before)}
    damage(brokers / "broker-1" / "__consumer_offsets-0" / LOG)
    found = opened(brokers, 1, 2, 3)
    assert {group: found.groups().offsets(group) for group in groups(found)} == expected
    instead = f"({brokers}/broker-2/__consumer_offsets-0 is read instead)"
    for problem in found.groups().store.problems:
        assert problem.startswith(f"{brokers}/broker-1/__consumer_offsets-0")
        assert problem.endswith(instead)
    records, told = recorded(found)
    if not told or told[0].endswith(instead):
        assert records == in_log, "of a copy whose end is damaged another is read"


def test_where_no_copy_is_whole_the_best_is_read_and_all_is_told(brokers: Path) -> None:
    paths = [brokers / f"broker-{number}" / "__consumer_offsets-0" / LOG for number in (1, 2, 3)]
    overwrite(8, b"\x7f\xff\xff\xff")(paths[0])
    overwrite(8, b"\x7f\xff\xff\xff")(paths[1])
    os.truncate(paths[2], 3000)
    found = opened(brokers, 1, 2, 3)
    assert "audit" in groups(found)
    best, *others = found.groups().store.problems
    assert best.startswith(f"{paths[2]}: damaged at byte 2973: ")
    assert best.endswith("27 bytes from there on are not read")
    assert [each.split(": ")[0] for each in others] == [str(path) for path in paths[:2]]


def test_transactional_ids(brokers: Path) -> None:
    before = opened(brokers, 1, 2, 3).transactions().transactions()
    sizes = {path.parent.name: path.stat().st_size for path in brokers.glob(f"broker-1/{TRANSACTION_STATE}-*/{LOG}")}
    name = max(sizes, key=lambda each: sizes[each])
    path = brokers / "broker-1" / name / LOG
    overwrite(8, b"\x7f\xff\xff\xff")(path)
    alone = opened(brokers, 1).transactions()
    assert set(alone.transactions()) < set(before)
    (problem,) = alone.problems
    assert problem.startswith(f"{path}: damaged at byte 0: the batch has a size of ")
    together = opened(brokers, 1, 2, 3).transactions()
    assert together.transactions() == before
    assert [each for each in together.problems if not each.startswith(str(path))] == []


def test_states_of_share_groups(brokers: Path) -> None:
    for path in brokers.glob(f"broker-1/{SHARE_GROUP_STATE}-*/{LOG}"):
        os.truncate(path, max(path.stat().st_size - 1, 0))
    cluster = opened(brokers, 1)
    states = ShareStates(cluster)
    for number in range(10):
        states.state(ShareStateKey("sharers", cluster.image().topics["orders"].id, number))
    assert states.problems
    assert all("damaged at byte" in each and each.endswith("are not read") for each in states.problems)


def test_hanging_transactions_of_a_damaged_partition(brokers: Path) -> None:
    everything = Scope("tx", 0)
    (whole,) = find_hanging(opened(brokers, 1, 2, 3), everything, 0)
    assert isinstance(whole, OpenTransaction)
    copies = sorted(brokers.glob(f"broker-*/tx-0/{LOG}"))
    for path in copies:
        overwrite(path.stat().st_size - 20, b"\xff\xff")(path)
    found = list(find_hanging(opened(brokers, 1, 2, 3), everything, 0))
    (skipped,) = [each for each in found if isinstance(each, Skipped)]
    assert skipped.partition == ("tx", 0)
    assert "Record is corrupt" in str(skipped.reason)
    assert str(skipped.reason).split(": ")[0] in map(str, copies)
