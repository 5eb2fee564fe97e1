"""The leader's side of a partition: appends, fetches, the high watermark, and the ISR it wants.

The high watermark is the smallest log end offset of the in-sync replicas, the leader's own and those that it knows from
their fetches; also of those that are about to join (the maximal ISR) or are caught up and could. It never goes back,
and stands still while the ISR is smaller than min.insync.replicas.

The ISR is the controller's: the leader proposes a change (``isr_with``, ``isr_without_lagging``) and goes on with what
the metadata says (``update``). Until then one who is to join already counts for the high watermark, and one who is to
leave still does: either way the high watermark is low enough.

A leader begins its epoch where its log ends, and notes that before it writes: followers find by it where their history
parts from the leader's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.partition_log import AppendInfo
from kafkapy.log.producer_append import Origin
from kafkapy.metadata.topics_image import PartitionRegistration
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.fetch import (
    CONSUMER,
    UNKNOWN_OFFSET,
    DelayedFetch,
    EpochEndOffset,
    FetchRequest,
    FetchResponse,
)
from kafkapy.replication.remote_replica import RemoteReplica
from kafkapy.replication.replica import Replica

ACKS_ALL = -1


class ReplicationSettings(NamedTuple):
    """Of a topic: ``min_insync_replicas``; of the brokers: ``replica_lag_time_max_ms``. Before Kafka 0.11 there were no
    ``leader_epochs``: who became a follower truncated its log to its high watermark."""

    min_insync_replicas: int = 1
    replica_lag_time_max_ms: int = 30_000
    leader_epochs: bool = True


class Leader:
    """A replica as the leader that a registration names; ``brokers`` says who is alive and so may join the ISR.

    ``maximal_isr`` is the ISR with those that are about to join it.
    """

    def __init__(
        self,
        replica: Replica,
        registration: PartitionRegistration,
        settings: ReplicationSettings,
        brokers: BrokerStates,
        now: int,
    ) -> None:
        self.replica = replica
        self.settings = settings
        self.remote: dict[int, RemoteReplica] = {}
        self.purgatory: list[DelayedFetch] = []
        self.epoch = -1
        self.epoch_start_offset = replica.log_end_offset
        self.isr: tuple[int, ...] = ()
        self.maximal_isr: frozenset[int] = frozenset()
        self._brokers = brokers
        self._last_appended = (UNKNOWN_OFFSET, b"")
        self.update(registration, now)

    @property
    def broker_id(self) -> int:
        return self.replica.broker_id

    @property
    def min_isr(self) -> int:
        """min.insync.replicas, but no more than there are replicas."""
        return min(self.settings.min_insync_replicas, len(self.remote) + 1)

    def update(self, registration: PartitionRegistration, now: int) -> None:
        """Go on with what the metadata says: another ISR, other replicas, or a new epoch of the same leader."""
        self.isr, self.maximal_isr = registration.isr, frozenset(registration.isr)
        followers = [broker_id for broker_id in registration.replicas if broker_id != self.broker_id]
        self.remote = {broker_id: self.remote.get(broker_id, RemoteReplica()) for broker_id in followers}
        if registration.leader_epoch > self.epoch:
            self._begin_epoch(registration.leader_epoch, now)
        self._increment_high_watermark(now)

    def recall(self, broker_id: int, log_end_offset: int, caught_up_ms: int) -> None:
        """Know of a follower what was known before this process began."""
        end = self.replica.log_end_offset
        self.remote[broker_id] = RemoteReplica(0, log_end_offset, end, caught_up_ms, caught_up_ms)

    def broker_left(self, broker_id: int) -> None:
        """A broker is gone: what it fetched before does not let it join the ISR when it is back."""
        if broker_id in self.remote:
            self.remote[broker_id] = self.remote[broker_id]._replace(is_stale=True)
        self.purgatory = [each for each in self.purgatory if each.request.replica_id != broker_id]

    def append(
        self, batch: bytes, acks: int, now: int, origin: Origin = Origin.CLIENT, transaction_version: int = 2
    ) -> AppendInfo:
        """Append to the leader's log. With acks=all it is acknowledged when ``is_acknowledged`` says so."""
        if acks == ACKS_ALL and len(self.isr) < self.min_isr:
            live = ", ".join(map(str, sorted(self.isr)))
            raise KafkaError(
                "NotEnoughReplicasException",
                f"The size of the current ISR : {len(self.isr)} is insufficient to satisfy the min.isr requirement of "
                f"{self.min_isr} for partition {self.replica.log.partition}, live replica(s) broker.id are : "
                f"Set({live})",
            )
        info = self.replica.log.append_as_leader(batch, self.epoch, now, origin, transaction_version)
        if info.data:
            self._last_appended = info.first_offset, info.data
        self._increment_high_watermark(now)
        return info

    def is_acknowledged(self, last_offset: int) -> bool:
        """Whether all in-sync replicas have everything up to ``last_offset``; raises where they are too few by now."""
        if self.replica.high_watermark <= last_offset:
            return False
        if len(self.maximal_isr) < self.min_isr:
            raise KafkaError(
                "NotEnoughReplicasAfterAppendException",
                "Messages are written to the log, but to fewer in-sync replicas than required.",
            )
        return True

    def fetch(self, request: FetchRequest, now: int) -> FetchResponse:
        """Answer at once. A follower's request moves what is known of it, and perhaps the high watermark."""
        self._check(request)
        diverging = self._diverging_epoch(request)
        before = self._respond(request)
        if diverging is not None:
            return before._replace(data=b"", diverging_epoch=diverging)
        if request.replica_id != CONSUMER:
            self._note_fetch(request, now)
        # one without data has waited in vain and is answered with what the leader knows by then
        return before if before.data else before._replace(high_watermark=self.replica.high_watermark)

    def fetch_or_wait(self, request: FetchRequest, now: int) -> FetchResponse | DelayedFetch:
        """Answer, or keep the request in ``purgatory`` while there are fewer than its ``min_bytes``."""
        response = self.fetch(request, now)
        if response.diverging_epoch is not None or len(response.data) >= request.min_bytes:
            return response
        delayed = DelayedFetch(request, now)
        self.purgatory.append(delayed)
        return delayed

    def complete_fetches(self) -> list[tuple[DelayedFetch, FetchResponse]]:
        """Take out of purgatory what can be answered now."""
        completed = []
        for delayed in self.purgatory:
            response = self._respond(delayed.request)
            if len(response.data) >= delayed.request.min_bytes:
                completed.append((delayed, response))
        self.purgatory = [each for each in self.purgatory if all(each is not done for done, _ in completed)]
        return completed

    def end_offset_for_epoch(self, epoch: int, current_leader_epoch: int) -> EpochEndOffset:
        """OffsetsForLeaderEpoch: where the largest epoch up to the given one ends; (-1, -1) where none is known."""
        self._check_epoch(current_leader_epoch)
        return EpochEndOffset(*self.replica.log.epochs.end_offset_for(epoch, self.replica.log_end_offset))

    def isr_without_lagging(self, now: int) -> tuple[int, ...] | None:
        """The ISR that the leader wants of the controller when time has passed: without who lags too long. None where
        nobody does."""
        kept = [each for each in self.isr if each == self.broker_id or self._is_caught_up(each, now)]
        return None if len(kept) == len(self.isr) else _as_sent(kept)

    def isr_with(self, broker_id: int) -> tuple[int, ...] | None:
        """The ISR that it wants when a follower has fetched: with that one, if it is in sync again. Who does not fetch
        never joins, also where it has all that is committed: it would be taken out and in for ever."""
        if broker_id in self.isr or not self._can_join(broker_id):
            return None
        self.maximal_isr = frozenset((*self.isr, broker_id))
        return _as_sent((*self.isr, broker_id))

    def _begin_epoch(self, epoch: int, now: int) -> None:
        end = self.replica.log_end_offset
        is_new = self.epoch < 0
        for broker_id, remote in self.remote.items():
            known = RemoteReplica() if is_new else remote
            reset = known.in_new_epoch(UNKNOWN_OFFSET if is_new else end, broker_id in self.isr, now)
            self.remote[broker_id] = reset._replace(last_fetch_time_ms=0) if is_new else reset
        self.epoch, self.epoch_start_offset = epoch, end
        self.replica.log.epochs.assign(epoch, end)

    def _respond(self, request: FetchRequest) -> FetchResponse:
        end = self.replica.high_watermark if request.replica_id == CONSUMER else self.replica.log_end_offset
        return FetchResponse(self._read(request, end), self.replica.high_watermark, self.replica.log_start_offset)

    def _read(self, request: FetchRequest, end: int) -> bytes:
        """Whole batches; the last one, which those who are in sync ask for, is still in memory."""
        offset, data = self._last_appended
        if request.fetch_offset == end:
            return b""
        if request.fetch_offset == offset and end == self.replica.log_end_offset:
            return data
        batches = self.replica.log.read(request.fetch_offset, request.max_bytes, end)
        return b"".join(bytes(batch.data) for batch in batches)

    def _check(self, request: FetchRequest) -> None:
        self._check_epoch(request.current_leader_epoch)
        if request.replica_id != CONSUMER and request.replica_id not in self.remote:
            raise KafkaError(
                "UnknownLeaderEpochException",
                f"Replica {request.replica_id} is not recognized as a valid replica of {self.replica.log.partition} in "
                f"leader epoch {self.epoch}",
            )

    def _check_epoch(self, epoch: int) -> None:
        if epoch < self.epoch:
            raise KafkaError(
                "FencedLeaderEpochException",
                "The leader epoch in the request is older than the epoch on the broker.",
            )
        if epoch > self.epoch:
            raise KafkaError(
                "UnknownLeaderEpochException",
                "The leader epoch in the request is newer than the epoch on the broker.",
            )

    def _diverging_epoch(self, request: FetchRequest) -> EpochEndOffset | None:
        """Where the follower's history parts from the leader's; None where it does not."""
        if request.last_fetched_epoch is None:
            return None
        end = self.replica.log_end_offset
        if request.last_fetched_epoch == self.epoch == self.replica.latest_epoch and request.fetch_offset <= end:
            return None  # the epoch goes on to the log's end: nearly every fetch
        found = self.end_offset_for_epoch(request.last_fetched_epoch, request.current_leader_epoch)
        if found.epoch < 0:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Could not determine the end offset of the last fetched epoch {request.last_fetched_epoch} from the "
                "request",
            )
        if request.fetch_offset < self.replica.log_start_offset:
            return None  # reading there is refused
        if found.epoch < request.last_fetched_epoch or found.end_offset < request.fetch_offset:
            return found
        return None

    def _note_fetch(self, request: FetchRequest, now: int) -> None:
        remote = self.remote[request.replica_id]
        end = self.replica.log_end_offset
        self.remote[request.replica_id] = remote.fetched(request.fetch_offset, request.log_start_offset, end, now)
        if request.replica_id not in self.isr and self._can_join(request.replica_id):
            self.maximal_isr |= {request.replica_id}
        self._increment_high_watermark(now)

    def _increment_high_watermark(self, now: int) -> None:
        if len(self.isr) < self.min_isr:
            return
        offset = self.replica.log_end_offset
        for broker_id, remote in self.remote.items():
            if remote.log_end_offset < offset and (
                broker_id in self.maximal_isr or (self._is_eligible(broker_id) and self._is_caught_up(broker_id, now))
            ):
                offset = remote.log_end_offset
        if offset > self.replica.high_watermark:
            self.replica.update_high_watermark(offset)

    def _is_eligible(self, broker_id: int) -> bool:
        remote = self.remote[broker_id]
        return remote.log_end_offset != UNKNOWN_OFFSET and not remote.is_stale and broker_id in self._brokers.alive

    def _can_join(self, broker_id: int) -> bool:
        """In sync is who has all that is committed and all that was there when this leader began: what the leader
        before had committed may lie between the two."""
        end = self.remote[broker_id].log_end_offset
        return self._is_eligible(broker_id) and end >= max(self.replica.high_watermark, self.epoch_start_offset)

    def _is_caught_up(self, broker_id: int, now: int) -> bool:
        end, lag = self.replica.log_end_offset, self.settings.replica_lag_time_max_ms
        return broker_id in self.remote and self.remote[broker_id].is_caught_up(end, now, lag)


def _as_sent(isr: Iterable[int]) -> tuple[int, ...]:
    """In the order in which Kafka's leader sends them, which is that of a Scala HashSet."""
    return tuple(sorted(isr, key=lambda each: ((each ^ each >> 16) & 15, each)))
