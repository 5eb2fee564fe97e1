"""A plan of maintenance is what a run does then, whatever happened to the brokers before."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kafkapy.backends import failures
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.maintenance import Action, Wanted, plan, run
from kafkapy.errors import KafkapyError
from kafkapy.formats.record_batch import Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs, CreateTopic
from kafkapy.metadata.image import TOPIC
from tests.commands.running import run as kafkapy

COMPACTED, OLD = TopicPartition("compacted", 0), TopicPartition("old", 0)
LONG_AGO = 1_794_800_000_000


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three brokers, and two topics whose records are due at once, as far as they are committed."""
    directory = tmp_path_factory.mktemp("pristine") / "cluster"
    make_cluster(str(directory), 3, files=Files(sync=False))
    cluster = opened(directory)
    for partition, configs in ((COMPACTED, {"cleanup.policy": "compact"}), (OLD, {"retention.ms": "1"})):
        cluster.apply(CreateTopic(partition.topic, assignments=((1, 2, 3),), configs=configs))
    cluster.close()
    return directory


def opened(directory: Path) -> DirectoryCluster:
    return DirectoryCluster(str(directory), Files(sync=False), seed=1)


BROKERS = st.integers(1, 3)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["produce", "produce and roll"]), st.sampled_from([1, -1])),
    st.tuples(st.sampled_from(["stop", "kill", "start", "lag"]), BROKERS),
    st.tuples(st.sampled_from(["advance", "replicate", "min.insync.replicas"]), st.integers(1, 2)),
)


def take(directory: Path, step: tuple[str, int]) -> None:
    """One command; what is refused changes nothing."""
    cluster = opened(directory)
    try:
        _take(cluster, *step)
    except KafkapyError:
        pass
    finally:
        cluster.close()


def _take(cluster: DirectoryCluster, name: str, value: int) -> None:
    if name.startswith("produce"):
        for partition in (COMPACTED, OLD):
            cluster.append(partition, encode_batch([Record(0, LONG_AGO, b"key", b"value")]), value)
            if name.endswith("roll"):
                with cluster.maintained(partition) as replicas:
                    for _, _, log in replicas:
                        log.roll(LONG_AGO)
    elif name == "advance":
        failures.advance(cluster, value * 20_000)
    elif name == "replicate":
        failures.replicate(cluster, until_caught_up=value == 2)
    elif name == "min.insync.replicas":
        for partition in (COMPACTED, OLD):
            cluster.apply(AlterConfigs(TOPIC, partition.topic, {name: str(value)}))
    else:
        broker = {"stop": failures.stop_broker, "kill": failures.kill_broker, "start": failures.start_broker}
        (broker.get(name) or failures.lag_broker)(cluster, value)


def done(directory: Path, wanted: Wanted) -> Iterator[Action]:
    cluster = opened(directory)
    try:
        yield from run(cluster, wanted)
    finally:
        cluster.close()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=2, max_size=8))
@example(steps=[("lag", 2), ("produce", 1), ("kill", 1)])
def test_the_plan_is_what_is_done(pristine: Path, steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as scratch:
        directory = Path(shutil.copytree(pristine, Path(scratch) / "cluster"))
        for step in steps:
            take(directory, step)
        wanted = Wanted(int(time.time() * 1000), "old|compacted")
        planned = list(plan(DirectoryReader(str(directory)), wanted))
        assert list(done(directory, wanted)) == planned


def test_what_a_lagging_broker_holds_back_is_not_planned(pristine: Path, tmp_path: Path) -> None:
    directory = Path(shutil.copytree(pristine, tmp_path / "cluster"))
    wanted = Wanted(int(time.time() * 1000), "old")
    take(directory, ("produce and roll", -1))
    take(directory, ("lag", 3))
    take(directory, ("produce and roll", 1))

    def planned() -> list[tuple[str, tuple[int, ...]]]:
        return [(each.task.name, each.brokers) for each in plan(DirectoryReader(str(directory)), wanted)]

    assert planned() == [("0", (1, 2, 3))], "the second is not committed"
    take(directory, ("advance", 2))
    assert planned() == [("0", (1, 2, 3)), ("1", (1, 2))], "without the one that lags it is"


def test_simulated_time_counts(pristine: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A day that 'cluster advance' has let pass is a day for retention, too."""
    directory = Path(shutil.copytree(pristine, tmp_path / "cluster"))
    cluster = opened(directory)
    cluster.apply(AlterConfigs(TOPIC, "old", {"retention.ms": "86400000"}))
    cluster.append(OLD, encode_batch([Record(0, cluster.now, None, b"today")]))
    with cluster.maintained(OLD) as replicas:
        for _, _, log in replicas:
            log.roll(cluster.now)
    cluster.close()
    args = ("maintenance", "--cluster", directory, "--topic", "old")
    assert kafkapy(capfd, *args, "--dry-run").out == "Nothing is due.\n"
    assert kafkapy(capfd, "cluster", "advance", "--ms", "86400001", "--cluster", directory).code == 0
    assert "delete segment 0" in kafkapy(capfd, *args, "--dry-run").out
    assert "segment 0" in kafkapy(capfd, *args).out
