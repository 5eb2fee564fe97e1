"""A cluster that cannot be opened: what is the matter, and what to do about that very thing."""

from __future__ import annotations

import os
from shlex import quote

from kafkapy.backends.cluster_file import FILE_NAME, BrokerEntry, ClusterFile, encode, read_cluster_file
from kafkapy.backends.log_dirs import LogDirsCluster
from kafkapy.backends.replicas import LogDirs
from kafkapy.backends.selection import Selection
from kafkapy.doctor.expected_identity import expected_identities, said, writing_command
from kafkapy.doctor.finding import Finding, error
from kafkapy.doctor.unreadable import unreadable
from kafkapy.errors import FormatError, KafkaError, KafkapyError


def why_closed(chosen: Selection, where: str, problem: Exception) -> Finding:
    """The finding for a cluster that could not be opened, or not be read to the end."""
    if isinstance(problem, OSError):
        return unreadable(problem, chosen.name)
    if chosen.is_live:
        return error(chosen.name, str(problem), _live_remedy(problem))
    if chosen.log_dirs:
        text = str(problem).removeprefix(f"{chosen.name}: ")
        return error(chosen.name, text, "name the log.dirs of the brokers, with --log-dirs")
    return error(chosen.directory, str(problem), _remedy(chosen.directory, where))


def closed_log_dirs(chosen: Selection, where: str) -> dict[str, Finding]:
    """Those of several log dirs that cannot be opened, each with its finding: the others are looked at."""
    closed = {}
    for path in chosen.log_dirs:
        try:
            LogDirs((path,))
        except (KafkapyError, OSError) as problem:
            closed[path] = why_closed(chosen._replace(log_dirs=(path,)), where, problem)
    return closed


def _live_remedy(problem: Exception) -> str:
    from kafkapy.backends.live.library.connection_errors import AuthenticationFailed

    if isinstance(problem, KafkapyError) and problem.hint is not None:
        return problem.hint
    if isinstance(problem, AuthenticationFailed):
        return "put the client's settings right, in a file that --command-config names"
    if isinstance(problem, KafkaError) and problem.name.endswith("AuthorizationException"):
        return "give the user that right with kafkapy acls --add, or name another user's settings with --command-config"
    return "name another broker, or see what its log says"


def _remedy(directory: str, where: str) -> str:
    if os.path.exists(directory) and not os.path.isdir(directory):
        return "name a directory with --cluster"
    if not os.path.exists(directory) or not os.listdir(directory):
        return f"make it: kafkapy storage format {where} --brokers 3"
    try:
        cluster = read_cluster_file(directory)
    except (FormatError, FileNotFoundError):
        return _written_anew(directory)
    missing = [each for broker in cluster.brokers for each in broker.log_dirs if not _is_dir(directory, each)]
    return _made_anew(directory, cluster, missing, where) if missing else f"see what is there: ls {quote(directory)}"


def _written_anew(directory: str) -> str:
    """What writes a cluster.yaml for the log dirs that are there; who was stopped it cannot know."""
    path = os.path.join(directory, FILE_NAME)
    found: dict[int, list[str]] = {}
    cluster_ids = set()
    for name in sorted(os.listdir(directory)):
        meta = said(os.path.join(directory, name))
        if meta is not None and meta.node_id is not None:
            found.setdefault(meta.node_id, []).append(name)
            cluster_ids.add(meta.cluster_id)
    cluster_id = cluster_ids.pop() if len(cluster_ids) == 1 else None
    if cluster_id is None:
        return "name another cluster directory with --cluster, or log dirs of brokers with --log-dirs"
    brokers = tuple(BrokerEntry(broker_id, None, tuple(names)) for broker_id, names in sorted(found.items()))
    text = encode(ClusterFile(cluster_id, brokers)).decode().partition("\n")[2].replace("\n", r"\n")
    return f"put {path} right, or write it anew, without racks, with all brokers running: printf '{text}' > {path}"


def _made_anew(directory: str, cluster: ClusterFile, missing: list[str], where: str) -> str:
    """What makes log dirs anew that are gone, so that their replicas are fetched from the others."""
    present = [
        os.path.join(directory, each)
        for broker in cluster.brokers
        for each in broker.log_dirs
        if _is_dir(directory, each)
    ]
    gone = [os.path.join(directory, each) for each in missing]
    back = f"put {', '.join(gone)} back from a copy"
    try:
        image = LogDirsCluster(*present).image() if present else None
    except (KafkapyError, OSError):
        image = None
    expected = {} if image is None else expected_identities(directory, cluster, image)
    if not {*gone} <= expected.keys():
        return back
    made = "; ".join(f"mkdir {quote(each)}; {writing_command(each, expected[each])}" for each in gone)
    return f"{back}, or fetch anew what other brokers have: {made}; kafkapy cluster replicate --until-caught-up {where}"


def _is_dir(directory: str, log_dir: str) -> bool:
    return os.path.isdir(os.path.join(directory, log_dir))
