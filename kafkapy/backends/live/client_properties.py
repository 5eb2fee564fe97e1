"""``--command-config``: a Java client's .properties file, as people have it, into a ClientConfig.

client_settings.txt says what becomes of each setting. Stores and tokens are only looked at when a connection needs
them; everything that is wrong in itself is said at once. Values are ISO-8859-1 with ``\\uXXXX`` escapes and lose the
blanks around them, as in Java: a password with an umlaut that works with Kafka's tools works here, and vice versa.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.backends.live.client_config import ClientConfig, Login
from kafkapy.backends.live.client_settings import (
    SettingError,
    check_settings,
    java_trim,
    settings,
    unknown_settings_warning,
)
from kafkapy.errors import FormatError, KafkapyError

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_DNS_LOOKUPS = ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only")
_CANONICAL = _DNS_LOOKUPS[1]
_OF_NODES = "process.roles"
_NUMBERS = {
    "request_timeout_ms": "request.timeout.ms",
    "connection_timeout_ms": "socket.connection.setup.timeout.ms",
    "connection_timeout_max_ms": "socket.connection.setup.timeout.max.ms",
    "retry_backoff_ms": "retry.backoff.ms",
    "retry_backoff_max_ms": "retry.backoff.max.ms",
    "retries": "retries",
}


def read_client_properties(path: str | None, pairs: Iterable[str] = ()) -> ClientConfig:
    """The settings of a file, and those of ``NAME=VALUE`` pairs, which win."""
    properties = {} if path is None else _load(path)
    for pair in pairs:
        name, _, value = pair.partition("=")
        properties[name] = value
    return client_config(properties, path or "--command-property")


def _load(path: str) -> dict[str, str]:
    from kafkapy.formats.java_properties import load

    try:
        with open(path, "rb") as file:
            return load(file.read())
    except OSError as error:
        raise KafkapyError(f"{path}: {error.strerror} (--command-config)") from None
    except FormatError as error:
        raise KafkapyError(f"{path}: {error}") from None


def client_config(properties: Mapping[str, str], source: str) -> ClientConfig:
    """The settings as such, from ``source``; names of settings that no client has are told on stderr.

    In the file of a node, which ``metadata-quorum add-controller`` is given, there are many, and none is a mistake.
    """
    from kafkapy.backends.live.config_providers import resolve_references

    trimmed = {name: java_trim(value) for name, value in properties.items()}
    resolved = {name: java_trim(value) for name, value in resolve_references(trimmed, source).items()}
    unknown = check_settings(resolved, source)
    if unknown and _OF_NODES not in resolved:
        _tell(unknown_settings_warning(source, unknown))
    return _config(resolved, source)


def _config(properties: Mapping[str, str], source: str) -> ClientConfig:
    protocol = _one_of(
        "security.protocol", properties.get("security.protocol", "PLAINTEXT").upper(), _PROTOCOLS, source
    )
    lookup = _one_of("client.dns.lookup", properties.get("client.dns.lookup", "use_all_dns_ips"), _DNS_LOOKUPS, source)
    config = ClientConfig(
        client_id=properties.get("client.id") or ClientConfig().client_id,
        security_protocol=protocol,
        sasl=_login(properties, source) if protocol.startswith("SASL_") else Login(),
        canonical_bootstrap=lookup == _CANONICAL,
        socket_options=_socket_options(properties),
        source=source,
        role_settings={name: value for name, value in properties.items() if _is_of_a_role(name)},
    )
    numbers = {field: int(properties[name]) for field, name in _NUMBERS.items() if name in properties}
    config = config._replace(**numbers)  # type: ignore[arg-type]
    config = config._replace(api_timeout_ms=_api_timeout(properties, config, source))
    return _with_tls(config, properties, source) if config.uses_tls else config


def _login(properties: Mapping[str, str], source: str) -> Login:
    from kafkapy.backends.live.login import login

    return login(properties, source)


def _with_tls(config: ClientConfig, properties: Mapping[str, str], source: str) -> ClientConfig:
    from functools import cache

    from kafkapy.backends.live.tls import check_tls, tls_context
    from kafkapy.backends.live.tls_stores import Settings

    tls = Settings({name: value for name, value in properties.items() if name.startswith("ssl.")}, source)
    check_tls(tls)
    return config._replace(ssl_context=cache(lambda: tls_context(tls)))


def _api_timeout(properties: Mapping[str, str], config: ClientConfig, source: str) -> int:
    name = "default.api.timeout.ms"
    timeout = int(properties.get(name, config.api_timeout_ms))
    if timeout >= config.request_timeout_ms:
        return timeout
    if name in properties:
        raise SettingError(source, name, "it must be no smaller than request.timeout.ms")
    return config.request_timeout_ms


def _socket_options(properties: Mapping[str, str]) -> tuple[tuple[int, int, int], ...]:
    import socket

    names = {"receive.buffer.bytes": socket.SO_RCVBUF, "send.buffer.bytes": socket.SO_SNDBUF}
    sizes = [(option, int(properties[name])) for name, option in names.items() if name in properties]
    return tuple((socket.SOL_SOCKET, option, size) for option, size in sizes if size >= 0)  # -1: the system's default


def _one_of(name: str, value: str, known: tuple[str, ...], source: str) -> str:
    if value not in known:
        raise SettingError(source, name, f"{value} is not one of {', '.join(known)}")
    return value


def _is_of_a_role(name: str) -> bool:
    setting = settings().get(name)
    return setting is not None and setting.decision == "role"


def _tell(line: str) -> None:
    import sys

    print(line, file=sys.stderr)
