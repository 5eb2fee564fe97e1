"""Replicas of a partition whose logs lost their ends, or a segment before, in a crash or by damage, and take them back.

The in-sync replica that reaches farthest has all that was acknowledged. That is the leader, unless it lost its end:
then it takes that back before it leads, since whoever follows it cuts off what it does not have. Before it leads also
means before it begins its epoch, by which its log would seem to reach farther than all others.

A broker that lags takes part in this, on either side. It does not fetch, but it is in sync as long as the ISR has it:
what it has was acknowledged, and it may lead next. One that lost nothing goes on lagging. If it does lead next, others
in sync have what was not committed yet: no sign of a loss as long as it has not begun its epoch, they cut that off.

Where real brokers were stopped, nobody leads, and whoever acts as the leader has all replicas follow it, also those
that were out of sync. What these have beyond it was never acknowledged: after a clean stop it is no sign of a loss.

Where the .log file of a segment is gone, and an in-sync replica that reaches as far has all of it, the log is cut off
there and takes the rest back. Without that, readers of the leader would miss what the others have, and a leader that
lost its first segment would have them delete theirs. One that is out of sync is cut off, too, and fetches the rest
with the next ``replicate``: it may lead some day.

The checkpoints tell where a log went once also after a crash: they may be older than it, but not ahead of what it had.

Killed in between, the next command finds a log that is still too short, or not any more. Of a segment that was lost
nothing tells any more when the log was opened, and not yet cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.lost_replicas import AGAIN
from kafkapy.backends.replication import farthest, reach
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.partition import ReplicatedPartition

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs, Checkpointed
    from kafkapy.replication.leader import ReplicationSettings
    from kafkapy.replication.replica import Replica


class LostEnds:
    """The replicas of a partition as they were opened, with the log dirs in which they lie. ``registration`` says who
    is about to lead, or to act as the leader (``is_acting``); ``brokers`` are those in sync that lost something: their
    log was cut, is damaged or lacks a segment, or ends before where the checkpoints say that it did, or before that of
    another, though they lead."""

    def __init__(
        self,
        registration: PartitionRegistration,
        is_acting: bool,
        replicas: Mapping[int, Replica],
        logs: Mapping[int, BrokerLogs],
    ) -> None:
        self._registration = registration
        self._replicas = dict(replicas)
        self._logs = logs
        self._ends = {broker_id: replica.log_end_offset for broker_id, replica in replicas.items()}
        named = dict.fromkeys((registration.leader, *registration.isr))
        self._in_sync = tuple(broker_id for broker_id in named if broker_id in replicas)
        self._gaps = {each: gap for each, replica in replicas.items() if (gap := replica.log.missing_from) is not None}
        self._best, leader = self._find_best(), registration.leader
        if leader in replicas and self._lacks_by_right(leader, is_acting):
            self._best = leader
        self.brokers = {each for each in self._in_sync if self._was_cut(each) or each == leader != self._best}

    @property
    def is_any(self) -> bool:
        """Whether something is lost."""
        return bool(self.brokers or self._gaps)

    def _find_best(self) -> int:
        """Who reaches farthest; of those that do, one that lacks no segment."""
        best = farthest(self._replicas, self._in_sync)
        whole = farthest(self._replicas, [each for each in self._in_sync if each not in self._gaps])
        is_as_good = whole != NO_LEADER and reach(self._replicas[whole]) == reach(self._replicas[best])
        return whole if is_as_good else best

    def _lacks_by_right(self, leader: int, is_acting: bool) -> bool:
        """Whether it is no loss that a leader does not have all that others have."""
        if not self._logs[leader].was_clean or self._was_cut(leader):
            return False
        replica = self._replicas[leader]
        is_new = replica.latest_epoch != self._registration.leader_epoch
        return is_acting or (is_new and replica.log_end_offset >= self._committed())

    def _committed(self) -> int:
        """Where the high watermark was at least."""
        return max(self._kept(broker_id).high_watermark for broker_id in self._in_sync)

    def _was_cut(self, broker_id: int) -> bool:
        log = self._replicas[broker_id].log
        was_put_right = bool(log.recovered) or log.damaged_end is not None or broker_id in self._gaps
        return was_put_right or log.log_end_offset < self._once(broker_id)

    def _once(self, broker_id: int) -> int:
        """How far a log went at least when its checkpoints were written."""
        return max(self._kept(broker_id))

    def _kept(self, broker_id: int) -> Checkpointed:
        return self._logs[broker_id].checkpointed(self._replicas[broker_id].log.partition)

    def take_back(self, settings: ReplicationSettings, now: int) -> None:
        """Bring who lost its end to that of the in-sync replica that reaches farthest."""
        behind = self.brokers - {self._best}
        if self._registration.leader == NO_LEADER:
            return
        for broker_id in self._gaps if self._best not in self._gaps else ():
            self._cut_at_gap(self._replicas[broker_id], now)
        if not behind:
            return
        replicas = {broker_id: self._replicas[broker_id] for broker_id in self._in_sync}
        partition, everybody = replicas[self._best].log.partition, BrokerStates(self._in_sync)
        played = ReplicatedPartition(partition, replicas, everybody, settings, lambda isr: None)
        led = self._registration._replace(leader=self._best, replicas=self._in_sync, isr=self._in_sync)
        played.apply(led, now)
        played.catch_up(now, behind)

    def _cut_at_gap(self, replica: Replica, now: int) -> None:
        gap = self._gaps[replica.broker_id]
        if gap > replica.log_start_offset:
            replica.truncate_to(gap, now)
        else:
            replica.restart_at(self._replicas[self._best].log_start_offset, now)

    def put_right(self) -> Iterator[str]:
        """What had to be done to open the logs, or has been done since this was last asked."""
        for broker_id, logs in self._logs.items():
            yield from logs.recovered(self._replicas[broker_id].log.partition)

    def outcome(self) -> Iterator[str]:
        """Where the logs end now that did not before, and what nobody had any more."""
        for broker_id, replica in self._replicas.items():
            before, end = self._ends[broker_id], replica.log_end_offset
            if end != before and broker_id not in self._gaps:
                source = f"that of broker {self._best}" if broker_id == self._registration.leader else "the leader's"
                yield f"{replica.log.directory}: brought from offset {before} to {end}, where {source} ends"
        for broker_id, gap in self._gaps.items():
            yield f"{self._replicas[broker_id].log.directory}: {self._of_gap(broker_id, gap)}"
        yield from self.put_right()
        leader = self._registration.leader
        if leader in self._replicas and self._logs[leader].was_clean:
            log, once = self._replicas[leader].log, self._once(leader)
            if log.log_end_offset < once and log.damaged_end is None:
                end = log.log_end_offset
                yield f"{log.directory}: ends at offset {end}, and once went to {once}: what lay between is lost"

    def _of_gap(self, broker_id: int, gap: int) -> str:
        if self._replicas[broker_id].log.missing_from is not None:
            return f"lacks records from offset {gap} on: the .log file of a segment is gone"
        if broker_id in self._in_sync:
            return f"lacked records from offset {gap} on, and took them back from broker {self._best}"
        return f"lacked records from offset {gap} on, and has yet to fetch them anew ({AGAIN})"
