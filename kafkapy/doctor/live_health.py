"""A running cluster, as far as it can be asked: brokers, their log dirs and disks, the quorum, and partitions."""

from __future__ import annotations

from collections.abc import Iterator

from kafkapy.backends.cluster import Cluster
from kafkapy.backends.quorum import OBSERVER
from kafkapy.doctor.disks import LEAST_FREE
from kafkapy.doctor.finding import Finding, error, warning
from kafkapy.doctor.metadata_health import check_metadata
from kafkapy.errors import KafkaError, KafkapyError

LARGEST_LAG = 1000  # records of the metadata log: seconds of a busy controller


def check_live(cluster: Cluster, where: str) -> Iterator[Finding]:
    """All that brokers and controllers tell. Each question may be refused by itself."""
    alive = {node.id for node in cluster.administration().nodes()}
    yield from _brokers(cluster, where)
    yield from _log_dirs(cluster, where)
    yield from _quorum(cluster, where)
    yield from check_metadata(cluster, alive, True, where)


def _brokers(cluster: Cluster, where: str) -> Iterator[Finding]:
    administration = cluster.administration()
    for node, versions in administration.api_versions():
        if isinstance(versions, KafkapyError):
            remedy = f"see whether {node.host}:{node.port} is up, and what its log says"
            yield error(f"broker {node.id}", f"cannot be reached: {versions}", remedy)
    try:
        fenced = [node for node in administration.nodes(include_fenced=True) if node.is_fenced]
    except KafkaError:
        return  # before 4.0 nobody tells
    for node in fenced:
        remedy = f"start it; if it is gone for good: kafkapy cluster unregister --id {node.id} {where}"
        yield warning(f"broker {node.id}", "is fenced: it is down, or just starting", remedy)


def _log_dirs(cluster: Cluster, where: str) -> Iterator[Finding]:
    try:
        found = cluster.log_dirs()
    except KafkapyError as problem:
        yield warning("log dirs", f"cannot be asked for: {problem}", "the principal needs DESCRIBE of the cluster")
        return
    for each in found:
        place = f"broker {each.broker_id} {each.path}"
        if each.error is not None:
            yield error(place, f"is offline: {each.error}", "look at the disk; after a repair, restart the broker")
        elif each.total_bytes and each.usable_bytes is not None and each.usable_bytes < each.total_bytes * LEAST_FREE:
            left = f"its disk has {each.usable_bytes * 100 / each.total_bytes:.1f}% left"
            yield warning(place, left, f"kafkapy reassign-partitions --rebalance {where}")


def _quorum(cluster: Cluster, where: str) -> Iterator[Finding]:
    try:
        quorum = cluster.administration().quorum()
    except KafkapyError as problem:
        yield warning("quorum", f"cannot be asked for: {problem}", "the principal needs DESCRIBE of the cluster")
        return
    remedy = f"kafkapy metadata-quorum {where} describe --replication"
    if quorum.leader_id is None or quorum.leader_id < 0:
        yield error("quorum", "has no leader: the metadata cannot change", remedy)
    for replica in quorum.replicas:
        if replica.lag is not None and replica.lag > LARGEST_LAG:
            kind = "observer" if replica.status == OBSERVER else "voter"
            text = f"is {replica.lag} records of metadata behind"
            yield warning(f"{kind} {replica.node_id}", text, remedy)
