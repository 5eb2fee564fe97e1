"""Brokers fail and return, leaders are elected and replicas move, in any order, each step a command of its own.

The invariants, after every step:

- A replica is lost by no failure and no election: a partition has those it had, those it is to have while it moves,
  and only these when it has moved.
- Who leads is alive and in the ISR. Who leads anew without having been eligible does so by an unclean election.
- What acks=all acknowledged can be read, unless an unclean election took it.

In the end, with all brokers back, every move completes, all copies are the same, and the moves that lead back restore
the replicas that there were, in their order, with all data.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.failures import advance, kill_broker, lag_broker, replicate, start_broker, stop_broker
from kafkapy.backends.reassigning import cancel, check, check_accepted, play, start
from kafkapy.errors import KafkapyError
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic, ElectLeader
from kafkapy.metadata.elections import PREFERRED, UNCLEAN
from kafkapy.metadata.reassignment.reassignment_json import Reassignment
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from tests.backends.contract import batch, opened, replica_logs, values

BROKERS = (1, 2, 3, 4)
A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)
BEFORE = {A0: (1, 2, 3), B0: (4, 2)}
KEEP = Files(sync=False)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # an example takes half a second

ADDED_AGAIN = [("produce", A0), ("move", (A0, [3], 1)), ("kill", 3), ("move", (A0, [2], 1)), ("start", 3)]
"""A replica that was removed, and is eligible still, came to lead with nothing as it was added again."""

PARTITION = st.sampled_from((A0, B0))
BROKER = st.sampled_from(BROKERS)
STEP = st.one_of(
    st.tuples(st.sampled_from(("produce", "produce", "elect", "elect_unclean", "cancel", "play")), PARTITION),
    st.tuples(st.sampled_from(("stop", "kill", "kill", "lag")), BROKER),
    st.tuples(st.just("start"), BROKER),
    st.tuples(st.just("move"), st.tuples(PARTITION, st.permutations(BROKERS), st.integers(1, 3))),
    st.tuples(st.just("replicate"), st.booleans()),
    st.tuples(st.just("wait"), st.just(30_001)),
)


@pytest.fixture(scope="module", params=[0, 1], ids=["without ELR", "with ELR"])
def pristine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pristine") / "cluster"
    make_cluster(str(directory), 4, wanted={"eligible.leader.replicas.version": request.param}, files=KEEP)
    cluster = opened(directory, files=KEEP)
    cluster.apply(
        CreateTopic("a", assignments=(BEFORE[A0],), configs={"min.insync.replicas": "2"}),
        CreateTopic("b", assignments=(BEFORE[B0],)),
    )
    cluster.close()
    return directory


class Story:
    """Steps, and what has to hold after them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0
        self.acknowledged: dict[TopicPartition, list[bytes]] = {A0: [], B0: []}
        self.home = {partition: set(replicas) for partition, replicas in BEFORE.items()}
        self.targets: dict[TopicPartition, list[tuple[int, ...]]] = {A0: [], B0: []}
        self.reader = DirectoryReader(str(directory))

    def take(self, name: str, argument: Any) -> None:
        before = self.registrations()
        try:
            getattr(self, name)(argument)
        except KafkapyError:  # refused, as it would be
            event(f"{name} refused")
        self.check(before, name)

    def registrations(self) -> dict[TopicPartition, PartitionRegistration]:
        image = self.reader.image()
        return {partition: image.topics[partition.topic].partitions[partition.partition] for partition in BEFORE}

    def command(self, work: Callable[..., Any], *args: Any) -> Any:
        cluster = opened(self.directory, files=KEEP)
        try:
            return work(cluster, *args)
        finally:
            cluster.close()
            self.reader = DirectoryReader(str(self.directory))

    # ---- steps

    def produce(self, partition: TopicPartition) -> None:
        self.count += 1
        value = b"%d" % self.count
        self.command(lambda cluster: cluster.append(partition, batch(value)))
        self.acknowledged[partition].append(value)

    def elect(self, partition: TopicPartition) -> None:
        self.command(lambda cluster: cluster.apply(ElectLeader(partition.topic, partition.partition, PREFERRED)))

    def elect_unclean(self, partition: TopicPartition) -> None:
        self.command(lambda cluster: cluster.apply(ElectLeader(partition.topic, partition.partition, UNCLEAN)))
        found = set(values(self.reader, partition))
        self.acknowledged[partition] = [value for value in self.acknowledged[partition] if value in found]

    def stop(self, broker: int) -> None:
        self.command(stop_broker, broker)

    def kill(self, broker: int) -> None:
        self.command(kill_broker, broker)

    def lag(self, broker: int) -> None:
        self.command(lag_broker, broker)

    def start(self, broker: int) -> None:
        self.command(start_broker, broker)

    def replicate(self, until_caught_up: bool) -> None:
        self.command(replicate, until_caught_up)

    def wait(self, ms: int) -> None:
        self.command(advance, ms)

    def move(self, wanted: tuple[TopicPartition, list[int], int]) -> None:
        partition, order, count = wanted
        self.command(self._begin, Reassignment({partition: tuple(order[:count])}, {}))

    def cancel(self, partition: TopicPartition) -> None:
        self.command(cancel, [partition])

    def play(self, partition: TopicPartition) -> None:
        self.command(play, [partition])

    def _begin(self, cluster: DirectoryCluster, plan: Reassignment) -> None:
        check(cluster, plan, additional=True)
        check_accepted(cluster, plan.replicas)
        start(cluster, plan)
        for partition, replicas in plan.replicas.items():
            self.targets[partition].append(replicas)

    # ---- what has to hold

    def check(self, before: dict[TopicPartition, PartitionRegistration], step: str) -> None:
        alive = read_cluster_file(str(self.directory)).states.alive
        for partition, now in self.registrations().items():
            self._check_replicas(partition, now)
            for broker in alive.intersection(now.replicas):
                assert (self.directory / f"broker-{broker}" / str(partition)).is_dir()
            if now.leader == NO_LEADER:
                event("no leader")
                continue
            assert now.leader in alive.intersection(now.isr)
            self._check_election(before[partition], now, step)
            found = values(self.reader, partition)
            kept = set(self.acknowledged[partition])
            assert [value for value in found if value in kept] == self.acknowledged[partition]

    def _check_replicas(self, partition: TopicPartition, now: PartitionRegistration) -> None:
        home, targets = self.home[partition], self.targets[partition]
        assert set(now.isr) <= set(now.replicas)
        if now.is_reassigning:
            event("moving")
            assert tuple(each for each in now.replicas if each not in now.removing_replicas) == targets[-1]
            assert home | set(targets[-1]) <= set(now.replicas) <= home.union(*targets)
        elif targets and now.replicas == targets[-1]:
            event("moved")
            self.home[partition], self.targets[partition] = set(now.replicas), []
        else:
            assert set(now.replicas) == home, "never begun, or cancelled"
            self.targets[partition] = []

    def _check_election(self, was: PartitionRegistration, now: PartitionRegistration, step: str) -> None:
        """Where followers fetch, one may come into the ISR and lead in the same step. The last known leader is eligible
        when nobody else is any more: a broker that returns from a crash leaves the ELR with that step."""
        if step == "elect_unclean" or now.leader == was.leader:
            return
        event(f"elected by {step}")
        last_known = () if was.isr or now.elr else was.last_known_elr
        assert now.leader in (*was.isr, *was.elr, *last_known) or step in ("replicate", "play")


