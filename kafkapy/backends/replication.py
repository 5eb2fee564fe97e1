"""Bringing a follower's log to where its leader's ends, as a broker's fetcher does.

What a follower has beyond the end of an epoch that the leader knows was never acknowledged, and goes; what it lacks is
copied batch by batch, as it stands. Killed in between, the follower's log is shorter than it could be, and the next
writer goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkapy.log.partition_log import PartitionLog
from kafkapy.metadata.topics_image import PartitionRegistration


def choose_leader(registration: PartitionRegistration, logs: Sequence[tuple[int, PartitionLog]]) -> PartitionLog:
    """The log that holds all that was acknowledged: of those in sync, or that ELR kept when nobody leads, the one that
    reaches farthest. That is the leader's, unless the leader lost its end in a crash."""
    by_broker = dict(logs)
    for candidates in (registration.isr, registration.elr, registration.last_known_elr, registration.replicas):
        eligible = [broker_id for broker_id in candidates if broker_id in by_broker]
        if eligible:
            break
    return by_broker[max(eligible, key=lambda each: (*_reach(by_broker[each]), each == registration.leader))]


def catch_up(follower: PartitionLog, leader: PartitionLog, now: int) -> str | None:
    """Make a follower's log what the leader's is; what was done, or None if it was so already."""
    end = _common_end(follower, leader)
    before = follower.log_end_offset
    if end < before:
        follower.truncate_to(end, now)
    for batch in leader.read(max(end, leader.log_start_offset)) if end < leader.log_end_offset else ():
        follower.append_as_follower(bytes(batch.data), now)
    if leader.log_start_offset <= follower.log_end_offset:  # else all is deleted, and the next append leaps there
        follower.increment_log_start_offset(leader.log_start_offset)
    if end == before == leader.log_end_offset:
        return None
    return f"brought from offset {before} to {follower.log_end_offset}, where the leader's log ends"


def _reach(log: PartitionLog) -> tuple[int, int]:
    epoch = log.epochs.latest_epoch
    return -1 if epoch is None else epoch, log.log_end_offset


def _common_end(follower: PartitionLog, leader: PartitionLog) -> int:
    """Where the two logs part, by their leader epochs."""
    end = min(follower.log_end_offset, leader.log_end_offset)
    latest = follower.epochs.latest_epoch
    if latest is None:
        return end
    epoch, epoch_end = leader.epochs.end_offset_for(latest, leader.log_end_offset)
    if epoch < 0:  # the follower has an epoch that the leader never heard of
        epoch, epoch_end = leader.epochs.latest_epoch or 0, leader.log_end_offset
    if epoch < latest:
        epoch_end = min(epoch_end, follower.epochs.end_offset_for(epoch, follower.log_end_offset)[1])
    return max(0, min(end, epoch_end))
