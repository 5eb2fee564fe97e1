"""A cluster directory that grows between runs, and what an export of it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.export.file_format import Format, chosen_compression
from kafkapy.export.manifest import read_manifest
from kafkapy.export.request import Request
from kafkapy.export.run import Export, Summary
from kafkapy.export.staging import DIRECTORY
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, DeleteTopic
from kafkapy.tables.engine import Engine, LocalEngine
from kafkapy.tables.scan import Scan

T0 = 1_767_225_600_000
"""2026-01-01T00:00:00Z"""
HOUR = 3_600_000


class Growing:
    """``append`` writes records whose values tell their offsets, an hour apart."""

    def __init__(self, directory: Path) -> None:
        self.path = str(directory)
        make_cluster(self.path, 1, files=Files(sync=False))

    def _opened(self) -> DirectoryCluster:
        return DirectoryCluster(self.path, Files(sync=False), seed=7)

    def create(self, topic: str, partitions: int = 1) -> None:
        cluster = self._opened()
        cluster.apply(CreateTopic(topic, partitions, 1))
        cluster.close()

    def delete(self, topic: str) -> None:
        cluster = self._opened()
        cluster.apply(DeleteTopic(topic))
        cluster.close()

    def append(self, topic: str, *counts: int) -> None:
        """So many records to each partition, in a batch each."""
        cluster = self._opened()
        for number, count in enumerate(counts):
            partition = TopicPartition(topic, number)
            end = cluster.offset(partition, -1) or 0
            records = [
                Record(place, T0 + (end + place) * HOUR, b"k%d" % (place % 3), b"%s %d" % (topic.encode(), end + place))
                for place in range(count)
            ]
            if records:
                cluster.append(partition, encode_batch(records))
        cluster.close()

    def trim(self, topic: str, before: int) -> None:
        cluster = self._opened()
        cluster.delete_records(TopicPartition(topic, 0), before)
        cluster.close()


def request(source: str, out: Path, kind: Format = Format.PARQUET, **given: Any) -> Request:
    scan = Scan((source,), **given.pop("scan", {}))
    made = Request(given.pop("table", "records"), kind, str(out), scan, chosen_compression(kind, None))
    return made._replace(**given)


def exported(made: Request, engine: Engine | None = None, files: Files | None = None) -> Summary:
    """Run it."""
    return Export(made, lambda line: None, files or Files(sync=False)).run(engine or LocalEngine())


def held(out: Path) -> list[tuple[str, int, int]]:
    """Topic, partition and offset of every row, by the manifest; in order, doubles included."""
    manifest = read_manifest(str(out))
    assert manifest is not None
    rows: list[tuple[str, int, int]] = []
    for file in manifest.all_files():
        read = pq.ParquetFile(out / file.path).read()
        assert len(read) == file.rows
        rows += zip(*(read.column(name).to_pylist() for name in ("topic", "partition", "offset")), strict=True)
    return sorted(rows)


def lying_about(out: Path) -> set[str]:
    """What is there beside the manifest and the files that it names."""
    manifest = read_manifest(str(out))
    assert manifest is not None
    known = {file.path for file in manifest.all_files()} | {"_kafkapy_export.json"}
    found = {os.path.relpath(os.path.join(at, name), out) for at, _, names in os.walk(out) for name in names}
    runs = {f"{DIRECTORY}/{name}" for name in os.listdir(out / DIRECTORY)}
    return (found | runs) - known


def rows_of(**counts: int | tuple[int, int]) -> list[tuple[str, int, int]]:
    """The rows of partition 0 of topics, up to an offset or from one to one."""
    bounds = {topic: (0, given) if isinstance(given, int) else given for topic, given in counts.items()}
    return sorted((topic, 0, offset) for topic, (start, end) in bounds.items() for offset in range(start, end))
