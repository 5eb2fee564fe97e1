"""Brokers of a cluster directory that fail: each broker's files are its own, and nothing that was acknowledged goes."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.cluster import LATEST
from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.cluster_status import ClusterStatus
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.failures import (
    NOT_ON_LEADER,
    UNFLUSHED,
    Lost,
    advance,
    kill_broker,
    lag_broker,
    replicate,
    start_broker,
    stop_broker,
)
from kafkapy.backends.maintenance import Wanted, run
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AddBroker, AlterConfigs, CreateTopic, DeleteTopic, Reassign
from kafkapy.metadata.image import TOPIC
from tests.backends.contract import NOW, batch, metadata_logs, opened, replica_logs, values
from tests.backends.three_brokers import MARK, P0, do, make_three_brokers
from tests.backends.three_brokers import produce as append
from tests.faults import FaultyFiles, Killed


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_three_brokers(tmp_path_factory.mktemp("pristine") / "cluster", topics={"t": (1, 2, 3)}, elr=0)


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


def produce(directory: Path, value: bytes, acks: int = -1) -> None:
    do(directory, append, value, acks)


def state(directory: Path) -> tuple[int, int, tuple[int, ...]]:
    registration = DirectoryReader(str(directory)).image().topics["t"].partitions[0]
    return registration.leader, registration.leader_epoch, registration.isr


def cells(directory: Path) -> dict[int, tuple[int | None, int | None]]:
    """Log end and high watermark of each replica."""
    (partition,) = ClusterStatus(str(directory)).partitions("t")
    return {each.broker_id: (each.log_end_offset, each.high_watermark) for each in partition.replicas}


def read(directory: Path) -> list[bytes | None]:
    return values(DirectoryReader(str(directory)), P0)


# ---- stopping and starting


def test_a_stopped_broker_is_not_touched_and_comes_back(directory: Path) -> None:
    (moved,) = do(directory, stop_broker, 1)
    assert (moved.leader_before, moved.leader, moved.isr) == (1, 2, (2, 3))
    assert read_cluster_file(str(directory)).states[1].state == "stopped"
    before = {path: path.read_bytes() for path in (directory / "broker-1").rglob("*") if path.is_file()}
    produce(directory, b"c")
    assert cells(directory) == {1: (2, 2), 2: (3, 3), 3: (3, 3)}
    after = {path: path.read_bytes() for path in (directory / "broker-1").rglob("*") if path.is_file()}
    assert {path for path in before if before[path] != after[path]} <= {
        path for path in before if path.parent.name == "__cluster_metadata-0"
    }
    assert (directory / "broker-1" / MARK).exists()
    assert do(directory, start_broker, 1) == []
    assert state(directory) == (2, 1, (2, 3))
    do(directory, replicate)
    assert (cells(directory)[1], state(directory)) == ((3, 3), (2, 1, (2, 3))), "the leader does not know it yet"
    do(directory, replicate)
    assert state(directory) == (2, 1, (1, 2, 3))
    assert len(replica_logs(directory, P0)) == len(metadata_logs(directory)) == 1


def test_the_last_in_sync_replica_takes_the_partition_with_it(directory: Path) -> None:
    do(directory, stop_broker, 1)
    do(directory, stop_broker, 2)
    produce(directory, b"c")
    do(directory, kill_broker, 3)
    assert state(directory) == (-1, 3, (3,))
    do(directory, start_broker, 1)
    for attempt in (lambda: produce(directory, b"d"), lambda: read(directory)):
        with pytest.raises(KafkaError) as error:
            attempt()
        assert error.value.name == "LeaderNotAvailableException"
        assert error.value.hint == (
            "no election is under way: brokers 2, 3 do not run; 'kafkapy cluster start-broker 3' starts one that may "
            "lead, 'kafkapy cluster status' shows all"
        )
    do(directory, start_broker, 3)
    assert state(directory) == (3, 4, (3,))
    assert read(directory) == [b"a", b"b", b"c"]
    produce(directory, b"d")
    do(directory, replicate, True)
    assert state(directory) == (3, 4, (1, 3))


def test_an_unclean_election_only_where_it_is_allowed(directory: Path) -> None:
    do(directory, stop_broker, 2)
    do(directory, stop_broker, 3)
    produce(directory, b"lost")
    config = AlterConfigs(TOPIC, "t", {"unclean.leader.election.enable": "true"})
    do(directory, lambda cluster: cluster.apply(config))
    do(directory, kill_broker, 1)
    do(directory, start_broker, 2)
    assert state(directory)[::2] == (2, (2,))
    produce(directory, b"other")
    do(directory, start_broker, 1)
    do(directory, start_broker, 3)
    do(directory, replicate, True)
    assert read(directory) == [b"a", b"b", b"other"]
    assert len(replica_logs(directory, P0)) == 1


def test_a_killed_broker_has_no_mark_and_may_lose_what_it_did_not_flush(directory: Path) -> None:
    do(directory, stop_broker, 2)
    do(directory, start_broker, 2)
    do(directory, replicate, True)
    produce(directory, b"c")
    assert Lost(P0, 2, 3, 2, UNFLUSHED) in do(directory, kill_broker, 2, True)
    assert not (directory / "broker-2" / MARK).exists()
    assert cells(directory) == {1: (3, 3), 2: (2, 2), 3: (3, 3)}, "what was there at its stop was synced"
    do(directory, kill_broker, 3, True)
    assert cells(directory)[3] == (0, 0), "a broker that never stopped has synced nothing of its active segment"
    do(directory, start_broker, 2)
    do(directory, start_broker, 3)
    do(directory, replicate, True)
    assert state(directory)[2] == (1, 2, 3)
    assert cells(directory) == dict.fromkeys((1, 2, 3), (3, 3))
    assert len(list(directory.glob(f"broker-*/{MARK}"))) == 3


def test_a_killed_broker_loses_nothing_unless_asked(directory: Path) -> None:
    do(directory, kill_broker, 2)
    assert cells(directory)[2] == (2, 2)


def test_what_only_a_dead_leader_had_is_cut_off_when_it_is_back(directory: Path) -> None:
    do(directory, lag_broker, 2)
    do(directory, lag_broker, 3)
    produce(directory, b"unacknowledged", acks=1)
    assert cells(directory) == {1: (3, 2), 2: (2, 2), 3: (2, 2)}
    assert read(directory) == [b"a", b"b"], "consumers read up to the high watermark"
    assert DirectoryReader(str(directory)).offset(P0, LATEST) == 2
    do(directory, kill_broker, 1)
    do(directory, start_broker, 2)
    do(directory, start_broker, 3)
    produce(directory, b"c")
    lost = do(directory, start_broker, 1)
    assert cells(directory)[1] == (2, 2)
    assert lost == [Lost(P0, 1, 3, 2, NOT_ON_LEADER)]
    do(directory, replicate, True)
    assert read(directory) == [b"a", b"b", b"c"]
    assert len(replica_logs(directory, P0)) == 1


# ---- lagging


def test_a_lagging_broker_holds_acks_all_until_its_time_is_over(directory: Path) -> None:
    do(directory, lag_broker, 3)
    with pytest.raises(KafkaError) as error:
        produce(directory, b"c")
    assert error.value.name == "TimeoutException"
    assert "it was appended to t-0 on the leader, broker 1, but broker 3, in its ISR, lags" in str(error.value)
    assert "'kafkapy cluster start-broker 3'" in str(error.value)
    assert "advance --ms 30001" in str(error.value)
    assert cells(directory) == {1: (3, 2), 2: (3, 2), 3: (2, 2)}
    assert do(directory, advance, 30_000) == []
    (moved,) = do(directory, advance, 1)
    assert moved.isr == (1, 2)
    assert cells(directory) == {1: (3, 3), 2: (3, 3), 3: (2, 2)}
    produce(directory, b"d")
    do(directory, start_broker, 3)
    do(directory, replicate, True)
    assert state(directory) == (1, 0, (1, 2, 3))
    assert read_cluster_file(str(directory)).clock_offset_ms == 30_001


def test_who_lags_too_long_does_not_join_again_without_a_fetch(directory: Path) -> None:
    """Also where it has all that is committed, since too few are in sync for more: it went out and in without end."""
    do(directory, lambda cluster: cluster.apply(AlterConfigs(TOPIC, "t", {"min.insync.replicas": "2"})))
    do(directory, stop_broker, 3)
    do(directory, lag_broker, 2)
    do(directory, advance, 30_001)
    with pytest.raises(KafkaError, match="timed out") as error:
        produce(directory, b"1")
    assert "its ISR has 1 of the 2 replicas that min.insync.replicas requires" in str(error.value)
    assert "'kafkapy cluster start-broker 2' or 'kafkapy cluster start-broker 3'" in str(error.value)
    assert state(directory)[2] == (1,)
    assert cells(directory) == {1: (3, 2), 2: (2, 2), 3: (2, 2)}
    do(directory, start_broker, 2)
    do(directory, replicate, True)
    assert sorted(state(directory)[2]) == [1, 2]
    assert cells(directory)[2] == (3, 3)


def test_a_leader_that_lags_goes_on_leading(directory: Path) -> None:
    assert do(directory, lag_broker, 1) == [], "nothing waits for a broker that only leads"
    produce(directory, b"c")
    assert cells(directory) == dict.fromkeys((1, 2, 3), (3, 3))
    assert do(directory, advance, 60_000) == []
    produce(directory, b"d")
    assert state(directory) == (1, 0, (1, 2, 3))


def test_a_follower_that_fetches_again_lets_the_high_watermark_go_on(directory: Path) -> None:
    assert do(directory, lag_broker, 3) == [P0]
    produce(directory, b"c", acks=1)
    assert cells(directory)[1] == (3, 2)
    assert do(directory, start_broker, 3) == []
    assert cells(directory) == dict.fromkeys((1, 2, 3), (3, 3))


def test_what_replicate_cuts_off_is_told(directory: Path) -> None:
    config = AlterConfigs(TOPIC, "t", {"unclean.leader.election.enable": "true"})
    do(directory, lambda cluster: cluster.apply(config))
    do(directory, stop_broker, 2)
    do(directory, stop_broker, 3)
    produce(directory, b"c")
    produce(directory, b"d")
    do(directory, kill_broker, 1)
    (moved,) = do(directory, start_broker, 2)
    assert moved.is_unclean
    for value in (b"C", b"D"):
        produce(directory, value)
    cluster = opened(directory, files=Files(sync=False))
    cluster.open_broker(1)
    cluster.set_state(1, "running")
    cluster.apply(AddBroker(1, unclean=True))
    cluster.replicas.refresh()
    (done,) = replicate(cluster, True)
    cluster.close()
    assert (done.log_end_offset_before, done.log_end_offset) == (4, 4)
    assert (done.truncated_from, done.truncated_to) == (4, 2)


def test_retention_stops_at_the_high_watermark(directory: Path) -> None:
    def maintain(cluster: DirectoryCluster) -> set[int]:
        return {broker_id for action in run(cluster, Wanted(NOW + 10**10, "t")) for broker_id in action.brokers}

    do(directory, lag_broker, 2)
    do(directory, lag_broker, 3)
    produce(directory, b"c", acks=1)
    assert do(directory, maintain) == {2, 3}, "broker 1 has a record that is not committed"
    do(directory, start_broker, 2)
    do(directory, start_broker, 3)
    do(directory, replicate, True)
    assert do(directory, maintain) == {1, 2, 3}
    assert read(directory) == []


# ---- acks


def test_min_insync_replicas_refuses_acks_all_and_nothing_else(directory: Path) -> None:
    do(directory, lambda cluster: cluster.apply(AlterConfigs(TOPIC, "t", {"min.insync.replicas": "2"})))
    do(directory, stop_broker, 2)
    produce(directory, b"c")
    do(directory, stop_broker, 3)
    with pytest.raises(KafkaError) as error:
        produce(directory, b"refused")
    assert error.value.name == "NotEnoughReplicasException"
    produce(directory, b"d", acks=1)
    assert cells(directory)[1] == (4, 3), "the high watermark stands still"
    assert read(directory) == [b"a", b"b", b"c"]
    do(directory, start_broker, 2)
    do(directory, replicate, True)
    assert read(directory) == [b"a", b"b", b"c", b"d"]


@pytest.mark.parametrize("acks", [0, 1])
def test_without_acks_all_followers_fetch_at_the_next_flush(directory: Path, acks: int) -> None:
    cluster = opened(directory, files=Files(sync=False))
    cluster.append(P0, batch(b"c"), acks)
    assert len(replica_logs(directory, P0)) == 2
    assert values(cluster, P0) == [b"a", b"b"]
    cluster.flush()
    assert len(replica_logs(directory, P0)) == 1
    assert values(cluster, P0) == [b"a", b"b", b"c"]
    cluster.close()


# ---- what changes while a broker is away


def test_topics_that_came_and_went_while_a_broker_was_away(directory: Path) -> None:
    do(directory, stop_broker, 3)
    do(directory, lambda cluster: cluster.apply(CreateTopic("new", assignments=((3, 1),)), DeleteTopic("t")))
    do(directory, lambda cluster: cluster.append(TopicPartition("new", 0), batch(b"x")))
    assert (directory / "broker-3" / "t-0").is_dir()
    assert not (directory / "broker-3" / "new-0").exists()
    cluster = opened(directory, files=Files(sync=False))
    start_broker(cluster, 3)
    cluster.close()
    assert any("set aside as t-0." in line for line in cluster.recovered)
    do(directory, replicate, True)
    assert len(replica_logs(directory, TopicPartition("new", 0))) == 1


def test_a_replica_that_is_added_is_copied_and_one_that_is_removed_goes(directory: Path) -> None:
    do(directory, lambda cluster: cluster.apply(CreateTopic("moving", assignments=((1, 2),))))
    moving = TopicPartition("moving", 0)
    do(directory, lambda cluster: cluster.append(moving, batch(b"x")))
    do(directory, lambda cluster: cluster.apply(Reassign("moving", 0, (1, 3))))
    do(directory, replicate, True)
    registration = DirectoryReader(str(directory)).image().topics["moving"].partitions[0]
    assert (registration.replicas, registration.isr, registration.is_reassigning) == ((1, 3), (1, 3), False)
    assert sorted(path.parent.name for path in directory.glob("broker-*/moving-0")) == ["broker-1", "broker-3"]
    assert len(replica_logs(directory, moving)) == 1


# ---- refusals


@pytest.mark.parametrize("work", [stop_broker, kill_broker, lag_broker, start_broker])
def test_a_broker_that_is_not_there(directory: Path, work: Callable[..., object]) -> None:
    with pytest.raises(KafkapyError, match="there is no broker 9; there are 1, 2, 3"):
        do(directory, work, 9)


def test_what_is_so_already(directory: Path) -> None:
    with pytest.raises(KafkapyError, match="broker 1 is already running"):
        do(directory, start_broker, 1)
    do(directory, stop_broker, 1)
    for work in (stop_broker, kill_broker, lag_broker):
        with pytest.raises(KafkapyError, match="broker 1 is already stopped: start it first"):
            do(directory, work, 1)


# ---- killed anywhere


@pytest.mark.parametrize("work", [stop_broker, kill_broker, start_broker], ids=lambda work: work.__name__)
def test_killed_in_between_the_next_command_finds_a_whole_cluster(
    directory: Path, tmp_path: Path, work: Callable[[DirectoryCluster, int], object]
) -> None:
    if work is start_broker:
        do(directory, kill_broker, 1)
    kill_at = 0
    while True:
        target = Path(shutil.copytree(directory, tmp_path / f"killed-{kill_at}"))
        files = FaultyFiles(kill_at)
        files.sync = False
        try:
            cluster = opened(target, files=files)
            work(cluster, 1)
            cluster.close()
            break
        except Killed:
            files.close()
        produce(target, b"c")
        leader, _, isr = state(target)
        alive = read_cluster_file(str(target)).states.alive
        assert leader in isr
        assert set(isr) <= alive
        assert read(target) == [b"a", b"b", b"c"]
        if 1 not in alive:
            do(target, start_broker, 1)
        do(target, replicate, True)
        assert len(replica_logs(target, P0)) == 1
        assert set(state(target)[2]) == {1, 2, 3}
        shutil.rmtree(target)
        kill_at += 1
    assert kill_at > 5


def test_a_start_after_a_crash_that_is_killed_in_between_leaves_the_lead_to_who_lost_nothing(tmp_path: Path) -> None:
    directory = make_three_brokers(tmp_path / "cluster", topics={"t": (1, 2, 3)}, elr=1)
    do(directory, DirectoryCluster.apply, AlterConfigs(TOPIC, "t", {"min.insync.replicas": "2"}))
    do(directory, kill_broker, 3)
    do(directory, stop_broker, 2)
    do(directory, kill_broker, 1, True)
    kill_at, is_done = 0, False
    while not is_done:
        target = Path(shutil.copytree(directory, tmp_path / f"killed-{kill_at}"))
        files = FaultyFiles(kill_at)
        files.sync = False
        try:
            cluster = opened(target, files=files)
            start_broker(cluster, 1)
            cluster.close()
            is_done = True
        except Killed:
            files.close()
        do(target, DirectoryCluster.flush)
        if 1 not in read_cluster_file(str(target)).states.alive:
            do(target, start_broker, 1)
        do(target, start_broker, 2)
        assert state(target)[0] == 2
        assert read(target) == [b"a", b"b"]
        shutil.rmtree(target)
        kill_at += 1
    assert kill_at > 5


# ---- interrupted anywhere


class InterruptedFiles(Files):
    """Ctrl-C comes with the next operation on a file whose name ends with what is ``due``, as often as ``times``."""

    due = ""
    times = 1

    def append(self, path: str, data: bytes | bytearray | memoryview) -> None:
        self._interrupt(path)
        super().append(path, data)

    def write_atomic(self, path: str, data: bytes) -> None:
        self._interrupt(path)
        super().write_atomic(path, data)

    def fsync(self, path: str) -> None:
        self._interrupt(path)
        super().fsync(path)

    def _interrupt(self, path: str) -> None:
        if self.due and path.endswith(self.due):
            self.due = ""
            for _ in range(self.times):
                signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_write_that_it_comes_into(directory: Path) -> None:
    files = InterruptedFiles(sync=False)
    cluster = opened(directory, files=files)
    for work in (
        lambda: cluster.append(P0, batch(b"c")),
        lambda: cluster.apply(AlterConfigs(TOPIC, "t", {"retention.ms": "-1"})),
    ):
        files.due = ".log"
        with pytest.raises(KeyboardInterrupt):
            work()
    cluster.append(P0, batch(b"d"))
    cluster.close()
    assert read(directory) == [b"a", b"b", b"c", b"d"]
    assert DirectoryReader(str(directory)).image().config(TOPIC, "t") == {"retention.ms": "-1"}


def test_an_interrupt_waits_until_groups_have_forgotten_a_deleted_topic(directory: Path) -> None:
    files = InterruptedFiles(sync=False)
    cluster = opened(directory, files=files)
    cluster.groups().offset_manager.commit("g", {P0: OffsetAndMetadata(1)})
    files.due = ".log"
    with pytest.raises(KeyboardInterrupt):
        cluster.apply(DeleteTopic("t"))
    cluster.close()
    assert "t" not in DirectoryReader(str(directory)).image().topics
    assert DirectoryReader(str(directory)).groups().store.offsets("g") == {}


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_while_a_broker_loses_what_it_had_does_not_cost_the_others_theirs(
    directory: Path, times: int
) -> None:
    files = InterruptedFiles(sync=False)
    cluster = opened(directory, files=files)
    kill_broker(cluster, 3, lose_unflushed=True)
    files.due, files.times = "t-0/00000000000000000000.log", times
    with pytest.raises(KeyboardInterrupt):
        kill_broker(cluster, 1, lose_unflushed=True)
    cluster.close()
    opened(directory).close()
    assert state(directory)[::2] == (2, (2,))
    assert read(directory) == [b"a", b"b"]


def test_an_interrupt_waits_until_a_broker_has_stopped_and_until_one_has_started(directory: Path) -> None:
    files = InterruptedFiles(sync=False)
    cluster = opened(directory, files=files)
    for work, due in ((stop_broker, ".log"), (start_broker, "cluster.yaml")):
        files.due = due
        with pytest.raises(KeyboardInterrupt):
            work(cluster, 1)
        assert cluster.brokers[1].is_alive == (work is start_broker)
    for broker_id in (2, 3):
        kill_broker(cluster, broker_id)
    kill_broker(cluster, 1)
    files.due = "cluster.yaml"
    with pytest.raises(KeyboardInterrupt):
        start_broker(cluster, 3)
    cluster.close()
    assert state(directory)[::2] == (3, (3,))
