"""How a client talks to a cluster: time-outs, and who it says it is.

The names in comments are those of Kafka's client configs, which is how users know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ssl


class ClientConfig(NamedTuple):
    """``sasl`` holds the client library's settings of a mechanism, "" of none; ``ssl_context`` is made when the first
    connection needs it, None without TLS."""

    client_id: str = "kafkapy"
    request_timeout_ms: int = 30_000  # request.timeout.ms
    api_timeout_ms: int = 60_000  # default.api.timeout.ms
    connection_timeout_ms: int = 10_000  # socket.connection.setup.timeout.ms
    retry_backoff_ms: int = 100  # retry.backoff.ms
    retry_backoff_max_ms: int = 1_000  # retry.backoff.max.ms
    security_protocol: str = "PLAINTEXT"  # security.protocol
    sasl: Mapping[str, Any] = {}
    ssl_context: Callable[[], ssl.SSLContext] | None = None
