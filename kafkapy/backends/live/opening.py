"""From ``--bootstrap-server`` and ``--command-config`` to a running cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.errors import UsageError

if TYPE_CHECKING:
    from kafkapy.backends.live.library.network import Address
    from kafkapy.backends.live.live_cluster import LiveCluster
    from kafkapy.backends.selection import Selection

_LARGEST_PORT = 65_535
PROPERTIES = "the client's properties"


def open_live(selection: Selection) -> LiveCluster:
    """The cluster that the options name; nothing is sent before the first question."""
    from kafkapy.backends.live.client_config import ClientConfig
    from kafkapy.backends.live.live_cluster import LiveCluster

    option = "--bootstrap-server" if selection.bootstrap_server else "--bootstrap-controller"
    addresses = parse_addresses(selection.bootstrap_server or selection.bootstrap_controller or "", option)
    config = ClientConfig()
    if selection.command_config is not None or selection.command_pairs:
        from kafkapy.backends.live.client_properties import read_client_properties

        config = read_client_properties(selection.command_config, selection.command_pairs)
    elif selection.properties is not None:
        from kafkapy.backends.live.client_properties import client_config

        config = client_config(selection.properties, PROPERTIES)
    if selection.timeout_ms is not None:
        config = config._replace(api_timeout_ms=selection.timeout_ms, api_timeout_setting=selection.timeout_setting)
    of_controllers = not selection.bootstrap_server
    return LiveCluster(canonical(addresses) if config.canonical_bootstrap else addresses, config, of_controllers)


def canonical(addresses: list[Address]) -> list[Address]:
    """Every host behind each name, by the name that its own address has: what Kerberos knows it by."""
    import socket

    from kafkapy.backends.live.library.network import Address, ConnectionLost

    found = []
    for address in addresses:
        try:
            infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except OSError:
            raise ConnectionLost(f"broker {address} cannot be reached: the name does not resolve") from None
        found += [Address(socket.getnameinfo(info[4], socket.NI_NUMERICSERV)[0], address.port) for info in infos]
    return list(dict.fromkeys(found))


def parse_addresses(text: str, option: str) -> list[Address]:
    """``HOST:PORT[,...]``; an IPv6 address stands in brackets.

    The name of a listener before it (``SSL://``) says nothing: how to speak to it is for the client's configs to say.
    """
    from kafkapy.backends.live.library.network import Address

    addresses = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        host, colon, port = word.rpartition("://")[2].rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        is_port = port.isascii() and port.isdigit() and 0 < int(port) <= _LARGEST_PORT
        if not colon or not host or len(host.split()) > 1 or not is_port:
            raise UsageError(f"{option} {word}: not HOST:PORT")
        addresses.append(Address(host, int(port)))
    if not addresses:
        raise UsageError(f"{option} names no address")
    return addresses
