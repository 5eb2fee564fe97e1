"""What a replica asks of the leader, and what it is answered: Kafka's Fetch, as values.

A follower's request tells the leader two things: by ``fetch_offset`` that the follower has everything before it, and by
``last_fetched_epoch`` which leader wrote the record before it. Where the leader's log has another history there, the
answer is a diverging epoch and no data. The answer tells the follower the leader's high watermark, which therefore
reaches a follower one round later than the data.

A request that finds fewer than ``min_bytes`` is a ``DelayedFetch``: it waits in the leader's purgatory until an append
completes it.
"""

from __future__ import annotations

from typing import NamedTuple

CONSUMER = -1
"""The replica id of who is no replica: it is answered up to the high watermark."""

REPLICA_FETCH_MAX_BYTES = 1 << 20
UNKNOWN_OFFSET = -1


class EpochEndOffset(NamedTuple):
    """Where an epoch ends in the leader's log: the answer to OffsetsForLeaderEpoch, and what a diverging epoch is."""

    epoch: int
    end_offset: int


class FetchRequest(NamedTuple):
    """``last_fetched_epoch`` None asks for no comparison, as an empty log does and as all did before leader epochs."""

    replica_id: int
    fetch_offset: int
    current_leader_epoch: int
    last_fetched_epoch: int | None = None
    log_start_offset: int = 0
    max_bytes: int = REPLICA_FETCH_MAX_BYTES
    min_bytes: int = 0


class FetchResponse(NamedTuple):
    """``data`` are whole batches as the leader has them. With ``diverging_epoch`` there is none, and the high watermark
    is not to be taken over."""

    data: bytes
    high_watermark: int
    log_start_offset: int
    diverging_epoch: EpochEndOffset | None = None


class DelayedFetch(NamedTuple):
    """A request that waits in purgatory, since ``since`` ms."""

    request: FetchRequest
    since: int
