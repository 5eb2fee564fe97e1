"""What is asked of brokers, and what is read out of files, must be the same: files answer both ways."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from kafkapy.lag.asked_answers import asked_answers
from kafkapy.lag.batch_flow import BatchRow
from kafkapy.lag.cluster_batches import Stretch, Wanted, all_batch_rows
from kafkapy.lag.cluster_rows import answers, log_ranges
from kafkapy.lag.fetched_batches import fetched_rows
from kafkapy.lag.log_answers import Questions
from tests.lag.world import P0, P1, T0, World


def fail(problem: str) -> None:
    raise AssertionError(problem)


def some_world(directory: Path, rng: Random) -> World:
    """Two logs whose records are not in the order of their times, and which may have lost their starts."""
    world = World(directory)
    for _ in range(rng.randrange(1, 40)):
        world.now += rng.choice((0, 1, 700))
        partition = rng.choice((P0, P0, P1))
        world.produce(partition, [world.now - rng.randrange(900) for _ in range(rng.randrange(1, 5))])
    for partition in (P0, P1):
        log = world.log(partition)
        if rng.random() < 0.5 and log.log_end_offset:
            log.increment_log_start_offset(rng.randrange(log.log_end_offset + 1))
    return world


@pytest.mark.parametrize("seed", range(60))
def test_the_same_answers(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    world = some_world(tmp_path, rng)
    cluster, now = world.cluster, world.now + 1
    asked = {
        partition: Questions(
            frozenset(rng.randrange(T0 - 1000, now + 2) for _ in range(6)),
            frozenset(rng.randrange(60) for _ in range(6)),
        )
        for partition in (P0, P1)
    }
    known = log_ranges(cluster, asked, fail)
    found = asked_answers(cluster, asked, known, now, fail)
    assert found == answers(cluster, asked, now, fail)
    for partition, log in found.items():
        assert log.start is not None
        for offset, time in log.times.items():
            assert time == world.records[partition][offset]


@pytest.mark.parametrize("seed", range(30))
def test_the_same_batches(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    world = some_world(tmp_path, rng)
    bounds = [None, *(rng.randrange(T0 - 100, world.now + 100) for _ in range(2))]
    wanted = Wanted(lambda topic: topic == P0.topic, Stretch(rng.choice(bounds), rng.choice(bounds)), True, True)

    def place(row: BatchRow) -> tuple[int, int]:
        return row.partition.partition, row.base_offset

    found = sorted(fetched_rows(world.cluster, wanted, fail), key=place)
    assert found == sorted(all_batch_rows(world.cluster, wanted, fail), key=place)


def test_damage_is_told_once_and_takes_away_only_its_own_answers(tmp_path: Path) -> None:
    world = World(tmp_path)
    for second in range(60):
        world.now = T0 + second * 1000
        world.produce(P0, [world.now] * 3)
        world.produce(P1, [world.now])
    world.close()
    segment = sorted((tmp_path / str(P0)).glob("*.log"))[2]
    data = bytearray(segment.read_bytes())
    data[8:12] = (3).to_bytes(4, "big")
    segment.write_bytes(data)
    told: list[str] = []
    offset = int(segment.stem)
    asked = {partition: Questions(frozenset(), frozenset((5, offset, 170))) for partition in (P0, P1)}
    cluster = world.cluster
    found = asked_answers(cluster, asked, log_ranges(cluster, asked, fail), world.now, told.append)
    assert found[P0].times[5] == T0 + 1000
    assert found[P1].times == {5: T0 + 5000, offset: T0 + offset * 1000}
    assert offset not in found[P0].times
    assert [problem.startswith(f"{P0}: {segment}") for problem in told] == [True]
