"""Requests to the brokers of a cluster: to whom, at which version, and when to try again.

Requests of one ``call_all`` go out at once, to all brokers in parallel. The version is the highest that both sides
know.

A broker that cannot be reached, or that hangs up, is a ConnectionLost. ``retrying`` is for work that may be done again:
it starts anew with fresh metadata until default.api.timeout.ms is over, as Kafka's own clients do. Where none of the
bootstrap servers can be reached at all, that is said at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar

from kafkapy.backends.live.client_config import ClientConfig, Limit
from kafkapy.backends.live.connections import Connections, failure_of
from kafkapy.backends.live.exchange import Exchange, decode_response, request_schema
from kafkapy.backends.live.library.network import Address, ConnectionLost, Link, Network, Pending
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import raise_for
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.near_misses import listed

GONE_AFTER_S = 5.0  # for so long an unknown topic may be a new one: brokers hear of it one after the other

# What passes by itself: a leader, controller or coordinator is moving, or just starts.
PASSING = frozenset(
    [
        "NotControllerException",
        "NotLeaderOrFollowerException",
        "LeaderNotAvailableException",
        "FencedLeaderEpochException",
        "UnknownLeaderEpochException",
        "KafkaStorageException",
        "CoordinatorLoadInProgressException",
        "CoordinatorNotAvailableException",
        "NotCoordinatorException",
        "BrokerNotAvailableException",
        "ThrottlingQuotaExceededException",
    ]
)

_REQUEST_TIMEOUT = "request.timeout.ms"
_CONTROLLERS = 2  # what DescribeCluster is to tell of
_HANDED_ON = frozenset(
    [
        "AddRaftVoter",
        "AlterClientQuotas",
        "AlterPartitionReassignments",
        "AlterUserScramCredentials",
        "CreateAcls",
        "CreatePartitions",
        "CreateTopics",
        "DeleteAcls",
        "DeleteTopics",
        "DescribeQuorum",
        "ElectLeaders",
        "IncrementalAlterConfigs",
        "ListPartitionReassignments",
        "RemoveRaftVoter",
        "UnregisterBroker",
        "UpdateFeatures",
    ]
)  # what brokers hand on to the active controller, and for as long as there is none do not answer
_WITHOUT_CONTROLLER = (
    "the broker asks the active controller, and perhaps there is none: 'kafkapy doctor' with the same options for the "
    "cluster tells"
)
T = TypeVar("T")


class Node(NamedTuple):
    """A broker or a controller, and where it listens."""

    id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)


class NoSuchNode(ConnectionLost):
    """A broker is not in the metadata: there is none of that id, or it is down or about to be back."""

    def __init__(self, node: int, known: Iterable[int]) -> None:
        there = f"the running ones are {listed(known)}"
        super().__init__(f"broker {node} is not in the cluster's metadata: it may be down; {there}")


class Call(NamedTuple):
    """A request for one broker; None means any. ``max_version`` is the newest that ``fields`` are meant for.

    A broker answers the requests of a connection one after the other: what may be answered late, such as JoinGroup, has
    a ``channel`` of its own, a connection besides the one that all others share.
    """

    api: str
    fields: Value
    node: int | None = None
    max_version: int | None = None
    channel: str = ""


class Client:
    """A cluster, by the addresses of some of its brokers, or with ``of_controllers`` of its controllers."""

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig, of_controllers: bool = False) -> None:
        self.config = config
        self._of_controllers = of_controllers
        self._network = Network(config)
        self._connections = Connections(bootstrap, self._network, of_controllers)
        self._nodes: dict[int, Node] = {}
        self._controller: int | None = None
        self.leaders: dict[TopicPartition, int] = {}
        self.misses_controller = False  # as a broker that asked one in vain let on

    def call(self, api: str, fields: Value, node: int | None = None, timeout_ms: int | None = None) -> Value:
        """The response to one request."""
        return self._network.run(self._call(Call(api, fields, node), timeout_ms))

    def call_all(self, calls: Iterable[Call], timeout_ms: int | None = None) -> list[Value | KafkapyError]:
        """The responses to requests that go out together, in their order; an error in the place of what failed."""
        pendings = [self._network.start(self._call(call, timeout_ms)) for call in calls]
        for pending in pendings:
            self._network.wait(pending)
        return [failure_of(pending) or pending.result() for pending in pendings]

    def start(self, call: Call, raw: bool = False, timeout_ms: int | None = None) -> Pending[Any]:
        """Send a request and go on; ``wait`` for it later. With ``raw`` the result is (version, the raw body)."""
        link = self._open_link(call)
        if link is None:
            return self._network.start(self._call_raw(call, timeout_ms) if raw else self._call(call, timeout_ms))
        version = _negotiate(call.api, link, call.max_version)

        def read(body: memoryview) -> Any:
            return (version, body) if raw else decode_response(call.api, version, body)

        exchange = Exchange(call.api, version, call.fields)
        return link.post(exchange, self._limit(timeout_ms), read)

    def wait(self, pending: Pending[T], timeout_ms: float | None = None) -> bool:
        """Wait for a request that was sent; whether it is done."""
        return self._network.wait(pending, timeout_ms)

    def wait_any(self, pendings: Iterable[Pending[Any]], timeout_ms: float) -> bool:
        """Wait until any of these is done, or the time is over; whether one is."""
        return self._network.wait_any(pendings, timeout_ms)

    def pump(self) -> None:
        """Let requests go out and responses come in, without waiting."""
        self._network.pump()

    def send(self, call: Call) -> None:
        """Send a request that has no response."""
        self._network.run(self._send(call))

    def versions(self, node: int | None = None) -> dict[int, tuple[int, int]]:
        """The versions of each api, by key, that a broker has."""
        return self._network.run(self._link(node)).versions

    def version(self, api: str, node: int | None = None) -> int:
        """The version at which a request would go."""
        link = self._network.run(self._link(node))
        return _negotiate(api, link)

    def knock(self) -> None:
        """Connect to all bootstrap servers at once, for who asks all brokers anyway."""
        self._connections.knock()

    def reach(self, addresses: Iterable[Address]) -> list[KafkapyError | None]:
        """Why each of these cannot be talked to, None where it can."""
        return self._connections.reach(addresses)

    def nodes(self) -> dict[int, Node]:
        """Every live broker, asked for when it is not known yet."""
        if not self._nodes:
            self._network.run(self._learn())
        return self._nodes

    def learn(self, nodes: Iterable[Node]) -> None:
        """Take note of where brokers are: what a response told."""
        self._nodes = {node.id: node for node in nodes}

    def controller(self) -> int | None:
        """Whom to send what only the active controller does. None means any: a broker hands it on."""
        if not self._of_controllers:
            return None
        self.nodes()
        return self._controller

    def forget(self) -> None:
        """Ask anew who is where and who leads what, when it is next needed."""
        self._nodes = {}
        self.leaders = {}
        self.misses_controller = False

    def retrying(self, attempt: Callable[[], T]) -> T:
        """Do what may be done again, until it works or default.api.timeout.ms is over."""
        begun = time.monotonic()
        end = begun + self.config.api_timeout_ms / 1000
        backoff = float(self.config.retry_backoff_ms)
        for retry in itertools.count():
            try:
                return attempt()
            except (ConnectionLost, KafkaError) as error:
                if not is_passing(error) or not self._connections.was_reached or retry >= self.config.retries:
                    raise
                if time.monotonic() + backoff / 1000 > end:
                    raise self._gave_up(error) from None
                self._network.long_waits.tried_again(error, self.config.api_limit, begun)
            self.forget()
            self._network.run(self._network.sleep(backoff))
            backoff = min(backoff * 2, self.config.retry_backoff_max_ms)
        raise AssertionError("there is always another try")

    def _gave_up(self, error: KafkapyError) -> KafkapyError:
        limit = self.config.api_limit
        if not isinstance(error, ConnectionLost) or error.limit == limit:  # one try took it all, or was many of its own
            return error
        lost = ConnectionLost(f"{error}; tried for {limit}", limit)
        lost.hint = error.hint
        return lost

    def _limit(self, timeout_ms: int | None) -> Limit:
        """How long a request may take; ``timeout_ms`` is for one that the broker answers late by its nature."""
        if timeout_ms is not None:
            return Limit(timeout_ms, _REQUEST_TIMEOUT, is_far=True)
        return self.config.limit(self.config.request_timeout_ms, _REQUEST_TIMEOUT)

    def close(self) -> None:
        """Hang up."""
        self._connections.close()
        self._network.close()

    async def _call(self, call: Call, timeout_ms: int | None) -> Value:
        version, body = await self._call_raw(call, timeout_ms)
        return decode_response(call.api, version, body)

    async def _call_raw(self, call: Call, timeout_ms: int | None) -> tuple[int, memoryview]:
        link = await self._link(call.node, call.channel)
        version = _negotiate(call.api, link, call.max_version)
        exchange = Exchange(call.api, version, call.fields)
        try:
            body = await link.send(exchange, self._limit(timeout_ms))
        except ConnectionLost as error:
            if error.limit is not None and call.api in _HANDED_ON and not self._of_controllers:
                error.hint = _WITHOUT_CONTROLLER
                self.misses_controller = True
            raise
        assert body is not None
        return version, body

    async def _send(self, call: Call) -> None:
        link = await self._link(call.node, call.channel)
        exchange = Exchange(call.api, _negotiate(call.api, link, call.max_version), call.fields, one_way=True)
        await link.send(exchange, self._limit(None))

    async def _link(self, node: int | None, channel: str = "") -> Link:
        if node is None:
            return await self._connections.to_any(each.address for each in self._nodes.values())
        if node not in self._nodes:
            await self._learn()
        if node not in self._nodes:
            raise NoSuchNode(node, self._nodes)
        return await self._connections.to(self._nodes[node].address, channel)

    def _open_link(self, call: Call) -> Link | None:
        """The connection for a request, if it is there already."""
        node = None if call.node is None else self._nodes.get(call.node)
        return None if node is None else self._connections.open_one(node.address, call.channel)

    async def _learn(self) -> None:
        if not self._of_controllers:
            response = await self._call(Call("Metadata", {"topics": []}), None)
            self.learn(nodes_of(response))
            return
        response = await self._call(Call("DescribeCluster", {"endpointType": _CONTROLLERS}), None)
        raise_for(response["errorCode"], response["errorMessage"])
        self._controller = response["controllerId"]
        self.learn(Node(each["brokerId"], each["host"], each["port"], each["rack"]) for each in response["brokers"])


def is_passing(answer: object) -> TypeGuard[KafkapyError]:
    """Whether an answer is an error that may be gone with the next try."""
    return isinstance(answer, ConnectionLost) or (isinstance(answer, KafkaError) and answer.name in PASSING)


def nodes_of(response: Value) -> list[Node]:
    """The brokers that a Metadata response tells of."""
    return [Node(broker["nodeId"], broker["host"], broker["port"], broker["rack"]) for broker in response["brokers"]]


def _negotiate(api: str, link: Link, max_version: int | None = None) -> int:
    schema = request_schema(api)
    assert schema.api_key is not None
    low, high = link.versions.get(schema.api_key, (0, -1))
    version = min(high, schema.valid_versions.high if max_version is None else max_version)
    if version < max(low, schema.valid_versions.low):
        raise KafkaError("UnsupportedVersionException", f"The node at {link.address} does not support {_spelled(api)}")
    return version


def _spelled(api: str) -> str:
    """The name of an api as Kafka spells it in messages."""
    return "".join(f"_{each}" if each.isupper() and at else each for at, each in enumerate(api)).upper()
