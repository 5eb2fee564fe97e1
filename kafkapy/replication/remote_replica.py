"""What a leader knows of a follower, all of it from the follower's fetches: Kafka's ReplicaState.

A follower is caught up while its log ends where the leader's does, or if it did so within replica.lag.time.max.ms. A
fetch that reaches where the leader's log ended at the follower's fetch *before* counts as caught up at the time of that
one: with records coming in all the time, no fetch ever reaches the end itself.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.replication.fetch import UNKNOWN_OFFSET


class RemoteReplica(NamedTuple):
    """``log_end_offset`` -1 until the first fetch; times are in ms. ``is_stale``: the broker left after its last fetch,
    which Kafka knows by the broker's epoch; what it had then does not let it join the ISR when it is back."""

    log_start_offset: int = UNKNOWN_OFFSET
    log_end_offset: int = UNKNOWN_OFFSET
    last_fetch_leader_log_end_offset: int = UNKNOWN_OFFSET
    last_fetch_time_ms: int = 0
    last_caught_up_time_ms: int = 0
    is_stale: bool = False

    def fetched(self, fetch_offset: int, log_start_offset: int, leader_end_offset: int, now: int) -> RemoteReplica:
        """After a fetch at ``fetch_offset``."""
        caught_up = self.last_caught_up_time_ms
        if fetch_offset >= leader_end_offset:
            caught_up = max(caught_up, now)
        elif fetch_offset >= self.last_fetch_leader_log_end_offset:
            caught_up = max(caught_up, self.last_fetch_time_ms)
        known = max(leader_end_offset, self.last_fetch_leader_log_end_offset)
        return RemoteReplica(log_start_offset, fetch_offset, known, now, caught_up)

    def in_new_epoch(self, leader_end_offset: int, is_in_sync: bool, now: int) -> RemoteReplica:
        """After the leader was elected again: who is not in the ISR has never been caught up."""
        time = now if is_in_sync else 0
        return self._replace(
            last_fetch_leader_log_end_offset=leader_end_offset, last_fetch_time_ms=time, last_caught_up_time_ms=time
        )

    def is_caught_up(self, leader_end_offset: int, now: int, max_lag_ms: int) -> bool:
        """Whether the follower belongs into the ISR, or would if it were there."""
        return self.log_end_offset == leader_end_offset or now - self.last_caught_up_time_ms <= max_lag_ms
