"""A running cluster, as far as it can be asked: brokers, the quorum, log dirs and disks, and partitions.

Each question may fail by itself, and the others are asked all the same. Only brokers that answer are asked for more. A
broker hands questions about the quorum and about moves on to the active controller: where there is none they are not
answered, and whatever is asked on the same connection waits behind them. So they come after what brokers know.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kafkapy.backends.administration import ClusterNode, NodeApiVersions
from kafkapy.backends.cluster import Cluster
from kafkapy.backends.quorum import OBSERVER
from kafkapy.doctor.disks import LEAST_FREE
from kafkapy.doctor.finding import Finding, error, errors_first, info, warning
from kafkapy.doctor.metadata_health import check_metadata
from kafkapy.errors import KafkaError, KafkapyError

LARGEST_LAG = 1000  # records of the metadata log: seconds of a busy controller
LONGEST_WAIT_MS = 10_000  # for one answer: many questions may have none
WAIT_SETTING = "as long as doctor waits"


def check_live(cluster: Cluster, where: str) -> Iterator[Finding]:
    """All that brokers and controllers tell."""
    asked = cluster.administration().api_versions()
    alive = {node.id for node, versions in asked if not isinstance(versions, KafkapyError)}
    yield from _brokers(cluster, asked, where)
    yield from errors_first(_log_dirs(cluster, alive, where))
    yield from errors_first(_quorum(cluster, where))
    yield from check_metadata(cluster, alive, alive, True, where)


def _brokers(cluster: Cluster, asked: Collection[NodeApiVersions], where: str) -> Iterator[Finding]:
    silent = {node.id for node, versions in asked if isinstance(versions, KafkapyError)}
    for node, versions in asked:
        if isinstance(versions, KafkapyError):
            remedy = f"see whether {node.host}:{node.port} is up, and what its log says"
            yield error(f"broker {node.id}", f"does not answer: {versions}", remedy)
    administration = cluster.administration()
    try:
        nodes = administration.nodes(include_fenced=True)
    except KafkapyError:
        return  # before 4.0 nobody tells
    fenced = [node for node in nodes if node.is_fenced and node.id not in silent]
    why = administration.unreachable(fenced)
    for node in fenced:
        yield _fenced(node, why.get(node.id), where)


def _fenced(node: ClusterNode, why: KafkapyError | None, where: str) -> Finding:
    """What is told of a broker that the controllers take for gone; ``why`` it cannot be talked to, if that is so."""
    from kafkapy.backends.live.library.connection_errors import NobodyThere

    place = f"broker {node.id}"
    if why is None:
        remedy = "if it stays so: see what its log says of the controllers"
        return warning(place, "is fenced, and answers: it is just starting, or does not reach the controllers", remedy)
    if isinstance(why, NobodyThere):
        remedy = f"start it; if it is gone for good: kafkapy cluster unregister --id {node.id} {where}"
        return warning(place, "is fenced: it is down, or just starting", remedy)
    remedy = "see what its process does and what its log says; if it hangs, kill it and start it again"
    return warning(place, f"is fenced, and does not answer: {why}", remedy)


def _log_dirs(cluster: Cluster, alive: Collection[int], where: str) -> Iterator[Finding]:
    try:
        found = cluster.log_dirs(alive)
    except KafkapyError as problem:
        yield _refused("log dirs", problem, "see what the log of that broker says")
        return
    for each in found:
        place = f"broker {each.broker_id} {each.path}"
        if each.error is not None:
            yield error(place, f"is offline: {each.error}", "look at the disk; after a repair, restart the broker")
        elif each.total_bytes and each.usable_bytes is not None and each.usable_bytes < each.total_bytes * LEAST_FREE:
            left = f"its disk has {each.usable_bytes * 100 / each.total_bytes:.1f}% left"
            yield warning(place, left, f"kafkapy reassign-partitions --rebalance {where}")


def _quorum(cluster: Cluster, where: str) -> Iterator[Finding]:
    remedy = f"kafkapy metadata-quorum {where} describe --replication"
    majority = f"start the controllers that are down: a majority of the voters has to run; then: {remedy}"
    try:
        quorum = cluster.administration().quorum()
    except KafkapyError as problem:
        yield _refused("quorum", problem, majority, "does not answer, so the metadata cannot change")
        return
    if quorum.leader_id is None or quorum.leader_id < 0:
        yield error("quorum", "has no leader: the metadata cannot change", majority)
    for replica in quorum.replicas:
        if replica.lag is not None and replica.lag > LARGEST_LAG:
            kind = "observer" if replica.status == OBSERVER else "voter"
            has_fetched = replica.log_end_offset is None or replica.log_end_offset >= 0
            text = (
                f"is {replica.lag} records of metadata behind" if has_fetched else "has fetched nothing of this leader"
            )
            yield warning(f"{kind} {replica.node_id}", text, remedy)


def _refused(place: str, problem: KafkapyError, remedy: str, text: str = "cannot be asked for") -> Finding:
    """What is told where there is no answer: ACLs help only against a refusal for want of them."""
    name = problem.name if isinstance(problem, KafkaError) else ""
    if name == "UnsupportedVersionException":
        return info(place, f"cannot be asked for: {problem}")
    if name.endswith("AuthorizationException"):
        return warning(place, f"cannot be asked for: {problem}", "the principal needs DESCRIBE of the cluster")
    return error(place, f"{text}: {problem}", remedy)
