"""Which entity was probably meant by one that ``--describe`` and ``--alter`` of configs do not find."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.errors import KafkapyError
from kafkapy.metadata import config_entities as types
from kafkapy.metadata.image import CLIENT_METRICS, GROUP
from kafkapy.near_misses import hint, missing_number

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.metadata.config_entities import Entities


def entity_hint(cluster: Cluster, chosen: Entities) -> str | None:
    """A line about the first entity that is not there; None where all are, or nothing is like it. Whoever must not list
    others, and controllers, which do not tell of topics, are told nothing."""
    for entity_type, name in chosen.named.items():
        with suppress(KafkapyError):
            found = _hint(cluster, entity_type, name) if name else None
            if found is not None:
                return found
    return None


def _hint(cluster: Cluster, entity_type: str, name: str) -> str | None:
    if entity_type in (types.BROKERS, types.BROKER_LOGGERS):
        brokers = cluster.image().brokers
        return None if int(name) in brokers or not brokers else missing_number("broker", name, brokers)
    what, known = _KNOWN[entity_type]
    return hint(what, name, known(cluster))


def _groups(cluster: Cluster) -> Iterable[str]:
    listed = (listing.group_id for listing in cluster.groups().list())
    return {*listed, *cluster.config_resources(GROUP)}


def _users(cluster: Cluster) -> Iterable[str]:
    return {*(user for _, user in cluster.image().scram), *_of_quotas("user")(cluster)}


def _of_quotas(entity_type: str) -> Callable[[Cluster], Iterable[str]]:
    def names(cluster: Cluster) -> Iterable[str]:
        entities = cluster.image().client_quotas
        return {name for entity in entities for kind, name in entity if kind == entity_type and name is not None}

    return names


_KNOWN: dict[str, tuple[str, Callable[[Cluster], Iterable[str]]]] = {
    types.TOPICS: ("topic", lambda cluster: cluster.image().topics),
    types.GROUPS: ("group", _groups),
    types.CLIENT_METRICS: ("client metrics subscription", lambda cluster: cluster.config_resources(CLIENT_METRICS)),
    types.USERS: ("user", _users),
    types.CLIENTS: ("client id", _of_quotas("client-id")),
    types.IPS: ("address", _of_quotas("ip")),
}
