"""A relay in front of a broker, by which a test knows where in a command it is: between two requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import TracebackType

HOST = "127.0.0.1"


class Relay:
    """Hands one client's requests on, frame by frame, and does something before the second of a connection."""

    def __init__(self, target: str, before_second_request: Callable[[], None]) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._before_second = before_second_request
        self._done = False
        self._listening = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Relay:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._hand_on, args=(client,), daemon=True).start()

    def _hand_on(self, client: socket.socket) -> None:
        with client:
            try:
                with socket.create_connection(self._target) as broker:
                    for number in range(1_000):
                        request = _frame(client)
                        if number == 1 and not self._done:
                            self._done = True
                            self._before_second()
                        broker.sendall(request)
                        client.sendall(_frame(broker))
            except OSError:
                return


def _frame(connection: socket.socket) -> bytes:
    size = _exactly(connection, 4)
    return size + _exactly(connection, int.from_bytes(size))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionResetError
        data += part
    return bytes(data)
