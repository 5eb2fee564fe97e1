"""Brokers of a cluster directory that are stopped, killed, started and slowed down, and time that passes.

    stop     leaders move first, then the broker's logs are closed as at any clean stop
    kill     the broker is gone at once: no mark of a clean stop, and if wanted without what it had not flushed; then
             it is fenced
    start    its log dirs are put right as a broker does at its start, it leads what nobody else could, and cuts off
             what the leaders do not have; by ``replicate`` it catches up, and so comes into the ISRs again
    lag      it stops fetching until it is started, and leaves an ISR when its time is over

Each writes three places: cluster.yaml, the metadata, the broker's log dirs. Killed in between, the next command finds
in cluster.yaml whether the broker runs, and makes the rest agree with it; Ctrl-C waits for all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkapy.backends.cluster_file import MOST_AHEAD_MS
from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_recovery import recover
from kafkapy.backends.log_dir_moves import finish_moves
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import AddBroker, RemoveBroker
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration
from kafkapy.near_misses import missing_number
from kafkapy.replication.broker_state import KILLED, LAGGING, RUNNING, STOPPED
from kafkapy.replication.partition import ReplicatedPartition

UNFLUSHED = "unflushed"
NOT_ON_LEADER = "not_on_leader"


class Moved(NamedTuple):
    """What a partition's leader, ISR and ELR were, and are. ``last_known_elr`` has who led last, where nobody did;
    ``crashed`` is a broker that is back after a crash: with ELRs the controller first takes it out of all of them."""

    partition: TopicPartition
    leader_before: int
    leader: int
    isr_before: tuple[int, ...]
    isr: tuple[int, ...]
    elr_before: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...] = ()
    crashed: int | None = None

    @property
    def is_unclean(self) -> bool:
        """Whether somebody leads by now who may lack what was acknowledged."""
        is_new = self.leader not in (self.leader_before, NO_LEADER)
        return is_new and self.leader not in {*self.isr_before, *self.elr_before} - {self.crashed}

    @property
    def is_of_last_known_leader(self) -> bool:
        """Whether who leads by now led last: nobody has more, but for what it lost when it crashed."""
        return self.last_known_elr == (self.leader,)


class Lost(NamedTuple):
    """A replica whose log ends before where it did: it was not flushed (``UNFLUSHED``), or the leader does not have it
    (``NOT_ON_LEADER``)."""

    partition: TopicPartition
    broker_id: int
    log_end_offset_before: int
    log_end_offset: int
    reason: str


class Replicated(NamedTuple):
    """What a follower fetched; if its log was cut off before, it ended at ``truncated_from``, and at ``truncated_to``
    then."""

    partition: TopicPartition
    broker_id: int
    log_end_offset_before: int
    log_end_offset: int
    high_watermark: int
    is_in_sync: bool
    truncated_from: int | None = None
    truncated_to: int | None = None


class _FollowerState(NamedTuple):
    """What tells whether fetches changed anything."""

    log_end_offset: int
    high_watermark: int
    is_in_sync: bool
    truncated_from: int | None


def stop_broker(cluster: DirectoryCluster, broker_id: int) -> list[Moved]:
    """Stop a broker in good order."""
    check_alive(cluster, broker_id)
    before = _registrations(cluster)
    cluster.flush()
    with cluster.undivided():
        cluster.apply(RemoveBroker(broker_id))
        cluster.replicas.flush_broker(broker_id)
        for logs, kept in cluster.replicas.remove_broker(broker_id):
            logs.close(kept)
            logs.mark_clean()
        cluster.set_state(broker_id, STOPPED)
    return _moved(before, cluster)


def kill_broker(cluster: DirectoryCluster, broker_id: int, lose_unflushed: bool = False) -> list[Moved | Lost]:
    """Let a broker crash; ``lose_unflushed`` with its machine."""
    check_alive(cluster, broker_id)
    before = _registrations(cluster)
    with cluster.undivided():
        cluster.set_state(broker_id, KILLED)
        ends = cluster.replicas.crash(broker_id) if lose_unflushed else {}
        for logs, kept in cluster.replicas.remove_broker(broker_id):
            logs.close(kept)
        cluster.apply(RemoveBroker(broker_id))
    lost = [Lost(partition, broker_id, *between, UNFLUSHED) for partition, between in ends.items()]
    return [*_moved(before, cluster), *lost]


def start_broker(cluster: DirectoryCluster, broker_id: int) -> list[Moved | Lost]:
    """Start a broker that is gone, or let one fetch that lags. What had to be put right is in ``cluster.recovered``."""
    check_startable(cluster, broker_id)
    state = cluster.brokers[broker_id].state
    before = _registrations(cluster)
    if state == LAGGING:
        cluster.set_state(broker_id, RUNNING)
        usable = cluster.places.usable_partitions()
        waiting = [each for each in usable if broker_id in cluster.places.registration(each).isr]
        for partition in waiting:
            cluster.replicas.partition(partition)
        cluster.replicas.settle(waiting)
        return [*_moved(before, cluster)]
    recover(cluster, cluster.open_broker(broker_id))
    with cluster.undivided():
        if state == KILLED:  # before it runs: killed in between, it would lead with what is left to it
            cluster.apply(RemoveBroker(broker_id, unclean=True))
        cluster.set_state(broker_id, RUNNING)
        cluster.apply(AddBroker(broker_id))
        cluster.replicas.refresh()
    crashed = broker_id if state == KILLED and cluster.image().is_elr_enabled else None
    return [*_moved(before, cluster, crashed), *_truncated(cluster, broker_id)]


def _truncated(cluster: DirectoryCluster, broker_id: int) -> Iterator[Lost]:
    """Let a broker that is back cut off what the leaders do not have."""
    for partition in cluster.places.usable_partitions():
        if broker_id not in cluster.places.registration(partition).replicas:
            continue
        replicated = cluster.replicas.partition(partition)
        end = replicated.replicas[broker_id].log_end_offset
        if replicated.truncate_by_epoch(broker_id, cluster.now):
            yield Lost(partition, broker_id, end, replicated.replicas[broker_id].log_end_offset, NOT_ON_LEADER)


def out_of_sync(cluster: DirectoryCluster, broker_id: int) -> list[TopicPartition]:
    """The partitions of which a broker has a replica that is not in the ISR."""
    return [
        partition
        for partition, registration in _registrations(cluster)
        if broker_id in registration.replicas and broker_id not in registration.isr
    ]


def lag_broker(cluster: DirectoryCluster, broker_id: int) -> list[TopicPartition]:
    """Let a broker stop fetching; the partitions that it follows in sync, whose acks=all waits for it from now on."""
    check_alive(cluster, broker_id)
    cluster.flush()
    cluster.set_state(broker_id, LAGGING)
    return [
        partition
        for partition, registration in _registrations(cluster)
        if broker_id in registration.isr and broker_id != registration.leader
    ]


def advance(cluster: DirectoryCluster, ms: int) -> list[Moved]:
    """Let time pass: who lags for too long leaves the ISRs."""
    left = MOST_AHEAD_MS - cluster.cluster_file.clock_offset_ms
    if ms > left:
        raise UsageError(f"--ms: simulated time would go beyond the year 9999; it can advance by at most {left} ms")
    before = _registrations(cluster)
    cluster.advance_clock(ms)
    for partition in cluster.places.usable_partitions():
        if cluster.brokers.lagging.intersection(cluster.places.registration(partition).isr):
            cluster.replicas.partition(partition).check_isr(cluster.now)
    return _moved(before, cluster)


def replicate(cluster: DirectoryCluster, until_caught_up: bool = False) -> list[Replicated]:
    """One fetch of every follower that fetches, or as many as it takes, and then what moves between log dirs to its
    end; what came of the fetches, where anything did."""
    done: list[Replicated] = []
    for partition in cluster.places.usable_partitions():
        replicated = cluster.replicas.partition(partition)
        if replicated.leader is None:
            continue
        before = _followers(replicated)
        if until_caught_up:
            replicated.catch_up(cluster.now)
        else:
            replicated.fetch_round(cluster.now)
        done += [
            _replicated(replicated, broker_id, before.get(broker_id, after))
            for broker_id, after in _followers(replicated).items()
            if before.get(broker_id) != after
        ]
    if until_caught_up:
        finish_moves(cluster)
    return done


def _replicated(replicated: ReplicatedPartition, broker_id: int, before: _FollowerState) -> Replicated:
    replica, follower = replicated.replicas[broker_id], replicated.followers[broker_id]
    return Replicated(
        replicated.partition,
        broker_id,
        before.log_end_offset,
        replica.log_end_offset,
        replica.high_watermark,
        broker_id in replicated.registration.isr,
        follower.truncated_from,
        follower.truncated_to,
    )


def _followers(replicated: ReplicatedPartition) -> dict[int, _FollowerState]:
    """Each follower that fetches."""
    return {
        broker_id: _FollowerState(
            replicated.replicas[broker_id].log_end_offset,
            replicated.replicas[broker_id].high_watermark,
            broker_id in replicated.registration.isr,
            replicated.followers[broker_id].truncated_from,
        )
        for broker_id in replicated.fetching()
    }


def check_alive(cluster: DirectoryCluster, broker_id: int) -> None:
    """Refuse a broker that cannot stop, crash or lag, since it does not run."""
    _check_known(cluster, broker_id)
    if not cluster.brokers[broker_id].is_alive:
        raise KafkapyError(f"broker {broker_id} is already {cluster.brokers[broker_id].state}: start it first")


def check_startable(cluster: DirectoryCluster, broker_id: int) -> None:
    """Refuse a broker that cannot be started, since it runs and fetches."""
    _check_known(cluster, broker_id)
    if cluster.brokers[broker_id].state == RUNNING:
        raise KafkapyError(f"broker {broker_id} is already running")


def _check_known(cluster: DirectoryCluster, broker_id: int) -> None:
    if broker_id not in cluster.brokers.known:
        raise KafkapyError(missing_number("broker", broker_id, cluster.brokers.known))


def _registrations(cluster: DirectoryCluster) -> list[tuple[TopicPartition, PartitionRegistration]]:
    return [(partition, cluster.places.registration(partition)) for partition in cluster.places.all_partitions()]


def _moved(
    before: list[tuple[TopicPartition, PartitionRegistration]], cluster: DirectoryCluster, crashed: int | None = None
) -> list[Moved]:
    after = dict(_registrations(cluster))
    return [
        Moved(partition, was.leader, now.leader, was.isr, now.isr, was.elr, now.elr, was.last_known_elr, crashed)
        for partition, was in before
        for now in (after[partition],)
        if (was.leader, was.isr, was.elr) != (now.leader, now.isr, now.elr)
    ]
