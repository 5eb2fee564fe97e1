"""Random logs with something to compact: few keys, tombstones, records without a key, producers, transactions.

Everything a compacted topic can hold comes up: retries aside, all kinds of batches that producers and coordinators
write, in small segments, with leader epochs that change and messages of magic 0 and 1 at the start of some.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from struct import pack

from kafkapy.formats.compression import Codec
from kafkapy.formats.record_batch import BatchOptions, Header, Record, encode_batch
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from tests.segments import OldMessage, encode_message, wrap_messages

NOW = 1_700_000_000_000
STEP = 10_000
PARTITION = TopicPartition("t", 0)
KEYS = (
    *(b"key-%d" % number for number in range(7)),
    b"a key of more than sixteen bytes",
    b"another key of more than sixteen bytes",
)
CONFIG = LogConfig(
    cleanup_policy=("compact",), segment_bytes=700, index_interval_bytes=100, delete_retention_ms=20 * STEP
)


def open_log(directory: str, config: LogConfig = CONFIG, files: Files | None = None, now: int = NOW) -> PartitionLog:
    return PartitionLog.open(
        directory, PARTITION, config, files=files or Files(sync=False), now=now, clean_shutdown=True
    )


def records(rng: Random, now: int, keyless: bool = True) -> list[Record]:
    return [
        Record(
            offset=number,
            timestamp=now + rng.randrange(-STEP, STEP),
            key=None if keyless and rng.randrange(12) == 0 else rng.choice(KEYS),
            value=None if rng.randrange(4) == 0 else b"v" * rng.randrange(30),
            headers=(Header("h", b"x"),) if rng.randrange(6) == 0 else (),
        )
        for number in range(rng.randrange(1, 5))
    ]


def marker(commit: bool, producer_id: int, epoch: int, now: int) -> bytes:
    record = Record(0, now, pack(">hh", 0, int(commit)), pack(">hi", 0, 0))
    options = BatchOptions(transactional=True, control=True, producer_id=producer_id, producer_epoch=epoch)
    return encode_batch([record], options)


class RandomLog:
    """Writes batches to a log, one random step after the other; a step takes ten seconds."""

    def __init__(
        self, log: PartitionLog, rng: Random, codecs: tuple[Codec, ...] = (Codec.NONE,), transactions: bool = True
    ) -> None:
        self.log = log
        self.now = NOW
        self._rng = rng
        self._codecs = codecs
        self._kinds = 6 if transactions else 3
        self._sequences: dict[int, int] = {}
        self._open: set[int] = set()
        self._epoch = 0

    def step(self) -> None:
        rng = self._rng
        self.now += STEP
        self._epoch += rng.randrange(15) == 0
        kind = rng.randrange(self._kinds)
        if kind < 2:
            self.log.append_as_leader(self._batch(BatchOptions()), self._epoch, self.now)
        elif kind == 2:
            self._append_of_producer(rng.choice((1, 2)), transactional=False)
        elif kind < 5 or not self._open:
            self._append_of_producer(rng.choice((11, 12, 13)), transactional=True)
        else:
            self.end(rng.choice(sorted(self._open)))

    def end(self, producer_id: int) -> None:
        data = marker(self._rng.randrange(2) == 0, producer_id, 0, self.now)
        self.log.append_as_leader(data, self._epoch, self.now, Origin.COORDINATOR, 1)
        self._open.discard(producer_id)

    def end_all(self) -> None:
        for producer_id in sorted(self._open):
            self.end(producer_id)

    def _append_of_producer(self, producer_id: int, transactional: bool) -> None:
        sequence = self._sequences.get(producer_id, 0)
        options = BatchOptions(
            producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=transactional
        )
        info = self.log.append_as_leader(self._batch(options), self._epoch, self.now)
        self._sequences[producer_id] = sequence + info.last_offset - info.first_offset + 1
        if transactional:
            self._open.add(producer_id)

    def _batch(self, options: BatchOptions) -> bytes:
        return encode_batch(records(self._rng, self.now), options._replace(codec=self._rng.choice(self._codecs)))


def write_legacy_segment(directory: Path, rng: Random, codecs: tuple[Codec, ...]) -> None:
    """Begin a log with messages of magic 0 and 1, dated back."""
    directory.mkdir(parents=True)
    data, offset = b"", 0
    for magic in (0, 1):
        for _ in range(rng.randrange(1, 5)):
            messages = [
                OldMessage(offset + number, record.key, record.value, record.timestamp if magic else -1)
                for number, record in enumerate(records(rng, NOW, keyless=False))
            ]
            offset += len(messages)
            codec = rng.choice([codec for codec in codecs if codec is not Codec.ZSTD])
            latest = max(message.timestamp for message in messages)
            if codec is Codec.NONE:
                data += b"".join(encode_message(message, magic) for message in messages)
            else:
                data += wrap_messages(messages, codec, magic, timestamp=latest)
    path = directory / f"{0:020d}.log"
    path.write_bytes(data)
    os.utime(path, (NOW / 1000, NOW / 1000))


def write_random_log(
    directory: Path,
    rng: Random,
    config: LogConfig = CONFIG,
    codecs: tuple[Codec, ...] = (Codec.NONE,),
    transactions: bool = True,
    steps: int = 40,
) -> int:
    """A closed log; the time at its end."""
    if rng.randrange(4) == 0:
        write_legacy_segment(directory, rng, codecs)
    # a compacted topic would refuse records without a key, but a topic may become one later
    log = open_log(str(directory), config._replace(cleanup_policy=("delete",)))
    writer = RandomLog(log, rng, codecs, transactions)
    for _ in range(steps):
        writer.step()
    if rng.randrange(2):
        writer.end_all()
    log.close(writer.now)
    for path in directory.glob("*.log"):
        written = (NOW + int(path.stem) * 1000) // 1000
        os.utime(path, (written, written))
    return writer.now
