"""What logs answer that only brokers have: everything is asked of all of them at once, in few requests.

Where a log ended at a time is a lookup by timestamp, of many partitions in one request. Of when a record is, only the
record tells: the batch that has it is fetched, of all partitions that have something left to read at the same time, and
nothing behind it is looked at. A partition of which several records are asked for takes a round for each. Who has no
right to read a topic learns no times of its records, only offsets; that is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.fetcher import Fetcher
from kafkapy.backends.group_lag import LogRange
from kafkapy.errors import KafkapyError
from kafkapy.lag.log_answers import LogAnswers, Questions, Tell, end_before, first_time, positions
from kafkapy.log.topic_partition import TopicPartition

Asked = Mapping[TopicPartition, Questions]
Ranges = Mapping[TopicPartition, LogRange]
Found = dict[TopicPartition, dict[int, int | None]]


class Problems:
    """What went wrong with partitions; the same with several is told once."""

    def __init__(self) -> None:
        self._partitions: defaultdict[str, dict[TopicPartition, None]] = defaultdict(dict)

    def add(self, partition: TopicPartition, error: KafkapyError) -> None:
        """One more."""
        self._partitions[str(error)][partition] = None

    def tell(self, tell: Tell) -> None:
        """All of them."""
        for text, partitions in self._partitions.items():
            tell(f"{', '.join(map(str, sorted(partitions)))}: {text}")


def asked_answers(
    cluster: Cluster, asked: Asked, known: Ranges, now: int, tell: Tell
) -> dict[TopicPartition, LogAnswers]:
    """The answers of the leaders; at ``now`` and later logs end where they end."""
    problems = Problems()
    ends = _ends(cluster, asked, known, now, problems)
    wanted = {partition: positions(questions, known[partition]) for partition, questions in asked.items()}
    times = _times(cluster.fetcher(False, tell), wanted, problems) if any(wanted.values()) else {}
    problems.tell(tell)
    return {
        partition: LogAnswers(*known[partition], ends.get(partition, {}), times.get(partition, {}))
        for partition in asked
    }


def _ends(cluster: Cluster, asked: Asked, known: Ranges, now: int, problems: Problems) -> Found:
    found: Found = defaultdict(dict)
    past = []
    for partition, questions in asked.items():
        for moment in sorted(questions.moments):
            if moment >= now:
                found[partition][moment] = known[partition].end
            else:
                past.append((partition, moment))
    later = cluster.offsets([(partition, moment + 1) for partition, moment in past]) if past else ()
    for (partition, moment), offset in zip(past, later, strict=True):
        if isinstance(offset, KafkapyError):
            problems.add(partition, offset)
        else:
            found[partition][moment] = end_before(offset, known[partition])
    return found


def _times(fetcher: Fetcher, wanted: Mapping[TopicPartition, list[int]], problems: Problems) -> Found:
    """Of when the records at offsets are: the next one of each partition with every round."""
    found: Found = defaultdict(dict)
    left = {partition: iter(offsets) for partition, offsets in wanted.items()}
    while following := dict(_next(left)):
        failed = _fetch(fetcher, following, found, problems)
        left = {partition: offsets for partition, offsets in left.items() if partition not in failed}
    return found


def _next(left: Mapping[TopicPartition, Iterator[int]]) -> Iterator[tuple[TopicPartition, int]]:
    for partition, offsets in left.items():
        offset = next(offsets, None)
        if offset is not None:
            yield partition, offset


def _fetch(
    fetcher: Fetcher, offsets: Mapping[TopicPartition, int], found: Found, problems: Problems
) -> set[TopicPartition]:
    """Fetch until each record is there, or its log has ended; the partitions that could not be read."""
    waiting = dict(offsets)
    failed = set()
    for partition, batch, error in fetcher.to_end(waiting):
        if partition not in waiting:
            continue  # fetched along
        try:
            if error is not None:
                raise error
            time = None if batch is None else first_time([batch], offsets[partition])
        except KafkapyError as reason:
            problems.add(partition, reason)
            failed.add(partition)
            del waiting[partition]
            continue
        if time is not None:
            found[partition][offsets[partition]] = time
            del waiting[partition]
    for partition in waiting:  # nothing but markers
        found[partition][offsets[partition]] = None
    return failed
