"""A scratch cluster, its groups, and runs of a group in this process, with a clock that only moves while one waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kafkapy.backends.cluster import EARLIEST, Cluster
from kafkapy.backends.consuming import Limits
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.group_events import parse_events
from kafkapy.backends.group_options import GroupOptions
from kafkapy.backends.group_run import GroupRun, consume
from kafkapy.backends.group_subscription import GroupSubscription, Source
from kafkapy.backends.record_handler import RecordHandler
from kafkapy.backends.retry_topics import RetryTopics
from kafkapy.backends.selection import Selection, open_cluster
from kafkapy.backends.shared_cluster import SharedCluster
from kafkapy.backends.waiting import Time
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.formats.coordinator_record import GROUP, decode
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic
from tests.faults import FaultyFiles, Killed

NOW = 1_794_800_000_000


class FakeTime(Time):
    """``then`` is what happens after some pauses, by their number."""

    def __init__(self, then: dict[int, Callable[[], object]] | None = None) -> None:
        super().__init__()
        self.passed = 0.0
        self.pauses = 0
        self._then = then or {}
        self.monotonic = lambda: self.passed
        self.sleep = self._sleep

    def now_ms(self) -> int:
        return NOW + round(self.passed * 1000)

    def _sleep(self, seconds: float) -> None:
        self.passed += seconds
        self.pauses += 1
        if self.pauses in self._then:
            self._then[self.pauses]()


class Mortal(FaultyFiles):
    """Files of a process: once it is killed it does nothing more, not even to clean up."""

    def _is_killed(self) -> bool:
        self.is_dead = self.is_dead or super()._is_killed()
        return self.is_dead

    is_dead = False


class Collecting:
    """Keeps what it is given, as text: topic, partition and value."""

    at_once: int | None = None
    is_urgent = False
    is_full = False

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once
        self.taken: list[tuple[TopicPartition, str]] = []

    def due_ms(self, fetched: Fetched, source: Source) -> int | None:
        return None

    def handle(self, fetched: Fetched, source: Source) -> None:
        self.taken += [(fetched.partition, (record.value or b"").decode()) for record in fetched.records]

    def flush(self) -> None:
        pass

    def settle(self, cluster: Cluster) -> None:
        pass

    @property
    def values(self) -> list[str]:
        return [value for _, value in self.taken]


def made(directory: Path, **topics: int) -> str:
    """A cluster directory with these topics, and few partitions for the groups, because that is faster."""
    make_cluster(str(directory), 1, files=Files(sync=False))
    changing(str(directory), *(CreateTopic(name, count, 1) for name, count in topics.items()))
    changing(str(directory), CreateTopic(CONSUMER_OFFSETS, 2, 1, configs={"cleanup.policy": "compact"}))
    return str(directory)


def opened(directory: str, files: Files | None = None, time: Time | None = None) -> DirectoryCluster:
    return DirectoryCluster(directory, files or Files(sync=False), None if time is None else time.now_ms(), seed=7)


def opened_by(directory: str, files: Files, time: Time) -> DirectoryCluster:
    """What a process opens; a dead one opens nothing."""
    if isinstance(files, Mortal) and files.is_dead:
        raise Killed
    return opened(directory, files, time)


def changing(directory: str, *changes: object) -> None:
    cluster = opened(directory)
    cluster.apply(*changes)  # type: ignore[arg-type]
    cluster.close()


def produce(directory: str, topic: str, partition: int, *values: str, size: int = 10) -> None:
    """Batches of ``size`` records, when nobody else writes."""
    shared = SharedCluster(Selection(directory), lambda _: None, Time(), lambda: opened(directory))
    with shared.write() as cluster:
        for start in range(0, len(values), size):
            batch = values[start : start + size]
            records = [Record(number, NOW, value.encode(), value.encode()) for number, value in enumerate(batch)]
            cluster.append(TopicPartition(topic, partition), encode_batch(records, BatchOptions()))


def numbered(topic: str, partition: int, count: int, first: int = 0) -> list[str]:
    return [f"{topic}-{partition}-{number}" for number in range(first, first + count)]


class Scratch:
    """Runs groups on one directory; ``told`` is what the last run told."""

    def __init__(self, directory: str, files: Callable[[], Files] = lambda: Files(sync=False)) -> None:
        self.directory = directory
        self.told: list[str] = []
        self._files = files

    def run(
        self,
        handler: RecordHandler,
        topic: str | None = "t",
        include: str | None = None,
        members: int = 1,
        then: tuple[str, ...] = (),
        limits: Limits = Limits(),  # noqa: B008
        time: Time | None = None,
        reset: int | None = EARLIEST,
        retry: RetryTopics | None = None,
        group_id: str = "g",
        **configs: str,
    ) -> list[str]:
        """``configs`` are written with ``_`` for ``.``; what was told."""
        self.told = []
        clock = time or FakeTime()
        shared = SharedCluster(
            Selection(self.directory), self.told.append, clock, lambda: opened_by(self.directory, self._files(), clock)
        )
        options = GroupOptions.of(group_id, {name.replace("_", "."): value for name, value in configs.items()})
        subscription = GroupSubscription(topic, include, retry=retry)
        events = parse_events(then, members)
        run = GroupRun(shared, options, subscription, reset, limits, members, events, retry is not None)
        consume(run, handler, self.told.append, lambda: "end")
        return self.told

    def committed(self, group_id: str = "g") -> dict[str, int]:
        offsets = self.cluster.groups().offsets(group_id)
        return {str(partition): offset.offset for partition, offset in offsets.items()}

    @property
    def cluster(self) -> Cluster:
        """The cluster as it is now, to be read."""
        return open_cluster(Selection(self.directory))

    def values(self, topic: str) -> list[str]:
        """All values of a topic, partition by partition."""
        return [(record.value or b"").decode() for record in self.records(topic)]

    def records(self, topic: str) -> list[Record]:
        cluster = self.cluster
        found = cluster.image().topics.get(topic)
        numbers = sorted(found.partitions) if found is not None else []
        batches = [batch for number in numbers for batch in cluster.read(TopicPartition(topic, number), 0)]
        return [record for batch in batches for record in batch.records()]

    def group_records(self) -> list[tuple[str, object]]:
        """Names and values of all records of the groups."""
        found = [decode(GROUP, each.key or b"", each.value) for each in self.records(CONSUMER_OFFSETS)]
        return [(each.name, each.value) for each in found]
