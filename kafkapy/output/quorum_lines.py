"""MetadataQuorumCommand's lines. What the files do not tell is ``unknown``, which Kafka has no word for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkapy.backends.quorum import MetadataReplica, Quorum, Voter
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.output.padded_table import table_lines

UNKNOWN = "unknown"
LABEL_WIDTH = 24
REPLICATION_COLUMNS = (
    *("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"),
)


def status_lines(quorum: Quorum) -> Iterator[str]:
    """``describe --status``."""
    voters = UNKNOWN if quorum.voters is None else f"[{', '.join(map(_voter, quorum.voters))}]"
    values = {
        "ClusterId": quorum.cluster_id,
        "LeaderId": quorum.leader_id,
        "LeaderEpoch": quorum.leader_epoch,
        "HighWatermark": None,
        "MaxFollowerLag": quorum.max_follower_lag,
        "MaxFollowerLagTimeMs": None,
        "CurrentVoters": voters,
        "CurrentObservers": None,
    }
    for label, value in values.items():
        yield f"{label + ':':{LABEL_WIDTH}}{_shown(value)}"


def replication_lines(quorum: Quorum) -> Iterator[str]:
    """``describe --replication``."""
    return table_lines([REPLICATION_COLUMNS, *(tuple(map(_shown, _cells(replica))) for replica in quorum.replicas)])


def _cells(replica: MetadataReplica) -> tuple[Any, ...]:
    return (replica.node_id, replica.directory_id, replica.log_end_offset, replica.lag, None, None, replica.status)


def _voter(voter: Voter) -> str:
    directory = "" if voter.directory_id == ZERO_UUID else f', "directoryId": "{voter.directory_id}"'
    endpoints = ", ".join(f'"{endpoint}"' for endpoint in voter.endpoints)
    listed = f', "endpoints": [{endpoints}]' if endpoints else ""
    return f'{{"id": {voter.id}{directory}{listed}}}'


def _shown(value: object) -> str:
    return UNKNOWN if value is None else str(value)
