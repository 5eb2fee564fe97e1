"""Connections to brokers. The module that uses the client library, of which it takes the lowest part.

kafka-python gives the event loop, sockets with and without TLS, SASL, framing, and the matching of responses with
requests. Messages are kafkapy's own (exchange.py), and so is every decision: what to send where, at which version, and
when to try again. Its parts used here are not public ones, which is why pyproject.toml pins it to one minor version.
What it asks of a login is in oauth.py and sasl_mechanisms.py, what its errors mean in connection_errors.py.

The library logs requests as they are sent, passwords among them: nothing of its log is ever kept. It runs in the
calling thread, inside ``run``. Ctrl-C inside of one of its tasks would be logged and forgotten: it has to wait.
"""

from __future__ import annotations

import logging
import signal
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from kafka import errors as library_errors
from kafka.future import Future
from kafka.net.connection import KafkaConnection
from kafka.net.inet import create_connection
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from kafkapy import verbose
from kafkapy.backends.live.client_config import ClientConfig, Limit
from kafkapy.backends.live.exchange import Exchange
from kafkapy.backends.live.library.connection_errors import (
    Address,
    AuthenticationFailed,
    ConnectionLost,
    not_kafka,
    refusal,
    silent,
    text_of,
    tls_failure,
    unreachable,
    wrong_protocol,
)
from kafkapy.backends.live.long_waits import LongWaits, Wait
from kafkapy.errors import KafkapyError

__all__ = ["Address", "AuthenticationFailed", "ConnectionLost", "Link", "Network", "Pending"]

logging.getLogger("kafka").addHandler(logging.NullHandler())
logging.getLogger("kafka").propagate = False
logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)

_LARGEST_RESPONSE = 0x7FFF_FFFF
_IN_FLIGHT = 1_000
_SETUP_TIMEOUT = "socket.connection.setup.timeout.ms"
_NO_DELAY = (6, 1, 1)  # IPPROTO_TCP, TCP_NODELAY
_POLL_MS = 500
_SIZE = 4
_LARGEST_FIRST_RESPONSE = 1 << 20  # it tells the versions of some hundred apis
_STEPS_TO_A_SOCKET = 4  # a request is made, put into the buffer of its connection, waits for the socket, is written

T = TypeVar("T")


class Link:
    """A connection to one broker, ready for requests."""

    def __init__(
        self, connection: KafkaConnection, address: Address, config: ClientConfig, long_waits: LongWaits
    ) -> None:
        self._connection = connection
        self._config = config
        self._long_waits = long_waits
        self._was_answered = False
        self.address = address

    @property
    def is_open(self) -> bool:
        return bool(self._connection.connected)

    @property
    def versions(self) -> dict[int, tuple[int, int]]:
        """The lowest and highest version that the broker has of each api, by key."""
        versions: dict[int, tuple[int, int]] = self._connection.broker_version_data.api_versions
        return versions

    async def send(self, exchange: Exchange, limit: Limit) -> memoryview | None:
        """The body of the response; None where none is to come."""
        self._tell(exchange)
        try:
            with self._long_waits.during(self._answer(exchange), limit):
                body: memoryview | None = await self._connection.send_request(exchange, request_timeout_ms=limit.ms)
        except library_errors.KafkaError as error:
            raise self.failure(exchange, limit, error) from None
        self._was_answered = True
        return body

    def post(self, exchange: Exchange, limit: Limit, read: Callable[[memoryview], T]) -> Posted[T]:
        """Send and go on; the response is read by whoever asks for it."""
        self._tell(exchange)
        future = self._connection.send_request(exchange, request_timeout_ms=limit.ms)
        wait = Wait(self._answer(exchange), limit, time.monotonic())
        return Posted(future, read, lambda error: self.failure(exchange, limit, error), wait)

    def _answer(self, exchange: Exchange) -> str:
        return f"broker {self.address} to answer {exchange.api}"

    def _tell(self, exchange: Exchange) -> None:
        verbose.tell(f"sends {exchange.api} (version {exchange.api_version}) to {self.address}")

    def failure(self, exchange: Exchange, limit: Limit, error: Exception) -> KafkapyError:
        """Why there is no response."""
        if isinstance(error, library_errors.RequestTimedOutError | library_errors.KafkaTimeoutError):
            return ConnectionLost(f"broker {self.address} did not answer {exchange.api} within {limit}", limit)
        return self._lost(error)

    def _lost(self, error: Exception) -> KafkapyError:
        symptom = f"the connection was lost: {text_of(error)}"
        if self._was_answered or self._config.uses_sasl:
            return ConnectionLost(f"broker {self.address}: {symptom}")
        # A port that wants a login tells its versions to anybody, and hangs up at the first question.
        return wrong_protocol(self.address, self._config, symptom)

    def close(self) -> None:
        self._connection.close()


class _Careful:
    """What the library's transports lack.

    What came before the other side hung up is given out, not dropped: it tells why a login was refused. And where the
    first bytes are not Kafka's, that is noticed: the library would take them for the size of a huge response.
    """

    _end: Exception | None = None
    _is_first = True

    def _sock_recv(self) -> tuple[bytes, Exception | None]:
        if self._end is not None:
            return b"", self._end
        data, self._end = super()._sock_recv()  # type: ignore[misc]
        if self._is_first and int.from_bytes(data[:_SIZE]) > _LARGEST_FIRST_RESPONSE:
            self._end = library_errors.KafkaConnectionError(not_kafka(data))
            return b"", self._end
        self._is_first = False
        return data, None if data else self._end


class _PlainTransport(_Careful, KafkaTCPTransport):  # type: ignore[misc]
    """A connection without TLS."""


