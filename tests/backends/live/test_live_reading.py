"""What of a running cluster can be told without one: sections that load when looked at, brokers that are too old."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import ClassVar

import pytest

from kafkapy.backends.live import live_producers
from kafkapy.backends.live.client import Call, Client, NoSuchNode
from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.library.network import Address, ConnectionLost, Link
from kafkapy.backends.live.live_configs import is_asked_itself, own_source
from kafkapy.backends.live.live_image import Section, _Metadata
from kafkapy.backends.live.live_log_dirs import describe_log_dirs
from kafkapy.backends.live.live_offsets import too_old
from kafkapy.backends.live.partition_leaders import NoLeader, find_leaders
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import BROKER, BROKER_LOGGER, TOPIC

LIST_OFFSETS = 2
P0 = TopicPartition("orders", 0)


class Hanging:
    """A client of a cluster whose broker 2 does not answer, and is dropped after that was tried twice."""

    def __init__(self) -> None:
        self.tries = 0

    def retrying(self, attempt: Callable[[], object]) -> object:
        for _ in range(3):
            try:
                self.tries += 1
                return attempt()
            except ConnectionLost as error:
                failed = error
        raise failed

    def nodes(self) -> list[int]:
        return [1, 2, 3] if self.tries <= 2 else [1, 3]

    def call_all(self, calls: Iterable[Call]) -> list[Value | ConnectionLost]:
        return [self._answer(call.node) for call in calls]

    def _answer(self, node: int | None) -> Value | ConnectionLost:
        if node not in self.nodes():
            return NoSuchNode(node or 0, self.nodes())
        if node == 2:
            return ConnectionLost("broker 2 did not answer")
        found = {"errorCode": 0, "logDir": f"/{node}", "topics": [], "totalBytes": -1, "usableBytes": -1}
        return {"errorCode": 0, "results": [found]}


def test_log_dirs_of_all_brokers_are_those_of_whom_the_cluster_keeps() -> None:
    found = describe_log_dirs(Hanging())  # type: ignore[arg-type]
    assert [each.broker_id for each in found] == [1, 3]
    with pytest.raises(NoSuchNode, match="; the running ones are 1, 3"):
        describe_log_dirs(Hanging(), [1, 2])  # type: ignore[arg-type]


def test_producers_of_a_partition_that_nobody_leads_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_producers, "find_leaders", lambda _, partitions: {each: NoLeader() for each in partitions})
    client = Hanging()
    found = live_producers.describe_producers(client, [P0], None)  # type: ignore[arg-type]
    assert (client.tries, type(found[P0])) == (1, NoLeader)


class Leaderless:
    """A client of a cluster in which nobody leads a partition."""

    def __init__(self, offline: list[int]) -> None:
        self._offline = offline
        self.leaders: dict[TopicPartition, int] = {}

    def learn(self, nodes: object) -> None:
        pass

    def call(self, api: str, fields: Value) -> Value:
        partition = {"partitionIndex": 0, "leaderId": -1, "offlineReplicas": self._offline}
        return {"brokers": [], "topics": [{"name": P0.topic, "errorCode": 0, "partitions": [partition]}]}


@pytest.mark.parametrize(
    ("offline", "whose"), [([3], "the replica on broker 3 is"), ([3, 2], "replicas on 2, 3 are"), ([], None)]
)
def test_a_partition_that_nobody_leads_says_who_is_away(offline: list[int], whose: str | None) -> None:
    found = find_leaders(Leaderless(offline), [P0])[P0]  # type: ignore[arg-type]
    assert isinstance(found, NoLeader)
    assert found.hint == (
        None if whose is None else f"no election is under way: {whose} offline; 'kafkapy doctor' explains what to do"
    )


def test_a_named_broker_that_is_not_there_is_not_waited_for() -> None:
    client = Hanging()
    found = live_producers.describe_producers(client, [P0], 9)  # type: ignore[arg-type]
    assert (client.tries, type(found[P0])) == (1, NoSuchNode)


class Hasty:
    """A connection that is closed at once."""

    is_open = False
    versions: ClassVar = {3: (0, 13)}

    def close(self) -> None:
        pass


def test_a_server_that_hung_is_asked_last_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging, good = Address("a", 1), Address("b", 1)
    tried = []

    async def connect(address: Address, _: object) -> Link:
        tried.append(address)
        if address == hanging:
            raise ConnectionLost("broker a said nothing")
        return Hasty()  # type: ignore[return-value]

    client = Client([hanging, good], ClientConfig())
    monkeypatch.setattr(client._network, "_connect", connect)
    for _ in range(2):
        client._network.run(client._link(None))
    client.close()
    assert tried == [hanging, good, good]


@pytest.mark.parametrize("good", [None, Address("c", 1)])
def test_servers_that_hang_are_waited_for_together(monkeypatch: pytest.MonkeyPatch, good: Address | None) -> None:
    told: list[str] = []

    async def connect(address: Address, _: object) -> Link:
        told.append(f"to {address.host}")
        if address != good:
            await client._network.sleep(200)
            told.append(f"not {address.host}")
            raise ConnectionLost(f"{address.host} hangs")
        return Hasty()  # type: ignore[return-value]

    client = Client([Address("a", 1), Address("b", 1), *filter(None, [good])], ClientConfig())
    monkeypatch.setattr(client._network, "_connect", connect)
    if good is not None:
        client.knock()
        assert told == ["to a", "to b", "to c"]
    else:
        with pytest.raises(ConnectionLost, match=r"^a hangs; b hangs$"):
            client.knock()
        assert told == ["to a", "to b", "not a", "not b"]
    client.close()


def test_moves_are_not_asked_for_where_a_controller_was_just_missed() -> None:
    class Missing:
        """A client that waited for a controller in vain; whatever else it is asked fails the test."""

        misses_controller = True

    assert _Metadata(Missing(), {}).reassignments == {}  # type: ignore[arg-type]


def test_a_section_is_loaded_once_when_it_is_first_looked_at() -> None:
    loads: list[int] = []

    def load() -> dict[str, int]:
        loads.append(1)
        return {"a": 1, "b": 2}

    section = Section(load)
    assert loads == []
    assert "a" in section
    assert dict(section) == {"a": 1, "b": 2}
    assert (len(section), section.get("c")) == (2, None)
    assert loads == [1]


def test_a_broker_that_is_too_old_for_a_name_of_an_offset() -> None:
    assert too_old({LIST_OFFSETS: (1, 11)}, LIST_OFFSETS, 7, 11) is None
    error = too_old({LIST_OFFSETS: (1, 6)}, LIST_OFFSETS, 7, 11)
    assert error is not None
    assert error.name == "UnsupportedVersionException"
    assert str(error) == (
        "The node does not support LIST_OFFSETS with version in range [7,11]. The supported range is [1,6]."
    )


def test_only_a_broker_knows_its_own_configs() -> None:
    assert is_asked_itself(BROKER, "1")
    assert is_asked_itself(BROKER_LOGGER, "1")
    assert not is_asked_itself(BROKER, "")
    assert not is_asked_itself(TOPIC, "1")
    assert (own_source(BROKER, "1"), own_source(BROKER, "")) == (
        "DYNAMIC_BROKER_CONFIG",
        "DYNAMIC_DEFAULT_BROKER_CONFIG",
    )


def test_the_client_library_comes_without_its_clients() -> None:
    """And whoever wants a package of it later gets the real one."""
    script = """
import sys
import kafkapy.backends.live.library.network
print(*(name for name in ("kafka.producer", "kafka.consumer", "kafka.admin") if name in sys.modules))
from kafka.protocol.admin import ListGroupsRequest
print(ListGroupsRequest.__module__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == ""
    assert done.stdout.splitlines()[1].startswith("kafka.protocol.admin")
