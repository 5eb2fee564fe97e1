"""From ``--bootstrap-server`` and ``--command-config`` to a running cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkapy.errors import UsageError

if TYPE_CHECKING:
    from kafkapy.backends.live.live_cluster import LiveCluster
    from kafkapy.backends.live.network import Address
    from kafkapy.backends.selection import Selection

_LARGEST_PORT = 65_535


def open_live(selection: Selection) -> LiveCluster:
    """The cluster that the options name; nothing is sent before the first question."""
    from kafkapy.backends.live.client_config import ClientConfig
    from kafkapy.backends.live.live_cluster import LiveCluster

    option = "--bootstrap-server" if selection.bootstrap_server else "--bootstrap-controller"
    addresses = parse_addresses(selection.bootstrap_server or selection.bootstrap_controller or "", option)
    config = ClientConfig()
    if selection.command_config is not None:
        from kafkapy.backends.live.client_properties import read_client_properties

        config = read_client_properties(selection.command_config)
    return LiveCluster(addresses, config)


def parse_addresses(text: str, option: str) -> list[Address]:
    """``HOST:PORT[,...]``; an IPv6 address stands in brackets."""
    from kafkapy.backends.live.network import Address

    addresses = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        host, colon, port = word.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _LARGEST_PORT:
            raise UsageError(f"{option} {word}: not HOST:PORT")
        addresses.append(Address(host, int(port)))
    if not addresses:
        raise UsageError(f"{option} names no address")
    return addresses
