"""Requests to the brokers of a cluster: which connection, which version, and when to try again.

One connection a broker, made when the first request for it comes; a broker whose address is that of a bootstrap server
is served by the connection made to that. Requests of one ``call_all`` go out at once, to all brokers in parallel. The
version is the highest that both sides know.

A broker that cannot be reached, or that hangs up, is a ConnectionLost. ``retrying`` is for work that may be done again:
it starts anew with fresh metadata until default.api.timeout.ms is over, as Kafka's own clients do. Where none of the
bootstrap servers can be reached at all, that is said at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.exchange import Exchange, decode_response, request_schema
from kafkapy.backends.live.network import Address, ConnectionLost, Link, Network, Pending
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.message import Value

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


class Call(NamedTuple):
    """A request for one broker; None means any."""

    api: str
    fields: Value
    node: int | None = None


class Client:
    """A cluster, by the addresses of some of its brokers."""

    def __init__(self, bootstrap: Sequence[Address], config: ClientConfig) -> None:
        self.config = config
        self._bootstrap = list(bootstrap)
        self._network = Network(config)
        self._links: dict[Address, Pending[Link]] = {}
        self._nodes: dict[int, Node] = {}

    def call(self, api: str, fields: Value, node: int | None = None, timeout_ms: int | None = None) -> Value:
        """The response to one request."""
        return self._network.run(self._call(Call(api, fields, node), timeout_ms))

    def call_all(self, calls: Iterable[Call], timeout_ms: int | None = None) -> list[Value | KafkapyError]:
        """The responses to requests that go out together, in their order; an error in the place of what failed."""
        pendings = [self._network.start(self._call(call, timeout_ms)) for call in calls]
        for pending in pendings:
            self._network.wait(pending)
        return [_outcome(pending) for pending in pendings]

    def start(self, call: Call, raw: bool = False, timeout_ms: int | None = None) -> Pending[Any]:
        """Send a request and go on; ``wait`` for it later. With ``raw`` the result is (version, the raw body)."""
        return self._network.start(self._call_raw(call, timeout_ms) if raw else self._call(call, timeout_ms))

    def wait(self, pending: Pending[T], timeout_ms: float | None = None) -> bool:
        """Wait for a request that was sent; whether it is done."""
        return self._network.wait(pending, timeout_ms)

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

    def nodes(self) -> dict[int, Node]:
        """Every live broker, asked for when it is not known yet."""
        if not self._nodes:
            self._network.run(self._learn())
        return self._nodes

    def learn(self, nodes: Iterable[Node]) -> None:
        """Take note of where brokers are: what a response told."""
        self._nodes = {node.id: node for node in nodes}

    def retrying(self, attempt: Callable[[], T]) -> T:
        """Do what may be done again, until it works or default.api.timeout.ms is over."""
        end = time.monotonic() + self.config.api_timeout_ms / 1000
        backoff = float(self.config.retry_backoff_ms)
        while True:
            try:
                return attempt()
            except (ConnectionLost, KafkaError) as error:
                if isinstance(error, KafkaError) and error.name not in PASSING:
                    raise
                if not self._has_links() or time.monotonic() + backoff / 1000 > end:
                    raise
            self._nodes = {}
            self._network.run(self._network.sleep(backoff))
            backoff = min(backoff * 2, self.config.retry_backoff_max_ms)

    def close(self) -> None:
        """Hang up."""
        for pending in self._links.values():
            if pending.is_done and pending.future.exception is None:
                pending.result().close()
        self._network.close()

    async def _call(self, call: Call, timeout_ms: int | None) -> Value:
        version, body = await self._call_raw(call, timeout_ms)
        return decode_response(call.api, version, body)

    async def _call_raw(self, call: Call, timeout_ms: int | None) -> tuple[int, memoryview]:
        link = await self._link(call.node)
        version = _negotiate(call.api, link)
        exchange = Exchange(call.api, version, call.fields)
        body = await link.send(exchange, timeout_ms or self.config.request_timeout_ms)
        assert body is not None
        return version, body

    async def _send(self, call: Call) -> None:
        link = await self._link(call.node)
        exchange = Exchange(call.api, _negotiate(call.api, link), call.fields, one_way=True)
        await link.send(exchange, self.config.request_timeout_ms)

    async def _link(self, node: int | None) -> Link:
        if node is None:
            return await self._any_link()
        if node not in self._nodes:
            await self._learn()
        if node not in self._nodes:
            raise ConnectionLost(f"broker {node} is not in the cluster's metadata: it may be down")
        return await self._connect(self._nodes[node].address)

    async def _any_link(self) -> Link:
        """A connection that is there, else one to the first bootstrap server that can be reached."""
        for pending in self._links.values():
            if pending.is_done and pending.future.exception is None and pending.result().is_open:
                return pending.result()
        failures = []
        for address in [*self._bootstrap, *(node.address for node in self._nodes.values())]:
            try:
                return await self._connect(address)
            except ConnectionLost as error:
                failures.append(str(error))
        raise ConnectionLost("; ".join(dict.fromkeys(failures)))

    async def _connect(self, address: Address) -> Link:
        pending = self._links.get(address)
        if pending is None or (pending.is_done and not (pending.future.exception is None and pending.result().is_open)):
            pending = self._links[address] = self._network.start(self._network.connect(address))
        return await pending

    async def _learn(self) -> None:
        response = await self._call(Call("Metadata", {"topics": []}), None)
        self.learn(nodes_of(response))

    def _has_links(self) -> bool:
        """Whether anything was ever reached."""
        return any(pending.is_done and pending.future.exception is None for pending in self._links.values())


def nodes_of(response: Value) -> list[Node]:
    """The brokers that a Metadata response tells of."""
    return [Node(broker["nodeId"], broker["host"], broker["port"], broker["rack"]) for broker in response["brokers"]]


def _negotiate(api: str, link: Link) -> int:
    schema = request_schema(api)
    assert schema.api_key is not None
    low, high = link.versions.get(schema.api_key, (0, -1))
    version = min(high, schema.valid_versions.high)
    if version < max(low, schema.valid_versions.low):
        raise KafkaError("UnsupportedVersionException", f"The node at {link.address} does not support {api}")
    return version


def _outcome(pending: Pending[Value]) -> Value | KafkapyError:
    error = pending.future.exception
    if error is None:
        return pending.result()
    if isinstance(error, KafkapyError):
        return error
    raise error
