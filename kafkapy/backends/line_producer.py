"""Lines of input to a topic: the console producer without its terminal.

Records wait in open batches until these are full or ``linger.ms`` is over. What was sent is safe on disk after a pause
of the input and at the end; with ``sync`` each record is before the next is looked at. A line that cannot be parsed
ends it; the lines before it are sent.

A record that is refused is told about, counted, and left out, and the others are sent; with ``sync`` it ends it.
A topic that does not exist is made when there is a record for it, with the brokers' defaults.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

from kafkapy.backends.batch_sender import Sender
from kafkapy.backends.cluster import Cluster
from kafkapy.backends.line_reader import Line, LineMessageReader, ReaderOptions
from kafkapy.backends.producer_identity import PlainIdentity, ProducerIdentity, TransactionalIdentity
from kafkapy.backends.producer_options import ProducerOptions
from kafkapy.backends.producing import RecordAccumulator, encode_payload
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.record_batch import HEADER_SIZE
from kafkapy.near_misses import VERY_SIMILAR, near_miss

MAX_RECORD_OVERHEAD = 21
LONGEST_FRAME = 16  # of key, value and headers of a line without key and headers


class LineProducer:
    """Sends lines to one topic; ``clock`` gives milliseconds."""

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        options: ProducerOptions,
        reader: ReaderOptions,
        *,
        clock: Callable[[], int],
        random: Random,
        tell: Callable[[str], object],
        sync: bool = False,
        identity: ProducerIdentity | None = None,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._options = options
        self._values_only = reader.values_only
        self._reader = LineMessageReader(reader)
        self._clock = clock
        self._random = random
        self.tell = tell
        self._sync = sync
        self._identity = identity
        self._accumulator: RecordAccumulator | None = None
        self._sender: Sender | None = None
        self.records = 0
        self.failures = 0
        self._lines_told = 0
        self._hints: set[str] = set()

    def send(self, lines: list[bytes]) -> None:
        """Take the next lines of the input."""
        if not lines:
            return
        now = self._clock()
        accumulator = self._accumulator or self._begin()
        longest = max(map(len, lines)) + LONGEST_FRAME + HEADER_SIZE + MAX_RECORD_OVERHEAD
        if self._values_only and not self._sync and longest <= self._options.max_request_size:
            self.records += len(lines)
            accumulator.append_values(lines, now)
        else:
            for line in lines:
                self._send_one(self._reader.parse(line), accumulator, now)
        accumulator.drain(self._clock() - self._options.linger_ms)

    @property
    def wait_ms(self) -> int | None:
        """For how long the input may be waited for before ``pause`` is due; None where nothing is open."""
        oldest = None if self._accumulator is None else self._accumulator.oldest
        if oldest is None:
            return None if self._sender is None or self._sender.is_settled else 0
        return max(0, oldest + self._options.linger_ms - self._clock())

    @property
    def unsent(self) -> int:
        """How many records were refused, or are not acknowledged yet."""
        waiting = 0 if self._accumulator is None else self._accumulator.record_count
        return self.failures + waiting + (0 if self._sender is None else self._sender.unsettled)

    @property
    def is_all_told(self) -> bool:
        """Whether one line has told that nothing at all was accepted: it says how many records that are, too."""
        return self._lines_told == 1 and self.failures == self.records

    def pause(self) -> None:
        """Send everything that waits, and have it where acks ask for it."""
        if self._accumulator is not None and self._sender is not None:
            self._accumulator.drain()
            self._sender.flush()

    def _begin(self) -> RecordAccumulator:
        partitions = self._cluster.topic_to_write(self._topic, self._tell_of_topic)
        if self._identity is None:
            self._identity = (
                PlainIdentity(self._cluster.new_producer_id()) if self._options.idempotent else PlainIdentity()
            )
        self._sender = self._cluster.sender(self._topic, self._options, self._failed, self._identity)
        self._accumulator = RecordAccumulator(partitions, self._options, self._random, self._sender.send)
        return self._accumulator

    def _tell_of_topic(self, line: str) -> None:
        """Tell that the topic is not there and will be made, and if it was probably not meant, of that, too."""
        self.tell(line)
        with suppress(KafkapyError):
            hint = near_miss(self._topic, set(self._cluster.image().topics) - {self._topic}, VERY_SIMILAR)
            if hint is not None:
                self.tell(f"kafkapy: there is no topic '{self._topic}' yet; did you mean '{hint}'?")

    def _send_one(self, line: Line, accumulator: RecordAccumulator, now: int) -> None:
        self.records += 1
        limit = self._options.max_request_size
        payload = encode_payload(line)
        size = HEADER_SIZE + MAX_RECORD_OVERHEAD + len(payload)
        if size > limit:
            text = (
                f"The message is {size} bytes when serialized which is larger than {limit}, "
                "which is the value of the max.request.size configuration."
            )
            self._failed(1, KafkaError("RecordTooLargeException", text))
            return
        accumulator.append(line.key, payload, now)
        if self._sync:
            self.pause()

    def _failed(self, count: int, error: KafkaError) -> None:
        if self._sync:
            raise error
        self.failures += count
        self._lines_told += 1
        what = "a message" if count == 1 else f"{count} messages"
        self.tell(f"Error when sending {what} to topic {self._topic}: {error.name}: {error}")
        if error.hint is not None and error.hint not in self._hints:
            self._hints.add(error.hint)
            self.tell(f"kafkapy: {error.hint}")


class Transactions:
    """Lines of input in transactions of ``size`` records; every ``abort_every``-th is aborted, 0 for none."""

    def __init__(
        self, producer: LineProducer, identity: TransactionalIdentity, size: int, abort_every: int = 0
    ) -> None:
        self._producer = producer
        self._identity = identity
        self._size = size
        self._abort_every = abort_every
        self._records = 0
        self._ended = 0
        self._failures = 0

    @property
    def wait_ms(self) -> int | None:
        """For how long the input may be waited for."""
        return self._producer.wait_ms

    def send(self, lines: list[bytes]) -> None:
        """Take the next lines, ending a transaction wherever one is full."""
        while lines:
            now, lines = lines[: self._size - self._records], lines[self._size - self._records :]
            self._producer.send(now)
            self._records += len(now)
            if self._records == self._size:
                self.end()

    def pause(self) -> None:
        """Send everything that waits."""
        self._producer.pause()

    def end(self) -> None:
        """End the transaction that is open; one that lacks a record is aborted, since it is all or nothing."""
        self._producer.pause()
        self._records = 0
        self._ended += 1
        refused = self._producer.failures - self._failures
        self._failures = self._producer.failures
        if refused:
            self._producer.tell(
                f"kafkapy: transaction {self._ended} is aborted: {refused} of its messages were refused"
            )
        self._identity.end(commit=not refused and not (self._abort_every and self._ended % self._abort_every == 0))
