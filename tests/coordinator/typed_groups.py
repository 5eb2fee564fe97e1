"""A cluster directory with share and streams groups in it, as coordinators would have left them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, partition_for
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.share_state import SHARE_GROUP_STATE, ShareStateKey
from kafkapy.formats.coordinator_record import SHARE, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic

JOBS, MORE = "jobs", "more-than-fifteen-letters"
WORKERS, IDLE, FRESH = "workers", "idle-share-group-of-a-long-name", "fresh"
COUNTERS, STOPPED, SPLIT = "counters", "stopped", "split"
STATES = 2


def made(directory: Path) -> Path:
    """A directory with all of them."""
    make_cluster(str(directory), 1, files=Files(sync=False))
    cluster = DirectoryCluster(str(directory), Files(sync=False))
    cluster.apply(CreateTopic(CONSUMER_OFFSETS, 2, 1))
    write(cluster)
    partition = TopicPartition(JOBS, 0)
    cluster.groups().offset_manager.commit("simple", {partition: OffsetAndMetadata(3)})
    cluster.close()
    return directory


def write(cluster: DirectoryCluster, replicas: tuple[int, ...] = (1,), counters: str = COUNTERS) -> None:
    """The topics and groups into a cluster that has a topic for commits; ``counters`` names a streams group."""
    cluster.apply(
        CreateTopic(JOBS, assignments=(replicas,) * 2),
        CreateTopic(MORE, assignments=(replicas,)),
        CreateTopic(SHARE_GROUP_STATE, assignments=(replicas,) * STATES, configs={"cleanup.policy": "delete"}),
    )
    for topic, number, count in ((JOBS, 0, 30), (JOBS, 1, 12), (MORE, 0, 5)):
        records = [Record(at, cluster.now, None, b"job") for at in range(count)]
        cluster.append(TopicPartition(topic, number), encode_batch(records))
    _write_share_groups(cluster)
    _write_streams_groups(cluster, counters)


def _record(name: str, key: dict[str, Any], **value: object) -> CoordinatorRecord:
    return CoordinatorRecord(name, key, 0, value)


def _write_share_groups(cluster: DirectoryCluster) -> None:
    jobs, more = (cluster.image().topics[name].id for name in (JOBS, MORE))
    members = {"m-b": [(jobs, [1])], "m-a-with-a-long-id": [(jobs, [0]), (more, [0])], "m-c": []}
    cluster.groups().store.append(WORKERS, [*_share_group(WORKERS, 3, 3, members), _initialized(WORKERS, jobs, more)])
    cluster.groups().store.append(IDLE, [*_share_group(IDLE, 5, 4, {}), _initialized(IDLE, jobs)])
    cluster.groups().store.append(FRESH, _share_group(FRESH, 1, 1, {}))
    _snapshot(cluster, ShareStateKey(WORKERS, jobs, 0), startOffset=4, deliveryCompleteCount=0)
    _update(cluster, ShareStateKey(WORKERS, jobs, 0), startOffset=10, leaderEpoch=2, deliveryCompleteCount=5)
    _update(cluster, ShareStateKey(WORKERS, jobs, 0), startOffset=-1, leaderEpoch=-1, deliveryCompleteCount=6)
    _snapshot(cluster, ShareStateKey(WORKERS, jobs, 1), startOffset=2)
    _snapshot(cluster, ShareStateKey(WORKERS, more, 0), startOffset=-1)
    _snapshot(cluster, ShareStateKey(IDLE, jobs, 0), startOffset=12, leaderEpoch=7, deliveryCompleteCount=0)


def _share_group(
    group_id: str, epoch: int, target_epoch: int, members: dict[str, list[tuple[str, list[int]]]]
) -> list[CoordinatorRecord]:
    key = {"groupId": group_id}
    records = [
        _record(
            "ShareGroupMemberMetadata",
            key | {"memberId": member},
            rackId=None,
            clientId=f"client-{member}",
            clientHost="/127.0.0.1",
            subscribedTopicNames=[JOBS, MORE],
        )
        for member in members
    ]
    records.append(_record("ShareGroupMetadata", key, epoch=epoch, metadataHash=0))
    for member, topics in members.items():
        assigned = [{"topicId": topic_id, "partitions": numbers} for topic_id, numbers in topics]
        both = key | {"memberId": member}
        records.append(_record("ShareGroupTargetAssignmentMember", both, topicPartitions=assigned))
        records.append(
            _record(
                "ShareGroupCurrentMemberAssignment",
                both,
                memberEpoch=epoch,
                previousMemberEpoch=epoch - 1,
                state=0,
                assignedPartitions=assigned,
            )
        )
    return [*records, _record("ShareGroupTargetAssignmentMetadata", key, assignmentEpoch=target_epoch)]


def _initialized(group_id: str, jobs: str, more: str | None = None) -> CoordinatorRecord:
    topics = [{"topicId": jobs, "topicName": JOBS, "partitions": [0, 1]}]
    topics += [{"topicId": more, "topicName": MORE, "partitions": [0]}] if more else []
    return _record(
        "ShareGroupStatePartitionMetadata",
        {"groupId": group_id},
        initializingTopics=[],
        initializedTopics=topics,
        deletingTopics=[],
    )


def _snapshot(cluster: DirectoryCluster, key: ShareStateKey, **value: int) -> None:
    whole = {"snapshotEpoch": 0, "stateEpoch": 1, "leaderEpoch": 0, "createTimestamp": 1, "writeTimestamp": 1, **value}
    _append_state(cluster, key, _record("ShareSnapshot", _kafka_key(key), stateBatches=[], **whole))


def _update(cluster: DirectoryCluster, key: ShareStateKey, **value: int) -> None:
    _append_state(cluster, key, _record("ShareUpdate", _kafka_key(key), snapshotEpoch=0, stateBatches=[], **value))


def _kafka_key(key: ShareStateKey) -> dict[str, Any]:
    return {"groupId": key.group_id, "topicId": key.topic_id, "partition": key.partition}


def _append_state(cluster: DirectoryCluster, key: ShareStateKey, record: CoordinatorRecord) -> None:
    partition = TopicPartition(SHARE_GROUP_STATE, partition_for(str(key), STATES))
    batch = encode_batch([Record(0, cluster.now, *encode_record(SHARE, record))], BatchOptions(base_sequence=0))
    cluster.append_as_coordinator(partition, batch, 2)


def _write_streams_groups(cluster: DirectoryCluster, counters: str) -> None:
    tasks = {
        "s-b": {"activeTasks": _tasks(("1", [0])), "standbyTasks": _tasks(("0", [1, 0]))},
        "s-a-with-a-rather-long-id": {"activeTasks": _tasks(("0", [1, 0])), "warmupTasks": _tasks(("1", [0]))},
    }
    store = cluster.groups().store
    store.append(counters, _streams_group(counters, 4, 4, tasks))
    store.append(SPLIT, _streams_group(SPLIT, 7, 6, {"only": {"activeTasks": _tasks(("0", [0]))}}))
    store.append(STOPPED, _streams_group(STOPPED, 2, 1, {}))
    commits = {"offset": 20, "leaderEpoch": 0, "metadata": "", "commitTimestamp": cluster.now}
    key = {"group": counters, "topic": JOBS, "partition": 0}
    store.append(counters, [CoordinatorRecord("OffsetCommit", key, 4, commits)])


def _tasks(*pairs: tuple[str, list[int]]) -> list[dict[str, Any]]:
    return [{"subtopologyId": name, "partitions": partitions} for name, partitions in pairs]


def _streams_group(
    group_id: str, epoch: int, target_epoch: int, members: dict[str, dict[str, Any]]
) -> list[CoordinatorRecord]:
    key = {"groupId": group_id}
    records = [
        _record("StreamsGroupMemberMetadata", key | {"memberId": member}, **_streams_member(member))
        for member in members
    ]
    records.append(_record("StreamsGroupMetadata", key, epoch=epoch, metadataHash=0, validatedTopologyEpoch=1))
    records.append(
        _record("StreamsGroupTopology", key, epoch=1, subtopologies=[_subtopology("0", JOBS), _subtopology("1", MORE)])
    )
    for member, tasks in members.items():
        none: dict[str, Any] = {"activeTasks": [], "standbyTasks": [], "warmupTasks": []}
        both = key | {"memberId": member}
        records.append(_record("StreamsGroupTargetAssignmentMember", both, **(none | tasks)))
        revoked = {f"{name}PendingRevocation": [] for name in none}
        epochs = {"memberEpoch": target_epoch, "previousMemberEpoch": 1, "state": 1}
        records.append(_record("StreamsGroupCurrentMemberAssignment", both, **(epochs | none | tasks | revoked)))
    return [*records, _record("StreamsGroupTargetAssignmentMetadata", key, assignmentEpoch=target_epoch)]


def _streams_member(member: str) -> dict[str, Any]:
    return {
        "instanceId": None,
        "rackId": None,
        "clientId": f"client-{member}",
        "clientHost": "/127.0.0.1",
        "topologyEpoch": 1,
        "processId": f"process-of-{member}",
        "clientTags": [],
    }


def _subtopology(name: str, topic: str) -> dict[str, Any]:
    empty = ("sourceTopicRegex", "stateChangelogTopics", "repartitionSinkTopics", "repartitionSourceTopics")
    return {"subtopologyId": name, "sourceTopics": [topic], **{field: [] for field in empty}, "copartitionGroups": []}