@settings(max_examples=15, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, min_size=10, max_size=25))
@example(steps=ADDED_AGAIN)
def test_nothing_is_lost_and_everything_can_be_taken_back(pristine: Path, steps: list[tuple[str, Any]]) -> None:
    with TemporaryDirectory() as scratch:
        story = Story(Path(shutil.copytree(pristine, Path(scratch) / "cluster")))
        for name, argument in steps:
            story.take(name, argument)
        for broker in BROKERS:
            story.take("start", broker)
        end_waits_for_the_removed(story)
        story.take("replicate", True)
        records = whole(story)
        for partition, replicas in BEFORE.items():
            story.take("move", (partition, list(replicas), len(replicas)))
            story.take("play", partition)
            story.take("elect", partition)
        assert whole(story) == records
        for partition, now in story.registrations().items():
            assert (now.replicas, now.leader) == (BEFORE[partition], BEFORE[partition][0])


def end_waits_for_the_removed(story: Story) -> None:
    """Kafka's controller leaves a replica that it removes in the ELR where fewer than min.insync.replicas stay in sync.
    If those crash, it waits for one that is no replica any more, until somebody asks for an unclean election."""
    for partition, now in story.registrations().items():
        if now.leader == NO_LEADER:
            assert now.elr
            assert not set(now.elr) & set(now.replicas)
            story.take("elect_unclean", partition)


def whole(story: Story) -> dict[TopicPartition, list[bytes | None]]:
    """All records, of a cluster in which nothing is under way and all copies are the same."""
    for partition, now in story.registrations().items():
        assert not now.is_reassigning
        assert set(now.isr) == set(now.replicas)
        assert len(replica_logs(story.directory, partition)) == 1
    return {partition: values(story.reader, partition) for partition in BEFORE}
