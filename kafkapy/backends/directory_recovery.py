"""What is put right before a cluster directory is written, or before one of its brokers starts.

    moves between log dirs that were as good as done are finished     future_replicas.py
    replicas are found where they lie, if somebody moved them         misplaced_replicas.py
    replicas whose directory is gone leave the ISRs                   lost_replicas.py
    directories become what the metadata says, logs end with a batch  replica_directories.py, broker_logs.py
    after a crash the in-sync replicas come to the same end           lost_ends.py

Each finds what it needs in the files alone, so that a next command does what was left when this one was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.lost_replicas import drop_lost
from kafkapy.backends.misplaced_replicas import find_misplaced

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs
    from kafkapy.backends.directory import DirectoryCluster


def recover(cluster: DirectoryCluster, logs: Sequence[BrokerLogs] | None = None) -> None:
    """``logs`` are those of a broker that starts, by default all."""
    cluster.tell_recovered(cluster.directories.recover_moves())
    cluster.tell_recovered(find_misplaced(cluster))
    cluster.tell_recovered(drop_lost(cluster, logs))
    cluster.tell_recovered(cluster.directories.recover(logs))
    if logs is None and any(not each.was_clean for each in cluster.places.all_logs()):
        cluster.replicas.open_all_after_crash()
