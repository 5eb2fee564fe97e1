"""Lag out of what ``__consumer_offsets`` still holds: at a moment, or over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from kafkapy.backends.cluster import Cluster
from kafkapy.lag.cluster_rows import CommitHistory, Wanted, answers, evidence_of
from kafkapy.lag.commits import Evidence, Members, OffsetCommit
from kafkapy.lag.lag_events import LagEvent, Span
from kafkapy.lag.lag_history import Known, all_events, lag_points, open_questions
from kafkapy.lag.lag_point import LagPoint, Moment
from kafkapy.lag.log_answers import LogAnswers, Questions, Tell
from kafkapy.lag.members import member_counts
from kafkapy.lag.timeline import WINDOW, Key, Timeline, timelines
from kafkapy.log.topic_partition import TopicPartition


class LagHistory(NamedTuple):
    """What was found, how far back each group is known, and when the first commit of each that is known was made;
    ``events`` only where a span was asked for."""

    points: list[LagPoint]
    events: list[LagEvent]
    evidence: dict[str, Evidence]
    earliest: dict[str, int]


class Asked(NamedTuple):
    """At which moments, by how many commits, and of which time to tell events; ``now`` is where logs end."""

    moments: Sequence[Moment]
    now: int
    window: int = WINDOW
    span: Span | None = None

    def timelines(self, commits: Iterable[OffsetCommit]) -> dict[Key, Timeline]:
        """Commits as far as the moments need them."""
        first, last = self.moments[0], self.moments[-1]
        exact_from = first.timestamp if first.since is None else first.since
        return timelines(commits, last.timestamp, exact_from, self.window)


class LagSource(Protocol):
    """Who reads what lag is made of: this process, or many."""

    def known(self, wanted: Wanted, asked: Asked, tell: Tell) -> Known:
        """What the groups committed."""
        ...

    def answers(
        self, asked: Mapping[TopicPartition, Questions], now: int, tell: Tell
    ) -> Mapping[TopicPartition, LogAnswers]:
        """What the logs answer."""
        ...


class ClusterSource:
    """Reads a cluster here."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def known(self, wanted: Wanted, asked: Asked, tell: Tell) -> Known:
        """What the groups committed."""
        history = CommitHistory(self._cluster, wanted, tell)
        found = asked.timelines(history.commits())
        return known_of(self._cluster, found, history.members, history.evidence, history.earliest)

    def answers(
        self, asked: Mapping[TopicPartition, Questions], now: int, tell: Tell
    ) -> Mapping[TopicPartition, LogAnswers]:
        """What the logs answer."""
        return answers(self._cluster, asked, now, tell)


def known_of(
    cluster: Cluster,
    found: Mapping[Key, Timeline],
    members: Iterable[Members],
    evidence: Mapping[int, Evidence],
    earliest: Mapping[str, int],
) -> Known:
    """What was found in the partitions of ``__consumer_offsets``, put together."""
    groups = sorted({*earliest, *(group for group, _ in found)})
    return Known(found, member_counts(members), evidence_of(cluster, groups, evidence), earliest)


def lag_history(source: LagSource, wanted: Wanted, asked: Asked, tell: Tell) -> LagHistory:
    """Read, ask the logs, compute."""
    known = source.known(wanted, asked, tell)
    logs = source.answers(open_questions(known.timelines, asked.moments, asked.span), asked.now, tell)
    events = [] if asked.span is None else all_events(known, logs, asked.span)
    points = list(lag_points(known, logs, asked.moments))
    return LagHistory(points, events, dict(known.evidence), dict(known.earliest))
