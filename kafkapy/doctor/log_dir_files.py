"""What lies in a log dir beside its partitions: whose it is, how its broker ended, checkpoints, other directories.

A broker that runs removes a deleted partition's directory after file.delete.delay.ms, forgets it in the checkpoints
within a minute, and is at work on moves: none of these is a finding where the log dir is in use. And no remedy there
removes or moves anything under a running broker.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from shlex import quote

from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.backends.log_dir_lock import holder_of
from kafkapy.backends.repair_plan import stray_removal
from kafkapy.backends.replicas import LogDirs
from kafkapy.doctor.expected_identity import writing_command
from kafkapy.doctor.finding import Finding, error, info, warning
from kafkapy.doctor.unreadable import readable
from kafkapy.errors import FormatError
from kafkapy.formats import clean_shutdown, meta_properties, offset_checkpoint
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.log.names import (
    DELETE_DIR_SUFFIX,
    FUTURE_DIR_SUFFIX,
    STRAY_DIR_SUFFIX,
    PartitionDir,
    parse_partition_dir,
    partition_dirs,
)
from kafkapy.log.topic_partition import TopicPartition

CHECKPOINTS = (
    offset_checkpoint.RECOVERY_POINT_FILE,
    offset_checkpoint.LOG_START_OFFSET_FILE,
    offset_checkpoint.HIGH_WATERMARK_FILE,
    offset_checkpoint.CLEANER_OFFSET_FILE,
)
OFFSETS_OF_LOGS = (offset_checkpoint.LOG_START_OFFSET_FILE, offset_checkpoint.CLEANER_OFFSET_FILE)
KAFKAS_OWN = ("remote-log-index-cache",)
MOST_NAMED = 3
KEEP = "keep it until the metadata log is whole: it may be wanted"


def check_log_dir(
    log_dir: str,
    dirs: LogDirs,
    known_down: Collection[int | None],
    where: str,
    identity: MetaProperties | None,
    wanted: Collection[TopicPartition] | None,
) -> Iterator[Finding]:
    """Everything but the partitions. ``known_down`` are brokers that are known not to run, ``where`` are the options
    that name the cluster, ``identity`` is what a meta.properties has to say that is not there, if that is known;
    ``wanted`` are partitions of which no replica is here, None where the metadata is not whole: any may be wanted."""
    holder = holder_of(log_dir)
    if holder is not None:
        yield info(log_dir, f"is in use by {holder}: what is read may be a moment old")
    yield from readable(_identity(log_dir, identity), log_dir)
    if holder is None and dirs.broker_ids[log_dir] not in known_down:
        yield from _shutdown(log_dir, where)
    yield from readable(_directories(log_dir, wanted, holder is not None), log_dir)
    for name in CHECKPOINTS:
        yield from readable(_checkpoint(os.path.join(log_dir, name), dirs, log_dir, holder is not None), log_dir)


def is_stopped(log_dir: str) -> bool:
    """Whether its broker stopped in good order: what is open in a broker has an index with room for more."""
    return os.path.exists(os.path.join(log_dir, clean_shutdown.FILE_NAME))


def _identity(log_dir: str, identity: MetaProperties | None) -> Iterator[Finding]:
    path = os.path.join(log_dir, meta_properties.FILE_NAME)
    lines = "version=1, cluster.id and node.id as in the server.properties, directory.id as the metadata has it"
    remedy = f"write it, with these lines: {lines}" if identity is None else writing_command(log_dir, identity)
    try:
        read_meta_properties(log_dir)
    except FileNotFoundError:
        if identity is not None:
            yield error(path, f"is missing: nothing can be written, broker {identity.node_id} does not start", remedy)
        else:
            yield warning(path, "is missing: nothing says whose log dir this is, and no broker starts on it", remedy)
    except FormatError as problem:
        yield error(path, f"is damaged: {str(problem).removeprefix(f'{path}: ')}", remedy)


def _shutdown(log_dir: str, where: str) -> Iterator[Finding]:
    if is_stopped(log_dir) or not os.path.exists(os.path.join(log_dir, meta_properties.FILE_NAME)):
        return
    remedy = f"a start recovers the logs; what that may cost: kafkapy replica-diff --all-topics {where} --repair-plan"
    yield warning(log_dir, "has no mark of a clean stop: its broker crashed, or runs on another machine", remedy)


def _directories(log_dir: str, wanted: Collection[TopicPartition] | None, is_in_use: bool) -> Iterator[Finding]:
    for name in sorted(os.listdir(log_dir)):
        path = os.path.join(log_dir, name)
        if not os.path.isdir(path) or name in KAFKAS_OWN:
            continue
        try:
            found = parse_partition_dir(name)
        except FormatError:
            remedy = f"move it out of the log dir: mv {quote(path)} /somewhere/else"
            if is_in_use:
                remedy = "move it out of the log dir before the broker starts the next time"
            yield error(path, "is no directory of a partition: a broker does not start beside it", remedy)
        else:
            yield from _marked(path, found, wanted, is_in_use)


def _of_a_stray(path: str, partition: TopicPartition, wanted: Collection[TopicPartition] | None) -> str:
    if wanted is None:
        return KEEP
    if partition in wanted:
        return f"keep it, no replica of it is there: see what is in it with kafkapy dump-log --files {quote(path)}"
    return stray_removal(path)


def _marked(
    path: str, found: PartitionDir, wanted: Collection[TopicPartition] | None, is_in_use: bool
) -> Iterator[Finding]:
    if found.mark == STRAY_DIR_SUFFIX:
        text = "is stray: the metadata says that its broker has no such replica"
        yield warning(path, text, _of_a_stray(path, TopicPartition(found.topic, found.partition), wanted))
    elif is_in_use:
        return
    elif found.mark == DELETE_DIR_SUFFIX:
        remedy = f"a broker removes it a minute after its start; without one: rm -r {quote(path)}"
        yield warning(path, "was deleted and is still there", remedy)
    elif found.mark == FUTURE_DIR_SUFFIX:
        remedy = "a broker goes on with it when it starts"
        yield warning(path, "is a move between log dirs that is not finished", remedy)


def _checkpoint(path: str, dirs: LogDirs, log_dir: str, is_in_use: bool) -> Iterator[Finding]:
    try:
        with open(path, "rb") as file:
            offsets = offset_checkpoint.decode(file.read(), path)
    except FileNotFoundError:
        return
    except FormatError as problem:
        text = f"is damaged: {str(problem).removeprefix(f'{path}: ').replace(f' [{path}]', '')}"
        yield error(path, text, f"while the broker is stopped, so that it goes by its logs: rm {quote(path)}")
        return
    here = {TopicPartition(name.topic, name.partition) for name, _ in partition_dirs(log_dir)}
    if not is_in_use:  # a broker that runs writes it anew within a minute
        yield from _unknown(path, sorted({TopicPartition(*key) for key in offsets} - here))
    if os.path.basename(path) in OFFSETS_OF_LOGS:
        for key, offset in sorted(offsets.items()):
            yield from _beyond(path, TopicPartition(*key), offset, dirs, log_dir)


def _unknown(path: str, gone: Collection[TopicPartition]) -> Iterator[Finding]:
    if gone:
        names = ", ".join(map(str, [*gone][:MOST_NAMED])) + (" and others" if len(gone) > MOST_NAMED else "")
        yield warning(
            path, f"names {names}, of which there is no directory here", "a broker forgets them when it starts"
        )


def _beyond(path: str, partition: TopicPartition, offset: int, dirs: LogDirs, log_dir: str) -> Iterator[Finding]:
    """An offset past the end of its log. Where high watermark or recovery point are, records are lost: that is told
    with the replicas."""
    for replica in dirs.replicas.get(partition, ()):
        if replica.log_dir == log_dir and not replica.is_future:
            segments = dirs.reader(replica).segments
            end = segments[-1].end().offset if segments else 0
            if offset > end:
                text = f"has offset {offset} for {partition}, whose log ends at {end}"
                yield warning(path, text, "a broker goes by its log when it starts")
