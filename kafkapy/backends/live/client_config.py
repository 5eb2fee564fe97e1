"""How a client talks to a cluster: time-outs, and who it says it is.

The names in comments are those of Kafka's client configs, which is how users know them. Whatever holds a secret shows
only its own name: a value of these classes may end up in a traceback or a debugger's list of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ssl


class Login(dict[str, Any]):
    """The client library's settings of a SASL mechanism; empty without SASL."""

    def __repr__(self) -> str:
        return f"<login by {self.mechanism}>" if self else "<no login>"

    __str__ = __repr__

    @property
    def mechanism(self) -> str:
        return str(self.get("sasl_mechanism", ""))


class Limit(NamedTuple):
    """How long something may take, and the setting to raise where that is too short; ``is_far`` where it is not strange
    that it takes long."""

    ms: float
    setting: str
    is_far: bool = False

    def __str__(self) -> str:
        return f"{self.ms:.0f} ms ({self.setting})"


class ClientConfig(NamedTuple):
    """``ssl_context`` is made when the first connection needs it, None without TLS; ``source`` is the file that the
    settings came from, to be named in errors."""

    client_id: str = "kafkapy"  # client.id
    request_timeout_ms: int = 30_000  # request.timeout.ms
    api_timeout_ms: int = 60_000  # default.api.timeout.ms
    connection_timeout_ms: int = 10_000  # socket.connection.setup.timeout.ms
    connection_timeout_max_ms: int = 30_000  # socket.connection.setup.timeout.max.ms
    retry_backoff_ms: int = 100  # retry.backoff.ms
    retry_backoff_max_ms: int = 1_000  # retry.backoff.max.ms
    retries: int = 0x7FFF_FFFF  # retries
    security_protocol: str = "PLAINTEXT"  # security.protocol
    sasl: Login = Login()
    ssl_context: Callable[[], ssl.SSLContext] | None = None
    canonical_bootstrap: bool = False  # client.dns.lookup=resolve_canonical_bootstrap_servers_only
    socket_options: tuple[tuple[int, int, int], ...] = ()  # receive.buffer.bytes, send.buffer.bytes
    source: str | None = None
    role_settings: Mapping[str, str] = {}  # settings that only consumers or producers have
    api_timeout_setting: str = "default.api.timeout.ms"  # or the option that stands for it
    tells_long_waits: bool = True  # whether a terminal is told who is waited for

    @property
    def api_limit(self) -> Limit:
        """How long one thing that is asked for may take, retries and all."""
        return Limit(self.api_timeout_ms, self.api_timeout_setting)

    def limit(self, ms: float, setting: str) -> Limit:
        """How long a part of that may take: what its own setting says, but no longer than the whole."""
        return Limit(ms, setting) if ms <= self.api_timeout_ms else self.api_limit

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def place(self) -> str:
        """Where the user would set something."""
        return self.source or "the file of --command-config"
