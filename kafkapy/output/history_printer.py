"""The history of internal topics, printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from kafkapy.backends.offset_history import HistoryBatch
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkapy.formats.coordinator_record import GROUP, TRANSACTION, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import Record
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.coordinator_formatters import (
    KINDS,
    CoordinatorRecordMessageFormatter,
    JsonTexts,
    Kind,
    Texts,
    UnreadableRecordError,
)
from kafkapy.output.history_format import Format, Records
from kafkapy.output.record_formatter import FLUSH_AT

Tell = Callable[[str], object]

_OFFSETS = KINDS["OffsetsMessageFormatter"]
_GROUPS = Kind(GROUP, frozenset(range(2, 24)))
_NO_COMMIT = CoordinatorRecord("OffsetCommit", {"group": "", "topic": "", "partition": 0}, None, None)
_NO_GROUP = CoordinatorRecord("GroupMetadata", {"group": ""}, None, None)
_NO_ID = CoordinatorRecord("TransactionLog", {"transactionalId": ""}, None, None)


class Source(NamedTuple):
    """A topic, and the records of it that are wanted."""

    topic: str
    kind: Kind


def sources(records: Records) -> list[Source]:
    """Where such records lie."""
    kinds = {Records.OFFSETS: _OFFSETS, Records.GROUPS: _GROUPS, Records.ALL: Kind(GROUP)}
    found = [Source(CONSUMER_OFFSETS, kinds[records])] if records in kinds else []
    return found + [Source(TRANSACTION_STATE, Kind(TRANSACTION))] * (records in (Records.TRANSACTIONS, Records.ALL))


def print_texts(
    form: Format, kind: Kind, batches: Iterable[HistoryBatch], write: Callable[[bytes], object], tell: Tell
) -> bool:
    """Write the records as text; ``tell`` hears of each that cannot be read. Whether there was any."""
    formatter = _formatter(form, kind)
    out = bytearray()
    was_any = False
    for partition, records in batches:
        left = iter(records)
        failing = True
        while failing:
            try:
                formatter.write(left, partition.partition, None, out)
                failing = False
            except UnreadableRecordError as error:
                _tell_unreadable(tell, partition, error)
        if len(out) >= FLUSH_AT:
            was_any = True
            write(bytes(out))
            out.clear()
    write(bytes(out))
    return was_any or bool(out)


def history_rows(kind: Kind, batches: Iterable[HistoryBatch], tell: Tell) -> Iterator[tuple[None, dict[str, Any]]]:
    """The records as rows for ``print_rows``."""
    from kafkapy.output.coordinator_rows import rows

    for partition, records in batches:
        for row in rows(kind, records, partition.partition, partial(_tell_unreadable, tell, partition)):
            yield None, row


def by_kind(rows: Iterable[tuple[None, dict[str, Any]]]) -> Iterator[tuple[None, dict[str, Any]]]:
    """The rows of a topic in the order of their kinds, for forms that name the columns of a kind once. Commits and
    transactions, which may be very many, come first and are not kept in memory."""
    later: dict[str, list[tuple[None, dict[str, Any]]]] = {}
    for each in rows:
        if each[1]["type"] in ("offset_commit", "transaction"):
            yield each
        else:
            later.setdefault(each[1]["type"], []).append(each)
    for found in later.values():
        yield from found


def columns_of(records: Records) -> list[str]:
    """The columns of the first kind of such records."""
    from kafkapy.output.coordinator_rows import rows

    area, key = (TRANSACTION, _NO_ID) if records is Records.TRANSACTIONS else (GROUP, _NO_GROUP)
    if records in (Records.OFFSETS, Records.ALL):
        key = _NO_COMMIT
    encoded = encode_record(area, key)
    (row,) = rows(Kind(area), [Record(0, 0, *encoded)], 0, lambda error: None)
    return list(row)


def _formatter(form: Format, kind: Kind) -> CoordinatorRecordMessageFormatter:
    texts: Texts = JsonTexts()
    if form in (Format.LEGACY, Format.KAFKA_1_0):
        from kafkapy.output.coordinator_legacy_lines import Kafka10Texts, LegacyTexts, with_lines

        texts, kind = LegacyTexts() if form is Format.LEGACY else Kafka10Texts(), with_lines(kind)
    return CoordinatorRecordMessageFormatter(kind, texts, b"\n", skips_unknown=False)


def _tell_unreadable(tell: Tell, partition: TopicPartition, error: UnreadableRecordError) -> None:
    tell(f"{partition} at offset {error.offset}: {error.reason}")
