"""The metadata quorum of a running cluster: DescribeQuorum, AddRaftVoter and RemoveRaftVoter.

Brokers hand these requests on to the active controller; of controllers only the active one answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.backends.live.client import Client
from kafkapy.backends.quorum import FOLLOWER, LEADER, METADATA_PARTITION, OBSERVER, MetadataReplica, Quorum, Voter
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import raise_for
from kafkapy.formats.message import Value
from kafkapy.formats.uuid import ZERO_UUID

UNKNOWN_TIME = -1


def describe_quorum(client: Client, cluster_id: str | None) -> Quorum:
    """What the leader of the quorum knows."""
    topic, number = METADATA_PARTITION
    fields = {"topics": [{"topicName": topic, "partitions": [{"partitionIndex": number}]}]}

    def attempt() -> Value:
        response = client.call("DescribeQuorum", fields, client.controller())
        raise_for(response["errorCode"], response["errorMessage"])
        (partition,) = (each for found in response["topics"] for each in found["partitions"])
        raise_for(partition["errorCode"], partition["errorMessage"])
        return response

    response = client.retrying(attempt)
    endpoints = {
        node["nodeId"]: tuple(_endpoint(each) for each in node["listeners"]) for node in response["nodes"] or ()
    }
    (partition,) = (each for found in response["topics"] for each in found["partitions"])
    return _quorum(cluster_id, partition, endpoints)


def add_voter(client: Client, voter: Voter) -> None:
    """Make a controller a voter; it has to run and to have caught up."""
    listeners = []
    for endpoint in voter.endpoints:
        name, _, address = endpoint.partition("://")
        host, _, port = address.rpartition(":")
        listeners.append({"name": name, "host": host.removeprefix("[").removesuffix("]"), "port": int(port)})
    fields = {
        "clusterId": None,
        "timeoutMs": client.config.api_timeout_ms,
        "voterId": voter.id,
        "voterDirectoryId": voter.directory_id,
        "listeners": listeners,
    }
    _change(client, "AddRaftVoter", fields)


def remove_voter(client: Client, controller_id: int, directory_id: str) -> None:
    """Let a voter vote no more."""
    _change(client, "RemoveRaftVoter", {"clusterId": None, "voterId": controller_id, "voterDirectoryId": directory_id})


def _change(client: Client, api: str, fields: Value) -> None:
    def attempt() -> None:
        response = client.call(api, fields, client.controller(), timeout_ms=client.config.api_timeout_ms)
        raise_for(response["errorCode"], response["errorMessage"])

    client.retrying(attempt)


def _quorum(cluster_id: str | None, partition: Value, endpoints: Mapping[int, tuple[str, ...]]) -> Quorum:
    leader_id, voters = partition["leaderId"], partition["currentVoters"]
    leader = next((each for each in voters if each["replicaId"] == leader_id), None)
    if leader is None:
        raise KafkaError("UnknownServerException", f"the leader of the quorum, {leader_id}, is not one of its voters")
    behind = min(voters, key=lambda each: int(each["logEndOffset"]))

    def replica(state: Value, status: str) -> MetadataReplica:
        end = state["logEndOffset"]
        times = state["lastFetchTimestamp"], state["lastCaughtUpTimestamp"]
        return MetadataReplica(state["replicaId"], _directory(state), end, leader["logEndOffset"] - end, status, *times)

    return Quorum(
        cluster_id,
        leader_id,
        partition["leaderEpoch"],
        leader["logEndOffset"] - behind["logEndOffset"],
        tuple(_voter(each, endpoints) for each in voters),
        (
            replica(leader, LEADER),
            *(replica(each, FOLLOWER) for each in voters if each is not leader),
            *(replica(each, OBSERVER) for each in partition["observers"]),
        ),
        partition["highWatermark"],
        _lag_time(leader, behind),
        tuple(_voter(each, endpoints) for each in partition["observers"]),
    )


def _lag_time(leader: Value, behind: Value) -> int:
    """How long ago the last of the voters had all that the leader had."""
    if behind is leader:
        return 0
    times: list[int] = [each["lastCaughtUpTimestamp"] for each in (leader, behind)]
    return UNKNOWN_TIME if UNKNOWN_TIME in times else times[0] - times[1]


def _voter(state: Value, endpoints: Mapping[int, tuple[str, ...]]) -> Voter:
    return Voter(state["replicaId"], _directory(state), endpoints.get(state["replicaId"], ()))


def _directory(state: Value) -> str:
    return state["replicaDirectoryId"] or ZERO_UUID


def _endpoint(listener: Value) -> str:
    host = f"[{listener['host']}]" if ":" in listener["host"] else listener["host"]
    return f"{listener['name']}://{host}:{listener['port']}"
