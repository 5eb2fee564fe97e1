"""The names in a cluster directory or in log dirs, without the metadata, whose replay takes longer than a user waits.

Topics and partitions are what the names of partition directories say: those on their way out are left out. The id of a
topic stands in one of these directories. Brokers stand in cluster.yaml, or in the meta.properties of each log dir. Of
an internal topic's partition, and of the metadata log, the copy that reaches farthest is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.backends.selection import Selection, check_directory
from kafkapy.errors import FormatError
from kafkapy.log.names import DELETE_DIR_SUFFIX, LOG_SUFFIX, STRAY_DIR_SUFFIX, parse_partition_dir

if TYPE_CHECKING:
    from kafkapy.metadata.image import MetadataImage

GROUPS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
METADATA_TOPIC = "__cluster_metadata"
_TOPIC_ID = re.compile(rb"topic_id: ([\w-]{22})")


class FileNames:
    """Names that files tell."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection

    def topics(self, prefix: str) -> set[str]:
        """The topics that begin with ``prefix``."""
        return set(self._a_directory_of_each_topic(prefix))

    def topic_ids(self) -> set[str]:
        """The ids of topics, from one of the directories of each."""
        from kafkapy.formats.partition_metadata import FILE_NAME

        found: set[str] = set()
        for path in self._a_directory_of_each_topic().values():
            with suppress(OSError):
                found.update(topic_id.decode() for topic_id in _TOPIC_ID.findall(_start(f"{path}/{FILE_NAME}")))
        return found

    def partitions(self, topic: str) -> set[int]:
        """The partitions of a topic."""
        return set(self._partitions(topic))

    def brokers(self) -> set[int]:
        """The ids of the brokers."""
        if not self._selection.log_dirs:
            from kafkapy.backends.cluster_file import read_cluster_file

            return {broker.id for broker in read_cluster_file(self._selection.directory).brokers}
        from kafkapy.backends.log_dir_identity import read_meta_properties

        ids = (read_meta_properties(log_dir).node_id for log_dir in self._selection.log_dirs)
        return {node_id for node_id in ids if node_id is not None}

    def controllers(self) -> Mapping[int, str]:
        """The nodes that have the metadata log, and the id of the log dir in which it is."""
        from kafkapy.backends.log_dir_identity import read_meta_properties

        found = (read_meta_properties(os.path.dirname(path)) for path in self._metadata_directories())
        return {each.node_id: each.directory_id or "" for each in found if each.node_id is not None}

    def groups(self) -> set[str]:
        """The groups of all types."""
        return self._names_in_keys(GROUPS_TOPIC)

    def transactional_ids(self) -> set[str]:
        """The transactional ids."""
        return self._names_in_keys(TRANSACTIONS_TOPIC)

    def producer_ids(self, topic: str, partition: int) -> set[int]:
        """The producers that the copies of a partition know."""
        from kafkapy.completion.producer_ids import producer_ids

        return producer_ids(self._partitions(topic).get(partition, ()))

    def loggers(self, broker: str) -> set[str]:
        """None: only a broker that runs has them."""
        return set()

    def entities(self, kind: str) -> set[str]:
        """What the metadata alone knows."""
        from kafkapy.completion.metadata_names import names_in_metadata

        directory = self._metadata_directory()
        return set() if directory is None else names_in_metadata(directory)[kind]

    def image(self, directory: Sequence[str]) -> MetadataImage:
        """What the metadata has in a directory of the metadata shell."""
        from kafkapy.completion.metadata_paths import image_for
        from kafkapy.completion.metadata_records import metadata_files

        found = self._metadata_directory()
        return image_for([] if found is None else list(metadata_files(found)), directory)

    def _metadata_directory(self) -> str | None:
        """That of the broker who has most of it; None where log dirs have none, as those of ZooKeeper's time."""
        return max(self._metadata_directories(), key=_reach, default=None)

    def _metadata_directories(self) -> list[str]:
        paths = (os.path.join(log_dir, f"{METADATA_TOPIC}-0") for log_dir in self._log_dirs())
        return [path for path in paths if os.path.isdir(path)]

    def _log_dirs(self) -> list[str]:
        if self._selection.log_dirs:
            return list(self._selection.log_dirs)
        from kafkapy.backends.cluster_file import read_cluster_file

        directory = self._selection.directory
        check_directory(directory)
        brokers = read_cluster_file(directory).brokers
        return [os.path.join(directory, log_dir) for broker in brokers for log_dir in broker.log_dirs]

    def _directories(self, prefix: str) -> Iterator[os.DirEntry[str]]:
        for log_dir in self._log_dirs():
            with suppress(OSError), os.scandir(log_dir) as entries:
                yield from (entry for entry in entries if entry.name.startswith(prefix) and entry.is_dir())

    def _a_directory_of_each_topic(self, prefix: str = "") -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in self._directories(prefix):
            if entry.name.rpartition("-")[0] not in found:
                for topic in _topic_partition(entry.name)[:1]:
                    found[topic] = entry.path
        found.pop(METADATA_TOPIC, None)
        return found

    def _partitions(self, topic: str) -> dict[int, list[str]]:
        """The directories of each partition of a topic."""
        found: dict[int, list[str]] = {}
        for entry in self._directories(f"{topic}-"):
            name = _topic_partition(entry.name)
            if name and name[0] == topic:
                found.setdefault(name[1], []).append(entry.path)
        return found

    def _names_in_keys(self, topic: str) -> set[str]:
        from kafkapy.completion.record_keys import names_in_keys

        return names_in_keys([max(copies, key=_reach) for copies in self._partitions(topic).values()])


def _topic_partition(directory_name: str) -> tuple[str, int] | tuple[()]:
    """Whose directory it is; nothing where it is on its way out, or no partition's."""
    try:
        name = parse_partition_dir(directory_name)
    except FormatError:
        return ()
    return () if name.mark in (DELETE_DIR_SUFFIX, STRAY_DIR_SUFFIX) else (name.topic, name.partition)


def _start(path: str) -> bytes:
    """The first bytes of a small file; without a Python file around it, since there may be thousands."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


def _reach(directory: str) -> tuple[str, int]:
    """The newest segment and its size."""
    logs = ((entry.name, entry.stat().st_size) for entry in os.scandir(directory) if entry.name.endswith(LOG_SUFFIX))
    return max(logs, default=("", 0))
