"""What a group leaves in the log: joining, rebalancing, committing and leaving, for both protocols."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kafkapy.backends.cluster import LATEST
from kafkapy.backends.consuming import Limits
from kafkapy.backends.group_lock import GroupLock, holder
from kafkapy.backends.log_dir_lock import LogDirHeldError
from kafkapy.backends.selection import Selection
from kafkapy.backends.shared_cluster import TIMEOUT_S, SharedCluster
from kafkapy.coordinator.consumer_protocol import decode_assignment
from kafkapy.errors import KafkaError, KafkapyError, Unsupported, UsageError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import DeleteTopic
from tests.backends.groups import (
    NOW,
    Collecting,
    FakeTime,
    Mortal,
    Scratch,
    changing,
    made,
    numbered,
    opened,
    produce,
)
from tests.faults import Killed


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Two partitions with 30 records each, and an empty third one."""
    directory = made(tmp_path / "c", t=3)
    for partition in (0, 1):
        produce(directory, "t", partition, *numbered("t", partition, 30))
    return Scratch(directory)


def test_a_group_where_nothing_can_be_written() -> None:
    with pytest.raises(KafkapyError, match=r"^/proc cannot be written .*read without a group"):
        GroupLock("/proc", "g", NOW)


def test_a_classic_group_leaves_what_a_coordinator_writes(scratch: Scratch) -> None:
    scratch.run(Collecting())
    empty, joined, *commits, left = [value for _, value in scratch.group_records()]
    assert (empty["generation"], empty["protocolType"], empty["members"]) == (0, "", [])  # type: ignore[index]
    assert (joined["generation"], joined["protocol"], len(joined["members"])) == (1, "range", 1)  # type: ignore[index]
    member = joined["members"][0]  # type: ignore[index]
    assert member["clientId"] == "console-consumer"
    assert member["memberId"].startswith("console-consumer-")
    assert member["sessionTimeout"] == 45_000
    assert decode_assignment(member["assignment"]) == tuple(TopicPartition("t", n) for n in range(3))
    assert [commit["offset"] for commit in commits] == [30, 30, 0]  # type: ignore[index]
    assert (left["generation"], left["leader"], left["members"]) == (2, None, [])  # type: ignore[index]


def test_a_consumer_group_leaves_what_a_coordinator_writes(scratch: Scratch) -> None:
    scratch.run(Collecting(), group_protocol="consumer")
    names = [name for name, _ in scratch.group_records()]
    assert names == [
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupCurrentMemberAssignment",
        "OffsetCommit",
        "OffsetCommit",
        "OffsetCommit",
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
    ]
    assert scratch.committed() == {"t-0": 30, "t-1": 30, "t-2": 0}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_next_run_goes_on_from_what_was_handled(scratch: Scratch, protocol: str) -> None:
    first, second, third = Collecting(), Collecting(), Collecting()
    scratch.run(first, limits=Limits(max_messages=37), group_protocol=protocol)
    assert scratch.committed() == {"t-0": 30, "t-1": 7, "t-2": 0}
    scratch.run(second, group_protocol=protocol)
    assert first.values + second.values == numbered("t", 0, 30) + numbered("t", 1, 30)
    scratch.run(third, group_protocol=protocol)
    assert third.values == []


def test_a_group_may_change_its_protocol_between_runs(scratch: Scratch) -> None:
    taken = Collecting()
    for protocol in ("classic", "consumer", "classic"):
        scratch.run(taken, limits=Limits(max_messages=20), group_protocol=protocol)
    assert taken.values == numbered("t", 0, 30) + numbered("t", 1, 30)


def test_without_auto_commit_nothing_is_committed(scratch: Scratch) -> None:
    for _ in range(2):
        taken = Collecting()
        scratch.run(taken, enable_auto_commit="false")
        assert len(taken.values) == 60
    assert scratch.committed() == {}


