"""Configs of a running cluster's resources: DescribeConfigs and ListConfigResources.

What is set for one broker, and its loggers, only that broker can tell: it is asked itself, all of them in parallel. All
other resources go into one request to any broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.metadata.configs.effective import (
    DYNAMIC_BROKER_CONFIG,
    DYNAMIC_DEFAULT_BROKER_CONFIG,
    DYNAMIC_SOURCES,
    ConfigEntry,
    Synonym,
)
from kafkapy.metadata.image import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC

# Where a value comes from, by the protocol's numbers.
SOURCES = (
    "UNKNOWN",
    "DYNAMIC_TOPIC_CONFIG",
    "DYNAMIC_BROKER_CONFIG",
    "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG",
    "DEFAULT_CONFIG",
    "DYNAMIC_BROKER_LOGGER_CONFIG",
    "DYNAMIC_CLIENT_METRICS_CONFIG",
    "DYNAMIC_GROUP_CONFIG",
)
OWN_SOURCES = {
    TOPIC: DYNAMIC_SOURCES["topics"],
    GROUP: DYNAMIC_SOURCES["groups"],
    CLIENT_METRICS: DYNAMIC_SOURCES["client-metrics"],
}

Entries = dict[str, list[ConfigEntry] | KafkapyError]


def config_entries(client: Client, resource_type: int, names: Sequence[str], synonyms: bool = False) -> Entries:
    """Every config of resources; an error in the place of a resource that cannot be told. Without ``synonyms`` an entry
    has only the source of its value."""
    calls = list(_calls(resource_type, names, synonyms))
    found: Entries = {}
    for (asked, _), response in zip(calls, client.call_all(call for _, call in calls), strict=True):
        if isinstance(response, KafkapyError):
            found.update((name, response) for name in asked)
            continue
        found.update((result["resourceName"], _entries(result)) for result in response["results"])
    return {name: found[name] for name in names}


def own_configs(client: Client, resource_type: int, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """What is set on the resources themselves; a resource that is not there has none."""
    own = {}
    for name, entries in config_entries(client, resource_type, names).items():
        if isinstance(entries, KafkaError) and entries.name == "UnknownTopicOrPartitionException":
            continue
        if isinstance(entries, KafkapyError):
            raise entries
        source = own_source(resource_type, name)
        own[name] = {entry.name: entry.value or "" for entry in entries if entry.source == source}
    return own


def own_source(resource_type: int, name: str) -> str:
    """The source of what is set on a resource itself."""
    if resource_type == BROKER:
        return DYNAMIC_BROKER_CONFIG if name else DYNAMIC_DEFAULT_BROKER_CONFIG
    return OWN_SOURCES[resource_type]


def list_config_resources(client: Client, resource_type: int) -> list[str]:
    """The names of the resources of a type that have configs, sorted."""
    response = client.call("ListConfigResources", {"resourceTypes": [resource_type]})
    raise_for(response["errorCode"])
    return sorted(each["resourceName"] for each in response["configResources"] if each["resourceType"] == resource_type)


def is_asked_itself(resource_type: int, name: str) -> bool:
    """Whether a resource is a broker's own, so that only that broker knows of it."""
    return (resource_type == BROKER and name != "") or resource_type == BROKER_LOGGER


def _calls(resource_type: int, names: Iterable[str], synonyms: bool) -> Iterator[tuple[list[str], Call]]:
    """The requests, each with the names of the resources in it."""
    together = []
    for name in names:
        if is_asked_itself(resource_type, name):
            yield [name], _call(resource_type, [name], synonyms, int(name))
        else:
            together.append(name)
    if together:
        yield together, _call(resource_type, together, synonyms, None)


def _call(resource_type: int, names: Sequence[str], synonyms: bool, node: int | None) -> Call:
    resources = [{"resourceType": resource_type, "resourceName": name, "configurationKeys": None} for name in names]
    return Call("DescribeConfigs", {"resources": resources, "includeSynonyms": synonyms}, node)


def _entries(result: Mapping[str, object]) -> list[ConfigEntry] | KafkaError:
    code, message = result["errorCode"], result["errorMessage"]
    if code != NONE:
        return kafka_error(code, message)  # type: ignore[arg-type]
    return sorted(map(_entry, result["configs"]))  # type: ignore[call-overload]


def _entry(config: Value) -> ConfigEntry:
    synonyms = tuple(Synonym(_source(each["source"]), each["name"], each["value"]) for each in config["synonyms"])
    source = _source(config["configSource"])
    return ConfigEntry(config["name"], config["value"], config["isSensitive"], config["readOnly"], synonyms, source)


def _source(number: int) -> str:
    return SOURCES[number] if 0 <= number < len(SOURCES) else SOURCES[0]
