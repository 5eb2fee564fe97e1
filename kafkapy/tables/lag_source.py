"""What lag is made of, read by an engine: a partition of ``__consumer_offsets`` is a part, and so are some logs.

All commits of a group lie in one partition, so the parts know nothing of one another; what they send back is as much
as the moments need, not the commits themselves. The rows are those of ``ClusterSource``, which reads the same here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from kafkapy.lag.cluster_rows import CommitHistory, Wanted, answers
from kafkapy.lag.commits import Evidence, Members
from kafkapy.lag.lag_history import Known
from kafkapy.lag.lag_reading import Asked, known_of
from kafkapy.lag.log_answers import LogAnswers, Questions, Tell
from kafkapy.lag.timeline import Key, Timeline
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.tables.engine import Engine
from kafkapy.tables.opening import open_paths

LOGS_OF_A_PART = 64


class _Commits(NamedTuple):
    """What one partition told."""

    timelines: dict[Key, Timeline]
    members: list[Members]
    evidence: dict[int, Evidence]
    earliest: dict[str, int]
    problems: list[str]


class EngineSource:
    """Has an engine read the files at ``paths``."""

    def __init__(self, engine: Engine, paths: tuple[str, ...]) -> None:
        self._engine = engine
        self._paths = paths

    def known(self, wanted: Wanted, asked: Asked, tell: Tell) -> Known:
        """What the groups committed."""
        cluster = open_paths(self._paths)
        numbers = CommitHistory(cluster, wanted, tell).partitions()
        timelines: dict[Key, Timeline] = {}
        members: list[Members] = []
        evidence: dict[int, Evidence] = {}
        earliest: dict[str, int] = {}
        for found in self._engine.map(partial(_commits, self._paths, wanted, asked), numbers):
            timelines |= found.timelines
            members += found.members
            evidence |= found.evidence
            earliest |= found.earliest
            for problem in found.problems:
                tell(problem)
        return known_of(cluster, dict(sorted(timelines.items())), members, evidence, earliest)

    def answers(
        self, asked: Mapping[TopicPartition, Questions], now: int, tell: Tell
    ) -> Mapping[TopicPartition, LogAnswers]:
        """What the logs answer."""
        logs: dict[TopicPartition, LogAnswers] = {}
        items = list(asked.items())
        parts = [dict(items[first : first + LOGS_OF_A_PART]) for first in range(0, len(items), LOGS_OF_A_PART)]
        for found, problems in self._engine.map(partial(_answers, self._paths, now), parts):
            logs |= found
            for problem in problems:
                tell(problem)
        return logs


def _commits(paths: tuple[str, ...], wanted: Wanted, asked: Asked, number: int) -> _Commits:
    problems: list[str] = []
    history = CommitHistory(open_paths(paths), wanted, problems.append)
    timelines = asked.timelines(history.commits_of(number))
    return _Commits(timelines, history.members, history.evidence, history.earliest, problems)


def _answers(
    paths: tuple[str, ...], now: int, asked: Mapping[TopicPartition, Questions]
) -> tuple[dict[TopicPartition, LogAnswers], list[str]]:
    problems: list[str] = []
    return answers(open_paths(paths), asked, now, problems.append), problems
