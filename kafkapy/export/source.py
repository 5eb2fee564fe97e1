"""What an export reads: the logs of a cluster that is there as files, and the pieces that they are cut into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.backends.log_dirs import METADATA_TOPIC, LogDirsCluster
from kafkapy.export.plan import LogState, Step
from kafkapy.export.request import Request
from kafkapy.export.work import Piece
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.topic_description import INTERNAL_TOPICS
from kafkapy.tables.opening import absent, check_topics, chosen_logs, losses, open_paths, topics_of
from kafkapy.tables.registry import find_table
from kafkapy.tables.scan import Mode, Range, Scan
from kafkapy.tables.segment_parts import absent_splits, log_parts
from kafkapy.tables.table import Split


class Source:
    """The logs that a request is about, opened once."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._cluster: LogDirsCluster = open_paths(request.scan.paths)
        self._scan = request.scan._replace(topics=self._topics())
        self._logs: dict[TopicPartition, PartitionReader] = {}

    def _topics(self) -> frozenset[str] | None:
        asked = self._request.scan.topics
        if asked is not None or not self._request.exclude_internal:
            return asked
        return self.topics() - INTERNAL_TOPICS - {METADATA_TOPIC}

    def topics(self) -> frozenset[str]:
        """Every topic that is there."""
        return topics_of(self._cluster)

    def check_topics(self, exported: frozenset[str]) -> None:
        """An error for a topic that was asked for, is not there and was not exported before."""
        asked = (self._request.scan.topics or frozenset()) - exported
        check_topics(self._request.table, asked, self._cluster, self._scan.paths)

    @property
    def _is_named(self) -> bool:
        return self._request.scan.topics is not None

    def losses(self) -> tuple[list[str], list[str]]:
        """What cannot be exported of the logs that were looked at, and what is only said: with failfast a loss is a
        problem, in the other modes it is known to be left out; what other brokers have is neither."""
        missing = absent(self._cluster, self._scan)
        lost = losses(missing, self._scan, self._logs.values(), self._is_named)
        notes = missing.notes(self._is_named)
        return (lost, notes) if self._scan.mode is Mode.FAILFAST else ([], [*notes, *lost])

    def states(self) -> list[LogState]:
        """Each log as it is now."""
        self._logs = {log.partition: log for log in chosen_logs(self._cluster, self._scan)}
        return [self._state(log) for log in self._logs.values()]

    def _state(self, log: PartitionReader) -> LogState:
        high_watermark = self._cluster.high_watermark(log.partition, log)
        end = log.last_stable_offset(high_watermark) if self._scan.committed else high_watermark
        return LogState(log.partition, log.topic_id, log.log_start_offset, end, log.log_end_offset)

    def log(self, partition: TopicPartition) -> PartitionReader:
        """One of the logs that were looked at."""
        return self._logs[partition]

    def pieces(self, steps: Iterable[Step]) -> Iterator[Piece]:
        """The splits that hold the offsets of steps, then those that tell of logs that are not here; the files of
        these are of no partition, so that the next run puts its own in their place."""
        for step in steps:
            if step.start == step.end:
                continue
            scan = self._narrowed(step)
            for number, part in enumerate(log_parts(self._cluster, self._logs[step.partition], scan)):
                split = Split(*step.partition, part.end - part.start, part)
                yield Piece(scan, split, step.partition, step.start, number)
        for number, split in enumerate(absent_splits(self._cluster, self._scan, self._is_named)):
            yield Piece(self._scan, split, None, 0, number)

    def _narrowed(self, step: Step) -> Scan:
        topic, number = step.partition
        return self._scan._replace(
            topics=frozenset((topic,)), partitions=frozenset((number,)), offsets=Range(step.start, step.end)
        )

    def whole(self) -> Iterator[Piece]:
        """The splits of a table that is exported whole."""
        for number, split in enumerate(find_table(self._request.table).splits(self._scan)):
            yield Piece(self._scan, split, None, 0, number)
