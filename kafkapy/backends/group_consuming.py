"""The loop of a group: members take turns, a batch each, until the end, a limit, or for ever.

A pass goes through the partitions of every member in order, each to its end; members alternate batch by batch, so that
each gets on. Positions move as records are handled. A rebalance ends the pass, and the next goes on from the positions.

Without following, the end is where each partition ended when a member first had it; retry topics are read for as long
as something in them is due. A record that is not due yet holds its partition: those behind it are due later.

A run that ``--max-messages`` ends stops where Kafka's does: its console consumer has then fetched more, and seeks back
to the first record that was not handled. That lies behind markers and what was aborted, and has no leader epoch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from kafkapy.backends.cluster import LATEST, Cluster
from kafkapy.backends.consuming import POLL_INTERVAL_MS, UNLIMITED, Limits
from kafkapy.backends.fetched import Fetched, fetch, fetched_of, is_out_of_range
from kafkapy.backends.fetcher import Fetcher
from kafkapy.backends.group_events import Event
from kafkapy.backends.group_member import GroupMember, Position
from kafkapy.backends.group_session import GroupSession
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.waiting import Time
from kafkapy.errors import CorruptRecordError, KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition

GONE = ("UnknownTopicOrPartitionException", "UnknownTopicIdException", "InconsistentTopicIdException")


class Waiting(NamedTuple):
    """Records in retry topics that are not due yet, and when the first of them is (ms)."""

    records: int
    due_ms: int


class GroupConsuming:
    """Runs a session; ``events`` are members that come and go, in the order of when."""

    def __init__(
        self,
        session: GroupSession,
        handler: RecordHandler,
        limits: Limits,
        time: Time,
        events: Sequence[Event] = (),
        commit_interval_ms: int = 5_000,
    ) -> None:
        self._session = session
        self._handler = handler
        self._limits = limits
        self._time = time
        self._commit_interval_ms = commit_interval_ms
        self._ends: dict[TopicPartition, int] = {}
        self._fetchers: dict[int, tuple[Cluster, Fetcher]] = {}
        self._held: dict[TopicPartition, int] = {}
        self._last_commit = time.monotonic()
        self._last_taken: tuple[GroupMember, TopicPartition] | None = None
        self.events = deque(events)
        self.count = 0

    def run(self) -> None:
        """Consume until the end; whoever calls closes the session, also after an error."""
        last = self._time.monotonic()
        while self._goes_on:
            before = self.count
            self._session.refresh()
            self._let_happen()
            self._pass()
            if self.count > before:
                last = self._time.monotonic()
            if self._is_idle(before) and not self._paused(last):
                break
        if self.is_full and self._last_taken is not None:
            self._seek_to_next_record(*self._last_taken)
        if self._handler.is_urgent:
            self._commit(wait=True)

    def waiting(self) -> Waiting | None:
        """What is left for later in the retry topics of the members."""
        found = [
            left
            for member in self._session.members
            for partition in member.readable
            if (left := self._left(partition, member.positions[partition].offset)) is not None
        ]
        return Waiting(sum(each.records for each in found), min(each.due_ms for each in found)) if found else None

    @property
    def is_full(self) -> bool:
        """Whether as much was handled as was wanted."""
        return self.count >= self._limits.max_messages != UNLIMITED

    @property
    def _goes_on(self) -> bool:
        return not self.is_full and bool(self._session.members)

    def _is_idle(self, before: int) -> bool:
        """Whether the last pass found nothing; what it left to be settled may be due at once."""
        if self._handler.is_urgent and self._commit(wait=not self._limits.follow):
            return False
        return self.count == before

    def _paused(self, last: float) -> bool:
        """Wait for more; False where there is none to be waited for."""
        self._handler.flush()
        self._commit_in_time()
        pause = POLL_INTERVAL_MS / 1000
        if not self._limits.follow and self._session.is_settled():
            return False
        if self._limits.timeout_ms is not None:
            left = self._limits.timeout_ms / 1000 - (self._time.monotonic() - last)
            if left <= 0:
                return False
            pause = min(pause, left)
        self._wait(pause)
        return True

    def _wait(self, seconds: float) -> None:
        """Wait for more; with several members, for what comes to the first of them."""
        member = self._session.members[0]
        self._fetcher(member).wait(seconds, self._time.sleep)

    def _pass(self) -> None:
        self._find_ends()
        turns = deque((member, self._polled(member)) for member in self._session.members)
        begun = self._session.rebalances
        while turns and self._goes_on:
            member, polled = turns.popleft()
            fetched = next(polled, None)
            if fetched is None:
                continue
            turns.append((member, polled))
            self._take(member, fetched)
            self._let_happen()
            if self._session.rebalances != begun:
                return

    def _polled(self, member: GroupMember) -> Iterator[Fetched]:
        """What a member's partitions have, from its positions on; a topic may be deleted meanwhile."""
        positions = {each: member.positions[each].offset for each in member.readable if self._is_open(member, each)}
        fetcher = self._fetcher(member)
        polled = fetcher.poll(positions) if self._limits.follow else fetcher.to_end(positions)
        try:
            for partition, batch, error in polled:
                if partition not in positions:
                    continue
                if error is not None or batch is None:
                    self._miss(member, partition, error)
                    positions.pop(partition)  # the next pass goes on with it, if at all
                    continue
                fetched = fetched_of(partition, batch, positions[partition])
                yield fetched
                end = self._ends.get(partition)
                if partition in self._held or (end is not None and fetched.next_offset >= end):
                    del positions[partition]
                else:
                    positions[partition] = fetched.next_offset
        except FileNotFoundError:
            if self._session.is_current:
                raise

    def _is_open(self, member: GroupMember, partition: TopicPartition) -> bool:
        """Whether there is something to read in a partition, and its time has come."""
        if self._held.get(partition, 0) > self._time.now_ms():
            return False
        self._held.pop(partition, None)
        end = self._ends.get(partition)
        return end is None or member.positions[partition].offset < end

    def _miss(self, member: GroupMember, partition: TopicPartition, error: KafkapyError | None) -> None:
        """Something of a partition cannot be read."""
        if not isinstance(error, KafkaError):
            raise error or KafkapyError(f"{partition} cannot be read")
        if is_out_of_range(error):
            self._session.reset(member, partition, error)
        elif error.name in GONE:
            self._session.lose(member, partition, error)
        else:
            raise error

    def _fetcher(self, member: GroupMember) -> Fetcher:
        """Each member has its own, so that none waits for another's answers."""
        reader = self._session.reader
        known = self._fetchers.get(member.number)
        if known is None or known[0] is not reader:
            channel = "" if member.number == 1 else f"fetch {member.number}"
            known = reader, reader.fetcher(self._limits.committed, self._session.tell, channel)
            self._fetchers[member.number] = known
        return known[1]

    def _find_ends(self) -> None:
        """Where partitions end, before anything of them is handled: more may be appended meanwhile."""
        if self._limits.follow:
            return
        new = [
            (partition, LATEST)
            for member in self._session.members
            for partition in member.readable
            if partition not in self._ends and self._session.sources[partition.topic].delay is None
        ]
        for (partition, _), end in zip(new, self._session.reader.offsets(new), strict=True):
            if isinstance(end, KafkapyError):
                raise end
            self._ends[partition] = end or 0

    def _take(self, member: GroupMember, fetched: Fetched) -> None:
        """Handle records piece by piece, up to the next thing that is to happen."""
        partition, source = fetched.partition, self._session.sources[fetched.partition.topic]
        begun, left = self._session.rebalances, fetched.records
        if not left:
            member.positions[partition] = Position(fetched.next_offset, fetched.leader_epoch)
        while left and self._room > 0 and self._session.rebalances == begun:
            size = min(self._handler.at_once or len(left), self._room)
            piece, left = fetched._replace(records=left[:size]), left[size:]
            due_ms = self._handler.due_ms(piece, source)
            if due_ms is not None and due_ms > self._time.now_ms():
                self._held[partition] = due_ms
                return
            self._handler.handle(piece, source)
            self.count += len(piece.records)
            after = piece.records[-1].offset + 1 if left else fetched.next_offset
            member.positions[partition] = Position(after, fetched.leader_epoch)
            self._last_taken = member, partition
            self._commit_in_time()
            self._session.beat()

    def _seek_to_next_record(self, member: GroupMember, partition: TopicPartition) -> None:
        """Go to the record that would have come next; where there is none, to the end, and not behind damage."""
        position = member.positions.get(partition)
        if position is None or not self._session.is_current:
            return
        with suppress(CorruptRecordError):
            for fetched in fetch(self._session.reader, partition, position.offset, self._limits.committed):
                if fetched.records:
                    member.positions[partition] = Position(fetched.records[0].offset)
                    return
                member.positions[partition] = Position(fetched.next_offset, fetched.leader_epoch)

    @property
    def _room(self) -> int:
        """How many records may be handled before something is to happen."""
        limits = [self.events[0].after] if self.events else []
        limits += [self._limits.max_messages] if self._limits.max_messages != UNLIMITED else []
        return min(limits) - self.count if limits else 1 << 62

    def _let_happen(self) -> None:
        """Let members come and go whose time it is."""
        while self.events and self.count >= self.events[0].after and not self.is_full:
            event = self.events.popleft()
            if event.leaves is None:
                self._session.join()
            else:
                self._session.leave(event.leaves)

    def _commit_in_time(self) -> None:
        if self._handler.is_full:
            self._commit(wait=True)
        elif (self._time.monotonic() - self._last_commit) * 1000 >= self._commit_interval_ms:
            self._commit(wait=False)

    def _commit(self, wait: bool) -> bool:
        self._last_commit = self._time.monotonic()
        return self._session.commit(wait)

    def _left(self, partition: TopicPartition, position: int) -> Waiting | None:
        source = self._session.sources[partition.topic]
        if source.delay is None:
            return None
        fetched = fetch(self._session.reader, partition, position, self._limits.committed)
        first = next((each for each in fetched if each.records), None)
        if first is None:
            return None
        batches = self._session.reader.read(partition, first.next_offset, self._limits.committed)
        behind = sum(batch.header.record_count for batch in batches if not batch.header.is_control)
        return Waiting(len(first.records) + behind, self._handler.due_ms(first, source) or 0)
