"""The logs of one broker of a cluster directory, opened to be written.

A log dir that was stopped cleanly has Kafka's ``.kafka_cleanshutdown``. It is taken away before the first write and
put back, after the checkpoints, when the logs of all brokers are closed: killed in between, the next command finds no
mark and recovers every log first, as a broker would. The mark holds the broker's epoch, by which a real controller
knows that the stop was clean.

Recovery also makes the directories agree with the metadata, which is written first: those of new partitions are made,
and those that no topic of the metadata owns are set aside as ``-stray``, as a broker does at its start. Directories of
replicas that are on their way into this log dir (``-future``) are left to log_dir_moves.py.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kafkapy.backends import clean_mark
from kafkapy.errors import FormatError
from kafkapy.formats import clean_shutdown, offset_checkpoint
from kafkapy.log.checkpoints import Offsets, read_checkpoint
from kafkapy.log.config import LogConfig
from kafkapy.log.files import Files
from kafkapy.log.log_view import read_topic_id
from kafkapy.log.names import (
    DELETE_DIR_SUFFIX,
    FUTURE_DIR_SUFFIX,
    STRAY_DIR_SUFFIX,
    PartitionDir,
    parse_partition_dir,
    partition_dirs,
)
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME as METADATA_DIRECTORY

METADATA = TopicPartition(*parse_partition_dir(METADATA_DIRECTORY)[:2])
ConfigOf = Callable[[TopicPartition], LogConfig]


class Checkpointed(NamedTuple):
    """What a broker keeps of a replica beside its log."""

    high_watermark: int
    recovery_point: int


class Environment(NamedTuple):
    """What every log of a command is opened with."""

    files: Files
    now: int
    config_of: ConfigOf


class BrokerLogs:
    """The partitions in one log dir."""

    def __init__(self, log_dir: str, broker_epoch: int, environment: Environment) -> None:
        self.log_dir = log_dir
        self._broker_epoch = broker_epoch
        self._environment = environment
        self._open: dict[TopicPartition, PartitionLog] = {}
        self._present: set[TopicPartition] | None = None
        self._starts = read_checkpoint(self.log_dir, offset_checkpoint.LOG_START_OFFSET_FILE)
        self._recovery_points = read_checkpoint(self.log_dir, offset_checkpoint.RECOVERY_POINT_FILE)
        self._high_watermarks = read_checkpoint(self.log_dir, offset_checkpoint.HIGH_WATERMARK_FILE)
        self._cleaned = read_checkpoint(self.log_dir, offset_checkpoint.CLEANER_OFFSET_FILE)
        self.was_clean = clean_mark.take_away(environment.files, log_dir) is not None

    def recover(
        self,
        assigned: Mapping[TopicPartition, str],
        lost: Collection[TopicPartition] = (),
        was_away: bool = False,
    ) -> Iterator[str]:
        """Remove what was deleted; after an unclean stop bring the log dir into order, and tell what was done.

        ``assigned`` are the partitions that belong here, with the ids of their topics; of the ``lost`` ones nothing is
        made anew or set aside. With ``was_away`` that may have changed since the stop.
        """
        for _, path in partition_dirs(self.log_dir, DELETE_DIR_SUFFIX):
            self._environment.files.rmtree(path)
        if self.was_clean and not was_away:
            return
        for name, path in partition_dirs(self.log_dir, ""):
            partition = TopicPartition(name.topic, name.partition)
            if partition == METADATA or partition in lost:
                continue
            if partition not in assigned:
                yield f"{path}: set aside as {self._set_aside(name)}: according to the metadata, it has no replica here"
            elif _topic_id(path) not in (None, assigned[partition]):
                yield f"{path}: set aside as {self._set_aside(name)}: it belongs to a topic that was deleted"
        self.forget([each for each in map(TopicPartition._make, self._checkpointed()) if each not in assigned])
        opened = () if self.was_clean else ((each, assigned[each]) for each in assigned if each not in lost)
        for partition, topic_id in opened:
            self.log(partition, topic_id)
            yield from self.recovered(partition)

    def recovered(self, partition: TopicPartition) -> Iterator[str]:
        """What had to be put right in a log when it was opened; told once."""
        recovered = self._open[partition].recovered
        while recovered:
            yield f"{self.path(partition)}: {recovered.pop(0)}"

    def _checkpointed(self) -> set[tuple[str, int]]:
        """The partitions of which the checkpoints have an offset."""
        return {partition for offsets in self._checkpoints().values() for partition in offsets}

    def log(self, partition: TopicPartition, topic_id: str) -> PartitionLog:
        """The log of a partition, made where it is not there; a directory of another topic's gives way, which then
        stands in ``recovered``."""
        if partition not in self._open:
            key = (partition.topic, partition.partition)
            known, aside = _topic_id(self.path(partition)), None
            if known not in (None, topic_id):
                aside = self._set_aside(PartitionDir(*key))
            if not os.path.isdir(self.path(partition)):
                self.forget([partition])
            log = self._open[partition] = PartitionLog.open(
                self.path(partition),
                partition,
                self._environment.config_of(partition),
                files=self._environment.files,
                now=self._environment.now,
                clean_shutdown=self.was_clean,
                recovery_point=self._recovery_points.get(key, 0),
                log_start_offset=self._starts.get(key),
                topic_id=None if known == topic_id else topic_id,
            )
            if aside is not None:
                log.recovered.append(f"its directory was of another topic: that is set aside as {aside}")
            self.present.add(partition)
        return self._open[partition]

    @property
    def present(self) -> set[TopicPartition]:
        """The partitions that lie here."""
        if self._present is None:
            names = (name for name, _ in partition_dirs(self.log_dir, ""))
            self._present = {TopicPartition(name.topic, name.partition) for name in names}
            self._present.discard(METADATA)
        return self._present

    def sync(self, partition: TopicPartition) -> None:
        """Return when a replica and its log start would survive the machine."""
        log = self._open[partition]
        log.flush()
        self._keep_start(partition, log)

    def _keep_start(self, partition: TopicPartition, log: PartitionLog) -> None:
        if self._starts.get(partition, 0) < log.log_start_offset > log.segments[0].base_offset:
            self._starts[partition] = log.log_start_offset
            self._write(offset_checkpoint.LOG_START_OFFSET_FILE, self._starts)

    def checkpointed(self, partition: TopicPartition) -> Checkpointed:
        """What was kept of a replica when its log was closed; 0 of a new one."""
        return Checkpointed(self._high_watermarks.get(partition, 0), self._recovery_points.get(partition, 0))

    def has(self, partition: TopicPartition) -> bool:
        """Whether the partition lies here."""
        return partition in self._open or os.path.isdir(self.path(partition))

    def path(self, partition: TopicPartition) -> str:
        """The directory of a partition."""
        return os.path.join(self.log_dir, str(partition))

    def delete(self, partitions: Iterable[TopicPartition]) -> None:
        """Take partitions away: first out of sight under another name, then for good."""
        gone, aside = [], []
        for partition in partitions:
            opened = self._open.pop(partition, None)
            if opened is not None:
                opened.close(self._environment.now)
            if os.path.isdir(self.path(partition)):
                aside.append(self._set_aside(PartitionDir(*partition), DELETE_DIR_SUFFIX))
            gone.append(partition)
            self.present.discard(partition)
        self.forget(gone)
        for name in aside:
            self._environment.files.rmtree(os.path.join(self.log_dir, name))

    # ---- replicas that are about to lie here

    def futures(self) -> dict[TopicPartition, str]:
        """The directories of replicas that are being moved to this log dir."""
        return {
            TopicPartition(name.topic, name.partition): path
            for name, path in partition_dirs(self.log_dir, FUTURE_DIR_SUFFIX)
        }

    def open_future(self, partition: TopicPartition, topic_id: str) -> PartitionLog:
        """The log of a replica that is being moved here, made where it is not there; to be closed by who opens it."""
        name = PartitionDir(*partition, FUTURE_DIR_SUFFIX, uuid.uuid4().hex).name
        return PartitionLog.open(
            self.futures().get(partition) or os.path.join(self.log_dir, name),
            partition,
            self._environment.config_of(partition),
            files=self._environment.files,
            now=self._environment.now,
            clean_shutdown=False,
            topic_id=topic_id,
        )

    def keep_future_start(self, future: PartitionLog) -> None:
        """Keep the log start of a replica that is about to be promoted."""
        self._keep_start(future.partition, future)

    def promote_future(self, partition: TopicPartition) -> None:
        """The replica that was moved here is the replica from now on."""
        self._environment.files.rename(self.futures()[partition], self.path(partition))
        self._environment.files.fsync_dir(self.log_dir)
        self.present.add(partition)

    def remove_future(self, partition: TopicPartition) -> None:
        """Give up moving a replica here."""
        self._environment.files.rmtree(self.futures()[partition])

    def forget(self, partitions: Collection[TopicPartition]) -> None:
        """Drop the offsets of partitions that are not there, also on disk: they would hold for the next ones of the
        same names."""
        for name, offsets in self._checkpoints().items():
            known = [partition for partition in partitions if partition in offsets]
            for partition in known:
                del offsets[partition]
            if known:
                self._write(name, offsets)

    def forget_deleted(self, partition: TopicPartition) -> None:
        """Drop the offsets of a partition whose deletion was not finished: they are of the topic that was deleted."""
        if any(
            (name.topic, name.partition) == partition for name, _ in partition_dirs(self.log_dir, DELETE_DIR_SUFFIX)
        ):
            self.forget([partition])

    def is_of(self, partition: TopicPartition, topic_id: str) -> bool:
        """Whether the directory of a partition is, as far as it tells, of this topic and not of another of its name."""
        return _topic_id(self.path(partition)) in (None, topic_id)

    def adopt(self, partition: TopicPartition, former: BrokerLogs) -> None:
        """Keep of a replica that was moved here what its former log dir kept."""
        for name, offsets in former._checkpoints().items():
            if partition in offsets:
                self._checkpoints()[name][partition] = offsets[partition]
                self._write(name, self._checkpoints()[name])

    def set_aside(self, partition: TopicPartition) -> str:
        """Give a partition's directory a name under which no broker looks for it; the name."""
        aside = self._set_aside(PartitionDir(*partition))
        self.present.discard(partition)
        self.forget([partition])
        return aside

    def _checkpoints(self) -> dict[str, Offsets]:
        """What is kept of replicas, by the names of the files."""
        return {
            offset_checkpoint.LOG_START_OFFSET_FILE: self._starts,
            offset_checkpoint.RECOVERY_POINT_FILE: self._recovery_points,
            offset_checkpoint.HIGH_WATERMARK_FILE: self._high_watermarks,
            offset_checkpoint.CLEANER_OFFSET_FILE: self._cleaned,
        }

    def _set_aside(self, name: PartitionDir, mark: str = STRAY_DIR_SUFFIX) -> str:
        """Give a partition's directory a name under which no broker looks for it; the name."""
        aside = name._replace(mark=mark, unique_id=uuid.uuid4().hex).name
        self._environment.files.rename(os.path.join(self.log_dir, name.name), os.path.join(self.log_dir, aside))
        self._environment.files.fsync_dir(self.log_dir)
        return aside

    def cleaned_to(self, partition: TopicPartition) -> int | None:
        """The first offset that compaction has not seen."""
        return self._cleaned.get((partition.topic, partition.partition))

    def set_cleaned_to(self, partition: TopicPartition, offset: int) -> None:
        """Remember how far compaction came. It is written when the logs are closed: killed before, it is done again."""
        self._cleaned[partition.topic, partition.partition] = offset

    def remove(self, partition: TopicPartition, names: Iterable[str]) -> None:
        """Remove files of a partition."""
        for name in names:
            self._environment.files.unlink(os.path.join(self.path(partition), name))

    def update_configs(self) -> None:
        """Give open logs the configs that hold now; what a segment was begun with holds until it is rolled."""
        for partition, log in self._open.items():
            log.config = self._environment.config_of(partition)

    def flush(self) -> None:
        """Bring what was appended to disk."""
        for log in self._open.values():
            log.flush()

    def close(self, known: Mapping[TopicPartition, Checkpointed] | None = None) -> None:
        """Close every log and leave the checkpoints; ``mark_clean`` comes when all brokers have done so.

        ``known`` is what to keep of replicas; of others, that they are replicated and synced to their ends.
        """
        for partition, log in self._open.items():
            log.close(self._environment.now)
            key = (partition.topic, partition.partition)
            kept = (known or {}).get(partition, Checkpointed(log.log_end_offset, log.log_end_offset))
            self._high_watermarks[key], self._recovery_points[key] = kept
            self._starts.pop(key, None)
            if log.log_start_offset > log.segments[0].base_offset:
                self._starts[key] = log.log_start_offset
        self._write(offset_checkpoint.RECOVERY_POINT_FILE, self._recovery_points)
        self._write(offset_checkpoint.LOG_START_OFFSET_FILE, self._starts)
        self._write(offset_checkpoint.HIGH_WATERMARK_FILE, self._high_watermarks)
        if self._cleaned != read_checkpoint(self.log_dir, offset_checkpoint.CLEANER_OFFSET_FILE):
            self._write(offset_checkpoint.CLEANER_OFFSET_FILE, self._cleaned)
        self._open.clear()

    def mark_clean(self) -> None:
        """Leave the mark of a clean stop."""
        clean_mark.leave(self._environment.files, self.log_dir, clean_shutdown.encode(self._broker_epoch))

    def _write(self, name: str, offsets: Offsets) -> None:
        self._environment.files.write_atomic(os.path.join(self.log_dir, name), offset_checkpoint.encode(offsets))


def _topic_id(directory: str) -> str | None:
    """The topic that a directory says it is of; None where it does not."""
    try:
        return read_topic_id(directory)
    except FormatError:
        return None
