"""One replica's copy of a partition, fetched from the broker that has it, leader or not.

A broker answers a consumer's Fetch from a replica that follows, too (KIP-392): whole batches, byte for byte as they lie
in its log, up to the high watermark that it knows of. What lies above is given to other brokers only. How far a copy is
read is fixed before, so that what is read twice ends at the same offset.

The next request is on its way while the batches of the last answer are looked at.
"""

from __future__ import annotations

from struct import Struct
from types import TracebackType
from typing import Any, NamedTuple

from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.fetch_response import FetchedPartition, decode_fetch_response
from kafkapy.backends.live.library.network import Pending
from kafkapy.errors import CorruptRecordError, FormatError, KafkaError
from kafkapy.formats.control_record import ControlRecordType, decode_type_id
from kafkapy.formats.error_codes import NONE, code_of, error_code, kafka_error
from kafkapy.formats.record_batch import LOG_OVERHEAD, MAGIC_POSITION, decode_header
from kafkapy.formats.transaction_index import AbortedTxn
from kafkapy.log.batch import Batch, flaw, is_good, legacy_header
from kafkapy.log.batch_records import batch_records
from kafkapy.log.compared_log import DamagedCopyError
from kafkapy.log.topic_partition import TopicPartition

MAX_BYTES = 4 << 20
_SHORTEST = 14
_OVERHEAD = Struct(">qi")  # base offset, length


class Extent(NamedTuple):
    """Where a copy begins, how far it can be read, where it ends, and how many bytes it has."""

    log_start_offset: int
    high_watermark: int
    log_end_offset: int
    size: int


class FetchedLog:
    """The copy of one broker; ``path`` is its directory there."""

    def __init__(
        self, client: Client, partition: TopicPartition, topic_id: str, broker_id: int, path: str, extent: Extent
    ) -> None:
        self._client = client
        self.partition = partition
        self.broker_id = broker_id
        self.path = path
        self.log_start_offset, self.readable_to, self.log_end_offset, self.size = extent
        self._topic_id = topic_id

    def cursor(self, offset: int) -> FetchCursor:
        return FetchCursor(self, offset)

    def aborted_transactions(self, start: int, upper_bound: int) -> list[AbortedTxn]:
        """Found by their markers, which takes reading the whole copy."""
        begun: dict[int, int] = {}
        found = []
        with self.cursor(self.log_start_offset) as cursor:
            while (batch := cursor.batch()) is not None and batch.header.base_offset < upper_bound:
                cursor.skip(batch.header.size)
                header = batch.header
                if not header.is_control and header.is_transactional:
                    begun.setdefault(header.producer_id, header.base_offset)
                elif header.is_control:
                    first = begun.pop(header.producer_id, header.base_offset)
                    if _is_abort(batch) and header.last_offset >= start:
                        found.append(AbortedTxn(header.producer_id, first, header.last_offset, 0))
        return found

    def ask(self, offset: int) -> Pending[Any]:
        """Send the request for what has ``offset`` and what follows."""
        wanted = {"partition": self.partition.partition, "fetchOffset": offset, "partitionMaxBytes": MAX_BYTES}
        topic = {"topic": self.partition.topic, "topicId": self._topic_id, "partitions": [wanted]}
        fields = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": MAX_BYTES, "topics": [topic]}
        return self._client.start(Call("Fetch", fields, self.broker_id), raw=True)

    def answer(self, pending: Pending[Any]) -> FetchedPartition:
        """What the broker sent."""
        self._client.wait(pending)
        response = decode_fetch_response(*pending.result())
        codes = [response.error_code, *(each.error_code for each in response.partitions)]
        for code in codes:
            if code == code_of("CORRUPT_MESSAGE"):
                raise DamagedCopyError(self.path, error_code(code).message)
            if code != NONE:
                raise _refused(self, kafka_error(code))
        (found,) = response.partitions
        return found


class FetchCursor:
    """A place in such a copy."""

    def __init__(self, log: FetchedLog, offset: int) -> None:
        self._log = log
        self._offset = offset
        self._pending: Pending[Any] | None = None
        self._records = memoryview(b"")
        self._at = 0
        self._here: Batch | None = None

    def __enter__(self) -> FetchCursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What is on its way is not waited for."""

    @property
    def path(self) -> str:
        return self._log.path

    def position(self, batch: Batch) -> int | None:
        """A broker does not tell where in which segment a batch lies."""
        return None

    def offset(self) -> int:
        return self._offset

    def batch(self) -> Batch | None:
        """The batch here; None where the copy ends, or what can be read of it."""
        batch = self._peek()
        reason = None if batch is None else flaw(batch.header, batch.data)
        if reason is not None:
            raise DamagedCopyError(self.path, reason)
        return batch

    def skip(self, size: int) -> None:
        batch = self._peek()
        assert batch is not None
        assert size == len(batch.data)
        self._at += size
        self._offset = max(self._offset, batch.header.last_offset + 1)
        self._here = None

    def skip_equal(self, other: FetchCursor) -> int:
        """Batch by batch: of two that are the same one checksum is enough."""
        skipped = 0
        while (mine := self._peek()) is not None and (its := other._peek()) is not None:
            if mine.data != its.data or flaw(mine.header, mine.data) is not None:
                break
            skipped += len(mine.data)
            self.skip(len(mine.data))
            other.skip(len(mine.data))
        return skipped

    def _peek(self) -> Batch | None:
        """The batch here, its checksum not looked at."""
        while self._here is None and self._offset < self._log.readable_to:
            end = self._end_of_batch()
            if end is None:
                if not self._fetch():
                    return None
                continue
            batch = _decoded(self.path, bytes(self._records[self._at : end]))
            if batch.header.last_offset < self._offset and is_good(batch.header, batch.data):
                self._at = end  # the first one may end before the offset that was asked for
            else:
                self._here = batch
        return self._here

    def _end_of_batch(self) -> int | None:
        """Where the batch here ends in the answer; None where it is not whole in there."""
        if self._at + MAGIC_POSITION >= len(self._records):
            return None
        _, length = _OVERHEAD.unpack_from(self._records, self._at)
        if length < _SHORTEST:
            raise DamagedCopyError(self.path, f"a batch has the invalid size {length}")
        end = self._at + LOG_OVERHEAD + length
        return end if end <= len(self._records) else None

    def _fetch(self) -> bool:
        """Take the next answer, and ask for the one after it; whether anything came."""
        found = self._log.answer(self._pending or self._log.ask(self._offset))
        self._records, self._at, self._pending = found.records, 0, None
        try:
            following = found.next_offset(self._offset)
        except CorruptRecordError:
            return True
        if self._offset < following < self._log.readable_to:
            self._pending = self._log.ask(following)
        return following > self._offset


def _decoded(path: str, data: bytes) -> Batch:
    """A batch, its checksum not looked at."""
    try:
        header = legacy_header(data) if data[MAGIC_POSITION] < 2 else decode_header(data)
    except FormatError as error:
        raise DamagedCopyError(path, str(error)) from None
    return Batch(header, 0, data)


def _is_abort(batch: Batch) -> bool:
    try:
        return any(decode_type_id(record.key) == ControlRecordType.ABORT for record in batch_records(batch))
    except CorruptRecordError:
        return False


def _refused(log: FetchedLog, error: KafkaError) -> KafkaError:
    """The error, and whose it is."""
    return KafkaError(error.name, f"broker {log.broker_id}: {error}")
