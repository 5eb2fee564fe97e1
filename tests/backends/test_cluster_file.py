"""cluster.yaml: what is written is read, and whatever else lies there is refused in one line."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.cluster_file import BrokerEntry, ClusterFile, decode, encode
from kafkapy.errors import FormatError
from kafkapy.replication.broker_state import BrokerState

STATE = st.just(BrokerState()) | st.builds(
    BrokerState, st.sampled_from(("stopped", "killed", "lagging")), st.integers(0, 2**45)
)
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@st.composite
def clusters(draw: st.DrawFn) -> ClusterFile:
    ids = draw(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5, unique=True))
    paths = draw(st.lists(TEXT.map(os.path.normpath), min_size=len(ids), max_size=2 * len(ids), unique=True))
    brokers = [
        BrokerEntry(broker_id, draw(st.none() | TEXT), tuple(paths[number :: len(ids)]), draw(STATE))
        for number, broker_id in enumerate(ids)
    ]
    return ClusterFile(draw(TEXT), tuple(brokers), draw(st.integers(0, 2**40)))


@given(clusters())
def test_round_trip(cluster: ClusterFile) -> None:
    assert decode(encode(cluster), "cluster.yaml") == cluster


def test_it_is_meant_to_be_read() -> None:
    cluster = ClusterFile("id", (BrokerEntry(1, "a", ("broker-1",)), BrokerEntry(2, None, ("x", "y"))))
    assert encode(cluster).decode().splitlines()[1:] == [
        "version: 1",
        'cluster_id: "id"',
        "brokers:",
        "  - id: 1",
        '    rack: "a"',
        '    log_dirs: ["broker-1"]',
        "  - id: 2",
        '    log_dirs: ["x", "y"]',
    ]
    assert cluster.broker(2) == cluster.brokers[1]
    assert cluster.broker(3) is None


def test_who_does_not_run_is_named() -> None:
    away = BrokerEntry(2, None, ("broker-2",), BrokerState("killed", 7))
    cluster = ClusterFile("id", (BrokerEntry(1, None, ("broker-1",)), away), 60_000)
    assert encode(cluster).decode().splitlines()[2:] == [
        'cluster_id: "id"',
        "clock_offset_ms: 60000",
        "brokers:",
        "  - id: 1",
        '    log_dirs: ["broker-1"]',
        "  - id: 2",
        '    log_dirs: ["broker-2"]',
        "    state: killed",
        "    since: 7",
    ]
    assert (cluster.states.alive, cluster.states.fetching) == ({1}, {1})
    assert cluster.with_state(2, BrokerState("lagging", 8)).states.lagging == {2}


ONE = b"version: 1\ncluster_id: c\nbrokers: "


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "it has no version"),
        (b"- 1", "it has no version"),
        (b"version: x", "it has no version"),
        (b"a: [", "not YAML"),
        (b"\x00", "not YAML"),
        (b"\xff\xfe\xfa", "not YAML"),
        (b"version: 2", "version 2 was written by a newer kafkapy"),
        (b"version: 1", "cluster_id or brokers are missing"),
        (ONE + b"[]", "cluster_id or brokers are missing"),
        (ONE + b"[1]", "a broker needs an id"),
        (ONE + b"[{id: -1, log_dirs: [a]}]", "a broker needs an id"),
        (ONE + b"[{id: true, log_dirs: [a]}]", "a broker needs an id"),
        (ONE + b"[{id: 1}]", "broker 1 has no log_dirs"),
        (ONE + b"[{id: 1, log_dirs: []}]", "broker 1 has no log_dirs"),
        (ONE + b"[{id: 1, log_dirs: [2]}]", "broker 1 has no log_dirs"),
        (ONE + b"[{id: 1, rack: 2, log_dirs: [a]}]", "the rack of broker 1 is not text"),
        (ONE + b"[{id: 1, log_dirs: [a], state: asleep}]", "the state of broker 1 is not one of running, lagging"),
        (ONE + b"[{id: 1, log_dirs: [a], state: killed, since: x}]", "the state of broker 1 is not one of"),
        (ONE + b"[{id: 1, log_dirs: [a]}]\nclock_offset_ms: x", "clock_offset_ms is not a number"),
        (ONE + b"[{id: 1, log_dirs: [a]}]\nclock_offset_ms: -1", "clock_offset_ms is not a number from 0 to"),
        (ONE + b"[{id: 1, log_dirs: [a]}]\nclock_offset_ms: 99999999999999999999", "clock_offset_ms is not a number"),
        (ONE + b"[{id: 1, log_dirs: [a]}, {id: 1, log_dirs: [b]}]", "two brokers have the same id"),
        (ONE + b"[{id: 1, log_dirs: [a]}, {id: 2, log_dirs: [./a]}]", "a log dir is named twice"),
    ],
)
def test_what_is_no_cluster_file_is_refused(data: bytes, error: str) -> None:
    with pytest.raises(FormatError, match=error) as refused:
        decode(data, "dir/cluster.yaml")
    assert str(refused.value).startswith("dir/cluster.yaml: ")
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_and_nothing_else(data: bytes) -> None:
    with pytest.raises(FormatError):
        decode(data, "x")
