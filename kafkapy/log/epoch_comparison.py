"""The leader epochs of two copies of a partition: where their histories part.

Two histories are one up to an offset if the same epochs wrote the same offsets up to there. A copy that is behind lacks
the last epochs, one with a later log start the first ones; an epoch that a leader began without writing anything
stands in its file only. None of that is a difference, so chains are compared between two offsets.

``truncation_offset`` is what a follower finds out by asking its leader (OffsetsForLeaderEpoch) before it fetches: the
end of the last epoch that both know. What it has beyond that offset, the leader never wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkapy.formats.leader_epoch_checkpoint import UNDEFINED_EPOCH, EpochEntry, end_offset_for, epoch_for_offset

Chain = Sequence[EpochEntry]


class EpochDifference(NamedTuple):
    """The first offset that two chains give to different epochs; None where a chain does not say."""

    offset: int
    our_epoch: int | None
    their_epoch: int | None


def first_epoch_difference(ours: Chain, theirs: Chain, start: int, end: int) -> EpochDifference | None:
    """Where the chains part between two offsets."""
    starts = {start, *(entry.start_offset for entry in (*ours, *theirs))}
    for offset in sorted(offset for offset in starts if start <= offset < end):
        mine, other = epoch_for_offset(ours, offset), epoch_for_offset(theirs, offset)
        if mine != other:
            return EpochDifference(offset, mine, other)
    return None


def truncation_offset(leader: Chain, leader_end: int, follower: Chain, follower_end: int) -> int | None:
    """Where a follower would cut its log off by its leader's epochs; None where these do not tell.

    Kafka's steps: the follower asks for the end of its last epoch, and where the leader answers with an older one that
    the follower lacks, it goes back to the epoch before and asks again.
    """
    entries, end = list(follower), follower_end
    while entries:
        epoch, leader_epoch_end = end_offset_for(leader, entries[-1].epoch, leader_end)
        if epoch == UNDEFINED_EPOCH:
            return None
        own_epoch, own_end = end_offset_for(entries, epoch, end)
        if own_epoch == UNDEFINED_EPOCH:
            return min(leader_epoch_end, end)
        if own_epoch == epoch:
            return min(own_end, leader_epoch_end, end)
        end = min(own_end, end)
        entries = [entry for entry in entries if entry.start_offset < end]
    return None