def test_where_to_begin_without_a_committed_offset(scratch: Scratch) -> None:
    taken = Collecting()
    scratch.run(taken, reset=LATEST)
    assert taken.values == []
    assert scratch.committed() == {"t-0": 30, "t-1": 30, "t-2": 0}
    with pytest.raises(KafkaError, match=r"Undefined offset with no reset policy for partitions: \[t-0, t-1, t-2\]"):
        scratch.run(taken, reset=None, group_id="other")
    state = scratch.group_records()[-1][1]
    assert state["members"] == []  # type: ignore[index]
    scratch.run(taken, reset=None)


def test_an_offset_that_is_gone_is_reset(scratch: Scratch) -> None:
    scratch.run(Collecting(), limits=Limits(max_messages=5))
    cluster = opened(scratch.directory)
    cluster.delete_records(TopicPartition("t", 0), 20)
    cluster.close()
    taken = Collecting()
    told = scratch.run(taken, limits=Limits(max_messages=1))
    assert told[2] == "Fetch position 5 is out of range for partition t-0, resetting offset to 20"
    assert taken.values == ["t-0-20"]


def test_members_of_a_dead_process_are_removed(scratch: Scratch) -> None:
    class Dying(Collecting):
        def handle(self, fetched: object, source: object) -> None:
            raise Killed

        def flush(self) -> None:
            raise Killed

    for protocol in ("classic", "consumer"):
        openings = iter([Mortal(), Mortal(kill_at=0)])  # it joins, and dies before it leaves
        with pytest.raises(Killed):
            Scratch(scratch.directory, lambda: next(openings)).run(Dying(), group_protocol=protocol)  # noqa: B023
        told = scratch.run(Collecting(), group_protocol=protocol)
        assert [line for line in told if "its process ended without leaving" in line] != []
        told = scratch.run(Collecting(), group_protocol=protocol)
        assert [line for line in told if "its process ended without leaving" in line] == []


def test_a_static_member_stays_and_comes_back_without_a_rebalance(scratch: Scratch) -> None:
    taken = Collecting()
    scratch.run(taken, limits=Limits(max_messages=10), group_instance_id="i")
    before = [value["generation"] for name, value in scratch.group_records() if name == "GroupMetadata"]  # type: ignore[index]
    scratch.run(taken, limits=Limits(max_messages=10), group_instance_id="i")
    after = [value["generation"] for name, value in scratch.group_records() if name == "GroupMetadata"]  # type: ignore[index]
    assert (before, after) == ([0, 1], [0, 1, 1])
    assert taken.values == numbered("t", 0, 20)
    told = scratch.run(taken)
    assert told[0].startswith("kafkapy: removed member i-")


def test_a_static_member_that_comes_back_to_more_partitions_gets_them(scratch: Scratch, tmp_path: Path) -> None:
    from kafkapy.metadata.changes import CreatePartitions

    scratch.run(Collecting(), group_instance_id="i")
    changing(scratch.directory, CreatePartitions("t", 5))
    produce(scratch.directory, "t", 4, "late")
    taken = Collecting()
    scratch.run(taken, group_instance_id="i")
    assert taken.values == ["late"]


def test_one_process_a_group(scratch: Scratch) -> None:
    lock = GroupLock(scratch.directory, "g", NOW)
    with pytest.raises(KafkapyError, match=rf"group g is consumed by process {os.getpid()} since 20\d\d-"):
        scratch.run(Collecting())
    scratch.run(Collecting(), group_id="other")
    lock.release()
    scratch.run(Collecting())
    assert not [name for name in os.listdir(scratch.directory) if name.endswith(".lock")]


@pytest.mark.parametrize("group_id", ["a/b", "..", "\u00e4" * 300, "%2F"])
def test_any_group_id_has_a_lock(tmp_path: Path, group_id: str) -> None:
    lock = GroupLock(str(tmp_path), group_id, NOW)
    assert len(os.listdir(tmp_path)) == 1
    with pytest.raises(KafkapyError, match="is consumed by process"):
        GroupLock(str(tmp_path), group_id, NOW)
    lock.release()
    assert os.listdir(tmp_path) == []


