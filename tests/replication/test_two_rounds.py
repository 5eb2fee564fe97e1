"""How the high watermark follows the log end: the well-known tables, cell by cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats.record_batch import BatchOptions
from kafkapy.replication.fetch import CONSUMER, DelayedFetch, FetchRequest, FetchResponse
from kafkapy.replication.simulated_partition import SimulatedPartition
from tests.replication.playing import batch, cells, values


def test_two_fetches_bring_the_high_watermark_to_everybody(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    assert cells(played.table()) == {1: (0, 0, None), 2: (0, 0, 0)}
    produced = played.produce(batch("a"))
    assert cells(played.table()) == {1: (1, 0, None), 2: (0, 0, 0)}
    assert not played.is_acknowledged(produced)
    played.fetch(2)
    assert cells(played.table()) == {1: (1, 0, None), 2: (1, 0, 0)}
    assert not played.is_acknowledged(produced)
    answer = played.partition.send_fetch(2, played.now)
    assert cells(played.table()) == {1: (1, 1, None), 2: (1, 0, 1)}
    assert played.is_acknowledged(produced)
    assert isinstance(answer, FetchResponse)
    played.partition.receive(2, answer, played.now)
    assert cells(played.table()) == {1: (1, 1, None), 2: (1, 1, 1)}


def test_an_answer_with_data_carries_the_high_watermark_of_before(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.produce(batch("a"))
    played.fetch(2)
    played.produce(batch("b"))
    played.fetch(2)
    assert cells(played.table()) == {1: (2, 1, None), 2: (2, 0, 1)}


def test_a_fetch_waits_in_purgatory_for_the_next_batch(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    waiting = played.fetch(2, min_bytes=1)
    assert isinstance(waiting, DelayedFetch)
    assert played.partition.led().purgatory == [waiting]
    assert waiting.request.fetch_offset == 0
    played.produce(batch("a"))
    assert played.partition.led().purgatory == []
    assert cells(played.table()) == {1: (1, 0, None), 2: (1, 0, 0)}
    assert values(played, 2) == ["a"]


def test_a_fetch_waits_until_there_is_enough(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    size = len(batch("a"))
    played.fetch(2, min_bytes=2 * size)
    played.produce(batch("a"))
    assert values(played, 2) == []
    played.produce(batch("b"))
    assert values(played, 2) == ["a", "b"]


def test_a_consumer_is_answered_up_to_the_high_watermark(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.produce(batch("a"))
    leader = played.partition.led()
    request = FetchRequest(CONSUMER, 0, leader.epoch)
    assert leader.fetch(request, played.now).data == b""
    played.catch_up()
    assert len(leader.fetch(request, played.now).data) == len(batch("a"))
    assert cells(played.table()) == {1: (1, 1, None), 2: (1, 1, 1)}


@pytest.mark.parametrize(
    ("acks", "running", "refused"), [(-1, 3, False), (-1, 2, False), (-1, 1, True), (1, 1, False), (0, 1, False)]
)
def test_acks_against_min_insync_replicas(tmp_path: Path, acks: int, running: int, refused: bool) -> None:
    played = SimulatedPartition(str(tmp_path), (1, 2, 3), configs={"min.insync.replicas": "2"})
    for broker_id in range(running + 1, 4):
        played.kill(broker_id)
    if refused:
        with pytest.raises(KafkaError, match=r"current ISR : 1 .* min.isr requirement of 2 .* Set\(1\)") as error:
            played.produce(batch("a"), acks)
        assert error.value.name == "NotEnoughReplicasException"
        assert values(played, 1) == []
    else:
        produced = played.produce(batch("a"), acks)
        assert played.is_acknowledged(produced, acks) == (acks != -1)


def test_too_few_replicas_after_the_append(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), configs={"min.insync.replicas": "2"})
    produced = played.produce(batch("a"))
    played.partition.send_fetch(2, played.now)
    played.fetch(2)
    played.fetch(2)
    played.kill(2)
    with pytest.raises(KafkaError) as error:
        played.is_acknowledged(produced)
    assert error.value.name == "NotEnoughReplicasAfterAppendException"


def test_below_min_insync_replicas_the_high_watermark_stands_still(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path), configs={"min.insync.replicas": "2"})
    played.kill(2)
    played.produce(batch("a"), acks=1)
    assert cells(played.table())[1] == (1, 0, None)
    played.start(2)
    played.catch_up()
    assert played.table().isr == (1, 2)
    assert cells(played.table()) == {1: (1, 1, None), 2: (1, 1, 1)}


@pytest.mark.parametrize(("epoch", "name"), [(0, "FencedLeaderEpochException"), (2, "UnknownLeaderEpochException")])
def test_a_fetch_of_another_epoch_is_refused(tmp_path: Path, epoch: int, name: str) -> None:
    played = SimulatedPartition(str(tmp_path))
    played.kill(1)
    assert played.table().leader_epoch == 1
    with pytest.raises(KafkaError) as error:
        played.partition.led().fetch(FetchRequest(1, 0, epoch), played.now)
    assert error.value.name == name


def test_a_stranger_is_no_replica(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    with pytest.raises(KafkaError, match="Replica 9 is not recognized") as error:
        played.partition.led().fetch(FetchRequest(9, 0, 0), played.now)
    assert error.value.name == "UnknownLeaderEpochException"


def test_retries_duplicate_unless_the_producer_is_idempotent(tmp_path: Path) -> None:
    played = SimulatedPartition(str(tmp_path))
    idempotent = batch("once", options=BatchOptions(producer_id=7, producer_epoch=0, base_sequence=0))
    for _ in range(2):
        played.produce(batch("twice"))
    first = played.produce(idempotent)
    again = played.produce(idempotent)
    assert (again.duplicate, again.first_offset) == (True, first.first_offset)
    assert values(played, 1) == ["twice", "twice", "once"]
