"""Reassignments of a cluster directory: data is copied and removed, and killed anywhere nothing of it is lost.

The invariants: of every partition all records can be read at every step; the leader is in the ISR, the ISR among the
replicas, and never smaller than it was or is to be; executed again, an interrupted plan is completed; and the rollback
file brings back exactly the replicas, log dirs and records that there were.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafkapy.backends.cluster_layout import cluster_layout
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.failures import kill_broker, lag_broker, replicate, start_broker, stop_broker
from kafkapy.backends.log_dir_moves import moves_under_way
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.plan_execution import Begun, Completed, HowToExecute, execute, in_parts
from kafkapy.backends.reassigning import cancel, check, check_accepted, play, start
from kafkapy.backends.rollback_file import keep_rollback_file
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AlterConfigs, CreateTopic, Reassign, RemoveBroker
from kafkapy.metadata.image import TOPIC
from kafkapy.metadata.reassignment.reassignment_json import Reassignment, parse_reassignment
from kafkapy.metadata.reassignment.under_way import reassignments_under_way
from tests.backends.contract import batch, log_dirs, marks, opened, values
from tests.faults import FaultyFiles, Killed

BROKERS = (1, 2, 3, 4)
A0, B0, C0 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("c", 0)
BEFORE = {A0: (1, 2), B0: (3,), C0: (2, 3, 1)}
KEEP = Files(sync=False)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # an example takes a third of a second


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four brokers with two log dirs each; one log begins in the middle of a batch."""
    directory = tmp_path_factory.mktemp("pristine") / "cluster"
    make_cluster(str(directory), 4, files=KEEP, log_dirs_per_broker=2)
    cluster = opened(directory, files=KEEP)
    cluster.apply(
        CreateTopic("a", assignments=(BEFORE[A0],)),
        CreateTopic("b", assignments=(BEFORE[B0],)),
        CreateTopic("c", assignments=(BEFORE[C0],)),
    )
    for number in range(6):
        cluster.append(A0, batch(b"%d" % number * 9, b"x" * (number % 3)))
        cluster.append(B0, batch(b"b%d" % number, b"b", b"c"))
    cluster.append(C0, batch(b"only"))
    cluster.delete_records(B0, 4)
    cluster.close()
    return directory


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


def plans() -> st.SearchStrategy[dict[TopicPartition, list[tuple[int, int]]]]:
    """For some partitions the brokers of their replicas, each with the number of a log dir, 0 for any."""
    replicas = st.permutations(BROKERS).flatmap(
        lambda order: st.tuples(
            st.integers(1, 3), st.lists(st.integers(0, 2), min_size=4, max_size=4)
        ).map(lambda drawn: list(zip(order, drawn[1], strict=True))[: drawn[0]])
    )  # fmt: skip
    return st.dictionaries(st.sampled_from([A0, C0, B0]), replicas, min_size=1)


def named(directory: Path, drawn: dict[TopicPartition, list[tuple[int, int]]]) -> Reassignment:
    paths = {1: "broker-{}", 2: "broker-{}-2"}
    return Reassignment(
        {partition: tuple(broker for broker, _ in replicas) for partition, replicas in drawn.items()},
        {
            (partition, broker): str(directory / paths[number].format(broker))
            for partition, replicas in drawn.items()
            for broker, number in replicas
            if number
        },
    )


def run(cluster: DirectoryCluster, directory: Path, plan: Reassignment, batch_size: int | None = None) -> Path:
    """What the command does: checks, the rollback file, all parts; the file."""
    check(cluster, plan)
    check_accepted(cluster, plan.replicas)
    path = str(directory.parent / "plan.json")
    kept = keep_rollback_file(cluster.image(), cluster.replica_control().places().current, plan, path)
    for _ in execute(
        cluster.replica_control(),
        in_parts(cluster_layout(cluster), plan, batch_size),
        HowToExecute(True),
        lambda _: None,
    ):
        pass
    return Path(kept.path)


def layout(directory: Path) -> dict[str, Any]:
    """Where every replica lies, by the metadata and by what is there."""
    reader = log_dirs(directory)
    image = reader.image()
    return {
        "replicas": {str(p): image.topics[p.topic].partitions[p.partition].replicas for p in BEFORE},
        "isr": {str(p): sorted(image.topics[p.topic].partitions[p.partition].isr) for p in BEFORE},
        "log_dirs": sorted(
            (str(p), broker, path) for (p, broker), path in reader.replica_control().places().current.items()
        ),
        "named": sorted(path.name for path in directory.glob("broker-*/*-*") if path.is_dir() and "." in path.name),
        "assigned": {str(p): dict(zip(r.replicas, r.directories, strict=True)) for p, r in registrations(reader)},
    }


