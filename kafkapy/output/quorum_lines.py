"""MetadataQuorumCommand's lines. What files do not tell is ``unknown``, which Kafka has no word for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafkapy.backends.quorum import MetadataReplica, Quorum, Voter
from kafkapy.errors import KafkaError
from kafkapy.formats.uuid import ZERO_UUID
from kafkapy.output.padded_table import table_lines

UNKNOWN = "unknown"
UNKNOWN_TIME = -1  # what the leader says of a time that it does not know
LABEL_WIDTH = 24
REPLICATION_COLUMNS = (
    *("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"),
)


def status_lines(quorum: Quorum) -> Iterator[str]:
    """``describe --status``."""
    values = {
        "ClusterId": quorum.cluster_id,
        "LeaderId": quorum.leader_id,
        "LeaderEpoch": quorum.leader_epoch,
        "HighWatermark": quorum.high_watermark,
        "MaxFollowerLag": quorum.max_follower_lag,
        "MaxFollowerLagTimeMs": quorum.max_follower_lag_time_ms,
        "CurrentVoters": _voters(quorum.voters),
        "CurrentObservers": _voters(quorum.observers),
    }
    for label, value in values.items():
        yield f"{label + ':':{LABEL_WIDTH}}{_shown(value)}"


def replication_lines(quorum: Quorum, now: int | None = None) -> Iterator[str]:
    """``describe --replication``; with ``now`` times are told as so long ago."""
    return table_lines([REPLICATION_COLUMNS, *(tuple(map(_shown, _cells(each, now))) for each in quorum.replicas)])


def _cells(replica: MetadataReplica, now: int | None) -> tuple[Any, ...]:
    fetched = _ago(replica.last_fetch_timestamp, "last fetch", now)
    caught_up = _ago(replica.last_caught_up_timestamp, "last caught up", now)
    return (
        *(replica.node_id, replica.directory_id, replica.log_end_offset, replica.lag, fetched, caught_up),
        replica.status,
    )


def _ago(timestamp: int | None, what: str, now: int | None) -> int | str | None:
    if now is None or timestamp is None or timestamp == UNKNOWN_TIME:
        return timestamp
    if not 0 < timestamp <= now:
        raise KafkaError(
            "KafkaException",
            "Error while computing relative time, possible drift in system clock. "
            f"Current timestamp is {now}, {what} timestamp is {timestamp}",
        )
    return f"{now - timestamp} ms ago"


def _voters(voters: Iterable[Voter] | None) -> str | None:
    return None if voters is None else f"[{', '.join(map(_voter, voters))}]"


def _voter(voter: Voter) -> str:
    directory = "" if voter.directory_id == ZERO_UUID else f', "directoryId": "{voter.directory_id}"'
    endpoints = ", ".join(f'"{endpoint}"' for endpoint in voter.endpoints)
    listed = f', "endpoints": [{endpoints}]' if endpoints else ""
    return f'{{"id": {voter.id}{directory}{listed}}}'


def _shown(value: object) -> str:
    return UNKNOWN if value is None else str(value)
