"""A small world with a clock: producers, groups that commit, and the files they leave, beside what is true of them.

The files are written by PartitionLog, in tiny segments with dense indexes, into one log dir without metadata.
``__consumer_offsets`` has one partition. What is true is kept as plain lists, and asked in the plainest way.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replica_maintenance import Maintenance, Situation
from kafkapy.coordinator.group import ClassicGroup, ClassicMember
from kafkapy.coordinator.group_metadata_records import group_metadata_record
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import NO_PRODUCER_ID, BatchOptions, Record, encode_batch
from kafkapy.lag.cluster_rows import Wanted
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.producer_append import Origin
from kafkapy.log.topic_partition import TopicPartition
from tests.compaction_logs import marker

T0 = 1_767_225_600_000
"""2026-01-01T00:00:00Z"""
OFFSETS = TopicPartition(CONSUMER_OFFSETS, 0)
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
EVERYTHING = Wanted(lambda _: True, lambda _: True)
DATA_CONFIG = LogConfig(segment_bytes=600, index_interval_bytes=60)
OFFSETS_CONFIG = LogConfig(
    cleanup_policy=("compact",), segment_bytes=500, index_interval_bytes=100, min_cleanable_dirty_ratio=0.01,
    delete_retention_ms=0,
)  # fmt: skip

Key = tuple[str, TopicPartition]


class World:
    """``now`` goes forward only."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.now = T0
        self.tells_times = True
        """Whether commits have their times in them: what brokers tell of them has not."""
        self._generations: dict[str, int] = {}
        self.records: dict[TopicPartition, list[int]] = {}
        self.commits: dict[Key, list[tuple[int, int | None]]] = {}
        self._logs: dict[TopicPartition, PartitionLog] = {}
        self._pending: dict[int, list[tuple[Key, int]]] = {}

    @property
    def cluster(self) -> LogDirsCluster:
        """The files, closed, to be read."""
        self.close()
        return LogDirsCluster(str(self.directory))

    def close(self) -> None:
        for log in self._logs.values():
            log.close(self.now)
        self._logs.clear()

    def log(self, partition: TopicPartition) -> PartitionLog:
        if partition not in self._logs:
            directory = self.directory / str(partition)
            directory.mkdir(exist_ok=True)
            config = OFFSETS_CONFIG if partition == OFFSETS else DATA_CONFIG
            self._logs[partition] = PartitionLog.open(
                str(directory), partition, config, files=Files(sync=False), now=self.now, clean_shutdown=True
            )
        return self._logs[partition]

    def produce(self, partition: TopicPartition, timestamps: Iterable[int]) -> None:
        """A batch of records of these times."""
        times = list(timestamps)
        records = [Record(number, time, None, b"x" * 20) for number, time in enumerate(times)]
        self._append(partition, encode_batch(records, BatchOptions()))
        self.records.setdefault(partition, []).extend(times)

    def members(self, group: str, count: int) -> None:
        """Have a classic group so many members: they came, or left."""
        generation = self._generations[group] = self._generations.get(group, 0) + 1
        ids = [f"member-{number}" for number in range(count)]
        members = {each: ClassicMember(each, None, "c", "/h", 1, 1, b"", b"") for each in ids}
        state = ClassicGroup(group, "consumer", generation, "range" if ids else None, None, self.now, members)
        data = encode_record(GROUP, group_metadata_record(state))
        self._append(OFFSETS, encode_batch([Record(0, self.now, *data)], BatchOptions()), Origin.COORDINATOR)

    def commit(
        self, group: str, partition: TopicPartition, offset: int | None, producer_id: int = -1, leader_epoch: int = -1
    ) -> None:
        """A commit, or what takes it back; one of a producer waits for ``end``."""
        self.log(partition)
        value = None
        if offset is not None:
            time = self.now if self.tells_times else -1
            value = {"offset": offset, "leaderEpoch": leader_epoch, "metadata": "", "commitTimestamp": time}
        key = {"group": group, "topic": partition.topic, "partition": partition.partition}
        data = encode_record(GROUP, CoordinatorRecord("OffsetCommit", key, 3, value))
        options = BatchOptions(base_sequence=0)
        if producer_id != NO_PRODUCER_ID:
            options = options._replace(transactional=True, producer_id=producer_id, producer_epoch=0)
        self._append(OFFSETS, encode_batch([Record(0, self.now, *data)], options), Origin.COORDINATOR)
        if producer_id != NO_PRODUCER_ID and offset is not None:
            self._pending.setdefault(producer_id, []).append(((group, partition), offset))
            return
        if offset is None:
            for waiting in self._pending.values():
                waiting[:] = [each for each in waiting if each[0] != (group, partition)]
        self._told((group, partition), offset)

    def end(self, producer_id: int, commit: bool) -> None:
        """The marker of a transaction that wrote nothing since others committed the same."""
        self._append(OFFSETS, marker(commit, producer_id, 0, self.now), Origin.COORDINATOR)
        for key, offset in self._pending.pop(producer_id, []):
            if commit:
                self._told(key, offset)

    def compact(self) -> None:
        """What the cleaner does with ``__consumer_offsets``."""
        log = self.log(OFFSETS)
        log.roll(self.now)
        list(Maintenance(log, Situation(OFFSETS_CONFIG, None, self.now + 10**9)).done())

    def _told(self, key: Key, offset: int | None) -> None:
        self.commits.setdefault(key, []).append((self.now, offset))

    def _append(self, partition: TopicPartition, batch: bytes, origin: Origin = Origin.CLIENT) -> None:
        self.log(partition).append_as_leader(batch, 0, self.now, origin, transaction_version=0)

    # what is true

    def committed(self, key: Key, moment: int) -> int | None:
        return next((offset for at, offset in reversed(self.commits[key]) if at <= moment), None)

    def end_at(self, partition: TopicPartition, moment: int) -> int:
        return sum(time <= moment for time in self.records.get(partition, ()))

    def time_lag(self, key: Key, moment: int) -> int:
        offset, times = self.committed(key, moment), self.records.get(key[1], [])
        assert offset is not None
        return moment - times[offset] if offset < self.end_at(key[1], moment) else 0

    def window(self, key: Key, moment: int, size: int = 10) -> list[tuple[int, int]]:
        """The last commit of each second, newest ten, since the last deletion."""
        last_of_second: dict[int, tuple[int, int]] = {}
        for at, offset in self.commits[key]:
            if at <= moment:
                if offset is None:
                    last_of_second.clear()
                else:
                    last_of_second[at // 1000] = at, offset
        return list(last_of_second.values())[-size:]

    def verdict(self, key: Key, moment: int) -> str:
        """docs/lag.md, said once more."""
        committed, window = self.committed(key, moment), self.window(key, moment)
        if committed is None:
            return "unknown"
        if self.end_at(key[1], moment) <= committed:
            return "ok"
        if len(window) < 2:
            return "unknown"
        quiet = min(moment - window[-1][0], self.time_lag(key, moment))
        if quiet > max(5000, window[-1][0] - window[0][0]):
            return "stopped"
        offsets = [offset for _, offset in window]
        if any(later < earlier and max(offsets[number + 1 :]) < earlier for number, (earlier, later) in
               enumerate(pairwise(offsets))):  # fmt: skip
            return "rewound"
        lags = [self.end_at(key[1], at) - offset for at, offset in window]
        if min(lags) <= 0:
            return "ok"
        if all(offset == offsets[0] for offset in offsets):
            return "stalled"
        steps = list(pairwise(lags))
        if all(after >= before for before, after in steps) and any(after > before for before, after in steps):
            return "falling behind"
        return "ok"
