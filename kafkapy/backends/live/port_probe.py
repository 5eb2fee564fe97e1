"""What a port speaks, for the one line that tells why a connection failed.

Kafka's brokers do not say so: they hang up on whoever speaks something else, so a wrong ``security.protocol`` looks
like a broker that just died. After such a failure the port is asked once more, first plainly, then over TLS (without
looking at certificates: nothing of the user's is sent), for a SASL mechanism that does not exist. The answer tells
which mechanisms do, or that there is no SASL on that port.
"""

from __future__ import annotations

import socket
import ssl
from struct import Struct
from typing import NamedTuple

_REQUEST = Struct(">hhihh")  # api key, version, correlation id, length of the client's id (-1: none), of the mechanism
_SIZE = Struct(">i")
_ANSWER = Struct(">ihi")  # correlation id, error, number of mechanisms
_SASL_HANDSHAKE, _VERSION, _CORRELATION = 17, 1, 0x6B61666B
_NO_SASL_HERE = 34  # ILLEGAL_SASL_STATE
_NO_SUCH_MECHANISM = 33
_LARGEST = 65_536
_MAY_TAKE_S = 2.0


class Spoken(NamedTuple):
    """What a port speaks; ``mechanisms`` is empty without SASL, None where that could not be found out."""

    tls: bool
    mechanisms: tuple[str, ...] | None

    @property
    def protocol(self) -> str:
        """The security.protocol of it."""
        return ("SASL_" if self.mechanisms else "") + ("SSL" if self.tls else "PLAINTEXT")

    def __str__(self) -> str:
        if self.mechanisms is None:
            return f"{self.protocol} with a client's certificate (ssl.keystore.location)"
        return self.protocol + (f" with {' or '.join(sorted(self.mechanisms))}" if self.mechanisms else "")

    def agrees_with(self, protocol: str, mechanism: str) -> bool:
        """Whether a client that speaks so would be understood, as far as could be found out."""
        if self.tls != protocol.endswith("SSL"):
            return False
        if self.mechanisms is None:
            return True
        return mechanism in self.mechanisms if protocol.startswith("SASL_") else not self.mechanisms


def probe(host: str, port: int, timeout_s: float) -> Spoken | None:
    """What the port speaks; None where it cannot be told."""
    timeout_s = min(timeout_s, _MAY_TAKE_S)
    plain = _ask(host, port, timeout_s, None)
    if plain is not None:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _ask(host, port, timeout_s, context)


def _ask(host: str, port: int, timeout_s: float, context: ssl.SSLContext | None) -> Spoken | None:
    try:
        with socket.create_connection((host, port), timeout_s) as connection:
            if context is None:
                return _spoken(_mechanisms(connection), False)
            with context.wrap_socket(connection, server_hostname=host) as secured:
                return _ask_over_tls(secured)
    except OSError:
        return None


def _ask_over_tls(secured: ssl.SSLSocket) -> Spoken | None:
    try:
        return _spoken(_mechanisms(secured), True)
    except OSError:
        return Spoken(True, None)  # with TLS 1.3 a missing certificate is told only now


def _spoken(mechanisms: tuple[str, ...] | None, tls: bool) -> Spoken | None:
    return None if mechanisms is None else Spoken(tls, mechanisms)


def _mechanisms(connection: socket.socket) -> tuple[str, ...] | None:
    asked = b"?"
    request = _REQUEST.pack(_SASL_HANDSHAKE, _VERSION, _CORRELATION, -1, len(asked)) + asked
    connection.sendall(_SIZE.pack(len(request)) + request)
    size = _SIZE.unpack(_exactly(connection, _SIZE.size))[0]
    if not _ANSWER.size <= size <= _LARGEST:
        return None
    answer = _exactly(connection, size)
    correlation, error, count = _ANSWER.unpack_from(answer)
    if correlation != _CORRELATION or error not in (_NO_SASL_HERE, _NO_SUCH_MECHANISM):
        return None
    return tuple(_strings(answer[_ANSWER.size :], count)) if error == _NO_SUCH_MECHANISM else ()


def _strings(data: bytes, count: int) -> list[str]:
    found, position = [], 0
    for _ in range(min(count, len(data))):
        size = int.from_bytes(data[position : position + 2])
        found.append(data[position + 2 : position + 2 + size].decode("ascii", "replace"))
        position += 2 + size
    return found


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionResetError
        data += part
    return bytes(data)
