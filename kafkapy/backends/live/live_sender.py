"""A producer's batches to the leaders of their partitions, several under way at a time.

A broker has up to five requests at once (``max.in.flight.requests.per.connection``), each with a batch for every
partition of its that has one. Batches wait in memory up to ``buffer.memory``; then ``send`` waits, too. Order and
numbers are those of ``partition_queue``.

What passes by itself is tried again with fresh metadata until a batch is older than ``delivery.timeout.ms``. A batch
that is too large for its topic is halved. A broker that has forgotten the producer (all its records were deleted) is
sent the batch under a new producer id; so are those behind one that was given up without knowing whether a broker has
it, for its number may be taken.
"""

from __future__ import annotations

import time
from typing import Any

from kafkapy.backends.batch_sender import Failed
from kafkapy.backends.live.client import Call, Client, is_passing
from kafkapy.backends.live.library.network import ConnectionLost, Pending
from kafkapy.backends.live.live_producing import BEFORE_TRANSACTIONS_V2, ask_producer_id, produce_fields
from kafkapy.backends.live.partition_queue import PartitionQueue, WaitingBatch
from kafkapy.backends.live.record_leaders import Leader, Leaders
from kafkapy.backends.producer_identity import ProducerIdentity
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import OpenBatch
from kafkapy.backends.sealed_batch import Numbers, halves, pack, seal
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, error_code, kafka_error
from kafkapy.formats.message import Value
from kafkapy.formats.record_batch import (
    NO_PRODUCER_ID,
)
from kafkapy.log.topic_partition import TopicPartition

WAKE_MS = 1_000
AT_ONCE = 4  # batches that wait for each other, since a look at the network costs as much as a batch
ROUND_TRIP_EVERY = 1 << 20  # bytes without acks before it is asked whether they have arrived

