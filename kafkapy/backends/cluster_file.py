"""``cluster.yaml``: which brokers a cluster directory has, where their log dirs are, and which of them run.

    version: 1
    cluster_id: 4L6g3nShT-eMCtK--X86sw
    clock_offset_ms: 60000     # simulated time is that much ahead; left out where it is not
    brokers:
      - id: 1
        rack: a                # left out where there is none
        log_dirs: [broker-1]
      - id: 2
        log_dirs: [broker-2]
        state: stopped         # or killed, lagging; left out for one that runs
        since: 1794800000000   # simulated time, in ms

Log dirs are relative to the directory, so that it can be moved. The file describes the surroundings: which processes
run, and what their clock says. All that Kafka itself keeps lies in Kafka's own files. It is always written whole. A
``version`` above 1 is from a newer kafkapy and is refused.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from kafkapy.errors import FormatError
from kafkapy.replication.broker_state import RUNNING, STATES, BrokerState, BrokerStates

FILE_NAME = "cluster.yaml"
VERSION = 1
MOST_AHEAD_MS = 250_000_000_000_000
"""How far simulated time may be ahead: some 7,900 years, so that it can be written with a year of four digits."""


class BrokerEntry(NamedTuple):
    """A broker of the cluster, and what it does."""

    id: int
    rack: str | None
    log_dirs: tuple[str, ...]
    state: BrokerState = BrokerState()


class ClusterFile(NamedTuple):
    """The whole file."""

    cluster_id: str
    brokers: tuple[BrokerEntry, ...]
    clock_offset_ms: int = 0

    @property
    def states(self) -> BrokerStates:
        """Which brokers run."""
        return BrokerStates([broker.id for broker in self.brokers], {each.id: each.state for each in self.brokers})

    def with_state(self, broker_id: int, state: BrokerState) -> ClusterFile:
        """The same, but for what one broker does."""
        brokers = tuple(each._replace(state=state) if each.id == broker_id else each for each in self.brokers)
        return self._replace(brokers=brokers)

    def broker(self, broker_id: int) -> BrokerEntry | None:
        """The broker with this id."""
        return next((broker for broker in self.brokers if broker.id == broker_id), None)


def read_cluster_file(directory: str) -> ClusterFile:
    """What a cluster directory is made of."""
    path = os.path.join(directory, FILE_NAME)
    with open(path, "rb") as file:
        return decode(file.read(), path)


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
    offset = document.get("clock_offset_ms", 0)
    if type(offset) is not int or not 0 <= offset <= MOST_AHEAD_MS:
        raise FormatError(f"{location}: clock_offset_ms is not a number from 0 to {MOST_AHEAD_MS}")
    return ClusterFile(document["cluster_id"], entries, offset)


def encode(cluster: ClusterFile) -> bytes:
    """The file's bytes."""
    lines = ["# A Kafka cluster as a directory, kept by kafkapy.", f"version: {VERSION}"]
    lines.append(f"cluster_id: {_quoted(cluster.cluster_id)}")
    if cluster.clock_offset_ms:
        lines.append(f"clock_offset_ms: {cluster.clock_offset_ms}")
    lines.append("brokers:")
    for broker in cluster.brokers:
        lines.append(f"  - id: {broker.id}")
        if broker.rack is not None:
            lines.append(f"    rack: {_quoted(broker.rack)}")
        lines.append(f"    log_dirs: [{', '.join(_quoted(log_dir) for log_dir in broker.log_dirs)}]")
        if broker.state.state != RUNNING:
            lines += [f"    state: {broker.state.state}", f"    since: {broker.state.since}"]
    return ("\n".join(lines) + "\n").encode()


def _broker(entry: Any, location: str) -> BrokerEntry:
    if not isinstance(entry, dict) or type(entry.get("id")) is not int or entry["id"] < 0:
        raise FormatError(f"{location}: a broker needs an id, a whole number of at least 0")
    log_dirs, rack = entry.get("log_dirs"), entry.get("rack")
    if not isinstance(log_dirs, list) or not log_dirs or not all(isinstance(path, str) for path in log_dirs):
        raise FormatError(f"{location}: broker {entry['id']} has no log_dirs")
    if rack is not None and not isinstance(rack, str):
        raise FormatError(f"{location}: the rack of broker {entry['id']} is not text")
    return BrokerEntry(entry["id"], rack, tuple(os.path.normpath(path) for path in log_dirs), _state(entry, location))


def _state(entry: Any, location: str) -> BrokerState:
    state, since = entry.get("state", RUNNING), entry.get("since", 0)
    if state not in STATES or type(since) is not int:
        raise FormatError(
            f"{location}: the state of broker {entry['id']} is not one of {', '.join(STATES)} since a time"
        )
    return BrokerState() if state == RUNNING else BrokerState(state, since)


def _quoted(text: str) -> str:
    """A double-quoted YAML scalar."""
    import yaml

    return yaml.safe_dump(text, default_style='"', width=sys.maxsize).rstrip("\n")


def file_version(directory: str) -> tuple[int, int]:
    """Tells one cluster.yaml from another: it is replaced, never written over."""
    found = os.stat(os.path.join(directory, FILE_NAME))
    return found.st_ino, found.st_mtime_ns
