"""The batches of a running cluster, fetched from the leaders of their partitions.

A broker sends a header only with its records, so this reads all of what is looked at over the network; of everything
that there is it would be too much to do unasked, and is refused. Where to begin and to end is looked up by timestamp
first, all partitions in one request a broker: of a narrow time only its batches are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkapy.backends.cluster import EARLIEST, LATEST, Cluster
from kafkapy.errors import FormatError, KafkapyError, Unsupported
from kafkapy.lag.asked_answers import Problems
from kafkapy.lag.batch_flow import BatchRow
from kafkapy.lag.cluster_batches import Wanted, batch_row
from kafkapy.lag.log_answers import Tell
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition

HINT = "name topics with --topic or a time with --from, or read only the headers with --log-dirs"


class _Bounds(NamedTuple):
    start: int
    end: int


def fetched_rows(cluster: Cluster, wanted: Wanted, tell: Tell) -> Iterator[BatchRow]:
    """The wanted batches, those of a partition in their order."""
    if not wanted.is_narrow:
        raise Unsupported("reading all records", "a running cluster", HINT)
    partitions = [
        TopicPartition(name, number)
        for name, topic in sorted(cluster.image().topics.items())
        if wanted.topic(name)
        for number in sorted(topic.partitions)
    ]
    problems = Problems()
    bounds = _bounds(cluster, partitions, wanted, problems)
    positions = {partition: each.start for partition, each in bounds.items()}
    for partition, batch, error in cluster.fetcher(False, tell).to_end(positions) if positions else ():
        if error is not None:
            problems.add(partition, error)
        elif batch is not None and partition in positions:
            end = bounds[partition].end
            if batch.header.base_offset < end:
                yield _row(partition, batch, wanted.measures, tell)
            if batch.header.last_offset + 1 >= end:
                del positions[partition]
    problems.tell(tell)


def _bounds(
    cluster: Cluster, partitions: Sequence[TopicPartition], wanted: Wanted, problems: Problems
) -> dict[TopicPartition, _Bounds]:
    """Where to begin and to end; partitions without a batch in between are left out."""
    start, end = wanted.stretch
    first, past = EARLIEST if start is None else start, LATEST if end is None else end
    asked = [(partition, spec) for partition in partitions for spec in (first, past, LATEST)]
    answers = iter(cluster.offsets(asked))
    found: dict[TopicPartition, _Bounds] = {}
    for partition in partitions:
        given = [next(answers) for _ in range(3)]
        for each in given:
            if isinstance(each, KafkapyError):
                problems.add(partition, each)
                break
        else:
            begin, stop, last = (each for each in given if not isinstance(each, KafkapyError))
            bounds = _Bounds(last or 0 if begin is None else begin, last or 0 if stop is None else stop)
            if bounds.start < bounds.end:
                found[partition] = bounds
    return found


def _row(partition: TopicPartition, batch: Batch, measures: bool, tell: Tell) -> BatchRow:
    def damage(error: FormatError) -> None:
        tell(f"{partition} at offset {batch.header.base_offset}: {error}")

    return batch_row(partition, batch.header, (lambda: batch.data) if measures else None, damage)
