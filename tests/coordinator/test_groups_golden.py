"""The groups of the golden sets, folded from the brokers' directories, against what Kafka's own tools printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.coordinator.group_coordinator import GroupCoordinator
from kafkapy.coordinator.group_description import MemberDescription
from kafkapy.errors import KafkaError
from kafkapy.log.topic_partition import TopicPartition
from tests.golden_set import unpack

GROUPS = ("active", "audit", "billing", "next-gen", "static")


def coordinator(directory: Path) -> GroupCoordinator:
    return LogDirsCluster(*(str(path) for path in sorted(directory.glob("broker-*")))).groups()


def table(path: Path) -> list[list[str]]:
    """The rows of a tool's output without its headers."""
    rows = [line.split() for line in path.read_text().splitlines() if line.strip()]
    return sorted(row for row in rows if row[0] != "GROUP")


def offset_rows(groups: GroupCoordinator, group_id: str) -> list[list[str]]:
    """Group, topic, partition, offset, and the member that has the partition, as the tool prints them."""
    owners: dict[TopicPartition, MemberDescription] = {
        partition: member for member in groups.describe(group_id).members for partition in member.assignment
    }
    offsets = groups.offsets(group_id)
    rows = []
    for partition in sorted({*owners, *offsets}):
        committed = str(offsets[partition].offset) if partition in offsets else "-"
        owner = owners.get(partition)
        member = [owner.member_id, owner.host, owner.client_id] if owner else ["-", "-", "-"]
        rows.append([group_id, partition.topic, str(partition.partition), committed, *member])
    return rows


def without_log_end(row: list[str]) -> list[str]:
    return row[:4] + row[6:]


@pytest.mark.parametrize(
    ("state", "printed"), [("crashed", "groups-describe-all.out"), ("clean", "recovered-groups-describe-all.out")]
)
def test_offsets_and_owners(golden: Path, state: str, printed: str) -> None:
    groups = coordinator(golden / state)
    rows = [row for group_id in GROUPS for row in offset_rows(groups, group_id)]
    assert rows == [without_log_end(row) for row in table(golden / "tools" / printed)]
    assert groups.store.problems == []


def test_offsets_that_kafka_2_8_committed() -> None:
    zk_era = unpack("zk-era")
    groups = coordinator(zk_era / "clean")
    printed = [without_log_end(row) for row in table(zk_era / "tools" / "groups-describe.out")]
    rows = [row for group_id in sorted({row[0] for row in printed}) for row in offset_rows(groups, group_id)]
    assert rows == printed
    assert groups.store.problems == []


def test_the_list_of_groups(golden: Path) -> None:
    listed = coordinator(golden / "crashed").list()
    assert [each.group_id for each in listed] == sorted(each.group_id for each in listed)
    # groups that console consumers made for themselves were gone again when the tools were run
    found = [each for each in listed if not each.group_id.startswith("console-consumer-")]
    assert [[each.group_id, each.type, each.protocol] for each in found] == table(
        golden / "tools" / "groups-command-list.out"
    )
    consumers = [each for each in found if each.protocol == "consumer"]
    assert [[each.group_id, each.state] for each in consumers] == table(golden / "tools" / "groups-list-state.out")
    assert [[each.group_id, each.type] for each in consumers] == table(golden / "tools" / "groups-list-type.out")


@pytest.mark.parametrize("group_id", GROUPS)
def test_states(golden: Path, group_id: str) -> None:
    found = coordinator(golden / "crashed").describe(group_id)
    ((name, _, coordinator_id, *rest),) = table(golden / "tools" / f"groups-state-{group_id}.out")
    wanted = [found.partition_assignor or "-", found.state, str(len(found.members))]
    assert [name, coordinator_id, *rest] == [group_id, f"({found.coordinator})", *wanted]


@pytest.mark.parametrize("group_id", GROUPS)
def test_members(golden: Path, group_id: str) -> None:
    found = coordinator(golden / "crashed").describe(group_id)
    rows = []
    for member in found.members:
        topics = sorted({partition.topic for partition in member.assignment})
        numbers = {
            topic: ",".join(str(each.partition) for each in member.assignment if each.topic == topic)
            for topic in topics
        }
        assignment = ";".join(f"{topic}:{numbers[topic]}" for topic in topics)
        instance = [member.group_instance_id] if member.group_instance_id else []
        count = str(len(member.assignment))
        rows.append([group_id, member.member_id, *instance, member.host, member.client_id, count, "-", assignment])
    printed = table(golden / "tools" / f"groups-members-{group_id}.out")
    assert rows == [row[:-2] for row in printed]


def test_a_group_that_is_not_there(golden: Path) -> None:
    with pytest.raises(KafkaError, match=r"^Group nope not found\.$") as caught:
        coordinator(golden / "clean").describe("nope")
    assert caught.value.name == "GroupIdNotFoundException"


def test_partitions_that_are_not_in_the_log_dirs_are_told(golden: Path, tmp_path: Path) -> None:
    copy = tmp_path / "broker-1"
    copy.mkdir()
    for path in (golden / "clean" / "broker-1").iterdir():
        if path.name != "__consumer_offsets-0":
            (copy / path.name).symlink_to(path)
    groups = LogDirsCluster(str(copy)).groups()
    assert groups.list()
    assert groups.store.problems == ["__consumer_offsets-0: no copy of __consumer_offsets-0 is in the given log dirs"]
