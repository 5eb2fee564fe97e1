"""The file with which an executed plan is taken back: where everything was, in the form of a plan.

It is written before anything is touched, beside the plan: ``plan.rollback.json`` for ``plan.json``, else
``plan.rollback-2.json`` and so on. None is ever overwritten. Where a plan is executed again to go on after it was
interrupted, the file of the first time still leads back to where everything was, and is kept: of what is there by then
a part is already the plan's. A file that was not written whole is none, and the next number is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.reassignment.layout import Assignment
from kafkapy.metadata.reassignment.reassignment_json import (
    LogDirs,
    Reassignment,
    format_reassignment,
    parse_reassignment,
)
from kafkapy.metadata.reassignment.verification import targets_of


class RollbackFile(NamedTuple):
    path: str
    is_new: bool


def current_assignment(image: MetadataImage, plan: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """The replicas that the partitions of a plan have now."""
    return {partition: image.topics[partition.topic].partitions[partition.partition].replicas for partition in plan}


def keep_rollback_file(
    image: MetadataImage, log_dirs: LogDirs, plan: Reassignment, plan_path: str, path: str | None = None
) -> RollbackFile:
    """Write the file, or find the one that leads back already; ``path`` names it instead of the plan's name."""
    for candidate in _names(plan_path) if path is None else (path,):
        if not os.path.exists(candidate):
            _write(candidate, format_reassignment(_replicas_before(image, plan.replicas), log_dirs))
            return RollbackFile(candidate, True)
        if _leads_back(candidate, image, log_dirs, plan):
            return RollbackFile(candidate, False)
    raise KafkapyError(f"--rollback-file: {path} already exists, and is not the way back from here: name another file")


def find_rollback_file(image: MetadataImage, log_dirs: LogDirs, plan: Reassignment, plan_path: str) -> str | None:
    """The file beside a plan that leads back from here; None where there is none, or it was kept elsewhere."""
    for candidate in _names(plan_path):
        if not os.path.exists(candidate):
            return None
        if _leads_back(candidate, image, log_dirs, plan):
            return candidate
    raise AssertionError("there is no end of names")


def _replicas_before(image: MetadataImage, plan: Assignment) -> dict[TopicPartition, tuple[int, ...]]:
    """The current replicas, but for those that another reassignment under way is about to add."""
    states = {partition: image.topics[partition.topic].partitions[partition.partition] for partition in plan}
    return {
        partition: tuple(broker for broker in state.replicas if broker not in state.adding_replicas)
        for partition, state in states.items()
    }


def _names(plan_path: str) -> Iterator[str]:
    base = plan_path.removesuffix(".json")
    yield f"{base}.rollback.json"
    for number in count(2):
        yield f"{base}.rollback-{number}.json"


def _write(path: str, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise KafkapyError(
            f"cannot write the rollback file {path} ({error.strerror}), so nothing was started: name another place "
            "with --rollback-file"
        ) from None


def _leads_back(path: str, image: MetadataImage, log_dirs: LogDirs, plan: Reassignment) -> bool:
    """Whether every partition is where the file says, where the plan says, or on its way from the one to the other."""
    try:
        with open(path, encoding="utf-8") as file:
            found = parse_reassignment(file.read())
    except (OSError, UnicodeDecodeError, KafkaError):
        return False
    if found.replicas.keys() != plan.replicas.keys():
        return False
    for partition, target in plan.replicas.items():
        state, before = image.topics[partition.topic].partitions[partition.partition], found.replicas[partition]
        if state.is_reassigning:
            if targets_of(state) != target or set(state.replicas) - {*state.adding_replicas} != set(before):
                return False
        elif state.replicas not in (before, target):
            return False
    return all(
        log_dirs.get(replica, path) in (path, plan.log_dirs.get(replica)) for replica, path in found.log_dirs.items()
    )