def test_a_lock_that_was_left_behind_means_nothing(tmp_path: Path) -> None:
    (tmp_path / ".group-g.lock").write_text("1 2\n")
    GroupLock(str(tmp_path), "g", NOW).release()


def test_a_lock_on_a_full_disk_is_named_and_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        GroupLock(str(tmp_path), "g", NOW)
    monkeypatch.undo()
    assert raised.value.filename == str(tmp_path / ".group-g.lock")
    assert os.listdir(tmp_path) == []


def refused() -> None:
    raise LogDirHeldError("d", "process 1")


def test_another_writer_is_waited_for_and_told_about_once(scratch: Scratch) -> None:
    told: list[str] = []
    time = FakeTime()
    calls = iter(range(1000))
    shared = SharedCluster(
        Selection(scratch.directory),
        told.append,
        time,
        lambda: refused() if next(calls) < 50 else opened(scratch.directory),  # type: ignore[return-value]
    )
    with shared.write() as cluster:
        assert cluster.has_metadata
    assert told == ["kafkapy: waiting for process 1, which writes to d"]
    assert 2 < time.passed < 3


def test_the_waiting_has_an_end_and_what_can_wait_does_not(scratch: Scratch) -> None:
    time = FakeTime()
    shared = SharedCluster(Selection(scratch.directory), print, time, refused)  # type: ignore[arg-type]
    with pytest.raises(LogDirHeldError, match="held by process 1"), shared.write(wait=False):
        pass
    assert time.passed == 0
    with pytest.raises(LogDirHeldError, match=r"held by process 1: .* \(waited for 60 s\)"), shared.write():
        pass
    assert TIMEOUT_S <= time.passed < TIMEOUT_S + 1


def test_other_kinds_of_cluster_and_bad_configs(scratch: Scratch) -> None:
    with pytest.raises(Unsupported, match="consuming as a member of a group is not supported by --log-dirs"):
        SharedCluster(Selection(log_dirs=("x",)), print, FakeTime())
    for configs in (
        {"group_protocol": "x"},
        {"group_protocol": "consumer", "partition_assignment_strategy": "range"},
        {"group_remote_assignor": "range"},
        {"partition_assignment_strategy": "com.example.Mine"},
        {"auto_commit_interval_ms": "x"},
        {"enable_auto_commit": "yes"},
    ):
        with pytest.raises(KafkaError) as caught:
            scratch.run(Collecting(), **configs)
        assert caught.value.name == "ConfigException"
    with pytest.raises(UsageError, match="is not an event"):
        scratch.run(Collecting(), then=("leave@3",))


def test_a_topic_that_is_deleted_ends_the_run_and_the_group_is_left(scratch: Scratch) -> None:
    time = FakeTime({3: lambda: changing(scratch.directory, DeleteTopic("t"))})
    with pytest.raises(KafkaError, match="Topic 't' does not exist"):
        scratch.run(Collecting(), limits=Limits(follow=True), time=time)
    state = [value for name, value in scratch.group_records() if name == "GroupMetadata"][-1]
    assert state["members"] == []  # type: ignore[index]


def test_who_holds_a_group_is_asked_without_taking_it(tmp_path: Path) -> None:
    assert holder(str(tmp_path), "g") is None
    assert list(tmp_path.iterdir()) == []
    lock = GroupLock(str(tmp_path), "g", NOW)
    assert holder(str(tmp_path), "g") == f"process {os.getpid()} since 2026-11-16T03:33:20Z"
    assert holder(str(tmp_path), "other") is None
    lock.release()
    assert holder(str(tmp_path), "g") is None
    (tmp_path / ".group-g.lock").write_text("1 5\n")
    assert holder(str(tmp_path), "g") is None, "a file that a killed process left means nothing"
