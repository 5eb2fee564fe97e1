"""One broker's copy of a partition: its log, how far it knows it to be replicated, how far it is on disk.

Invariant: log start offset <= high watermark <= log end offset. The high watermark is kept in the broker's
``replication-offset-checkpoint``, which may be behind and is never ahead of what the broker knew; a follower's is
behind the leader's by up to a fetch.

``flushed`` is Kafka's recovery point: with its default settings a broker syncs a segment when it rolls the next one,
and all of them at a clean stop. A crash of the machine may lose everything from there on (``crash``), and the replica
then takes the rest from whoever leads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.log.partition_log import PartitionLog


class Replica:
    """A replica on one broker. ``high_watermark``, the offset up to which it knows the partition to be replicated, and
    ``flushed`` are as in the checkpoints; they are brought into the log's bounds."""

    def __init__(self, broker_id: int, log: PartitionLog, high_watermark: int = 0, flushed: int = 0) -> None:
        self.broker_id = broker_id
        self.log = log
        self._flushed = flushed
        self.high_watermark = log.log_start_offset
        self.update_high_watermark(high_watermark)

    @property
    def log_start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def log_end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def flushed(self) -> int:
        """The offset up to which a broker would have synced the log by now."""
        return min(max(self._flushed, self.log.active_segment.base_offset), self.log_end_offset)

    @property
    def latest_epoch(self) -> int | None:
        """The epoch of the leader that wrote the last record."""
        return self.log.epochs.latest_epoch

    def update_high_watermark(self, offset: int) -> bool:
        """Take over a high watermark, as far as the log reaches; whether it is another now."""
        before = self.high_watermark
        self.high_watermark = max(self.log.log_start_offset, min(offset, self.log.log_end_offset))
        return self.high_watermark != before

    def truncate_to(self, offset: int, now: int) -> bool:
        """Cut off everything from ``offset`` on; the high watermark goes back with it."""
        self._flushed = min(self.flushed, offset)
        is_shorter = self.log.truncate_to(offset, now)
        self.update_high_watermark(self.high_watermark)
        return is_shorter

    def restart_at(self, offset: int, now: int) -> None:
        """Drop everything and go on at ``offset``."""
        self.log.truncate_fully_and_start_at(offset, now)
        self._flushed = self.high_watermark = offset

    def flush(self) -> None:
        """Sync the log."""
        self.log.flush()
        self._flushed = self.log_end_offset

    def crash(self, now: int) -> int:
        """Lose what was not flushed; how many offsets that is."""
        lost = self.log_end_offset - self.flushed
        self.truncate_to(max(self.flushed, self.log_start_offset), now)
        return lost
