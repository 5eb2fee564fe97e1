"""Delay, retry and dead-letter queues out of nothing but topics: their names, the delays, and the headers.

    orders.G.retry.10s     records of orders that group G failed to handle, to be tried again 10 seconds later
    orders.G.dead-letter   those that failed as often as there are delays, and once more

Every record in such a topic carries key, value and headers of the one it stands for, and these headers:

    kafkapy.attempts                  how often it was tried
    kafkapy.due                       not to be tried before this time (ms); not in a dead letter
    kafkapy.cause, kafkapy.stderr     why the last attempt failed, and the end of what it said
    kafkapy.topic, .partition, .offset, .timestamp   where the record came from in the first place

All records of a retry topic wait for the same time, so the first of a partition is always due first: a consumer looks
at that one alone. A record that somebody else put there, without such headers, is due its topic's delay after its
timestamp: that is a delay queue. Names carry the group, so groups that fail do not disturb one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.formats.record_batch import Header, Record
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata import topic_names

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
LONGEST_NUMBER = 9
PREFIX = "kafkapy."
ATTEMPTS, DUE, CAUSE, STDERR = (PREFIX + name for name in ("attempts", "due", "cause", "stderr"))
TOPIC, PARTITION, OFFSET, TIMESTAMP = (PREFIX + name for name in ("topic", "partition", "offset", "timestamp"))
OWN_HEADERS = frozenset((ATTEMPTS, DUE, CAUSE, STDERR, TOPIC, PARTITION, OFFSET, TIMESTAMP))
DEAD_LETTER = "dead-letter"


class Delay(NamedTuple):
    """A time to wait, as it was written and in ms."""

    text: str
    ms: int

    @classmethod
    def parse(cls, text: str) -> Delay:
        """``10s``: a whole number of ms, s, m, h or d."""
        lowered = text.strip().lower()
        number = lowered.rstrip("dhms")
        unit = lowered[len(number) :]
        if unit not in UNITS or not (number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER):
            raise UsageError(f"'{text}' is not a time: write a number and one of {', '.join(UNITS)}, such as 10s")
        return cls(lowered, int(number) * UNITS[unit])


def parse_delays(text: str | None) -> tuple[Delay, ...]:
    """The delays of ``10s,1m,10m``, in order; none where nothing was given."""
    return tuple(Delay.parse(each) for each in text.split(",")) if text else ()


class Origin(NamedTuple):
    """Where a record came from in the first place, and how often it was tried since."""

    partition: TopicPartition
    offset: int
    timestamp: int
    attempts: int = 0


class RetryTopics:
    """The retry and dead-letter topics of one group."""

    def __init__(self, group_id: str, delays: tuple[Delay, ...], dead_letter_topic: str | None = None) -> None:
        if dead_letter_topic is not None:
            try:
                topic_names.validate(dead_letter_topic)
            except KafkaError as error:
                raise UsageError(f"--dead-letter-topic: {error}") from None
        self._group_id = group_id
        self.delays = delays
        self._dead_letter_topic = dead_letter_topic

    def retry(self, topic: str, delay: Delay) -> str:
        """The topic where records of ``topic`` wait."""
        return f"{self._stem(topic)}{delay.text}"

    def dead_letter(self, topic: str) -> str:
        """The topic of what nobody could handle."""
        return self._dead_letter_topic or f"{topic}.{self._group_id}.{DEAD_LETTER}"

    def target(self, topic: str, attempts: int) -> tuple[str, Delay | None]:
        """Where a record of ``topic`` goes that has failed so often."""
        if attempts > len(self.delays):
            return self.dead_letter(topic), None
        delay = self.delays[attempts - 1]
        return self.retry(topic, delay), delay

    def check(self, topic: str) -> None:
        """Refuse names that no topic can have, before anything fails."""
        for name in (*(self.retry(topic, delay) for delay in self.delays), self.dead_letter(topic)):
            try:
                topic_names.validate(name)
            except KafkaError as error:
                raise KafkapyError(
                    f"the retry and dead-letter topics of group '{self._group_id}' cannot be named after it: {error}"
                ) from None

    def waiting(self, topic: str, existing: Iterable[str]) -> Iterator[tuple[str, Delay]]:
        """The retry topics of ``topic`` that are there, also those of delays that were asked for in earlier runs."""
        stem = self._stem(topic)
        for name in sorted(existing):
            delay = _delay(name.removeprefix(stem)) if name.startswith(stem) else None
            if delay is not None:
                yield name, delay

    def is_named_by(self, name: str, existing: Iterable[str]) -> bool:
        """Whether a topic is a retry or dead-letter topic, of whatever group: a pattern for topics must not take it for
        one of them, or groups would hand one another their failures for ever."""
        if name == self._dead_letter_topic:
            return True
        stem, _, last = name.rpartition(".")
        if last != DEAD_LETTER and not (stem.endswith(".retry") and _delay(last) is not None):
            return False
        return any(name.startswith(f"{topic}.") for topic in existing)

    def _stem(self, topic: str) -> str:
        return f"{topic}.{self._group_id}.retry."


def origin_of(partition: TopicPartition, record: Record) -> Origin:
    """What the headers of a record tell; without them, it is its own origin.

    A dead letter that is handled or sent again keeps its origin; whether its attempts count is for the caller to say.
    """
    found = headers_of(record)
    try:
        topic = found[TOPIC].decode()
        number, offset, timestamp = int(found[PARTITION]), int(found[OFFSET]), int(found[TIMESTAMP])
        return Origin(TopicPartition(topic, number), offset, timestamp, max(0, int(found[ATTEMPTS])))
    except (KeyError, ValueError):
        return Origin(partition, record.offset, record.timestamp)


def due(record: Record, delay: Delay) -> int:
    """When a record that waits may be tried, in ms."""
    try:
        return int(headers_of(record)[DUE])
    except (KeyError, ValueError):
        return record.timestamp + delay.ms


def headers_of(record: Record) -> dict[str, bytes]:
    """The headers above that a record has; of several the last counts."""
    return {name: value for name, value in record.headers if name in OWN_HEADERS and value is not None}


def forwarded(record: Record, origin: Origin, cause: str, stderr: bytes, due_ms: int | None) -> tuple[Header, ...]:
    """The headers of the copy of a record that has failed once more."""
    ours = [
        (ATTEMPTS, str(origin.attempts + 1).encode()),
        (DUE, None if due_ms is None else str(due_ms).encode()),
        (CAUSE, cause.encode()),
        (STDERR, stderr or None),
        (TOPIC, origin.partition.topic.encode()),
        (PARTITION, str(origin.partition.partition).encode()),
        (OFFSET, str(origin.offset).encode()),
        (TIMESTAMP, str(origin.timestamp).encode()),
    ]
    kept = tuple(header for header in record.headers if header.key not in OWN_HEADERS)
    return (*kept, *(Header(name, value) for name, value in ours if value is not None))


def _delay(text: str) -> Delay | None:
    try:
        return Delay.parse(text)
    except UsageError:
        return None