TAKEN = frozenset(["NONE", "DUPLICATE_SEQUENCE_NUMBER"])
TOO_LARGE = frozenset(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"])
FENCED = frozenset(
    ["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "INVALID_TXN_STATE"]
)

_Sent = dict[int, WaitingBatch]


class LiveSender:
    """Sends the batches of one producer to one topic; ``failed`` is told of those that were refused."""

    def __init__(
        self,
        client: Client,
        topic: str,
        options: ProducerOptions,
        failed: Failed,
        identity: ProducerIdentity,
        is_v2: bool = True,
    ) -> None:
        """``is_v2``: whether a Produce adds its partitions to the transaction by itself."""
        self._client = client
        self._topic = topic
        self._options = options
        self._failed = failed
        self._identity = identity
        self._max_version = None if is_v2 or not identity.transactional else BEFORE_TRANSACTIONS_V2
        self._numbered_for = (identity.producer_id, identity.epoch)
        self._leaders = Leaders(client)
        self._queues: dict[int, PartitionQueue] = {}
        self._in_flight: dict[int, list[tuple[Pending[Any], _Sent]]] = {}
        self._bytes = 0
        self._unsent = 0
        self._unconfirmed: dict[int, int] = {}
        self._is_stale = True
        self._refresh_at = 0.0
        self._backoff_ms = float(client.config.retry_backoff_ms)
        self._is_forgotten = False
        self._last_error: KafkapyError | None = None

    def send(self, partition: int, batch: OpenBatch) -> float:
        """Send a batch; how much smaller its codec made it."""
        packed = pack(batch, self._options)
        self._identity.joins(TopicPartition(self._topic, partition))
        self._queue(partition).waiting.append(WaitingBatch(packed, time.monotonic()))
        self._bytes += len(packed.records)
        self._unsent += 1
        if self._unsent >= AT_ONCE:
            self._unsent = 0
            self._send_ready()
            self._client.pump()
            self._receive()
        while self._bytes > self._options.buffer_memory:
            self._step()
        return len(packed.records) / batch.size

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits or is under way."""
        return all(queue.is_empty for queue in self._queues.values())

    @property
    def unsettled(self) -> int:
        """How many records wait or are under way."""
        return sum(queue.record_count for queue in self._queues.values())

    def flush(self) -> None:
        """Wait until everything is acknowledged, or given up."""
        while not self.is_settled:
            self._step()
        for node in [*self._unconfirmed]:
            self._confirm(node)

    def _queue(self, partition: int) -> PartitionQueue:
        numbered_for = (self._identity.producer_id, self._identity.epoch)
        if numbered_for != self._numbered_for:
            self._numbered_for = numbered_for
            self._queues.clear()
        if partition not in self._queues:
            self._queues[partition] = PartitionQueue()
        return self._queues[partition]

    def _step(self) -> None:
        self._send_ready()
        now = time.monotonic()
        times = [each.not_before for each in self._queues.values() if each.waiting and each.not_before > now]
        times += [self._refresh_at] if self._is_stale else []
        wait_ms = min([WAKE_MS, *((each - now) * 1000 for each in times)])
        pendings = [pending for sent in self._in_flight.values() for pending, _ in sent]
        self._client.wait_any(pendings, max(wait_ms, 0))
        self._receive()
        self._expire()

    def _send_ready(self) -> None:
        """Send what can be sent: to each broker that leads something, a batch a partition."""
        now = time.monotonic()
        if self._is_stale and now >= self._refresh_at:
            self._refresh(now)
        if self._is_forgotten and not self._is_stale:
            self._renew()
        nodes: dict[int, _Sent] = {}
        sizes: dict[int, int] = {}
        for partition, queue in self._queues.items():
            leader = self._leaders.of(TopicPartition(self._topic, partition)) if queue.is_ready(now) else None
            if not isinstance(leader, Leader):
                self._is_stale = self._is_stale or leader is not None
                continue
            size = sizes.get(leader.node, 0) + len(queue.waiting[0].packed.records)
            is_full = leader.node in sizes and size > self._options.max_request_size
            in_flight = len(self._in_flight.get(leader.node, ()))
            is_free = in_flight < self._options.max_in_flight and queue.may_go_to(leader.node)
            if is_free and not is_full and not self._is_forgotten:
                sizes[leader.node] = size
                nodes.setdefault(leader.node, {})[partition] = queue.take(leader.node)
        for node, sent in nodes.items():
            self._produce(node, sent)

    def _produce(self, node: int, sent: _Sent) -> None:
        batches = {}
        for partition, batch in sent.items():
            batch.data = batch.data or self._seal(batch)
            batches[TopicPartition(self._topic, partition)] = batch.data
        transactional_id = self._identity.transactional_id
        fields = produce_fields(self._client, self._leaders, batches, self._options.acks, transactional_id)
        call = Call("Produce", fields, node, self._max_version)
        if self._options.acks == 0:
            self._produce_unacknowledged(node, call, sent)
            return
        for batch in sent.values():
            batch.is_sent = True
        self._in_flight.setdefault(node, []).append((self._client.start(call), sent))

    def _seal(self, batch: WaitingBatch) -> bytes:
        if self._identity.producer_id == NO_PRODUCER_ID:
            return seal(batch.packed, Numbers())
        identity = self._identity
        assert batch.sequence is not None
        return seal(batch.packed, Numbers(identity.producer_id, identity.epoch, batch.sequence, identity.transactional))

    def _produce_unacknowledged(self, node: int, call: Call, sent: _Sent) -> None:
        error: ConnectionLost | None = None
        try:
            self._client.send(call)
            self._unconfirmed[node] = self._unconfirmed.get(node, 0) + sum(len(each.data) for each in sent.values())
            if self._unconfirmed[node] >= ROUND_TRIP_EVERY:
                self._confirm(node)
        except ConnectionLost as lost:
            error = lost
        for partition, batch in sent.items():
            if error is None:
                self._queues[partition].acknowledge(batch)
                self._bytes -= len(batch.packed.records)
            else:
                self._retry(partition, batch, error)
        self._settle()

    def _confirm(self, node: int) -> None:
        """Without acks: when a broker answers to something else, it has got what was sent before."""
        del self._unconfirmed[node]
        self._client.call("Metadata", {"topics": []}, node)

    def _receive(self) -> None:
        came = False
        for sent in self._in_flight.values():
            done = [each for each in sent if each[0].is_done]
            for each in done:
                sent.remove(each)
                self._take(*each)
                came = True
        if came:
            self._settle()

    def _take(self, pending: Pending[Value], sent: _Sent) -> None:
        try:
            response = pending.result()
        except ConnectionLost as error:
            for partition, batch in sent.items():
                self._retry(partition, batch, error)
            return
        for topic in response["responses"]:
            for answer in topic["partitionResponses"]:
                partition = answer["index"]
                self._judge(partition, sent[partition], answer)

    def _judge(self, partition: int, batch: WaitingBatch, answer: Value) -> None:
        """What a broker's answer means for a batch."""
        code, queue = error_code(answer["errorCode"]) if answer["errorCode"] != NONE else None, self._queues[partition]
        name = "NONE" if code is None else code.name
        if name in TAKEN:
            self._backoff_ms = float(self._client.config.retry_backoff_ms)
            queue.acknowledge(batch)
            self._bytes -= len(batch.packed.records)
            return
        error = kafka_error(answer["errorCode"], answer["errorMessage"])
        batch.is_sent = False
        if name in TOO_LARGE and batch.packed.record_count > 1:
            parts = [WaitingBatch(each, batch.created) for each in halves(batch.data, self._options)]
            self._bytes += sum(len(each.packed.records) for each in parts) - len(batch.packed.records)
            queue.replace(batch, parts)
        elif name == "OUT_OF_ORDER_SEQUENCE_NUMBER" and queue.has_before(batch):
            queue.retry(batch)
        elif name == "UNKNOWN_PRODUCER_ID" and not self._identity.transactional:
            self._is_forgotten = True
            queue.retry(batch)
        elif code is not None and code.retriable:
            self._retry(partition, batch, error)
        else:
            self._is_forgotten |= name == "OUT_OF_ORDER_SEQUENCE_NUMBER" and not self._identity.transactional
            self._refuse(partition, batch, error, is_final=name in FENCED)

    def _retry(self, partition: int, batch: WaitingBatch, error: KafkapyError) -> None:
        self._last_error = error
        self._is_stale = True
        retries = self._options.retries
        if retries is not None and batch.retries >= retries:
            known = error if isinstance(error, KafkaError) else KafkaError("NetworkException", str(error))
            self._is_forgotten |= batch.is_sent and self._identity.producer_id != NO_PRODUCER_ID
            self._refuse(partition, batch, known)
        else:
            self._queues[partition].retry(batch)

    def _refuse(self, partition: int, batch: WaitingBatch, error: KafkaError, is_final: bool = False) -> None:
        self._queues[partition].refuse(batch)
        self._bytes -= len(batch.packed.records)
        if is_final:
            raise error
        self._failed(batch.packed.record_count, error)

    def _settle(self) -> None:
        """Have what failed wait for its turn."""
        pause = time.monotonic() + self._backoff_ms / 1000
        for queue in self._queues.values():
            if queue.settle(pause if self._is_stale else 0.0):
                self._refresh_at = min(self._refresh_at, pause)

    def _expire(self) -> None:
        """Give up what has waited for too long."""
        oldest = time.monotonic() - self._options.delivery_timeout_ms / 1000
        for partition, queue in self._queues.items():
            while queue.waiting and queue.waiting[0].created < oldest:
                batch = queue.waiting[0]
                waited = int((time.monotonic() - batch.created) * 1000)
                text = (
                    f"Expiring {batch.packed.record_count} record(s) for {self._topic}-{partition}:{waited} ms "
                    f"has passed since batch creation{'' if self._last_error is None else f' ({self._last_error})'}"
                )
                self._is_forgotten |= batch.is_sent and self._identity.producer_id != NO_PRODUCER_ID
                self._refuse(partition, batch, KafkaError("TimeoutException", text))
            queue.settle(0.0)

    def _renew(self) -> None:
        """Go on as another producer, as soon as nothing is under way."""
        if any(self._in_flight.values()) or self._identity.transactional:
            self._is_forgotten = not self._identity.transactional
            return
        try:
            self._identity.renew(ask_producer_id(self._client))
        except KafkapyError as error:
            if not is_passing(error):
                raise
            self._last_error = error
            self._is_stale = True
            return
        self._is_forgotten = False
        self._numbered_for = (self._identity.producer_id, self._identity.epoch)
        for queue in self._queues.values():
            queue.start_over()

    def _refresh(self, now: float) -> None:
        self._refresh_at = now + self._backoff_ms / 1000
        self._backoff_ms = min(self._backoff_ms * 2, self._client.config.retry_backoff_max_ms)
        try:
            self._leaders.refresh([self._topic])
            self._is_stale = False
        except ConnectionLost as error:
            self._last_error = error
