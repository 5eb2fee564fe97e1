"""Connections to brokers. The one module that uses the client library, of which it takes the lowest part.

kafka-python gives the event loop, sockets with and without TLS, SASL, framing, and the matching of responses with
requests. Messages are kafkapy's own (exchange.py), and so is every decision: what to send where, at which version, and
when to try again. Its parts used here are not public ones, which is why pyproject.toml pins it to one minor version.

The library logs requests as they are sent, passwords among them: nothing of its log is ever kept. It runs in the
calling thread, inside ``run``. Ctrl-C inside of one of its tasks would be logged and forgotten: ``run`` looks for that.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from kafka import errors as library_errors
from kafka.future import Future
from kafka.net.connection import KafkaConnection
from kafka.net.inet import create_connection
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.exchange import Exchange
from kafkapy.errors import KafkapyError

logging.getLogger("kafka").addHandler(logging.NullHandler())
logging.getLogger("kafka").propagate = False
logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)

_LARGEST_RESPONSE = 0x7FFF_FFFF
_IN_FLIGHT = 1_000
_NO_DELAY = (6, 1, 1)  # IPPROTO_TCP, TCP_NODELAY
_POLL_MS = 500

T = TypeVar("T")


class ConnectionLost(KafkapyError):
    """A broker could not be reached, or hung up; another try may do."""


class AuthenticationFailed(KafkapyError):
    """A broker does not let this client in; another try would not help."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Link:
    """A connection to one broker, ready for requests."""

    def __init__(self, connection: KafkaConnection, address: Address) -> None:
        self._connection = connection
        self.address = address

    @property
    def is_open(self) -> bool:
        return bool(self._connection.connected)

    @property
    def versions(self) -> dict[int, tuple[int, int]]:
        """The lowest and highest version that the broker has of each api, by key."""
        versions: dict[int, tuple[int, int]] = self._connection.broker_version_data.api_versions
        return versions

    async def send(self, exchange: Exchange, timeout_ms: int) -> memoryview | None:
        """The body of the response; None where none is to come."""
        try:
            body: memoryview | None = await self._connection.send_request(exchange, request_timeout_ms=timeout_ms)
        except (library_errors.RequestTimedOutError, library_errors.KafkaTimeoutError):
            raise ConnectionLost(
                f"broker {self.address} did not answer {exchange.api} within {timeout_ms} ms (request.timeout.ms)"
            ) from None
        except library_errors.KafkaError as error:
            raise ConnectionLost(f"the connection to broker {self.address} was lost: {_text(error)}") from None
        return body

    def close(self) -> None:
        self._connection.close()


