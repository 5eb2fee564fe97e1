"""What the files of a metadata quorum tell about it while it is at rest.

Every node keeps ``quorum-state`` (the epoch, and the leader and voters it knew of) and its copy of the metadata log;
the log has who registered, and with kraft.version 1 the voters. The leader and the epoch are those of the node that has
heard of the highest epoch. How far a copy reaches is in the files; which offset was committed, who fetched when, and
who observed is known to a running leader only (live/live_quorum.py), and is None here.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.errors import FormatError
from kafkapy.formats import quorum_state
from kafkapy.formats.quorum_state import NO_ID, QuorumState
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_replay import LoadedMetadata

METADATA_PARTITION = TopicPartition("__cluster_metadata", 0)

LEADER = "Leader"
FOLLOWER = "Follower"
OBSERVER = "Observer"


class Voter(NamedTuple):
    """``directory_id`` is the zero uuid with static voters; endpoints are ``NAME://host:port``."""

    id: int
    directory_id: str
    endpoints: tuple[str, ...]


class MetadataReplica(NamedTuple):
    """A copy of the metadata log; None for what is not known of one whose files are elsewhere, -1 for a time that the
    leader does not know either."""

    node_id: int | None
    directory_id: str
    log_end_offset: int | None
    lag: int | None
    status: str | None
    last_fetch_timestamp: int | None = None
    last_caught_up_timestamp: int | None = None


class Quorum(NamedTuple):
    """None is what the files do not tell."""

    cluster_id: str | None
    leader_id: int | None
    leader_epoch: int | None
    max_follower_lag: int | None
    voters: tuple[Voter, ...] | None
    replicas: tuple[MetadataReplica, ...]
    high_watermark: int | None = None
    max_follower_lag_time_ms: int | None = None
    observers: tuple[Voter, ...] | None = None


class _Node(NamedTuple):
    id: int | None
    cluster_id: str | None
    state: QuorumState | None
    log_end_offset: int | None


def describe_quorum(metadata: LoadedMetadata | None, *log_dirs: str) -> Quorum:
    """The quorum of the cluster that these log dirs belong to."""
    nodes = [_node(log_dir) for log_dir in log_dirs]
    states = [node.state for node in nodes if node.state is not None]
    newest = max(states, key=lambda state: (state.leader_epoch, state.leader_id), default=None)
    leader_id = None if newest is None or newest.leader_id == NO_ID else newest.leader_id
    voters = _voters(newest, metadata)
    replicas = _replicas(nodes, voters, leader_id)
    lags = [replica.lag for replica in replicas if replica.status != OBSERVER]
    known_lags = [lag for lag in lags if lag is not None]
    return Quorum(
        next((node.cluster_id for node in nodes if node.cluster_id is not None), None),
        leader_id,
        None if newest is None else newest.leader_epoch,
        max(known_lags) if lags and len(known_lags) == len(lags) else None,
        voters,
        replicas,
    )


def _node(log_dir: str) -> _Node:
    node_id = cluster_id = state = end = None
    with suppress(OSError, FormatError):
        meta = read_meta_properties(log_dir)
        node_id, cluster_id = meta.node_id, meta.cluster_id
    directory = os.path.join(log_dir, DIRECTORY_NAME)
    with suppress(OSError, FormatError), open(os.path.join(directory, quorum_state.FILE_NAME), "rb") as file:
        state = quorum_state.decode(file.read())
    if os.path.isdir(directory):
        end = PartitionReader(directory, METADATA_PARTITION).log_end_offset
    return _Node(node_id, cluster_id, state, end)


def _voters(state: QuorumState | None, metadata: LoadedMetadata | None) -> tuple[Voter, ...] | None:
    if metadata is not None and metadata.voters is not None:
        return tuple(
            Voter(
                voter["voterId"],
                voter["voterDirectoryId"],
                tuple(f"{point['name']}://{point['host']}:{point['port']}" for point in voter["endpoints"]),
            )
            for voter in sorted(metadata.voters["voters"], key=lambda voter: voter["voterId"])
        )
    if state is None or not state.current_voters:
        return None
    return tuple(Voter(voter, ZERO_UUID, _endpoints(voter, metadata)) for voter in sorted(state.current_voters))


def _endpoints(voter: int, metadata: LoadedMetadata | None) -> tuple[str, ...]:
    """As the controller registered them: where static voters are is in no file of theirs."""
    controller = None if metadata is None else metadata.image.controllers.get(voter)
    if controller is None:
        return ()
    return tuple(f"{point.name}://{point.host}:{point.port}" for point in controller.listeners)


def _replicas(
    nodes: list[_Node], voters: tuple[Voter, ...] | None, leader_id: int | None
) -> tuple[MetadataReplica, ...]:
    """The leader, the other voters, then whoever else has a copy of the metadata log."""
    ends = {node.id: node.log_end_offset for node in nodes if node.log_end_offset is not None}
    leader_end = ends.get(leader_id) if leader_id is not None else None

    def replica(node_id: int | None, directory_id: str, status: str | None) -> MetadataReplica:
        end = ends.get(node_id)
        lag = None if end is None or leader_end is None else leader_end - end
        return MetadataReplica(node_id, directory_id, end, lag, status)

    in_order = sorted(voters or (), key=lambda voter: (voter.id != leader_id, voter.id))
    of_voters = [
        replica(voter.id, voter.directory_id, LEADER if voter.id == leader_id else FOLLOWER) for voter in in_order
    ]
    others = sorted((node_id for node_id in ends if node_id not in {voter.id for voter in in_order}), key=str)
    return (*of_voters, *(replica(each, ZERO_UUID, None if voters is None else OBSERVER) for each in others))
