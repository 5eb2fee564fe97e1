"""Fetching records from the leaders of their partitions: from all brokers at once, a request ahead of the reader.

A broker gets one Fetch for all of its partitions that are read. When its response comes, the next Fetch goes out before
the batches of the first are handed out, so that broker and reader work at the same time; at most one response a broker
waits in memory. Limits are those of Kafka's consumer; a batch that is larger comes all the same, alone.

What passes by itself is tried again with fresh metadata: a leader that moved, a broker that restarts, a connection that
broke. That a partition cannot be read at all is told by an error for it: its topic is gone or made anew, its offset is
out of range, the reader has no right to it; when everything that is there is to be read, also what does not pass in
default.api.timeout.ms.

With read_committed the broker sends up to the last stable offset and says which transactions in there were aborted.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kafkapy.backends.committed import without_aborted
from kafkapy.backends.fetcher import Polled, Positions, Sleep
from kafkapy.backends.live.client import GONE_AFTER_S, Call, Client
from kafkapy.backends.live.fetch_response import FetchedPartition, FetchResponse, decode_fetch_response
from kafkapy.backends.live.library.network import ConnectionLost, Pending
from kafkapy.backends.live.record_leaders import Leader, Leaders
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition

READ_COMMITTED = 1
WAKE_MS = 500

GONE = frozenset(["UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID"])
PASSING = GONE | {
    "NOT_LEADER_OR_FOLLOWER",
    "LEADER_NOT_AVAILABLE",
    "REPLICA_NOT_AVAILABLE",
    "KAFKA_STORAGE_ERROR",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "OFFSET_NOT_AVAILABLE",
    "UNKNOWN_SERVER_ERROR",
}
PASSING_EXCEPTIONS = {"UnknownTopicOrPartitionException", "UnknownTopicIdException", "LeaderNotAvailableException"}
GONE_EXCEPTIONS = PASSING_EXCEPTIONS - {"LeaderNotAvailableException"}


class FetchLimits(NamedTuple):
    """How much a broker may answer, and how long it may wait for something to answer with."""

    max_wait_ms: int = 500  # fetch.max.wait.ms
    min_bytes: int = 1  # fetch.min.bytes
    max_bytes: int = 50 << 20  # fetch.max.bytes
    max_partition_bytes: int = 1 << 20  # max.partition.fetch.bytes

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> FetchLimits:
        """What a consumer's settings say."""
        names = ("fetch.max.wait.ms", "fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes")
        given = {field: int(settings[name]) for field, name in zip(cls._fields, names, strict=True) if name in settings}
        return cls(**given)


def fetch_batches(client: Client, partition: TopicPartition, start: int, committed: bool) -> Iterator[Batch]:
    """The batches of one partition, up to where it ends now."""
    for _, batch, error in LiveFetcher(client, committed).to_end({partition: start}):
        if error is not None:
            raise error
        assert batch is not None
        yield batch


class _Progress:
    """How far a partition is read. ``next`` is what is to be fetched, ``given`` where the reader goes on after what was
    handed out; ``end`` is where the partition ended when it was first looked at."""

    def __init__(self, position: int) -> None:
        self.next = self.given = position
        self.end: int | None = None
        self.is_stale = True
        self.failing: KafkapyError | None = None
        self.failing_since = 0.0

    def is_done(self) -> bool:
        """Whether everything that was there has been fetched."""
        return self.end is not None and self.next >= self.end

    def fail(self, error: KafkapyError) -> None:
        """Note what does not work just now."""
        if self.failing is None:
            self.failing_since = time.monotonic()
        self.failing, self.is_stale = error, True


class _Chunk:
    """What a response has of one partition, not handed out yet."""

    def __init__(self, partition: TopicPartition, progress: _Progress, batches: Iterator[Batch]) -> None:
        self.partition = partition
        self.progress = progress
        self.batches = batches


_Request = tuple["Pending[Any]", dict[TopicPartition, _Progress]]


