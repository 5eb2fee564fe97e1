"""BrokerApiVersionsCommand's lines: of every broker the apis by key, with the version that a 4.3.1 client would use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.backends.administration import ApiRange, ClusterNode, NodeApiVersions
from kafkapy.errors import KafkapyError
from kafkapy.formats.api_keys import ApiKey, api_keys

Pair = tuple[str | None, dict[str, Any] | None]


def api_version_pairs(found: Iterable[NodeApiVersions]) -> Iterator[Pair]:
    """The lines of each broker, and a row for each of its apis."""
    for node, versions in found:
        if isinstance(versions, KafkapyError):
            yield f"{_node(node)} -> ERROR: {versions}", None
            continue
        yield f"{_node(node)} -> (", None
        keys = sorted({*versions, *(api.key for api in api_keys().values() if api.is_of_clients)})
        for key in keys:
            comma = "" if key == keys[-1] else ","
            yield f"\t{_text(key, versions)}{comma}", _row(node, key, versions)
        yield ")", None


def _node(node: ClusterNode) -> str:
    return f"{node.host}:{node.port} (id: {node.id} rack: {_rack(node)} isFenced: {str(node.is_fenced).lower()})"


def _rack(node: ClusterNode) -> str:
    return "null" if node.rack is None else node.rack


def _text(key: int, versions: Mapping[int, ApiRange]) -> str:
    api = api_keys().get(key)
    name = f"{'UNKNOWN' if api is None else api.name}({key}): "
    if key not in versions:
        return f"{name}UNSUPPORTED"
    low, high = versions[key]
    text = name + (str(low) if low == high else f"{low} to {high}")
    return text if api is None else f"{text} [{_usable(api, low, high)}]"


def _usable(api: ApiKey, low: int, high: int) -> str:
    if api.max_version < low:
        return "unusable: node too new"
    if high < api.min_version:
        return "unusable: node too old"
    return f"usable: {min(api.max_version, high)}"


def _row(node: ClusterNode, key: int, versions: Mapping[int, ApiRange]) -> dict[str, Any]:
    api, (low, high) = api_keys().get(key), versions.get(key, (None, None))
    usable = None
    if api is not None and low is not None and high is not None and api.max_version >= low and high >= api.min_version:
        usable = min(api.max_version, high)
    return {
        "type": "api_versions",
        "node_id": node.id,
        "host": node.host,
        "port": node.port,
        "rack": node.rack,
        "api_key": key,
        "api": None if api is None else api.name,
        "min_version": low,
        "max_version": high,
        "usable_version": usable,
    }