def registrations(cluster: Any) -> Iterator[tuple[TopicPartition, Any]]:
    image = cluster.image()
    return ((p, image.topics[p.topic].partitions[p.partition]) for p in BEFORE)


def data(directory: Path) -> dict[str, list[bytes | None]]:
    """All records, as who only reads sees them."""
    reader = log_dirs(directory)
    return {str(partition): values(reader, partition) for partition in BEFORE}


def copies(directory: Path, partition: TopicPartition) -> dict[str, list[bytes | None]]:
    """The records of each replica by itself."""
    return {
        path.name: values(LogDirsCluster(str(path)), partition)
        for path in directory.glob("broker-*")
        if (path / str(partition)).exists()
    }


def check_states(cluster: DirectoryCluster, plan: Reassignment) -> None:
    """What must hold of the metadata at every step."""
    for partition, found in registrations(cluster):
        target = plan.replicas.get(partition, BEFORE[partition])
        assert found.leader in found.isr
        assert set(found.isr) <= set(found.replicas) <= {*BEFORE[partition], *target}
        assert len(found.isr) >= min(len(BEFORE[partition]), len(target)), partition
        assert len(found.directories) == len(found.replicas)


def check_done(directory: Path, plan: Reassignment, records: dict[str, list[bytes | None]]) -> None:
    found = layout(directory)
    wanted = BEFORE | plan.replicas
    assert found["replicas"] == {str(p): wanted[p] for p in BEFORE}
    assert found["isr"] == {str(p): sorted(wanted[p]) for p in BEFORE}
    assert sorted((p, broker) for p, broker, _ in found["log_dirs"]) == sorted(
        (str(p), broker) for p in BEFORE for broker in wanted[p]
    ), "no directory too many, none missing"
    for (partition, broker), path in plan.log_dirs.items():
        assert (str(partition), broker, path) in found["log_dirs"]
    assert data(directory) == records
    for partition in BEFORE:
        assert all(each == records[str(partition)] for each in copies(directory, partition).values())
    ids = {str(path.parent): line for path in directory.glob("broker-*/meta.properties") for line in [path.read_text()]}
    for name, assigned in found["assigned"].items():
        for broker, where in assigned.items():
            path = next(path for p, b, path in found["log_dirs"] if (p, b) == (name, broker))
            assert f"directory.id={where}" in ids[path], "the metadata has the log dir"


