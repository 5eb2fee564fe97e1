"""A group whose coordinator's partition has a replica that lags: what was handled is told, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends import failures
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.fetched import Fetched
from kafkapy.backends.group_subscription import Source
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.errors import KafkaError
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic
from tests.backends.groups import NOW, Collecting, Scratch, changing, numbered, produce

TIMED_OUT = (
    "The request timed out: it was appended to __consumer_offsets-0 on the leader, broker 1, but broker 2, in its ISR, "
    "lags and does not fetch. Let it fetch with 'kafkapy cluster start-broker 2', or leave the ISR with 'kafkapy "
    "cluster advance --ms 30001'."
)
NOT_COMMITTED = "kafkapy: what was handled last is not committed, or not certainly, and may be handled again"


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """Two partitions with 30 records each on broker 1; the groups are kept by brokers 1 and 2."""
    directory = str(tmp_path / "c")
    make_cluster(directory, 2, files=Files(sync=False))
    changing(
        directory,
        CreateTopic("t", assignments=((1,), (1,))),
        CreateTopic(CONSUMER_OFFSETS, assignments=((1, 2),), configs={"cleanup.policy": "compact"}),
    )
    for partition in (0, 1):
        produce(directory, "t", partition, *numbered("t", partition, 30))
    return Scratch(directory)


def lag(scratch: Scratch) -> None:
    cluster = DirectoryCluster(scratch.directory, Files(sync=False), now=NOW)
    failures.lag_broker(cluster, 2)
    cluster.close()


def start(scratch: Scratch) -> None:
    cluster = DirectoryCluster(scratch.directory, Files(sync=False), now=NOW)
    failures.start_broker(cluster, 2)
    cluster.close()


class Lagging(Collecting):
    """Lets broker 2 lag when it is given the first records."""

    def __init__(self, scratch: Scratch) -> None:
        super().__init__()
        self._scratch = scratch

    def handle(self, fetched: Fetched, source: Source) -> None:
        if not self.taken:
            lag(self._scratch)
        super().handle(fetched, source)


def test_joining_while_a_broker_lags(scratch: Scratch) -> None:
    lag(scratch)
    handler = Collecting()
    with pytest.raises(KafkaError) as refused:
        scratch.run(handler, members=2)
    assert (refused.value.name, str(refused.value)) == ("TimeoutException", TIMED_OUT)
    assert (scratch.told, handler.taken) == (["end"], [])
    start(scratch)
    scratch.run(handler, members=2)
    assert sorted(handler.values) == sorted(numbered("t", 0, 30) + numbered("t", 1, 30))


def test_a_broker_that_begins_to_lag_keeps_what_was_read_from_being_committed(scratch: Scratch) -> None:
    first, second = Lagging(scratch), Collecting()
    with pytest.raises(KafkaError) as refused:
        scratch.run(first, members=2)
    assert str(refused.value) == TIMED_OUT
    assert scratch.told[-2:] == [NOT_COMMITTED, "end"]
    assert sorted(first.values) == sorted(numbered("t", 0, 30) + numbered("t", 1, 30))
    start(scratch)
    scratch.told.clear()
    scratch.run(second, members=2)
    assert NOT_COMMITTED not in scratch.told
    assert set(second.values) <= set(first.values), "handled again, as far as it was not committed"
    assert scratch.committed() == {"t-0": 30, "t-1": 30}


def test_the_same_error_is_not_told_twice(scratch: Scratch) -> None:
    """A commit in the middle fails, then the one at the end."""
    with pytest.raises(KafkaError) as refused:
        scratch.run(Lagging(scratch), then=("join@10",))
    assert str(refused.value) == TIMED_OUT
    assert scratch.told[-2:] == [NOT_COMMITTED, "end"]
    assert TIMED_OUT not in " ".join(scratch.told)