class Network:
    """The event loop, and how connections are made."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._selector = NetworkSelector(client_id=config.client_id, slow_task_threshold_secs=0)

    async def connect(self, address: Address) -> Link:
        """A connection that is through TLS, SASL and the exchange of versions."""
        timeout_at = time.monotonic() + self._config.connection_timeout_ms / 1000
        transport = await self._transport(address, timeout_at)
        connection = KafkaConnection(self._selector, node_id=str(address), **self._settings())
        connection.connection_made(transport)
        await connection.initialize(timeout_at=timeout_at)
        try:
            await connection
        except library_errors.KafkaError as error:
            raise _refusal(address, self._config, error) from None
        except (ValueError, RuntimeError, OSError) as error:
            raise AuthenticationFailed(f"broker {address}: {_text(error)}") from None
        return Link(connection, address)

    async def _transport(self, address: Address, timeout_at: float) -> Any:
        try:
            sock = await create_connection(
                self._selector, address.host, address.port, socket_options=[_NO_DELAY], timeout_at=timeout_at
            )
        except library_errors.KafkaError as error:
            raise _unreachable(address, self._config, error) from None
        if self._config.ssl_context is None:
            return KafkaTCPTransport(self._selector, sock, host=address.host)
        transport = KafkaSSLTransport(self._selector, sock, host=address.host, ssl_context=self._config.ssl_context())
        try:
            await transport.handshake()
        except OSError as error:
            transport.close()
            raise AuthenticationFailed(f"TLS with broker {address} failed: {_text(error)}") from None
        return transport

    def _settings(self) -> dict[str, Any]:
        return {
            "client_id": self._config.client_id,
            "client_software_name": "kafkapy",
            "request_timeout_ms": self._config.request_timeout_ms,
            "receive_message_max_bytes": _LARGEST_RESPONSE,
            "max_in_flight_requests_per_connection": _IN_FLIGHT,
            "security_protocol": self._config.security_protocol,
            **self._config.sasl,
        }

    def start(self, work: Coroutine[Any, Any, T]) -> Pending[T]:
        """Begin work that goes on whenever ``run`` or ``wait`` is called."""
        return Pending(self._selector.call_soon_with_future(work))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work to its end."""
        pending = self.start(work)
        self.wait(pending)
        return pending.result()

    def wait(self, pending: Pending[Any], timeout_ms: float | None = None) -> bool:
        """Wait until it is done, or the time is over; whether it is done."""
        end = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        with _interrupts() as interrupted:
            while not pending.is_done:
                left = _POLL_MS if end is None else min(_POLL_MS, (end - time.monotonic()) * 1000)
                if left < 0:
                    return False
                self._selector.poll(timeout_ms=left, future=pending.future)
                if interrupted:
                    raise interrupted[0]
        return True

    async def sleep(self, ms: float) -> None:
        await self._selector.sleep(ms / 1000)

    def close(self) -> None:
        self._selector.close()


class Pending(Generic[T]):
    """Work that was begun."""

    def __init__(self, future: Future) -> None:
        self.future = future

    def __await__(self) -> Generator[Any, Any, T]:
        return self.future.__await__()  # type: ignore[no-any-return]

    @property
    def is_done(self) -> bool:
        return bool(self.future.is_done)

    def result(self) -> T:
        if self.future.exception is not None:
            raise self.future.exception
        value: T = self.future.value
        return value


@contextmanager
def _interrupts() -> Iterator[list[BaseException]]:
    """What a signal raised, also if the library then drops it."""
    raised: list[BaseException] = []
    if threading.current_thread() is not threading.main_thread():
        yield raised
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: Any) -> None:
        handler = handlers[signal.Signals(number)]
        try:
            handler(number, frame)  # type: ignore[operator, misc]
        except BaseException as error:
            raised.append(error)
            raise

    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, note)
    try:
        yield raised
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _text(error: BaseException) -> str:
    reason = error.args[0] if error.args else type(error).__name__
    return str(reason).strip() or type(error).__name__


def _unreachable(address: Address, config: ClientConfig, error: Exception) -> ConnectionLost:
    reason = _text(error)
    if "timed out" in reason:
        reason = f"no connection within {config.connection_timeout_ms} ms (socket.connection.setup.timeout.ms)"
    elif "REFUSED" in reason:
        reason = "connection refused"
    elif "DNS" in reason:
        reason = "the name does not resolve"
    return ConnectionLost(f"broker {address} cannot be reached: {reason}")


def _refusal(address: Address, config: ClientConfig, error: Exception) -> KafkapyError:
    """What went wrong between the connection and the first request."""
    protocol = config.security_protocol
    if isinstance(error, library_errors.SaslAuthenticationFailedError):
        _, _, told = _text(error).partition(": ")
        return AuthenticationFailed(f"broker {address} refused the login: {told or _text(error)}")
    if isinstance(error, library_errors.UnsupportedSaslMechanismError):
        return AuthenticationFailed(
            f"broker {address} does not offer {config.sasl.get('sasl_mechanism')}: {_text(error)}"
        )
    if isinstance(error, library_errors.KafkaTimeoutError | library_errors.RequestTimedOutError):
        limit = f"{config.connection_timeout_ms} ms (socket.connection.setup.timeout.ms)"
        return ConnectionLost(f"broker {address} said nothing within {limit}: does it speak {protocol} on that port?")
    return ConnectionLost(
        f"broker {address} hung up before the first answer ({_text(error)}): does it speak {protocol} on that port?"
    )
