"""LogDirsCommand's lines: two sentences and one line of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkapy.backends.cluster import LogDir
from kafkapy.output.row_writer import json_bytes


def log_dir_lines(log_dirs: Iterable[LogDir], topics: frozenset[str]) -> Iterator[str]:
    """What is told about these log dirs; no ``topics`` means all. A broker without meta.properties is ``unknown``."""
    brokers: dict[int | None, list[dict[str, object]]] = {}
    for log_dir in log_dirs:
        brokers.setdefault(log_dir.broker_id, []).append(_log_dir(log_dir, topics))
    names = ("unknown" if broker is None else str(broker) for broker in brokers)
    yield "Querying brokers for log directories information"
    yield f"Received log directory information from brokers {','.join(names)}"
    described = [{"broker": broker, "logDirs": found} for broker, found in brokers.items()]
    yield json_bytes({"brokers": described, "version": 1}).decode()


def _log_dir(log_dir: LogDir, topics: frozenset[str]) -> dict[str, object]:
    partitions = [
        {
            "partition": str(replica.partition),
            "size": replica.size,
            "offsetLag": replica.offset_lag,
            "isFuture": replica.is_future,
        }
        for replica in log_dir.replicas
        if not topics or replica.partition.topic in topics
    ]
    return {"partitions": partitions, "error": log_dir.error, "logDir": log_dir.path}