class _TlsTransport(_Careful, KafkaSSLTransport):  # type: ignore[misc]
    """A connection with TLS."""


class Network:
    """The event loop, and how connections are made."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._selector = NetworkSelector(client_id=config.client_id, slow_task_threshold_secs=0)
        self._failures: dict[Address, int] = {}
        self.long_waits = LongWaits(config.tells_long_waits)

    async def connect(self, address: Address) -> Link:
        """A connection that is through TLS, SASL and the exchange of versions."""
        limit = self._limit(address)
        try:
            with self.long_waits.during(f"a connection to broker {address}", limit):
                link = await self._connect(address, limit)
        except ConnectionLost:
            self._failures[address] = self.failures(address) + 1
            raise
        self._failures.pop(address, None)
        return link

    def failures(self, address: Address) -> int:
        """How often in a row there was no connection."""
        return self._failures.get(address, 0)

    def _limit(self, address: Address) -> Limit:
        """How long to try: longer each time that it failed, as Kafka's clients do."""
        first, most = self._config.connection_timeout_ms, self._config.connection_timeout_max_ms
        setup_ms = float(min(first * 2 ** min(self.failures(address), 30), max(first, most)))
        return self._config.limit(setup_ms, _SETUP_TIMEOUT)

    async def _connect(self, address: Address, limit: Limit) -> Link:
        timeout_at = time.monotonic() + limit.ms / 1000
        transport = await self._transport(address, limit, timeout_at)
        connection = KafkaConnection(self._selector, node_id=str(address), **self._settings())
        connection.connection_made(transport)
        await connection.initialize(timeout_at=timeout_at)
        try:
            await connection
        except (library_errors.KafkaError, KafkapyError, ValueError, RuntimeError, OSError) as error:
            raise refusal(address, self._config, error, limit) from None
        return Link(connection, address, self._config, self.long_waits)

    async def _transport(self, address: Address, limit: Limit, timeout_at: float) -> Any:
        context = None if self._config.ssl_context is None else self._config.ssl_context()
        options = [_NO_DELAY, *self._config.socket_options]
        try:
            sock = await create_connection(
                self._selector, address.host, address.port, socket_options=options, timeout_at=timeout_at
            )
        except library_errors.KafkaError as error:
            raise unreachable(address, error, limit) from None
        if context is None:
            return _PlainTransport(self._selector, sock, host=address.host)
        transport = _TlsTransport(self._selector, sock, host=address.host, ssl_context=context)
        try:
            await self._shake_hands(transport, timeout_at)
        except library_errors.KafkaTimeoutError:
            transport.close()
            raise silent(address, self._config, limit) from None
        except OSError as error:
            transport.close()
            raise tls_failure(address, self._config, error) from None
        return transport

    async def _shake_hands(self, transport: _TlsTransport, timeout_at: float) -> None:
        """The library's own way has no end where the other side says nothing."""
        sock = transport._sock
        while True:
            try:
                sock.do_handshake()
                return
            except ssl.SSLWantReadError:
                await self._selector.wait_read(sock, timeout_at)
            except ssl.SSLWantWriteError:
                await self._selector.wait_write(sock, timeout_at)

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
        """Wait until it is done, or the time is over; whether it is done. A signal ends that only if it raises."""
        end = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        while not pending.is_done:
            with _signals_later(self._selector.wakeup) as came:
                while not pending.is_done and not came:
                    left = _POLL_MS if end is None else min(_POLL_MS, (end - time.monotonic()) * 1000)
                    if left < 0:
                        return False
                    self._selector.poll(timeout_ms=left)
                    if end is None:
                        self.long_waits.look(pending.wait)
        return True

    def wait_any(self, pendings: Iterable[Pending[Any]], timeout_ms: float | None = None) -> bool:
        """Wait until any of these is done, or the time is over; whether one is."""
        first = Future()

        def done(_: Any) -> None:
            if not first.is_done:
                first.success(None)

        for pending in pendings:
            pending.future.add_both(done)
        return self.wait(Pending(first), timeout_ms)

    def pump(self) -> None:
        """Let what was begun get on, without waiting for anything."""
        with _signals_later(self._selector.wakeup):
            for _ in range(_STEPS_TO_A_SOCKET):
                self._selector.poll(timeout_ms=0)

    async def sleep(self, ms: float) -> None:
        await self._selector.sleep(ms / 1000)

    def close(self) -> None:
        self._selector.close()


class Pending(Generic[T]):
    """Work that was begun."""

    def __init__(self, future: Future, wait: Wait | None = None) -> None:
        self.future = future
        self.wait = wait

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


class Posted(Pending[T]):
    """A request that was sent without a task around it: cheaper by half, where many are sent."""

    def __init__(
        self,
        future: Future,
        read: Callable[[memoryview], T],
        failure: Callable[[Exception], KafkapyError],
        wait: Wait,
    ) -> None:
        super().__init__(future, wait)
        self._read = read
        self._failure = failure

    def result(self) -> T:
        error = self.future.exception
        if isinstance(error, library_errors.KafkaError):
            raise self._failure(error)
        if error is not None:
            raise error
        return self._read(self.future.value)


@contextmanager
def _signals_later(wake: Callable[[], object]) -> Iterator[list[int]]:
    """Signals that came while the library was at work; they are handled at the end of the block. What a handler raises
    would end the task that it happens in, and with it a connection that may be needed to leave in good order."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: Any) -> None:
        came.append(number)
        wake()

    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, note)
    try:
        yield came
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for each in came:
            handlers[signal.Signals(each)](each, None)  # type: ignore[operator, misc]
