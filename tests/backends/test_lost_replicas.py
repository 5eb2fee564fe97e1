"""Partition directories that are gone: nobody follows the empty log in their place, and nothing is silent."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.failures import kill_broker, start_broker, stop_broker
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, DeleteTopic, Reassign
from kafkapy.metadata.elections import UNCLEAN
from tests.backends.contract import batch, opened, replica_logs, values
from tests.backends.three_brokers import (
    ALONE,
    MARK,
    P0,
    catch_up,
    do,
    make_three_brokers,
    nothing,
    produce,
    read,
    registration,
    told,
)
from tests.faults import FaultyFiles, Killed


@pytest.fixture(scope="module", params=[0, 1], ids=["without ELR", "with ELR"])
def pristine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_three_brokers(tmp_path_factory.mktemp("pristine") / "cluster", elr=request.param)


@pytest.fixture
def directory(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "cluster"))


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
@pytest.mark.parametrize("work", [produce, catch_up, lambda cluster: values(cluster, P0)])
def test_a_leader_that_is_gone_takes_nothing_with_it(
    directory: Path, work: Callable[[DirectoryCluster], object], is_clean: bool
) -> None:
    shutil.rmtree(directory / "broker-1" / "t-0")
    if not is_clean:
        for mark in directory.glob(f"*/{MARK}"):
            mark.unlink()
    lines = [line for line in told(directory, work) if "t-0: its directory was gone" in line]
    assert len(lines) == 1
    assert "broker 1 is out of the ISR" in lines[0]
    assert "broker 2 leads" in lines[0]
    assert registration(directory).leader == 2
    do(directory, catch_up)
    assert sorted(registration(directory).isr) == [1, 2, 3]
    assert read(directory)[:2] == [b"a", b"b"]
    assert len(replica_logs(directory, P0)) == 1
    assert told(directory, produce) == [], "it is told once"


def test_leader_epochs_of_others_that_cannot_be_read_stop_nothing(directory: Path) -> None:
    shutil.rmtree(directory / "broker-1" / "t-0")
    (directory / "broker-2" / "t-0" / "leader-epoch-checkpoint").write_text("rubbish")
    gone, anew = told(directory, produce)
    assert "broker 2 leads" in gone
    assert "broker-2/t-0: wrote leader-epoch-checkpoint anew" in anew
    assert read(directory) == [b"a", b"b", b"c"]


def test_a_follower_that_is_gone_leaves_the_isr(directory: Path) -> None:
    shutil.rmtree(directory / "broker-3" / "t-0")
    (line,) = told(directory, produce)
    assert "broker 3 is out of the ISR" in line
    assert "leads" not in line
    assert (registration(directory).leader, registration(directory).isr) == (1, (1, 2))
    do(directory, catch_up)
    assert read(directory) == [b"a", b"b", b"c"]
    assert sorted(registration(directory).isr) == [1, 2, 3]


def append_alone(cluster: DirectoryCluster) -> object:
    return cluster.append(ALONE, batch(b"new"))


def accept_loss(cluster: DirectoryCluster) -> object:
    return cluster.replica_control().elect(UNCLEAN, [ALONE])


def test_the_only_copy_is_gone(directory: Path) -> None:
    """What its checkpoints know is not forgotten before the loss is accepted, by whatever goes on beside it."""
    shutil.rmtree(directory / "broker-1" / "alone-0")
    for work in (append_alone, lambda cluster: values(cluster, ALONE)):
        with pytest.raises(
            KafkaError, match=r"every copy of alone-0 is gone, with the records up to offset 1: put one"
        ):
            do(directory, work)
    assert told(directory, produce) == []
    assert told(directory, catch_up) == []
    assert not (directory / "broker-1" / "alone-0").exists()
    (line,) = told(directory, accept_loss)
    assert "no copy has its records: those up to offset 1 are lost; the log begins anew" in line
    assert told(directory, append_alone) == []
    assert read(directory, ALONE) == [b"new"]


def test_a_copy_that_was_set_aside_is_told_also_where_it_does_not_say_its_topic(directory: Path) -> None:
    aside = (directory / "broker-1" / "alone-0").rename(directory / "broker-1" / f"alone-0.{'a' * 32}-stray")
    (aside / "partition.metadata").unlink()
    with pytest.raises(KafkaError, match=f"{aside} has the records up to offset 1: put it back with mv"):
        do(directory, append_alone)
    aside.rename(directory / "broker-1" / "alone-0")
    do(directory, append_alone)
    assert read(directory, ALONE)[-1] == b"new"


def test_the_loss_is_accepted_in_the_directory_that_has_it(directory: Path) -> None:
    shutil.rmtree(directory / "broker-1" / "alone-0")
    with pytest.raises(KafkaError, match=f"--topic alone --partition 0 --cluster {directory}$"):
        do(directory, append_alone)


def test_a_crash_of_others_makes_no_lost_partition_anew(directory: Path) -> None:
    shutil.rmtree(directory / "broker-1" / "alone-0")
    for mark in directory.glob(f"*/{MARK}"):
        mark.unlink()
    assert told(directory, produce) == []
    with pytest.raises(KafkaError, match="every copy of alone-0 is gone"):
        do(directory, append_alone)


def test_a_reassignment_makes_no_lost_partition_anew(directory: Path) -> None:
    shutil.rmtree(directory / "broker-1" / "alone-0")
    do(directory, lambda cluster: cluster.apply(Reassign(*ALONE, (1, 2))))
    assert not (directory / "broker-1" / "alone-0").exists()
    with pytest.raises(KafkaError, match="every copy of alone-0 is gone"):
        do(directory, append_alone)


def test_a_topic_of_the_same_name_is_not_lost(directory: Path) -> None:
    def anew(cluster: DirectoryCluster) -> None:
        cluster.apply(DeleteTopic("alone"))
        cluster.apply(CreateTopic("alone", assignments=((1,),)))
        append_alone(cluster)

    shutil.rmtree(directory / "broker-1" / "alone-0")
    do(directory, anew)
    assert read(directory, ALONE) == [b"new"]


def test_all_copies_are_gone(directory: Path) -> None:
    saved = shutil.copytree(directory / "broker-2" / "t-0", directory.parent / "saved")
    for replica in directory.glob("*/t-0"):
        shutil.rmtree(replica)
    with pytest.raises(KafkaError, match="every copy of t-0 is gone"):
        do(directory, produce)
    shutil.copytree(saved, directory / "broker-2" / "t-0")
    assert len(told(directory, produce)) == 2
    assert read(directory) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("is_clean", [True, False], ids=["after a clean stop", "after a crash"])
@pytest.mark.parametrize("name", ["alone-0", f"alone-0.{'0' * 32}-stray"])
def test_the_only_copy_lies_with_another_broker(directory: Path, name: str, is_clean: bool) -> None:
    home, stray = directory / "broker-1" / "alone-0", directory / "broker-2" / name
    home.rename(stray)
    if not is_clean:
        for mark in directory.glob(f"*/{MARK}"):
            mark.unlink()
    assert told(directory, produce) == []
    with pytest.raises(KafkaError, match=f"{stray} has the records up to offset 1: put it back with mv {stray} {home}"):
        do(directory, append_alone)
    stray.rename(home)
    assert told(directory, append_alone) == []
    assert read(directory, ALONE) == [b"a", b"b", b"new"]


def test_a_stray_copy_of_another_topic_is_not_put_back(directory: Path) -> None:
    shutil.rmtree(directory / "broker-1" / "alone-0")
    shutil.copytree(directory / "broker-2" / "t-0", directory / "broker-2" / "alone-0")
    with pytest.raises(KafkaError, match="put one back from a backup"):
        do(directory, append_alone)


def test_a_stray_copy_with_more_than_who_was_not_in_sync(directory: Path) -> None:
    """Broker 2 lacks what only broker 1 had, whose directory lies with another broker by now."""
    do(directory, lambda cluster: cluster.apply(CreateTopic("two", assignments=((1, 2),))))
    two = TopicPartition("two", 0)
    do(directory, lambda cluster: cluster.append(two, batch(b"a")))
    do(directory, lambda cluster: kill_broker(cluster, 2))
    do(directory, lambda cluster: cluster.append(two, batch(b"b")))
    do(directory, lambda cluster: start_broker(cluster, 2))
    (directory / "broker-1" / "two-0").rename(directory / "broker-3" / "two-0")
    with pytest.raises(KafkaError, match="broker-3/two-0 has the records up to offset 1: put it back"):
        do(directory, lambda cluster: cluster.append(two, batch(b"c")))
    assert do(directory, lambda cluster: cluster.places.registration(two)).leader == 1


def test_who_was_not_in_sync_leads_rather_than_nobody(directory: Path) -> None:
    do(directory, lambda cluster: [kill_broker(cluster, 2), stop_broker(cluster, 3)])
    do(directory, produce)
    do(directory, lambda cluster: start_broker(cluster, 2))
    shutil.rmtree(directory / "broker-1" / "t-0")
    (line,) = told(directory, nothing)
    assert "broker 2 leads, which was not in sync, with a log that ends at offset 2" in line
    assert registration(directory).isr == (2,)
    do(directory, catch_up)
    assert read(directory) == [b"a", b"b"]


def test_nobody_leads_while_the_one_with_records_is_down(directory: Path) -> None:
    do(directory, lambda cluster: [stop_broker(cluster, 2), stop_broker(cluster, 3)])
    shutil.rmtree(directory / "broker-1" / "t-0")
    with closing(opened(directory, files=Files(sync=False))) as cluster:
        assert "nobody leads before broker 2 is started" in cluster.recovered[0]
        with pytest.raises(KafkaError, match="There is no leader"):
            produce(cluster)
    do(directory, lambda cluster: start_broker(cluster, 2))
    assert registration(directory).leader == 2
    do(directory, catch_up)
    assert read(directory) == [b"a", b"b"]


def test_a_broker_that_starts_without_its_directory(directory: Path) -> None:
    do(directory, lambda cluster: stop_broker(cluster, 1))
    shutil.rmtree(directory / "broker-1" / "alone-0")
    shutil.rmtree(directory / "broker-1" / "t-0")
    assert told(directory, lambda cluster: start_broker(cluster, 1)) == []
    with pytest.raises(KafkaError, match="every copy of alone-0 is gone"):
        do(directory, append_alone)
    do(directory, catch_up)
    assert read(directory) == [b"a", b"b"]
    assert sorted(registration(directory).isr) == [1, 2, 3]


def test_a_directory_that_was_never_made_is_made(directory: Path) -> None:
    """Killed anywhere between the metadata of a new topic and its last directory."""
    for step in range(50):
        target = Path(shutil.copytree(directory, directory.parent / f"killed-{step}"))
        cluster = opened(target, files=FaultyFiles(kill_at=12 + 7 * step))
        try:
            cluster.apply(CreateTopic("new", assignments=((1, 2), (2, 3))))
        except Killed:
            assert not [line for line in told(target, nothing) if "gone" in line]
            continue
        assert step > 5
        return
    pytest.fail("it never came to an end")
