"""The connections to the brokers of a cluster, or to its controllers.

One connection an address, made when it is first needed; an address that is that of a bootstrap server is served by the
connection made to that. A ``channel`` is a connection of its own besides the one that all others share. One that was
closed, or could not be made, is made anew for who needs it next.

That a controller answers where brokers were named, or the other way round, is said at once. Kafka's clients refuse
that, too, with errors that do not say who it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafkapy.backends.live.library.connection_errors import NobodyThere
from kafkapy.backends.live.library.network import Address, ConnectionLost, Link, Network, Pending
from kafkapy.errors import KafkaError, KafkapyError

_METADATA = 3  # the key of a request that controllers do not answer
_WITHOUT_BROKER = (
    "is a broker running there? Give another address with --bootstrap-server; --cluster and --log-dirs need no broker"
)


class Connections:
    """Those that there are, by address and channel."""

    def __init__(self, bootstrap: Sequence[Address], network: Network, of_controllers: bool) -> None:
        self._bootstrap = list(bootstrap)
        self._network = network
        self._of_controllers = of_controllers
        self._links: dict[tuple[Address, str], Pending[Link]] = {}
        self.was_reached = False  # whether any was ever made

    def open_one(self, address: Address, channel: str) -> Link | None:
        """The connection to an address, if it is there already."""
        pending = self._links.get((address, channel))
        return pending.result() if pending is not None and _is_open(pending) else None

    async def to(self, address: Address, channel: str = "") -> Link:
        """The connection to an address."""
        pending = self._links.get((address, channel))
        if pending is None or (pending.is_done and not _is_open(pending)):
            pending = self._links[address, channel] = self._network.start(self._made(address))
        link = await pending
        self.was_reached = True
        return link

    async def to_any(self, known: Iterable[Address]) -> Link:
        """A connection that is there, else one to the first bootstrap server, or other ``known`` address, that can be
        reached; those that could not be before come last, since one that hangs is waited for."""
        for (_, channel), pending in self._links.items():
            if not channel and _is_open(pending):
                return pending.result()
        failures: list[ConnectionLost] = []
        for address in sorted([*self._bootstrap, *known], key=self._network.failures):
            try:
                return await self.to(address)
            except ConnectionLost as error:
                failures.append(error)
        raise self._unreached(failures)

    def knock(self) -> None:
        """Connect to all bootstrap servers at once, for who asks all brokers anyway: those that hang are waited for
        together, and not before one that does not."""
        left = [self._network.start(self.to(each)) for each in self._bootstrap]
        failures: list[KafkapyError] = []
        while left:
            self._network.wait_any(left)
            done = [pending for pending in left if pending.is_done]
            failed = [*filter(None, map(failure_of, done))]
            if len(failed) < len(done):
                return
            left = [pending for pending in left if pending not in done]
            failures += failed
        raise self._unreached(failures)

    def reach(self, addresses: Iterable[Address]) -> list[KafkapyError | None]:
        """Why each of these cannot be talked to, None where it can; what was tried before is not tried again."""
        pendings = [self._links.get((each, "")) or self._network.start(self.to(each)) for each in addresses]
        for pending in pendings:
            self._network.wait(pending)
        return [failure_of(pending) for pending in pendings]

    def close(self) -> None:
        """Hang up."""
        for pending in self._links.values():
            if _is_open(pending):
                pending.result().close()

    async def _made(self, address: Address) -> Link:
        link = await self._network.connect(address)
        if (_METADATA not in link.versions) is not self._of_controllers:
            link.close()
            raise _wrong_kind(address, self._of_controllers)
        return link

    def _unreached(self, failures: Sequence[KafkapyError]) -> KafkapyError:
        """Why there is no connection to any: what another try would not help against comes before all else."""
        for error in failures:
            if not isinstance(error, ConnectionLost):
                return error
        limits = [error.limit for error in failures if isinstance(error, ConnectionLost)]
        lost = ConnectionLost("; ".join(dict.fromkeys(map(str, failures))), limits[-1])
        is_nobody_there = all(isinstance(error, NobodyThere) for error in failures)
        if is_nobody_there and not self.was_reached and not self._of_controllers:
            lost.hint = _WITHOUT_BROKER
        return lost


def failure_of(pending: Pending[Any]) -> KafkapyError | None:
    """Why what was waited for failed; None where it did not."""
    error = pending.future.exception
    if error is None or isinstance(error, KafkapyError):
        return error
    raise error


def _is_open(pending: Pending[Link]) -> bool:
    return pending.is_done and pending.future.exception is None and pending.result().is_open


def _wrong_kind(address: Address, of_controllers: bool) -> KafkaError:
    """What Kafka's clients say when a broker or controller is not what it was named as; the hint says who it is."""
    if of_controllers:
        wanted = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        error = KafkaError("MismatchedEndpointTypeException", wanted)
        error.hint = f"{address} is a broker: name it with --bootstrap-server, or give the address of a controller"
        return error
    error = KafkaError("UnsupportedVersionException", "The node does not support METADATA")
    error.hint = (
        f"{address} is a controller: give the address of a broker, or name it with --bootstrap-controller, which some "
        "commands have"
    )
    return error
