"""Records to a command, and what it could not handle to retry topics and at last to a dead-letter topic.

A copy of a record that failed waits in memory until the cluster is opened for writing: then all copies are appended,
synced, and only after that the offsets of what they stand for are committed. Killed before, the records are handled
again; killed between the two, the copies are there twice. Nothing is lost.

Topics are made when the first copy goes there, with as many partitions as the topic they belong to, so that a copy
stays in the partition of its record and records with the same key stay in order. They take batches as large as that
topic's, and more, for the headers that a copy has besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkapy.backends.batch_sender import TOO_LARGE, BatchSender
from kafkapy.backends.cluster import Cluster
from kafkapy.backends.exec_handler import ExecHandler, Failure
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.group_subscription import Source
from kafkapy.backends.line_reader import Line
from kafkapy.backends.log_configs import log_config
from kafkapy.backends.producer_identity import PlainIdentity
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import OpenBatch, encode_payload
from kafkapy.backends.retry_topics import Origin, RetryTopics, due, forwarded, origin_of
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.record_batch import MAX_INT, Record
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import DEFAULT, CreateTopic

MOST_WAITING = 500
MOST_WAITING_BYTES = 16 << 20
ROOM_FOR_HEADERS = 64 << 10


class Copy(NamedTuple):
    """A record on its way to a retry or dead-letter topic, for the topic ``source``."""

    source: str
    topic: str
    partition: int
    payload: bytes


class Counts(NamedTuple):
    """What became of the records."""

    done: int = 0
    retried: int = 0
    dead: int = 0

    def __str__(self) -> str:
        total = sum(self)
        records = "1 record" if total == 1 else f"{total} records"
        return f"{records}: {self.done} done, {self.retried} to retry, {self.dead} to dead letters"


class RetryingHandler:
    """Runs a command for each record; ``clock`` gives ms."""

    at_once: int | None = 1

    def __init__(self, command: ExecHandler, topics: RetryTopics, clock: Callable[[], int]) -> None:
        self._command = command
        self._topics = topics
        self._clock = clock
        self._copies: list[Copy] = []
        self._bytes = 0
        self._dead_letter_topics: dict[str, None] = {}
        self.counts = Counts()

    @property
    def summary(self) -> str:
        """What became of the records, and where dead letters are."""
        topics = ", ".join(self._dead_letter_topics)
        return f"{self.counts} ({topics})" if topics else str(self.counts)

    @property
    def is_urgent(self) -> bool:
        """Copies should not wait longer than the records they stand for."""
        return bool(self._copies)

    @property
    def is_full(self) -> bool:
        """Memory is bounded."""
        return len(self._copies) >= MOST_WAITING or self._bytes >= MOST_WAITING_BYTES

    def due_ms(self, fetched: Fetched, source: Source) -> int | None:
        """When a record of a retry topic is due."""
        return None if source.delay is None else due(fetched.records[0], source.delay)

    def handle(self, fetched: Fetched, source: Source) -> None:
        """Run the command, and remember what is to become of the record."""
        for record in fetched.records:
            origin = origin_of(fetched.partition, record)
            if source.delay is None:
                origin = origin._replace(attempts=0)
            failure = self._command.run(record, origin)
            if failure is None:
                self.counts = self.counts._replace(done=self.counts.done + 1)
            else:
                self._fail(record, origin, source, fetched.partition.partition, failure)

    def flush(self) -> None:
        """The command's output is not ours to flush."""

    def settle(self, cluster: Cluster) -> None:
        """Bring all copies to disk; the offsets of their records may be committed then."""
        waiting: dict[tuple[str, int], list[Copy]] = {}
        for copy in self._copies:
            count = self._partitions(cluster, copy)
            waiting.setdefault((copy.topic, copy.partition % count), []).append(copy)
        for (topic, partition), copies in waiting.items():
            self._send(cluster, topic, partition, copies)
        if waiting:
            cluster.flush()
        self._copies.clear()
        self._bytes = 0

    def _fail(self, record: Record, origin: Origin, source: Source, partition: int, failure: Failure) -> None:
        topic, delay = self._topics.target(source.topic, origin.attempts + 1)
        due_ms = None if delay is None else self._clock() + delay.ms
        headers = forwarded(record, origin, failure.cause, failure.stderr, due_ms)
        payload = encode_payload(Line(record.key, record.value, headers))
        self._copies.append(Copy(source.topic, topic, partition, payload))
        self._bytes += len(payload)
        if delay is None:
            self._dead_letter_topics[topic] = None
            self.counts = self.counts._replace(dead=self.counts.dead + 1)
        else:
            self.counts = self.counts._replace(retried=self.counts.retried + 1)

    def _partitions(self, cluster: Cluster, copy: Copy) -> int:
        """How many partitions the topic of a copy has, which is made if need be: like its source, so that a record that
        failed is kept as safely as it was."""
        topics = cluster.image().topics
        if copy.topic not in topics:
            source = topics.get(copy.source)
            partitions = [] if source is None else list(source.partitions.values())
            count = len(partitions) or DEFAULT
            replicas = min((len(each.replicas) for each in partitions), default=DEFAULT)
            largest = log_config(cluster.image(), copy.source).max_message_bytes
            largest = min(max(largest, len(copy.payload)) + ROOM_FOR_HEADERS, MAX_INT)
            configs = {"max.message.bytes": str(largest)}
            try:
                cluster.apply(CreateTopic(copy.topic, count, replicas, configs=configs))
            except KafkaError as error:
                if error.name != "TopicExistsException":  # another member of the group was faster
                    raise
        return len(cluster.image().topics[copy.topic].partitions)

    def _send(self, cluster: Cluster, topic: str, partition: int, copies: list[Copy]) -> None:
        options, now = ProducerOptions(), self._clock()

        def refused(_: int, error: KafkaError) -> None:
            hint = "; raise its max.message.bytes" if error.name in TOO_LARGE else ""
            raise KafkapyError(f"a record that failed cannot go to {TopicPartition(topic, partition)}: {error}{hint}")

        sender = BatchSender(cluster, topic, options, refused, PlainIdentity())
        batch = OpenBatch(now)
        for copy in copies:
            if not batch.add(copy.payload, now, options.batch_size):
                sender.send(partition, batch)
                batch = OpenBatch(now)
                batch.add(copy.payload, now, options.batch_size)
        sender.send(partition, batch)
