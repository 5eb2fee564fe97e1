"""``cluster.yaml``: which brokers a cluster directory has, and where their log dirs are.

    version: 1
    cluster_id: 4L6g3nShT-eMCtK--X86sw
    brokers:
      - id: 1
        rack: a            # left out where there is none
        log_dirs: [broker-1]

Log dirs are relative to the directory, so that it can be moved. The file is written once, whole, when the directory
is made; all that changes later lies in Kafka's own files. A ``version`` above 1 is from a newer kafkapy and is
refused.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from kafkapy.errors import FormatError

FILE_NAME = "cluster.yaml"
VERSION = 1


class BrokerEntry(NamedTuple):
    """A broker of the cluster."""

    id: int
    rack: str | None
    log_dirs: tuple[str, ...]


class ClusterFile(NamedTuple):
    """The whole file."""

    cluster_id: str
    brokers: tuple[BrokerEntry, ...]

    def broker(self, broker_id: int) -> BrokerEntry | None:
        """The broker with this id."""
        return next((broker for broker in self.brokers if broker.id == broker_id), None)


def decode(data: bytes, location: str) -> ClusterFile:
    """The file's content; ``location`` is what errors name."""
    import yaml

    try:
        document = yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise FormatError(f"{location}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, dict) or not isinstance(document.get("version"), int):
        raise FormatError(f"{location}: not a cluster file of kafkapy: it has no version")
    if document["version"] > VERSION:
        raise FormatError(f"{location}: version {document['version']} was written by a newer kafkapy")
    brokers = document.get("brokers")
    if not isinstance(document.get("cluster_id"), str) or not isinstance(brokers, list) or not brokers:
        raise FormatError(f"{location}: cluster_id or brokers are missing")
    entries = tuple(_broker(entry, location) for entry in brokers)
    if len({entry.id for entry in entries}) != len(entries):
        raise FormatError(f"{location}: two brokers have the same id")
    log_dirs = [path for entry in entries for path in entry.log_dirs]
    if len(set(log_dirs)) != len(log_dirs):
        raise FormatError(f"{location}: a log dir is named twice")
    return ClusterFile(document["cluster_id"], entries)


def encode(cluster: ClusterFile) -> bytes:
    """The file's bytes."""
    lines = ["# A Kafka cluster as a directory, kept by kafkapy.", f"version: {VERSION}"]
    lines += [f"cluster_id: {_quoted(cluster.cluster_id)}", "brokers:"]
    for broker in cluster.brokers:
        lines.append(f"  - id: {broker.id}")
        if broker.rack is not None:
            lines.append(f"    rack: {_quoted(broker.rack)}")
        lines.append(f"    log_dirs: [{', '.join(_quoted(log_dir) for log_dir in broker.log_dirs)}]")
    return ("\n".join(lines) + "\n").encode()


def _broker(entry: Any, location: str) -> BrokerEntry:
    if not isinstance(entry, dict) or type(entry.get("id")) is not int or entry["id"] < 0:
        raise FormatError(f"{location}: a broker needs an id, a number from 0 on")
    log_dirs, rack = entry.get("log_dirs"), entry.get("rack")
    if not isinstance(log_dirs, list) or not log_dirs or not all(isinstance(path, str) for path in log_dirs):
        raise FormatError(f"{location}: broker {entry['id']} has no log_dirs")
    if rack is not None and not isinstance(rack, str):
        raise FormatError(f"{location}: the rack of broker {entry['id']} is not text")
    return BrokerEntry(entry["id"], rack, tuple(os.path.normpath(path) for path in log_dirs))


def _quoted(text: str) -> str:
    """A double-quoted YAML scalar."""
    import yaml

    return yaml.safe_dump(text, default_style='"', width=sys.maxsize).rstrip("\n")