@settings(max_examples=20, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(drawn=plans(), batch_size=st.sampled_from([None, 1, 2]))
def test_a_plan_is_executed_and_taken_back(
    pristine: Path, tmp_path_factory: pytest.TempPathFactory, drawn: Any, batch_size: int | None
) -> None:
    directory = Path(shutil.copytree(pristine, tmp_path_factory.mktemp("run") / "cluster"))
    before, records, plan = layout(directory), data(directory), named(directory, drawn)
    cluster = opened(directory, files=KEEP)
    rollback = run(cluster, directory, plan, batch_size)
    assert reassignments_under_way(cluster.image()) == {}
    check_states(cluster, plan)
    cluster.close()
    check_done(directory, plan, records)
    cluster = opened(directory, files=KEEP)
    assert cluster.recovered == []
    run(cluster, directory, parse_reassignment(rollback.read_text()))
    cluster.close()
    assert layout(directory) == before
    assert data(directory) == records
    shutil.rmtree(directory.parent)


@settings(max_examples=50, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(drawn=plans(), where=st.floats(0, 1, exclude_max=True), seed=st.integers(0, 99), power_cut=st.booleans())
def test_killed_anywhere_it_goes_on_and_can_be_taken_back(
    pristine: Path,
    tmp_path_factory: pytest.TempPathFactory,
    drawn: Any,
    where: float,
    seed: int,
    power_cut: bool,
) -> None:
    scratch = tmp_path_factory.mktemp("killed")
    directory = Path(shutil.copytree(pristine, scratch / "cluster"))
    before, records, plan = layout(directory), data(directory), named(directory, drawn)
    files = FaultyFiles(operations(pristine, scratch, drawn, where), Random(seed))
    killed(directory, plan, files)
    if power_cut:
        files.lose_unsynced()
        files.close()
    again = opened(directory, files=KEEP)
    check_states(again, plan)
    assert {str(p): values(again, p) for p in BEFORE} == records
    rollback = run(again, directory, plan)
    assert reassignments_under_way(again.image()) == {}
    again.close()
    assert marks(directory) == 8
    check_done(directory, plan, records)
    last = opened(directory, files=KEEP)
    assert last.recovered == [], "recovery is done once"
    run(last, directory, parse_reassignment(rollback.read_text()))
    last.close()
    assert without_strays(layout(directory)) == without_strays(before)
    assert data(directory) == records
    shutil.rmtree(scratch)


def without_strays(found: dict[str, Any]) -> dict[str, Any]:
    """Who was removed when the process was killed is set aside, as by a broker at its start."""
    assert not [name for name in found["named"] if not name.endswith("-stray")]
    return {name: each for name, each in found.items() if name != "named"}


def operations(pristine: Path, scratch: Path, drawn: Any, where: float) -> int:
    """An operation at this part of a whole run."""
    directory = Path(shutil.copytree(pristine, scratch / "counted" / "cluster"))
    files = FaultyFiles()
    cluster = opened(directory, files=files)
    run(cluster, directory, named(directory, drawn), 1)
    cluster.close()
    return int(files.operations * where)


def killed(directory: Path, plan: Reassignment, files: FaultyFiles) -> None:
    with suppress(Killed):
        cluster = opened(directory, files=files)
        run(cluster, directory, plan, 1)
        cluster.close()


# ---- the states on the way


def test_replicas_are_added_catch_up_and_replace_the_old(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    start(cluster, Reassignment({A0: (4, 3)}, {}))
    found = cluster.places.registration(A0)
    assert (found.replicas, found.adding_replicas, found.removing_replicas) == ((4, 3, 1, 2), (3, 4), (1, 2))
    assert (found.isr, found.leader) == ((1, 2), 1)
    cluster.close()
    assert reassignments_under_way(log_dirs(directory).image()).keys() == {A0}
    cluster = opened(directory, files=KEEP)
    cluster.append(A0, batch(b"meanwhile"))
    cluster.flush()
    assert cluster.places.registration(A0).isr == (1, 2), "who is being added only fetches when brokers replicate"
    assert play(cluster, [A0]) == {}
    found = cluster.places.registration(A0)
    assert (found.replicas, found.adding_replicas, found.removing_replicas) == ((4, 3), (), ())
    assert (set(found.isr), found.leader) == ({3, 4}, 4)
    cluster.append(A0, batch(b"after"))
    cluster.close()
    assert not list(directory.glob("broker-[12]*/a-0*"))
    assert data(directory)["a-0"][-2:] == [b"meanwhile", b"after"]
    assert len({tuple(each) for each in copies(directory, A0).values()}) == 1


def test_replicate_completes_what_was_only_started(directory: Path) -> None:
    records = data(directory)
    cluster = opened(directory, files=KEEP)
    start(cluster, Reassignment({A0: (4,), B0: (1, 2)}, {}))
    replicate(cluster, until_caught_up=True)
    assert reassignments_under_way(cluster.image()) == {}
    cluster.close()
    assert data(directory) == records
    assert layout(directory)["replicas"] == {"a-0": (4,), "b-0": (1, 2), "c-0": BEFORE[C0]}


def test_a_broker_that_lags_holds_up_a_plan(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    lag_broker(cluster, 4)
    parts = [Reassignment({A0: (4, 1)}, {}), Reassignment({B0: (1,)}, {})]
    with pytest.raises(
        KafkapyError, match=r"1 of 1 reassignments cannot be completed now \(a-0: broker 4 is lagging\)"
    ):
        list(execute(cluster.replica_control(), parts, HowToExecute(True), lambda _: None))
    assert reassignments_under_way(cluster.image()).keys() == {A0}, "the next batch does not begin"
    start_broker(cluster, 4)
    told = execute(cluster.replica_control(), parts, HowToExecute(True), lambda _: None)
    assert [(type(each), each.part) for each in told] == [(Begun, 1), (Completed, 1), (Begun, 2), (Completed, 2)]
    assert reassignments_under_way(cluster.image()) == {}
    cluster.close()


def test_a_broker_that_is_down_is_none(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    stop_broker(cluster, 4)
    with pytest.raises(KafkaError, match="Unknown broker id 4"):
        check(cluster, Reassignment({A0: (4, 1)}, {}))
    start(cluster, Reassignment({A0: (4, 1)}, {}))
    assert play(cluster, [A0]) == {A0: "broker 4 is stopped"}
    start_broker(cluster, 4)
    assert play(cluster, [A0]) == {}
    kill_broker(cluster, 4)
    assert cluster.places.registration(A0).leader == 1
    cluster.close()


def test_what_brokers_left_half_way_when_they_stopped_goes_on(directory: Path) -> None:
    records = data(directory)
    cluster = opened(directory, files=KEEP)
    plan = Reassignment({B0: (4, 1)}, {})
    start(cluster, plan)
    cluster.apply(RemoveBroker(3))
    assert cluster.places.registration(B0).leader == -1
    cluster.close()
    cluster = opened(directory, files=KEEP)
    assert play(cluster, [B0]) == {}
    replicate(cluster, until_caught_up=True)
    cluster.close()
    check_done(directory, plan, records)


def test_cancelled_everything_is_as_before(directory: Path) -> None:
    before, records = layout(directory), data(directory)
    cluster = opened(directory, files=KEEP)
    start(cluster, Reassignment({A0: (4, 3), C0: (4,)}, {}))
    with cluster.replicating(A0) as replicated:
        replicated.fetch(4, cluster.now)
    cancel(cluster, [A0, C0])
    cluster.close()
    after = layout(directory)
    assert {name: sorted(each) for name, each in after.pop("replicas").items()} == {
        name: sorted(each) for name, each in before.pop("replicas").items()
    }
    assert after == before
    assert data(directory) == records


def test_another_plan_takes_over_what_is_under_way(directory: Path) -> None:
    """Kafka's controller would wait for ever for replica 4, which it removes."""
    cluster = opened(directory, files=KEEP)
    start(cluster, Reassignment({A0: (4, 3)}, {}))
    plan = Reassignment({A0: (3, 1)}, {})
    with pytest.raises(KafkaError, match="Use --additional"):
        check(cluster, plan)
    check(cluster, plan, additional=True)
    check(cluster, Reassignment({A0: (4, 3), B0: (1,)}, {}))
    start(cluster, plan)
    assert play(cluster, [A0]) == {}
    cluster.close()
    check_done(directory, plan, data(directory))


def test_a_plan_that_cannot_replace_another_is_refused(directory: Path) -> None:
    """Who was in sync is gone, so that what is under way cannot be taken back; Kafka's controller would keep parts."""
    cluster = opened(directory, files=KEEP)
    start(cluster, Reassignment({B0: (1, 4)}, {}))
    with cluster.replicating(B0) as replicated:
        replicated.catch_up(cluster.now, [4])
    assert cluster.places.registration(B0).isr == (3, 4)
    kill_broker(cluster, 3)
    with pytest.raises(KafkaError, match=r"to 1,4, cannot be taken back while none of 3 is in sync.* broker 1 "):
        check_accepted(cluster, {B0: (4,)})
    check_accepted(cluster, {B0: (4, 1)})
    with pytest.raises(KafkaError, match=r"the controller would remove 3\. Bring one of 3 into the ISR first"):
        check_accepted(cluster, {B0: (1, 4, 3)})
    check_accepted(cluster, {B0: (2, 4)})
    cluster.close()


# ---- between log dirs


def test_a_move_between_log_dirs_is_begun_goes_on_and_is_given_up(directory: Path) -> None:
    before = layout(directory)
    path = {(p, b): d for p, b, d in before["log_dirs"]}["a-0", 1]
    other = next(str(each) for each in directory.glob("broker-1*") if str(each) != path)
    plan = Reassignment({A0: BEFORE[A0]}, {(A0, 1): other})
    cluster = opened(directory, files=KEEP)
    start(cluster, plan)
    assert moves_under_way(cluster) == {A0}
    cluster.close()
    assert log_dirs(directory).replica_control().places().future == {(A0, 1): other}
    cluster = opened(directory, files=KEEP)
    assert list(cluster.replica_control().begin_log_dir_moves({(A0, 1): path}, 0)) == [{(A0, 1): path}]
    cluster.close()
    assert layout(directory) == before
    cluster = opened(directory, files=KEEP)
    start(cluster, plan)
    cluster.append(A0, batch(b"meanwhile"))
    replicate(cluster, until_caught_up=True)
    assert moves_under_way(cluster) == set()
    cluster.append(A0, batch(b"after"))
    cluster.close()
    check_done(directory, plan, data(directory))
    assert data(directory)["a-0"][-2:] == [b"meanwhile", b"after"]


def test_killed_at_any_operation_the_only_replica_is_in_one_log_dir_or_the_other(
    pristine: Path, tmp_path: Path
) -> None:
    outcomes = set()
    for kill_at in range(1000):
        directory = Path(shutil.copytree(pristine, tmp_path / str(kill_at) / "cluster"))
        here = next(path.parent.name for path in directory.glob("broker-3*/b-0"))
        other = {"broker-3": "broker-3-2", "broker-3-2": "broker-3"}[here]
        plan, records = Reassignment({B0: (3,)}, {(B0, 3): str(directory / other)}), data(directory)
        files = FaultyFiles(rng=Random(kill_at))
        cluster = opened(directory, files=files)
        files.kill_after(kill_at)
        with suppress(Killed):
            run(cluster, directory, plan)
            break
        files.lose_unsynced()
        again = opened(directory, files=KEEP)
        assert values(again, B0) == records["b-0"], f"killed at {kill_at}"
        outcomes.add(
            (moves_under_way(again) == {B0}, again.replica_control().places().current[B0, 3] == str(directory / other))
        )
        run(again, directory, plan)
        again.close()
        check_done(directory, plan, records)
        shutil.rmtree(directory.parent)
    assert outcomes == {(False, False), (True, False), (False, True)}, "never both, never none"


def test_a_log_dir_that_is_none_is_refused(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    with pytest.raises(KafkaError, match="Failed to alter dir for a-0-1: Log dir /nowhere is not found in the config"):
        check(cluster, Reassignment({A0: (1, 2)}, {(A0, 1): "/nowhere"}))
    cluster.close()


def test_new_partitions_go_where_there_are_fewest(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    cluster.apply(CreateTopic("many", assignments=((4,),) * 6))
    cluster.close()
    assert [len(list(path.glob("many-*"))) for path in sorted(directory.glob("broker-4*"))] == [3, 3]
    assert layout(directory)["named"] == []
    image = log_dirs(directory).image()
    assigned = [each.directories[0] for each in image.topics["many"].partitions.values()]
    assert sorted(assigned.count(each) for each in set(assigned)) == [3, 3]


# ---- refused


def test_a_plan_is_refused_as_a_whole(directory: Path) -> None:
    cluster = opened(directory, files=KEEP)
    with pytest.raises(KafkaError) as refused:
        check_accepted(cluster, {A0: (1, 2, 3), C0: (2, 3, 1), B0: (1, 2)}, allow_factor_change=False)
    assert str(refused.value) == (
        "Error reassigning partition(s):\na-0: The replication factor is changed from 2 to 3\n"
        "b-0: The replication factor is changed from 1 to 2"
    )
    name = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    with pytest.raises(KafkaError, match=f"{name}: Topic none not found."):
        check(cluster, Reassignment({TopicPartition("none", 0): (1,)}, {}))
    with pytest.raises(KafkaError, match=f"{name}: Unable to find partition: a-7, b-3"):
        check(cluster, Reassignment({TopicPartition("b", 3): (1,), TopicPartition("a", 7): (1,), A0: (1,)}, {}))
    assert reassignments_under_way(cluster.image()) == {}
    cluster.close()


def test_what_is_acknowledged_while_replicas_move_is_kept(directory: Path) -> None:
    """min.insync.replicas counts who is in sync, whoever is being added."""
    cluster = opened(directory, files=KEEP)
    cluster.apply(AlterConfigs(TOPIC, "b", {"min.insync.replicas": "2"}), Reassign("b", 0, (3, 4)))
    with pytest.raises(KafkaError) as refused:
        cluster.append(B0, batch(b"too early"))
    assert refused.value.name == "NotEnoughReplicasException"
    assert play(cluster, [B0]) == {}
    cluster.append(B0, batch(b"now"))
    cluster.close()
    assert data(directory)["b-0"][-1] == b"now"
