"""Where consumers keep their positions: with the group coordinator of a cluster directory that is made for it.

A group is the name of its one consumer. What ``commit`` returned for is in ``__consumer_offsets`` of that directory. It
has the topics of the scenario by name and none of their records, and one broker, which does not fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic


class CommittedOffsets:
    """The offsets of all groups; the cluster is made in ``directory`` when there is one to commit."""

    def __init__(self, directory: str, topics: Iterable[str]) -> None:
        self._directory = directory
        self._topics = tuple(topics)
        self._is_made = False

    def commit(self, group: str, partition: TopicPartition, offset: int, leader_epoch: int) -> None:
        """The group goes on at ``offset`` from now on."""
        self._cluster.groups().offset_manager.commit(group, {partition: OffsetAndMetadata(offset, leader_epoch)})

    def committed(self, group: str, partition: TopicPartition) -> int | None:
        """Where the group goes on; None where it never committed."""
        found = self._cluster.groups().offsets(group).get(partition) if self._is_made else None
        return None if found is None else found.offset

    def close(self) -> None:
        """Let go of the files."""
        if self._is_made:
            self._cluster.close()

    @cached_property
    def _cluster(self) -> DirectoryCluster:
        make_cluster(self._directory, 1)
        cluster = DirectoryCluster(self._directory, Files(sync=False))
        cluster.apply(*(CreateTopic(topic, 1, 1) for topic in self._topics))
        self._is_made = True
        return cluster
