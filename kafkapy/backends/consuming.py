"""Consuming partitions: passes over them, and how to wait for more.

A consumer has a position in each of its partitions, the offset of the next record. A pass goes through the partitions
in order, each from its position to its end as it is now; whoever follows makes another pass after a pause. Kafka
promises no order between partitions, so this one is as good as any, and it is always the same; but brokers that run are
asked at the same time, and what comes first is handed out first.

What cannot be read ends the reading of its partition and of no other: one without a leader or a copy from the start on,
one with a batch that fails its checksum when all before it has been handed out, one whose end is damaged where the good
part ends. Each is told, and ``is_whole`` is no longer true. Only whoever follows looks again at a partition that nobody
leads, and begins with it once somebody does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.fetched import Fetched, fetched_of, is_out_of_range
from kafkapy.backends.start_position import StartAt, all_bounds, resolve, within
from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.log.topic_partition import TopicPartition

POLL_INTERVAL_MS = 100
LEADER_INTERVAL_MS = 1_000
UNLIMITED = -1
ISOLATION_LEVELS = ("read_committed", "read_uncommitted")


class Limits(NamedTuple):
    """When to stop, and what to read: ``committed`` leaves out what was not. The timeout matters to who follows."""

    max_messages: int = UNLIMITED
    timeout_ms: int | None = None
    follow: bool = False
    committed: bool = False


def is_committed(isolation_level: str | None) -> bool:
    """Whether only what was committed is to be read; the default is no."""
    if isolation_level not in (None, *ISOLATION_LEVELS):
        raise UsageError(
            f"Invalid value {isolation_level} for configuration isolation.level: String must be one of: "
            f"{', '.join(ISOLATION_LEVELS)}"
        )
    return isolation_level == ISOLATION_LEVELS[0]


class Consumer:
    """Positions in partitions, and the records from there on."""

    def __init__(
        self,
        cluster: Cluster,
        partitions: Iterable[TopicPartition],
        committed: bool = False,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        """``tell`` hears of what is not read, and why."""
        self._cluster = cluster
        self._partitions = list(partitions)
        self._fetcher = cluster.fetcher(committed, tell)
        self._tell = tell
        self._start = StartAt(0, None)
        self._positions: dict[TopicPartition, int] = {}
        self._unled: set[TopicPartition] = set()
        self._damages: dict[TopicPartition, str] = {}
        self._hints: set[str] = set()
        self._is_whole = True

    @property
    def is_whole(self) -> bool:
        """Whether all has been read that was to be read so far."""
        return self._is_whole and not self._unled

    def seek(self, start: StartAt, is_patient: bool = False) -> list[str]:
        """Go to where every partition is to be read from; what had to be corrected. Who is patient waits for leaders
        (``look_for_leaders``)."""
        self._start = start
        corrected = []
        for partition, found in zip(self._partitions[:], all_bounds(self._cluster, self._partitions), strict=True):
            if isinstance(found, KafkapyError):
                if is_patient and _is_unled(found):
                    self._unled.add(partition)
                    self._say(f"{partition} is not read until it has a leader: {found}", found.hint)
                else:
                    self._give_up(partition, f"{partition} is not read: {found}", found.hint)
                continue
            self._positions[partition], line = within(found, partition, start)
            corrected += [line] if line is not None else []
        return corrected

    def look_for_leaders(self) -> None:
        """Begin with the partitions that have a leader by now."""
        waiting = sorted(self._unled)
        if not waiting:
            return
        try:
            bounds = all_bounds(self._cluster, waiting)
        except KafkapyError:
            return  # as are those that are read, which tell of it
        for partition, found in zip(waiting, bounds, strict=True):
            if not isinstance(found, KafkapyError):
                self._unled.remove(partition)
                self._positions[partition], line = within(found, partition, self._start)
                self._tell(line or f"{partition} has a leader now: read from offset {self._positions[partition]} on")

    def poll(self, wait: bool = True) -> Iterator[Fetched]:
        """All that is there now; without ``wait``, what has come of it."""
        positions = self._positions
        for partition, batch, error in self._fetcher.to_end(positions) if wait else self._fetcher.poll(positions):
            if partition not in positions:
                continue
            try:
                if error is not None:
                    raise error
                assert batch is not None
                fetched = fetched_of(partition, batch, positions[partition])
            except KafkapyError as broken:
                self._recover(partition, broken)
                continue
            positions[partition] = fetched.next_offset
            if fetched.records:
                yield fetched
        for partition in list(positions):
            self._look_for_damage(partition)

    def wait(self, seconds: float, sleep: Callable[[float], object]) -> None:
        """Wait for more."""
        self._fetcher.wait(seconds, sleep)

    def _recover(self, partition: TopicPartition, error: KafkapyError) -> None:
        """Go on elsewhere in a partition whose log has lost the position, if that is allowed; else give it up."""
        if not is_out_of_range(error):
            self._give_up(partition, self._broken_off(partition, str(error)), error.hint)
            return
        start = StartAt(self._positions[partition], self._start.reset)
        self._positions[partition], line = resolve(self._cluster, partition, start)
        if line is not None:
            self._tell(line)

    def _look_for_damage(self, partition: TopicPartition) -> None:
        """Whoever follows looks again: a torn end may have been cut off meanwhile, and more been appended."""
        damage = self._cluster.damage(partition)
        if damage is not None and damage != self._damages.get(partition):
            self._is_whole = False
            self._damages[partition] = damage
            self._tell(self._broken_off(partition, damage))

    def _broken_off(self, partition: TopicPartition, why: str) -> str:
        return f"{partition} is read only up to offset {self._positions[partition]}: {why}"

    def _give_up(self, partition: TopicPartition, line: str, hint: str | None) -> None:
        """Go on without a partition."""
        self._is_whole = False
        self._partitions.remove(partition)
        self._positions.pop(partition, None)
        self._say(line, hint)

    def _say(self, line: str, hint: str | None) -> None:
        """Tell; what several partitions have in common, once."""
        self._tell(line)
        if hint is not None and hint not in self._hints:
            self._hints.add(hint)
            self._tell(hint)


def _is_unled(error: KafkapyError) -> bool:
    return isinstance(error, KafkaError) and error.name == "LeaderNotAvailableException"


def follow(
    consumer: Consumer, timeout_ms: int | None, clock: Callable[[], float], sleep: Callable[[float], object]
) -> Iterator[Fetched | None]:
    """Pass after pass, with a None before each pause, until nothing has come for ``timeout_ms`` (None: for ever)."""
    last = looked = clock()
    while True:
        if clock() - looked >= LEADER_INTERVAL_MS / 1000:
            consumer.look_for_leaders()
            looked = clock()
        for fetched in consumer.poll(wait=False):
            yield fetched
            last = clock()
        yield None
        pause = POLL_INTERVAL_MS / 1000
        if timeout_ms is not None:
            left = timeout_ms / 1000 - (clock() - last)
            if left <= 0:
                return
            pause = min(pause, left)
        consumer.wait(pause, sleep)


def limited(fetched: Iterable[Fetched | None], max_messages: int) -> Iterator[Fetched | None]:
    """The first ``max_messages`` records; nothing more is read than what holds them."""
    left = max_messages
    if max_messages == UNLIMITED:
        yield from fetched
        return
    if left <= 0:
        return
    for each in fetched:
        if each is None:
            yield None
            continue
        yield each if len(each.records) <= left else each._replace(records=each.records[:left])
        left -= len(each.records)
        if left <= 0:
            return
