"""All replicas of one partition of a simulated cluster, and the messages between them.

What a replica is follows from the metadata (``apply``): the leader that it names, and followers of that leader's epoch.
Between two changes only messages happen: a batch to the leader, a fetch and its answer. Each can be played by itself
(``send_fetch``, ``receive``), as a round trip (``fetch``), as one round of all followers (``fetch_round``) or until
everybody knows everything (``catch_up``). ISRs are changed by whoever owns the metadata: ``alter_isr`` asks for one and
is to call ``apply`` with what came of it.

Invariants, whatever the order of messages: all replicas agree up to the lowest of their high watermarks; the leader's
high watermark is not beyond the log end of any in-sync replica.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.log.partition_log import AppendInfo
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.replication.broker_state import BrokerStates
from kafkapy.replication.fetch import DelayedFetch, FetchResponse
from kafkapy.replication.follower import Fetched, Follower
from kafkapy.replication.leader import Leader, ReplicationSettings
from kafkapy.replication.replica import Replica

ROUNDS_TO_BE_KNOWN = 2
"""A fetch brings the data, the next one tells the leader that it is there."""

AlterIsr = Callable[[tuple[int, ...]], object]


class ReplicaRow(NamedTuple):
    """A replica in the table; ``remote_log_end_offset`` is what the leader knows of it, None of the leader itself, -1
    before its first fetch."""

    broker_id: int
    state: str
    is_leader: bool
    is_in_sync: bool
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    remote_log_end_offset: int | None


class PartitionTable(NamedTuple):
    """A partition at a glance."""

    partition: TopicPartition
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    replicas: tuple[ReplicaRow, ...]


class ReplicatedPartition:
    """``replicas`` are those of brokers whose logs are open; of others there is nothing to tell or to do."""

    def __init__(
        self,
        partition: TopicPartition,
        replicas: Mapping[int, Replica],
        brokers: BrokerStates,
        settings: ReplicationSettings,
        alter_isr: AlterIsr,
    ) -> None:
        self.partition = partition
        self.replicas = dict(replicas)
        self.settings = settings
        self.leader: Leader | None = None
        self.followers: dict[int, Follower] = {}
        self.registration = PartitionRegistration((), (), ())
        self._brokers = brokers
        self._alter_isr = alter_isr

    def apply(self, registration: PartitionRegistration, now: int) -> None:
        """Become what the metadata says: every replica on a broker that is alive leads or follows."""
        self.registration = registration
        alive = [broker_id for broker_id in self.replicas if broker_id in self._brokers.alive]
        self._lead(registration, registration.leader in alive, now)
        followers = {}
        for broker_id in alive:
            if broker_id != registration.leader and broker_id in registration.replicas:
                known = self.followers.get(broker_id)
                if known is None or known.leader_epoch != registration.leader_epoch:
                    known = self._follow(broker_id, now)
                followers[broker_id] = known
        self.followers = followers

    def _lead(self, registration: PartitionRegistration, is_alive: bool, now: int) -> None:
        if not is_alive or registration.leader == NO_LEADER:
            self.leader = None
        elif self.leader is not None and self.leader.broker_id == registration.leader:
            self.leader.settings = self.settings
            self.leader.update(registration, now)
        else:
            replica = self.replicas[registration.leader]
            self.leader = Leader(replica, registration, self.settings, self._brokers, now)

    def _follow(self, broker_id: int, now: int) -> Follower:
        """Without a leader there is nobody to follow, and nothing is cut off."""
        follower = Follower(self.replicas[broker_id], self.registration.leader_epoch, self.settings.leader_epochs)
        if self.leader is not None and not self.settings.leader_epochs:
            follower.truncate_to_high_watermark(now)
        return follower

    def led(self) -> Leader:
        """The leader, which must be there."""
        if self.leader is None:
            raise KafkaError(
                "LeaderNotAvailableException",
                "There is no leader for this topic-partition as we are in the middle of a leadership election.",
            )
        return self.leader

    def append(
        self, batch: bytes, acks: int, now: int, origin: Origin = Origin.CLIENT, transaction_version: int = 2
    ) -> AppendInfo:
        """PRODUCE: the batch to the leader's log, and to nobody else yet. ``led().is_acknowledged(last_offset)`` tells
        when acks=all is answered; ``complete_fetches`` answers who waits for data."""
        return self.led().append(batch, acks, now, origin, transaction_version)

    def send_fetch(self, broker_id: int, now: int, min_bytes: int = 0) -> FetchResponse | DelayedFetch:
        """FETCH: the request of a follower arrives at the leader; the answer is still under way, or waits there."""
        leader = self.led()
        answer = leader.fetch_or_wait(self._follower(broker_id).request(min_bytes), now)
        joined = leader.isr_with(broker_id)
        if joined is not None:
            self._alter_isr(joined)
        return answer

    def receive(self, broker_id: int, response: FetchResponse, now: int) -> Fetched:
        """The answer arrives at the follower."""
        return self._follower(broker_id).handle(response, now)

    def fetch(self, broker_id: int, now: int, min_bytes: int = 0) -> Fetched | DelayedFetch:
        """A whole round trip, unless it waits. Offsets that the leader does not have are put right, as for a log whose
        beginning was deleted meanwhile."""
        try:
            answer = self.send_fetch(broker_id, now, min_bytes)
        except KafkaError as error:
            if error.name != "OffsetOutOfRangeException":
                raise
            return self._follower(broker_id).handle_out_of_range(self.led(), now)
        if isinstance(answer, DelayedFetch):
            return answer
        if broker_id not in self.followers:  # with this fetch another one came into the ISR, and took its place
            return Fetched(0, -1)
        return self.receive(broker_id, answer, now)

    def complete_fetches(self, now: int) -> dict[int, Fetched]:
        """Answer those that waited for the data that is there now, and let the answers arrive."""
        completed = self.led().complete_fetches()
        return {
            delayed.request.replica_id: self.receive(delayed.request.replica_id, response, now)
            for delayed, response in completed
            if delayed.request.replica_id in self.followers
        }

    def fetch_round(self, now: int, brokers: Collection[int] | None = None) -> dict[int, Fetched]:
        """One fetch of every follower that fetches, or of those among ``brokers``."""
        done = {}
        for broker_id in self.fetching(brokers):
            fetched = self.fetch(broker_id, now) if broker_id in self.followers else None
            if isinstance(fetched, Fetched):
                done[broker_id] = fetched
        return done

    def catch_up(self, now: int, brokers: Collection[int] | None = None) -> int:
        """Rounds until every follower that fetches has what the leader has and knows what it knows; how many."""
        rounds, before = 0, None
        while self.leader is not None and any(not self._is_caught_up(each) for each in self.fetching(brokers)):
            self.fetch_round(now, brokers)
            rounds += 1
            before, last = self._progress(), before
            if before == last:
                raise KafkaError("ReplicaNotAvailableException", f"the replicas of {self.partition} do not come nearer")
        return rounds

    def replicate(self, last_offset: int, now: int) -> bool:
        """Let the in-sync followers fetch until ``last_offset`` is acknowledged; False where one of them does not
        fetch, and its time is not over."""
        leader, before = self.led(), None
        if leader.is_acknowledged(last_offset):
            return True
        while True:
            for _ in range(ROUNDS_TO_BE_KNOWN):
                self.fetch_round(now, leader.isr)
            if leader.is_acknowledged(last_offset):
                return True
            before, last = self._progress(), before
            if before == last and not self.check_isr(now):
                return False

    def fetching(self, brokers: Collection[int] | None = None) -> list[int]:
        """The followers that fetch, in assignment order."""
        able = self._brokers.fetching
        wanted = able if brokers is None else able & frozenset(brokers)
        return [each for each in self.registration.replicas if each in wanted and each in self.followers]

    def not_fetching(self) -> list[int]:
        """The in-sync followers that do not fetch: acks=all waits for them."""
        return [each for each in self.registration.isr if each in self.followers.keys() - self._brokers.fetching]

    def check_isr(self, now: int) -> bool:
        """Ask for an ISR without who lags too long, if somebody does; whether it did."""
        wanted = None if self.leader is None else self.leader.isr_without_lagging(now)
        if wanted is not None:
            self._alter_isr(wanted)
        return wanted is not None

    def broker_left(self, broker_id: int) -> None:
        """A broker's process is gone. What it was told and what it knew in memory is gone with it."""
        self.followers.pop(broker_id, None)
        if self.leader is not None and self.leader.broker_id == broker_id:
            self.leader = None
        elif self.leader is not None:
            self.leader.broker_left(broker_id)

    def truncate_by_epoch(self, broker_id: int, now: int) -> bool:
        """Let a follower that is back ask for the ends of its epochs and cut off what the leader does not have."""
        follower = self.followers.get(broker_id)
        return follower is not None and self.leader is not None and follower.truncate_by_epoch(self.leader, now)

    def table(self) -> PartitionTable:
        """Where every replica stands."""
        registration = self.registration
        rows = tuple(
            self._row(broker_id, self.replicas[broker_id])
            for broker_id in registration.replicas
            if broker_id in self.replicas
        )
        return PartitionTable(
            self.partition, registration.leader, registration.leader_epoch, registration.isr, registration.elr, rows
        )

    def _progress(self) -> list[object]:
        """What is the same as long as fetches change nothing."""
        known = [remote.log_end_offset for remote in self.led().remote.values()]
        return [*known, *((r.log_end_offset, r.high_watermark, r.latest_epoch) for r in self.replicas.values())]

    def _row(self, broker_id: int, replica: Replica) -> ReplicaRow:
        remote = self.leader.remote.get(broker_id) if self.leader is not None else None
        return ReplicaRow(
            broker_id,
            self._brokers[broker_id].state,
            self.leader is not None and self.leader.broker_id == broker_id,
            broker_id in self.registration.isr,
            replica.log_start_offset,
            replica.log_end_offset,
            replica.high_watermark,
            None if remote is None else remote.log_end_offset,
        )

    def _is_caught_up(self, broker_id: int) -> bool:
        leader, replica = self.led(), self.replicas[broker_id]
        end, remote = leader.replica.log_end_offset, leader.remote[broker_id]
        return (
            replica.log_end_offset == remote.log_end_offset == end
            and not remote.is_stale
            and replica.high_watermark == leader.replica.high_watermark
            and replica.log_start_offset >= leader.replica.log_start_offset
        )

    def _follower(self, broker_id: int) -> Follower:
        follower = self.followers.get(broker_id)
        if follower is None:
            raise KafkaError("NotLeaderOrFollowerException", f"broker {broker_id} does not follow {self.partition}")
        return follower