class LiveFetcher:
    """Fetches for one reader, over connections of its ``channel``; ``tell`` hears of brokers that cannot be reached."""

    def __init__(
        self, client: Client, committed: bool, tell: Callable[[str], object] = lambda _: None, channel: str = ""
    ) -> None:
        self._client = client
        self._channel = channel
        self._committed = committed
        self._tell = tell
        self._limits = FetchLimits.of(client.config.role_settings)
        self._leaders = Leaders(client)
        self._progress: dict[TopicPartition, _Progress] = {}
        self._in_flight: dict[int, _Request] = {}
        self._chunks: deque[_Chunk] = deque()
        self._errors: deque[Polled] = deque()
        self._out: set[str] = set()
        self._refresh_at = 0.0
        self._backoff_ms = float(client.config.retry_backoff_ms)

    def to_end(self, positions: Positions) -> Iterator[Polled]:
        """All that is there now."""
        self._assign(positions)
        while True:
            yield from self._hand_out()
            self._progress = {each: progress for each, progress in self._progress.items() if each in positions}
            if all(each.is_done() for each in self._progress.values()) and not self._errors:
                return
            self._give_up(self._client.config.api_timeout_ms / 1000)
            self._send(0)
            self._wait(WAKE_MS)
            self._receive(0)

    def poll(self, positions: Positions) -> Iterator[Polled]:
        """What has come by now."""
        self._assign(positions)
        came = True
        while came:
            yield from self._hand_out()
            self._give_up(float("inf"))
            self._send(self._limits.max_wait_ms)
            self._client.pump()
            came = self._receive(self._limits.max_wait_ms)

    def wait(self, seconds: float, sleep: Sleep) -> None:
        """Wait for a response."""
        self._wait(seconds * 1000)

    def _assign(self, positions: Positions) -> None:
        """Go on where the reader is; what was fetched from elsewhere is dropped."""
        kept = {}
        for partition, position in positions.items():
            progress = self._progress.get(partition)
            if progress is None or progress.given != position:
                progress = _Progress(position)
                progress.is_stale = isinstance(self._leaders.of(partition), KafkaError)
            kept[partition] = progress
            progress.end = None
        self._progress = kept
        self._chunks = deque(each for each in self._chunks if kept.get(each.partition) is each.progress)
        self._errors = deque(each for each in self._errors if each.partition in kept)

    def _hand_out(self) -> Iterator[Polled]:
        while self._errors or self._chunks:
            if self._errors:
                yield self._errors.popleft()
                continue
            chunk = self._chunks[0]
            batch = next(chunk.batches, None)
            if batch is None or self._progress.get(chunk.partition) is not chunk.progress:
                self._chunks.popleft()
                continue
            chunk.progress.given = batch.header.last_offset + 1
            yield Polled(chunk.partition, batch)

    def _wait(self, timeout_ms: float) -> None:
        """Wait for a response, or for the time when brokers may be asked again."""
        if self._is_behind():
            timeout_ms = min(timeout_ms, max(0.0, (self._refresh_at - time.monotonic()) * 1000))
        pendings = [pending for pending, _ in self._in_flight.values()]
        self._client.wait_any(pendings, timeout_ms)

    def _is_behind(self) -> bool:
        return any(each.is_stale for each in self._progress.values())

    def _send(self, max_wait_ms: int) -> None:
        """Ask every broker that is not asked already for its partitions that are read."""
        if self._is_behind() and time.monotonic() >= self._refresh_at:
            self._refresh()
        nodes: dict[int, dict[TopicPartition, _Progress]] = {}
        for partition, progress in self._progress.items():
            leader = self._leaders.of(partition)
            if isinstance(leader, Leader) and not progress.is_stale and not progress.is_done():
                nodes.setdefault(leader.node, {})[partition] = progress
        for node, progresses in nodes.items():
            if node not in self._in_flight:
                call = Call("Fetch", self._request(progresses, max_wait_ms), node, channel=self._channel)
                self._in_flight[node] = self._client.start(call, raw=True), progresses

    def _request(self, progresses: dict[TopicPartition, _Progress], max_wait_ms: int) -> Value:
        topics: dict[str, list[Value]] = {}
        for partition, progress in progresses.items():
            leader = self._leaders.of(partition)
            assert isinstance(leader, Leader)
            topics.setdefault(partition.topic, []).append(
                {
                    "partition": partition.partition,
                    "currentLeaderEpoch": leader.epoch,
                    "fetchOffset": progress.next,
                    "partitionMaxBytes": self._limits.max_partition_bytes,
                }
            )
        return {
            "maxWaitMs": max_wait_ms,
            "minBytes": self._limits.min_bytes,
            "maxBytes": self._limits.max_bytes,
            "isolationLevel": READ_COMMITTED if self._committed else 0,
            "topics": [
                {"topic": name, "topicId": self._leaders.topic_id(name), "partitions": partitions}
                for name, partitions in topics.items()
            ],
        }

    def _receive(self, max_wait_ms: int) -> bool:
        """Take what has come, and have the next requests on their way; whether anything came."""
        done = [node for node, (pending, _) in self._in_flight.items() if pending.is_done]
        for node in done:
            pending, progresses = self._in_flight.pop(node)
            self._take(pending, progresses)
        if done and self._chunks:
            self._send(max_wait_ms)
            self._client.pump()
        return bool(done)

    def _take(self, pending: Pending[Any], progresses: dict[TopicPartition, _Progress]) -> None:
        try:
            version, body = pending.result()
        except ConnectionLost as error:
            self._lose(error, progresses.values())
            return
        self._out.clear()
        response: FetchResponse = decode_fetch_response(version, body)
        if response.error_code != NONE:
            for progress in progresses.values():
                progress.fail(kafka_error(response.error_code))
        for data in response.partitions:
            name = self._leaders.name(data.topic)
            partition = TopicPartition(name or data.topic, data.partition)
            progress = progresses.get(partition)  # type: ignore[assignment]
            if progress is not None and self._progress.get(partition) is progress:
                self._take_partition(partition, progress, data)

    def _take_partition(self, partition: TopicPartition, progress: _Progress, data: FetchedPartition) -> None:
        if data.error_code != NONE:
            self._refuse(partition, progress, data)
            return
        progress.failing = None
        self._backoff_ms = float(self._client.config.retry_backoff_ms)
        if progress.end is None:
            progress.end = data.last_stable_offset if self._committed else data.high_watermark
        start, progress.next = progress.next, data.next_offset(progress.next)
        if progress.next > start:
            batches = data.batches(start)
            if data.aborted:
                aborted = (AbortedTxn(producer_id, first, 0, 0) for producer_id, first in data.aborted)
                batches = without_aborted(batches, aborted)
            self._chunks.append(_Chunk(partition, progress, batches))

    def _refuse(self, partition: TopicPartition, progress: _Progress, data: FetchedPartition) -> None:
        code = error_code(data.error_code)
        if code.name in PASSING:
            if data.leader is not None:
                self._leaders.know(partition, Leader(*data.leader))
            progress.fail(kafka_error(data.error_code))
            return
        error = kafka_error(data.error_code)
        if code.name == "OFFSET_OUT_OF_RANGE":
            text = f"Fetch position {progress.next} is out of range for partition {partition}"
            error = KafkaError(code.exception, text)
        elif code.name == "TOPIC_AUTHORIZATION_FAILED":
            error = KafkaError(code.exception, f"Not authorized to access topics: [{partition.topic}]")
        self._drop(partition, error)

    def _drop(self, partition: TopicPartition, error: KafkapyError) -> None:
        del self._progress[partition]
        self._errors.append(Polled(partition, None, error))

    def _lose(self, error: ConnectionLost, progresses: Iterable[_Progress]) -> None:
        for progress in progresses:
            progress.fail(error)
        if str(error) not in self._out:
            self._out.add(str(error))
            self._tell(f"{error}; trying again")

    def _refresh(self) -> None:
        """Ask for the leaders of what is not read; with every try in vain the pause gets longer."""
        stale = {partition: each for partition, each in self._progress.items() if each.is_stale}
        self._refresh_at = time.monotonic() + self._backoff_ms / 1000
        self._backoff_ms = min(self._backoff_ms * 2, self._client.config.retry_backoff_max_ms)
        try:
            self._leaders.refresh(partition.topic for partition in self._progress)
        except ConnectionLost as error:
            self._lose(error, stale.values())
            return
        for partition, progress in stale.items():
            found = self._leaders.of(partition)
            if isinstance(found, Leader):
                progress.is_stale = False
            elif found.name in PASSING_EXCEPTIONS:
                progress.fail(found)
            else:
                self._drop(partition, found)

    def _give_up(self, patience_s: float) -> None:
        """Let go of partitions that have failed for too long."""
        now = time.monotonic()
        for partition, progress in list(self._progress.items()):
            error = progress.failing
            if error is None:
                continue
            is_gone = isinstance(error, KafkaError) and error.name in GONE_EXCEPTIONS
            if now - progress.failing_since >= (min(GONE_AFTER_S, patience_s) if is_gone else patience_s):
                self._drop(partition, error)
