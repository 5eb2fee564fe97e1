"""Lag and throughput in parts beside the same in one go, over parts, functions and results that travelled."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.lag.batch_flow import NameOf, flows, of_partition, of_producer, of_topic
from kafkapy.lag.cluster_batches import Stretch, all_batch_rows
from kafkapy.lag.cluster_batches import Wanted as WantedBatches
from kafkapy.lag.cluster_rows import Wanted
from kafkapy.lag.lag_events import Span
from kafkapy.lag.lag_history import steps
from kafkapy.lag.lag_reading import Asked, ClusterSource, lag_history
from kafkapy.tables.lag_source import EngineSource
from kafkapy.tables.throughput_job import engine_flows

cloudpickle = pytest.importorskip("pyspark.cloudpickle", reason="pyspark is not installed")

T = TypeVar("T")
R = TypeVar("R")
BROKERS = ("broker-1", "broker-2", "broker-3")


class Travelling:
    """Does one part after the other, all of it sent as Spark sends it."""

    def __init__(self) -> None:
        self.parts = 0

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        self.parts += len(parts)
        sent = [cloudpickle.dumps((work, part)) for part in parts]
        return map(_done, sent)


def _done(sent: bytes) -> R:
    work, part = pickle.loads(sent)
    done: R = pickle.loads(pickle.dumps(work(part)))
    return done


@pytest.fixture(params=["clean", "crashed"])
def paths(golden: Path, request: pytest.FixtureRequest) -> tuple[str, ...]:
    return tuple(str(golden / request.param / broker) for broker in BROKERS)


def test_lag_in_parts_has_the_same_rows_events_and_problems(paths: tuple[str, ...]) -> None:
    cluster, engine = LogDirsCluster(*paths), Travelling()
    everything = Wanted(lambda _: True, lambda _: True)
    commits = [each.last for each in ClusterSource(cluster).known(everything, _now(), print).timelines.values()]
    last = max(commit.timestamp for commit in commits if commit is not None)
    asked = Asked(steps(last - 60_000, last + 5000, 1000, last + 5001), last + 5001, span=Span(last - 60_000, last))
    told: tuple[list[str], list[str]] = [], []
    here = lag_history(ClusterSource(cluster), everything, asked, told[0].append)
    parts = lag_history(EngineSource(engine, paths), everything, asked, told[1].append)
    assert parts == here
    assert told[0] == told[1]
    assert len(here.points) > 40
    assert engine.parts > 1


def _now() -> Asked:
    from kafkapy.lag.lag_point import Moment

    return Asked([Moment(1 << 60, None, True)], 1 << 60)


@pytest.mark.parametrize("name_of", [of_topic, of_partition, of_producer])
@pytest.mark.parametrize("step_ms", [None, 500])
def test_throughput_in_parts_has_the_same_sums(paths: tuple[str, ...], name_of: NameOf, step_ms: int | None) -> None:
    wanted = WantedBatches(lambda topic: topic != "nothing", Stretch(), True, False)
    told: tuple[list[str], list[str]] = [], []
    here = flows(all_batch_rows(LogDirsCluster(*paths), wanted, told[0].append), name_of, step_ms)
    engine = Travelling()
    assert engine_flows(engine, paths, wanted, name_of, step_ms, told[1].append) == here
    assert told[0] == told[1]
    assert here
    assert engine.parts > 1
