"""ClusterTool's table of nodes: columns as wide as Kafka makes them, which is not always enough for the titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafkapy.backends.administration import ClusterNode

NO_HOSTS_WIDTH = 100
NO_RACKS_WIDTH = 10


def endpoint_pairs(nodes: Sequence[ClusterNode]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The titles, then a line and a row for each node."""
    of_controllers = any(node.is_controller for node in nodes)
    titles = ("ID", "HOST", "PORT", "RACK", *(() if of_controllers else ("STATE",)), "ENDPOINT_TYPE")
    host = max((len(node.host) for node in nodes), default=NO_HOSTS_WIDTH)
    rack = max((len(node.rack) for node in nodes if node.rack is not None), default=NO_RACKS_WIDTH)
    widths = (10, host, 10, rack, *(() if of_controllers else (10,)), 15)
    yield _line(titles, widths), None
    for node in nodes:
        yield _line(_cells(node), widths), _row(node)


def _cells(node: ClusterNode) -> tuple[str, ...]:
    place = (str(node.id), node.host, str(node.port), "null" if node.rack is None else node.rack)
    if node.is_controller:
        return (*place, "controller")
    return (*place, "fenced" if node.is_fenced else "unfenced", "broker")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))


def _row(node: ClusterNode) -> dict[str, Any]:
    return {
        "type": "endpoint",
        "id": node.id,
        "host": node.host,
        "port": node.port,
        "rack": node.rack,
        "fenced": None if node.is_controller else node.is_fenced,
        "endpoint_type": "controller" if node.is_controller else "broker",
    }
