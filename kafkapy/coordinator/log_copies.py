"""Folding a partition of an internal topic, of which there may be several copies.

What lies in such a partition is a state, and a batch that cannot be read may be the one that made a group. So every
copy is folded in turn, the leader's first, until one has no problems and reaches at least as far as those before it.
Where none does, the one of which most could be read counts.

A copy that was passed over is a problem too, and told: the state is whole, but the disk of a broker is not. After a
crash the torn end of a log is told in the same way (see ``partition_reader``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from kafkapy.errors import KafkaError
from kafkapy.log.batch import Batch
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition

StateT = TypeVar("StateT")
Read = Callable[[], Iterable[Batch]]


class Copies(Protocol):
    """Who has the logs."""

    def copies(self, partition: TopicPartition) -> Iterator[PartitionReader]:
        """Every copy of a partition's log, the one that counts first; an error where there is none."""
        ...


class Folded(NamedTuple, Generic[StateT]):
    """What a log amounts to, and what could not be read of it."""

    state: StateT
    problems: list[str]


class _Candidate(NamedTuple, Generic[StateT]):
    reader: PartitionReader
    folded: Folded[StateT]
    bytes_read: int


def fold_copies(cluster: Copies, partition: TopicPartition, fold: Callable[[Read], Folded[StateT]]) -> Folded[StateT]:
    """The state of the best copy. ``fold`` may read twice; it gets good batches only."""
    try:
        copies = cluster.copies(partition)
    except KafkaError as error:
        return Folded(fold(lambda: ()).state, [f"{partition}: {error}"])
    found: list[_Candidate[StateT]] = []
    for reader in copies:
        chosen = _fold(reader, fold)
        found.append(chosen)
        reach = max(each.reader.log_end_offset for each in found)
        if not chosen.folded.problems and reader.log_end_offset == reach:
            break
    else:
        chosen = max(found, key=lambda each: each.bytes_read)
    return Folded(chosen.folded.state, chosen.folded.problems + _passed_over(found, chosen))


def _fold(reader: PartitionReader, fold: Callable[[Read], Folded[StateT]]) -> _Candidate[StateT]:
    told: list[str] = []
    sizes: list[int] = []

    def read() -> Iterator[Batch]:
        told.clear()
        sizes.clear()
        for batch in reader.salvage(told.append):
            sizes.append(len(batch.data))
            yield batch

    folded = fold(read)
    return _Candidate(reader, Folded(folded.state, told + folded.problems), sum(sizes))


def _passed_over(found: Iterable[_Candidate[StateT]], chosen: _Candidate[StateT]) -> list[str]:
    return [
        f"{problem} ({chosen.reader.directory} is read instead)"
        for reader, folded, _ in found
        for problem in folded.problems
        if reader is not chosen.reader and problem not in chosen.folded.problems
    ]
