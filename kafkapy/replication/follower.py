"""A follower's side of a partition: what it asks of the leader, and what it makes of the answers.

Where its history parts from the leader's, a follower cuts its log off at the end of the last epoch both know, step by
step, and never by its high watermark, which may be behind: what lies beyond it may have been acknowledged.

Before Kafka 0.11 there was nothing else to go by (``leader_epochs=False``): whoever became a follower cut its log off
at its high watermark, and could lose what was acknowledged, or keep what the leader does not have.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.replication.fetch import EpochEndOffset, FetchRequest, FetchResponse
from kafkapy.replication.leader import Leader
from kafkapy.replication.replica import Replica


class Fetched(NamedTuple):
    """What a follower made of an answer: the offsets that came, none where the last is before the first;
    ``truncated_from`` is where its log ended before it was cut off, at ``first_offset``."""

    first_offset: int
    last_offset: int
    truncated_from: int | None = None


class Follower:
    """A replica as a follower in one leader epoch. If it had to cut its log off in it, that ended at
    ``truncated_from`` before, and at ``truncated_to`` then."""

    def __init__(self, replica: Replica, leader_epoch: int, leader_epochs: bool = True) -> None:
        self.replica = replica
        self.leader_epoch = leader_epoch
        self.leader_epochs = leader_epochs
        self.truncated_from: int | None = None
        self.truncated_to: int | None = None

    @property
    def broker_id(self) -> int:
        return self.replica.broker_id

    def request(self, min_bytes: int = 0) -> FetchRequest:
        """The next fetch: from where the log ends."""
        return FetchRequest(
            self.broker_id,
            self.replica.log_end_offset,
            self.leader_epoch,
            self.replica.latest_epoch if self.leader_epochs else None,
            self.replica.log_start_offset,
            min_bytes=min_bytes,
        )

    def handle(self, response: FetchResponse, now: int) -> Fetched:
        """Append what came, and take over the high watermark and the log start; or truncate, and ask again."""
        end = self.replica.log_end_offset
        if response.diverging_epoch is not None:
            self._truncate(self._offset_to_truncate_to(response.diverging_epoch), now)
            return Fetched(self.replica.log_end_offset, self.replica.log_end_offset - 1, end)
        if response.data:
            self.replica.log.append_as_follower(response.data, now)
        if self.replica.log_start_offset < response.log_start_offset <= self.replica.log_end_offset:
            self.replica.log.increment_log_start_offset(response.log_start_offset)
        self.replica.update_high_watermark(response.high_watermark)
        return Fetched(end, self.replica.log_end_offset - 1)

    def truncate_to_high_watermark(self, now: int) -> None:
        """What a broker did before Kafka 0.11 when it was told whom to follow."""
        self._truncate(self.replica.high_watermark, now)

    def truncate_by_epoch(self, leader: Leader, now: int) -> bool:
        """Ask the leader where the epochs of this log end (OffsetsForLeaderEpoch) and cut off what it does not have;
        whether there was anything."""
        before = self.replica.log_end_offset
        while self.leader_epochs and self.replica.latest_epoch is not None:
            epoch = self.replica.latest_epoch
            answer = leader.end_offset_for_epoch(epoch, self.leader_epoch)
            known = answer.end_offset if answer.epoch < 0 else self._offset_to_truncate_to(answer)
            if known >= 0:
                self._truncate(known, now)
            if self.replica.latest_epoch == epoch:
                break
        return self.replica.log_end_offset < before

    def handle_out_of_range(self, leader: Leader, now: int) -> Fetched:
        """The leader does not have the offset that was asked for: its log ends before it, or begins after it."""
        before = self.replica.log_end_offset
        if leader.replica.log_end_offset < before:
            self._truncate(leader.replica.log_end_offset, now)
        elif leader.replica.log_start_offset > before:
            self.replica.restart_at(leader.replica.log_start_offset, now)  # it loses what the leader has deleted
        else:
            raise KafkaError("OffsetOutOfRangeException", f"the leader refuses offset {before}, which it has")
        return Fetched(self.replica.log_end_offset, self.replica.log_end_offset - 1, before)

    def _truncate(self, offset: int, now: int) -> None:
        """Also where the log ends: an epoch in which nothing was written begins there, and must go."""
        before = self.replica.log_end_offset
        if self.replica.truncate_to(max(offset, self.replica.log_start_offset), now):
            self.truncated_from = before if self.truncated_from is None else max(self.truncated_from, before)
            self.truncated_to = self.replica.log_end_offset

    def _offset_to_truncate_to(self, leader_epoch_end: EpochEndOffset) -> int:
        """Where this log and the leader's may still be the same, by the end of an epoch in the leader's."""
        end = self.replica.log_end_offset
        epoch, own_end = self.replica.log.epochs.end_offset_for(leader_epoch_end.epoch, end)
        if epoch < 0:
            return min(leader_epoch_end.end_offset, end)
        if epoch != leader_epoch_end.epoch:
            return min(own_end, end)  # this log lacks that epoch: the next answer goes further back
        return min(own_end, leader_epoch_end.end_offset, end)
