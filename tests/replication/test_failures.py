"""Brokers that go, come back and lag: who leads, who is in sync, what is lost and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import KafkaError
from kafkapy.metadata.changes import AlterPartition, ElectLeader
from kafkapy.metadata.elections import PREFERRED, UNCLEAN
from kafkapy.replication.fetch import FetchResponse
from kafkapy.replication.leader import ReplicationSettings
from kafkapy.replication.simulated_partition import SimulatedPartition
from tests.replication.playing import batch, cells, values

BEFORE_0_11 = ReplicationSettings(leader_epochs=False)


def state(played: SimulatedPartition) -> tuple[int, int, tuple[int, ...]]:
    table = played.table()
    return table.leader, table.leader_epoch, table.isr


# ---- who leads, who is in sync


def test_the_first_in_sync_replica_in_assignment_order_leads(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), (3, 1, 2))
    assert state(played) == (3, 0, (3, 1, 2))
    played.stop(3)
    assert state(played) == (1, 1, (1, 2))
    played.kill(1)
    assert state(played) == (2, 2, (2,))
    played.kill(2)
    assert state(played) == (-1, 3, (2,))
    played.start(1)
    assert state(played) == (-1, 3, (2,)), "broker 1 is not in sync"
    with pytest.raises(KafkaError) as error:
        played.produce(batch("a"))
    assert error.value.name == "LeaderNotAvailableException"
    played.start(2)
    assert state(played) == (2, 4, (2,))
    played.catch_up()
    assert state(played) == (2, 4, (1, 2))


def test_the_preferred_leader_leads_again_when_it_is_in_sync(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.stop(1)
    played.produce(batch("a"))
    played.start(1)
    with pytest.raises(KafkaError) as error:
        played.elect(PREFERRED)
    assert error.value.name == "PreferredLeaderNotAvailableException"
    played.catch_up()
    played.elect(PREFERRED)
    assert state(played) == (1, 2, (1, 2))
    assert values(played, 1) == ["a"]


def test_a_lagging_broker_leaves_the_isr_after_its_time(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.lag(2)
    played.advance(60_000)
    assert state(played) == (1, 0, (1, 2)), "nothing came that it lacks"
    played.produce(batch("a"))
    played.advance(1)
    assert state(played) == (1, 0, (1,)), "it has not fetched for a minute"
    assert cells(played.table())[1] == (1, 1, None)
    played.start(2)
    assert state(played) == (1, 0, (1,))
    played.fetch(2)
    played.fetch(2)
    assert state(played) == (1, 0, (1, 2))


def test_a_lagging_broker_holds_the_high_watermark_until_it_leaves(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.lag(2)
    produced = played.produce(batch("a"))
    played.advance(30_000)
    assert not played.is_acknowledged(produced)
    assert state(played) == (1, 0, (1, 2))
    played.advance(1)
    assert played.is_acknowledged(produced)
    assert state(played) == (1, 0, (1,))


def test_a_running_follower_that_is_idle_stays_in_the_isr(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.produce(batch("a"))
    played.catch_up()
    played.advance(10**9)
    played.produce(batch("b"))
    played.advance(1)
    assert state(played) == (1, 0, (1, 2))


def test_who_comes_back_joins_only_when_it_has_what_was_there_at_the_epochs_start(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), (1, 2, 3), configs={"min.insync.replicas": "2"})
    played.kill(3)
    produced = played.produce(batch("a"))
    played.fetch(2)
    played.partition.send_fetch(2, played.now)
    assert played.is_acknowledged(produced)
    played.kill(1)
    assert state(played) == (2, 1, (2,))
    assert cells(played.table())[2] == (1, 0, None), "the new leader does not know that the record is committed"
    played.start(3)
    played.partition.send_fetch(3, played.now)
    assert cells(played.table())[3] == (0, 0, 0)
    assert state(played) == (2, 1, (2,)), "broker 3 reaches the high watermark, but lacks what was committed"
    played.fetch(3)
    played.fetch(3)
    assert state(played) == (2, 1, (2, 3))
    assert cells(played.table())[2] == (1, 1, None)


def test_eligible_leader_replicas_lead_when_the_isr_is_empty(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), (1, 2, 3), configs={"min.insync.replicas": "2"}, elr=True)
    played.stop(3)
    assert (played.table().isr, played.table().elr) == ((1, 2), ())
    played.stop(2)
    assert (played.table().isr, played.table().elr) == ((1,), (2,))
    played.stop(1)
    assert (played.table().leader, played.table().isr, played.table().elr) == (-1, (), (1, 2))
    played.start(3)
    assert played.table().leader == -1
    played.start(2)
    assert (played.table().leader, played.table().isr, played.table().elr) == (2, (2,), (1,))


def test_after_a_crash_an_eligible_replica_is_eligible_no_more(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), configs={"min.insync.replicas": "2"}, elr=True)
    played.kill(2)
    assert (played.table().isr, played.table().elr) == ((1,), (2,))
    played.stop(1)
    played.start(2)
    assert (played.table().leader, played.table().elr) == (-1, (1,))


@pytest.mark.parametrize("allowed", [False, True])
def test_unclean_election(tmp_path: Path, allowed: bool) -> None:
    configs = {"unclean.leader.election.enable": str(allowed).lower()}
    played = SimulatedPartition(str(tmp_path), configs=configs)
    played.stop(2)
    produced = played.produce(batch("lost"))
    assert played.is_acknowledged(produced)
    played.kill(1)
    played.start(2)
    assert played.table().leader == (2 if allowed else -1)
    if not allowed:
        played.elect(UNCLEAN)
    assert played.table().isr == (2,)
    played.produce(batch("other"))
    played.start(1)
    played.catch_up()
    assert values(played, 1) == values(played, 2) == ["other"]


def test_a_controller_that_was_replaced_is_refused(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    old = played.controller_epoch
    played.fail_over_controller()
    before = played.registration
    with pytest.raises(KafkaError) as error:
        played.apply(ElectLeader("t", 0, PREFERRED), old)
    assert error.value.name == "NotControllerException"
    assert played.registration == before


@pytest.mark.parametrize(
    ("isr", "name"),
    [((2,), "InvalidRequestException"), ((1, 9), "InvalidRequestException"), ((1, 2), "IneligibleReplicaException")],
)
def test_isrs_that_a_controller_refuses(tmp_path: Path, isr: tuple[int, ...], name: str) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.kill(2)
    with pytest.raises(KafkaError) as error:
        played.apply(AlterPartition("t", 0, isr))
    assert error.value.name == name


# ---- what is lost, before leader epochs and with them


def acknowledged_and_not_known_by_the_follower(path: Path, settings: ReplicationSettings) -> SimulatedPartition:
    """Broker 2 has the second record and told so, but the answer with the high watermark is lost."""
    played = SimulatedPartition(str(path), settings=settings)
    played.produce(batch("m1"))
    played.catch_up()
    produced = played.produce(batch("m2"))
    played.fetch(2)
    played.partition.send_fetch(2, played.now)
    assert played.is_acknowledged(produced)
    assert cells(played.table()) == {1: (2, 2, None), 2: (2, 1, 2)}
    return played


def test_truncating_to_the_high_watermark_loses_what_was_acknowledged(tmp_path: Path) -> None:
    played = acknowledged_and_not_known_by_the_follower(tmp_path, BEFORE_0_11)
    played.restart(2)
    assert values(played, 2) == ["m1"]
    played.kill(1)
    assert state(played) == (2, 1, (2,))
    played.start(1)
    played.catch_up()
    assert values(played, 1) == values(played, 2) == ["m1"], "m2 was acknowledged, and is gone"


def test_without_a_leader_nothing_is_cut_off_even_by_the_high_watermark(tmp_path: Path) -> None:
    played = acknowledged_and_not_known_by_the_follower(tmp_path, BEFORE_0_11)
    played.kill(2)
    played.kill(1)
    played.start(2)
    assert state(played)[0] == -1
    assert values(played, 2) == ["m1", "m2"], "it may have to lead by an unclean election"
    played.start(1)
    assert values(played, 2) == ["m1"]


def test_leader_epochs_keep_what_was_acknowledged(tmp_path: Path) -> None:
    played = acknowledged_and_not_known_by_the_follower(tmp_path, ReplicationSettings())
    played.restart(2)
    assert values(played, 2) == ["m1", "m2"]
    played.kill(1)
    played.start(1)
    played.catch_up()
    assert values(played, 1) == values(played, 2) == ["m1", "m2"]


def crashed_one_after_the_other(path: Path, settings: ReplicationSettings) -> SimulatedPartition:
    """Both lose power: broker 2 with its second record; it is up first, and writes another in its place."""
    configs = {"unclean.leader.election.enable": "true"}
    played = SimulatedPartition(str(path), settings=settings, configs=configs)
    played.produce(batch("m1"))
    played.catch_up()
    played.flush(1)
    played.flush(2)
    played.produce(batch("m2"))
    played.catch_up()
    played.flush(1)
    played.kill(2, lose_unflushed=True)
    played.kill(1)
    played.start(2)
    assert state(played)[0] == 2
    assert values(played, 2) == ["m1"]
    played.produce(batch("m3"))
    played.start(1)
    played.catch_up()
    return played


def test_without_leader_epochs_replicas_diverge_after_crashes(tmp_path: Path) -> None:
    played = crashed_one_after_the_other(tmp_path, BEFORE_0_11)
    assert values(played, 1) == ["m1", "m2"]
    assert values(played, 2) == ["m1", "m3"]


def test_with_leader_epochs_they_do_not(tmp_path: Path) -> None:
    played = crashed_one_after_the_other(tmp_path, ReplicationSettings())
    assert values(played, 1) == values(played, 2) == ["m1", "m3"]


# ---- truncation


def test_a_follower_goes_back_epoch_by_epoch(tmp_path: Path) -> None:
    """Each of two brokers led while the other was away: their epochs interleave."""
    configs = {"unclean.leader.election.enable": "true"}
    played = SimulatedPartition(str(tmp_path), configs=configs)
    played.produce(batch("common"))
    played.catch_up()
    for number in range(3):
        played.kill(2)
        played.produce(batch(f"one-{number}"))
        played.kill(1)
        played.start(2)
        played.produce(batch(f"two-{number}"))
        played.kill(2)
        played.start(1)
        assert played.table().leader == 1
    assert values(played, 1) == ["common", "one-0", "one-1", "one-2"]
    assert values(played, 2) == ["common", "two-0", "two-1", "two-2"]
    played.start(2)
    assert values(played, 2) == ["common"]
    played.catch_up()
    assert values(played, 2) == ["common", "one-0", "one-1", "one-2"]


def test_the_same_by_fetches_alone(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), configs={"unclean.leader.election.enable": "true"})
    played.produce(batch("common"))
    played.catch_up()
    played.kill(2)
    played.produce(batch("one"))
    played.kill(1)
    played.start(2)
    played.produce(batch("two", "more"))
    leader = played.partition.led()
    assert leader.broker_id == 2
    replica = played.partition.replicas[1]
    played.brokers.set(1, "running", played.now)
    played.partition.apply(played.registration, played.now)
    answer = played.partition.send_fetch(1, played.now)
    assert isinstance(answer, FetchResponse)
    assert answer.diverging_epoch == (0, 1)
    assert answer.data == b""
    fetched = played.partition.receive(1, answer, played.now)
    assert (fetched.truncated_from, replica.log_end_offset) == (2, 1)
    played.catch_up()
    assert values(played, 1) == ["common", "two", "more"]


def test_a_follower_whose_end_the_leader_has_deleted_begins_anew(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.produce(batch("a"))
    played.catch_up()
    played.stop(2)
    for value in "bcd":
        played.produce(batch(value))
    played.partition.replicas[1].log.increment_log_start_offset(3)
    played.start(2)
    played.catch_up()
    replica = played.partition.replicas[2]
    assert (replica.log_start_offset, replica.log_end_offset, values(played, 2)) == (3, 4, ["d"])
    assert played.table().isr == (1, 2)
