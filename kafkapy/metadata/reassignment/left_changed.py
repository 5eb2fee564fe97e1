"""What a cancelled plan leaves changed: ``--cancel`` takes back only what is under way.

A partition that was only to have fewer replicas, or another order of them, is complete as soon as it is begun. And one
that is taken back has its old replicas, but those that were to stay come first: Kafka's controller does not remember
the order, and so not the preferred leader.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import LogDirs, Reassignment


class LeftChanged(NamedTuple):
    """Partitions with other replicas than before, and with the same in another order, as they are now; replicas in
    another log dir."""

    replicas: Assignment
    order: Assignment
    log_dirs: LogDirs


def left_changed(image: MetadataImage, log_dirs: LogDirs, before: Reassignment) -> LeftChanged:
    """What is not as it was before the plan was begun."""
    now = _replicas(image, before.replicas)
    others = {partition: found for partition, found in now.items() if found != before.replicas[partition]}
    same = {p for p, found in others.items() if sorted(found) == sorted(before.replicas[p])}
    moved = {
        replica: log_dirs[replica]
        for replica, path in before.log_dirs.items()
        if replica in log_dirs and log_dirs[replica] != os.path.abspath(path)
    }
    return LeftChanged(
        {partition: found for partition, found in others.items() if partition not in same},
        {partition: found for partition, found in others.items() if partition in same},
        moved,
    )


def maybe_changed(image: MetadataImage, plan: Reassignment, cancelled: Collection[TopicPartition]) -> LeftChanged:
    """What may not be as it was before, where nobody knows what that was."""
    now = _replicas(image, plan.replicas)
    return LeftChanged(
        {p: found for p, found in now.items() if p not in cancelled and found == plan.replicas[p]},
        {p: found for p, found in now.items() if p in cancelled and len(found) > 1},
        {},
    )


def _replicas(image: MetadataImage, partitions: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """Those of the partitions that exist."""
    topics = image.topics
    return {
        partition: topics[partition.topic].partitions[partition.partition].replicas
        for partition in sorted(partitions)
        if partition.topic in topics and partition.partition in topics[partition.topic].partitions
    }
