"""Which value of a config holds, and where it comes from: what a broker answers to DescribeConfigs.

Every entry has its value and its synonyms: all places that set it, the strongest first, each with the name that it has
there. The first synonym is the source of the value; an entry without any is by default. Synonyms that stand before the
first with the entry's own name are left out, so ``retention.ms`` of a topic has none where only log.retention.hours is
set, and counts as default then.

The values of passwords are never shown, nor are those of broker configs that Kafka does not know, since they might be.

    sources                         from
    DYNAMIC_TOPIC_CONFIG            the topic; likewise DYNAMIC_GROUP_CONFIG, DYNAMIC_CLIENT_METRICS_CONFIG
    DYNAMIC_BROKER_CONFIG           the one broker
    DYNAMIC_DEFAULT_BROKER_CONFIG   all brokers
    STATIC_BROKER_CONFIG            server.properties
    DEFAULT_CONFIG                  Kafka
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import dropwhile
from types import MappingProxyType
from typing import NamedTuple

from kafkapy.metadata.configs import broker_configs
from kafkapy.metadata.configs.config_def import READ_ONLY, ConfigKey, definition, parse, parse_value
from kafkapy.metadata.configs.config_types import Value, to_text

DEFAULT_CONFIG = "DEFAULT_CONFIG"
STATIC_BROKER_CONFIG = "STATIC_BROKER_CONFIG"
DYNAMIC_BROKER_CONFIG = "DYNAMIC_BROKER_CONFIG"
DYNAMIC_DEFAULT_BROKER_CONFIG = "DYNAMIC_DEFAULT_BROKER_CONFIG"
DYNAMIC_SOURCES = {
    "topics": "DYNAMIC_TOPIC_CONFIG",
    "groups": "DYNAMIC_GROUP_CONFIG",
    "client-metrics": "DYNAMIC_CLIENT_METRICS_CONFIG",
}

_NONE: Mapping[str, str] = MappingProxyType({})


class Synonym(NamedTuple):
    """One place that sets a config; the value is None where it must not be shown."""

    source: str
    name: str
    value: str | None


class ConfigEntry(NamedTuple):
    """One config of an entity, as an admin client gets it; ``told_source`` is what a broker said the source is."""

    name: str
    value: str | None
    sensitive: bool
    read_only: bool
    synonyms: tuple[Synonym, ...]
    told_source: str | None = None

    @property
    def source(self) -> str:
        return self.told_source or (self.synonyms[0].source if self.synonyms else DEFAULT_CONFIG)


class BrokerLayers:
    """The configs of one broker: what is set for it, for all brokers, in its server.properties, and the defaults."""

    def __init__(
        self, broker: Mapping[str, str] = _NONE, cluster: Mapping[str, str] = _NONE, static: Mapping[str, str] = _NONE
    ) -> None:
        static = broker_configs.with_node_id(static)
        keys = definition("broker")
        self._layers = (
            (DYNAMIC_BROKER_CONFIG, broker),
            (DYNAMIC_DEFAULT_BROKER_CONFIG, cluster),
            (STATIC_BROKER_CONFIG, static),
            (DEFAULT_CONFIG, {name: key.default for name, key in keys.items() if key.default is not None}),
        )
        self.cluster = cluster
        self.inherited: dict[str, dict[str, ConfigEntry]] = {}
        self.configs = broker_configs.merged(static, cluster, broker)
        # Without its server.properties a broker still has the defaults, but no node.id.
        self.values = parse({n: k for n, k in keys.items() if not k.required or n in self.configs}, self.configs)

    def synonyms(self, name: str, sensitive: bool) -> tuple[Synonym, ...]:
        names = broker_configs.synonyms(name)
        found = [
            Synonym(source, other, None if sensitive else layer[other])
            for source, layer in self._layers
            for other in names
            if other in layer
        ]
        return tuple(dropwhile(lambda synonym: synonym.name != name, found))


def describe(
    entity_type: str, entity_name: str, configs: Mapping[str, str], brokers: BrokerLayers
) -> list[ConfigEntry]:
    """Every config of an entity, by name. ``configs`` are its own; those of brokers are in ``brokers`` already."""
    if entity_type == "brokers":
        entries = _broker_entries(brokers) if entity_name else _broker_default_entries(brokers)
    elif entity_type == "topics":
        entries = _entries("topic", entity_type, configs, brokers)
    elif entity_type == "groups":
        entries = _entries("group", entity_type, configs, brokers)
    else:
        entries = _entries("client_metrics", entity_type, configs, brokers)
    return sorted(entries)


def topic_defaults(brokers: BrokerLayers) -> dict[str, str]:
    """The configs of a topic that sets none itself, as far as they come from the brokers."""
    return _texts(broker_configs.topic_values(brokers.values))


def _texts(values: Mapping[str, Value]) -> dict[str, str]:
    texts = {name: to_text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _entries(of: str, entity_type: str, configs: Mapping[str, str], brokers: BrokerLayers) -> list[ConfigEntry]:
    """What all entities of a kind inherit, found once, with the configs of one of them over it."""
    if of not in brokers.inherited:
        brokers.inherited[of] = _inherited(of, brokers)
    entries = dict(brokers.inherited[of])
    for name, text in configs.items():
        key = definition(of).get(name)
        # A name that Kafka no longer knows, such as message.format.version, is there with its value hidden.
        sensitive = of != "client_metrics" if key is None else key.sensitive
        shown = None if sensitive else text if key is None else to_text(parse_value(key, text))
        below = entries[name].synonyms if name in entries else ()
        synonyms = (Synonym(DYNAMIC_SOURCES[entity_type], name, shown), *below)
        entries[name] = ConfigEntry(name, shown, sensitive, False, synonyms)
    return list(entries.values())


def _inherited(of: str, brokers: BrokerLayers) -> dict[str, ConfigEntry]:
    keys = definition(of)
    values = parse(keys, _defaults(of, brokers))
    return {
        name: ConfigEntry(name, to_text(values[name]), key.sensitive, False, _lower_synonyms(of, key, brokers))
        for name, key in keys.items()
        if not key.internal
    }


def _defaults(of: str, brokers: BrokerLayers) -> dict[str, str]:
    if of == "topic":
        return topic_defaults(brokers)
    return _texts({key.name: brokers.values[key.synonym] for key in definition(of).values() if key.synonym})


def _lower_synonyms(of: str, key: ConfigKey, brokers: BrokerLayers) -> tuple[Synonym, ...]:
    if key.synonym:
        return brokers.synonyms(key.synonym, key.sensitive)
    # Only a group shows what Kafka itself gives where no broker config stands behind it.
    return (Synonym(DEFAULT_CONFIG, key.name, key.default),) if of == "group" else ()


def _broker_entries(brokers: BrokerLayers) -> list[ConfigEntry]:
    keys = definition("broker")
    shown = [name for name, key in keys.items() if not key.internal]
    others = [name for name in brokers.configs if name not in keys or keys[name].internal]
    entries = []
    for name in (*shown, *others):
        text = to_text(brokers.values.get(name)) if name in shown else brokers.configs[name]
        entries.append(_broker_entry(name, text, brokers))
    return entries


def _broker_entry(name: str, text: str | None, brokers: BrokerLayers) -> ConfigEntry:
    key = broker_configs.broker_key(name)
    sensitive = key is None or key.sensitive
    synonyms = brokers.synonyms(name, sensitive)
    return ConfigEntry(name, None if sensitive else text, sensitive, _is_read_only(name), synonyms)


def _is_read_only(name: str) -> bool:
    key = definition("broker").get(name) or definition("broker_quota").get(name)
    return key is None or key.update_mode == READ_ONLY


def _broker_default_entries(brokers: BrokerLayers) -> list[ConfigEntry]:
    entries = (_broker_entry(name, text, brokers) for name, text in brokers.cluster.items())
    return [entry._replace(synonyms=_of_cluster(entry.synonyms)) for entry in entries]


def _of_cluster(synonyms: Iterable[Synonym]) -> tuple[Synonym, ...]:
    return tuple(synonym for synonym in synonyms if synonym.source == DYNAMIC_DEFAULT_BROKER_CONFIG)


def overrides(entries: Iterable[ConfigEntry]) -> list[ConfigEntry]:
    """The entries of a topic that TopicCommand shows: those not by default, in the order of Java's hash map."""
    shown = [entry for entry in entries if entry.source != DEFAULT_CONFIG]
    return sorted(shown, key=lambda entry: _hash_position(entry.name))


@cache
def _hash_position(name: str) -> tuple[int, int]:
    """The bucket, then the place in it: that of the definition, after names that are not part of it."""
    keys = definition("topic")
    defined = name in keys and not keys[name].internal
    return _bucket(name), list(keys).index(name) if defined else -1


def _bucket(name: str) -> int:
    """Where ``HashMap`` puts a name among the 64 buckets that it has for so many configs."""
    code = 0
    for character in name:
        code = (code * 31 + ord(character)) & 0xFFFFFFFF
    return (code ^ code >> 16) & 63
