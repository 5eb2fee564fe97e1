"""The metadata of a running cluster, each section of it asked for when it is first looked at.

Topics and brokers come with one Metadata request. What it does not tell is asked for only when somebody looks at a
partition: moves under way by ListPartitionReassignments, which not everybody may ask, and the eligible leader replicas
by DescribeTopicPartitions, which only partitions that lack in-sync replicas can have. The former is the controller's to
answer: where there is none, whatever a connection has behind it waits, too. A broker says nothing of log dirs, epochs
of partitions, salts and keys of SCRAM: these stay empty.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TypeVar

from kafkapy.backends.live.client import Client
from kafkapy.backends.live.partition_leaders import learn_leaders
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import NONE, raise_for
from kafkapy.formats.message import Value
from kafkapy.formats.uuid import DIRECTORY_MIGRATING
from kafkapy.metadata.cluster_image import BrokerRegistration, Endpoint
from kafkapy.metadata.image import (
    BROKER,
    CLIENT_METRICS,
    EMPTY,
    GROUP,
    TOPIC,
    MetadataImage,
    QuotaEntity,
)
from kafkapy.metadata.security_image import Acl, ScramCredential
from kafkapy.metadata.topics_image import RECOVERED, PartitionRegistration, TopicImage

K = TypeVar("K")
V = TypeVar("V")

NO_EPOCH = -1
ANY = 1  # of a filter of ACLs


def live_image(client: Client, made: MutableMapping[str, float] | None = None) -> MetadataImage:
    """The metadata; nothing is asked before somebody looks. ``made`` are topics that are known to be there, and until
    when (by the monotonic clock) they are waited for; those that are found are taken out of it."""
    metadata = _Metadata(client, {} if made is None else made)
    return EMPTY._replace(
        features=Section(lambda: _features(client)),
        brokers=Section(lambda: metadata.brokers),
        topics=Section(lambda: metadata.topics),
        topics_by_id=Section(lambda: {topic.id: topic for topic in metadata.topics.values()}),
        configs=_Configs(client, metadata),
        client_quotas=Section(lambda: _client_quotas(client)),
        acls=Section(lambda: _acls(client)),
        scram=Section(lambda: _scram(client)),
    )


class Section(Mapping[K, V]):
    """A mapping that is loaded when it is first looked at."""

    def __init__(self, load: Callable[[], Mapping[K, V]]) -> None:
        self._load = load

    @cached_property
    def _loaded(self) -> Mapping[K, V]:
        return self._load()

    def __getitem__(self, key: K) -> V:
        return self._loaded[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def __contains__(self, key: object) -> bool:
        return key in self._loaded


class _Metadata:
    """What the Metadata request tells, and what belongs to it."""

    def __init__(self, client: Client, made: MutableMapping[str, float]) -> None:
        self._client = client
        self._made = made
        self._elr: dict[str, dict[int, Value]] = {}

    @cached_property
    def response(self) -> Value:
        while True:
            response = self._client.retrying(self._ask)
            for topic in response["topics"]:
                if topic["errorCode"] == NONE:
                    self._made.pop(topic["name"], None)
            if not any(time.monotonic() < until for until in self._made.values()):
                return response
            self._client.wait_any([], self._client.config.retry_backoff_ms)

    def _ask(self) -> Value:
        response = self._client.call("Metadata", {"topics": None, "allowAutoTopicCreation": False})
        raise_for(response["errorCode"])
        learn_leaders(self._client, response)
        return response

    @cached_property
    def brokers(self) -> dict[int, BrokerRegistration]:
        return {each["nodeId"]: _broker(each) for each in self.response["brokers"]}

    @cached_property
    def topics(self) -> dict[str, TopicImage]:
        """By name; a topic with an error is none that could be told about."""
        return {
            topic["name"]: TopicImage(topic["name"], topic["topicId"], _Partitions(topic, self))
            for topic in sorted(self.response["topics"], key=lambda topic: topic["name"] or "")
            if topic["errorCode"] == NONE
        }

    @cached_property
    def reassignments(self) -> dict[str, dict[int, Value]]:
        """The moves under way by topic and partition; none where they cannot be asked for, or were in vain just now."""
        if self._client.misses_controller:
            return {}
        try:
            timeout_ms = self._client.config.request_timeout_ms
            response = self._client.call("ListPartitionReassignments", {"timeoutMs": timeout_ms})
            raise_for(response["errorCode"], response["errorMessage"])
        except KafkapyError:
            return {}
        return {
            topic["name"]: {each["partitionIndex"]: each for each in topic["partitions"]}
            for topic in response["topics"]
        }

    def elr(self, topic: str) -> Mapping[int, Value]:
        """The partitions of a topic that lacks in-sync replicas, with their ELRs. Who looks at a second such topic is
        going to look at them all."""
        if topic not in self._elr:
            short = [topic] if not self._elr else [name for name in self._short if name not in self._elr]
            self._elr |= {name: {} for name in short} | _describe_topic_partitions(self._client, short)
        return self._elr[topic]

    @cached_property
    def _short(self) -> list[str]:
        return [topic["name"] for topic in self.response["topics"] if topic["errorCode"] == NONE and _is_short(topic)]


class _Partitions(Mapping[int, PartitionRegistration]):
    """The partitions of a topic; only who looks at one waits for what the Metadata request does not tell."""

    def __init__(self, topic: Value, metadata: _Metadata) -> None:
        self._topic = topic
        self._metadata = metadata

    @cached_property
    def _by_number(self) -> dict[int, Value]:
        return {each["partitionIndex"]: each for each in sorted(self._topic["partitions"], key=_number)}

    @cached_property
    def _registrations(self) -> dict[int, PartitionRegistration]:
        name = self._topic["name"]
        moves = self._metadata.reassignments.get(name, {})
        elr = self._metadata.elr(name) if _is_short(self._topic) else {}
        return {
            number: _registration(each, moves.get(number), elr.get(number)) for number, each in self._by_number.items()
        }

    def __getitem__(self, number: int) -> PartitionRegistration:
        return self._registrations[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_number)

    def __len__(self) -> int:
        return len(self._by_number)

    def __contains__(self, number: object) -> bool:
        return number in self._by_number


class _Configs(Mapping[tuple[int, str], Mapping[str, str]]):
    """What is set on resources themselves: one is asked for alone, all together where somebody goes through them."""

    def __init__(self, client: Client, metadata: _Metadata) -> None:
        self._client = client
        self._metadata = metadata
        self._known: dict[tuple[int, str], dict[str, str]] = {}

    def __getitem__(self, key: tuple[int, str]) -> Mapping[str, str]:
        if key not in self._known:
            self._learn(key[0], [key[1]])
        found = self._known[key]
        if not found:
            raise KeyError(key)
        return found

    @cached_property
    def _all(self) -> list[tuple[int, str]]:
        from kafkapy.backends.live.live_configs import list_config_resources

        self._learn(TOPIC, list(self._metadata.topics))
        self._learn(BROKER, [*map(str, self._metadata.brokers), ""])
        for resource_type in (CLIENT_METRICS, GROUP):
            self._learn(resource_type, list_config_resources(self._client, resource_type))
        return [key for key, configs in self._known.items() if configs]

    def _learn(self, resource_type: int, names: list[str]) -> None:
        from kafkapy.backends.live.live_configs import own_configs

        self._known |= {(resource_type, name): {} for name in names}
        found = own_configs(self._client, resource_type, names)
        self._known |= {(resource_type, name): configs for name, configs in found.items()}

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _number(partition: Value) -> int:
    number: int = partition["partitionIndex"]
    return number


def _is_short(topic: Value) -> bool:
    """Whether a partition has fewer in-sync replicas than replicas."""
    return any(len(each["isrNodes"]) < len(each["replicaNodes"]) for each in topic["partitions"])


def _broker(broker: Value) -> BrokerRegistration:
    listener = Endpoint("", broker["host"], broker["port"])
    return BrokerRegistration(broker["nodeId"], NO_EPOCH, "", (listener,), {}, broker["rack"], fenced=False)


def _registration(partition: Value, move: Value | None, elr: Value | None) -> PartitionRegistration:
    replicas = tuple(partition["replicaNodes"])
    return PartitionRegistration(
        replicas,
        (DIRECTORY_MIGRATING,) * len(replicas),
        tuple(partition["isrNodes"]),
        tuple(move["removingReplicas"]) if move else (),
        tuple(move["addingReplicas"]) if move else (),
        tuple(elr["eligibleLeaderReplicas"] or ()) if elr else (),
        tuple(elr["lastKnownElr"] or ()) if elr else (),
        partition["leaderId"],
        RECOVERED,
        partition["leaderEpoch"],
    )


def _describe_topic_partitions(client: Client, topics: list[str]) -> dict[str, dict[int, Value]]:
    """The partitions of topics, page by page; nothing from a broker that does not know of ELRs."""
    found: dict[str, dict[int, Value]] = defaultdict(dict)
    fields: Value = {"topics": [{"name": name} for name in sorted(topics)]}
    while True:
        try:
            response = client.call("DescribeTopicPartitions", fields)
        except KafkaError as error:
            if error.name != "UnsupportedVersionException":
                raise
            return {}
        for topic in response["topics"]:
            found[topic["name"]].update((each["partitionIndex"], each) for each in topic["partitions"])
        if response["nextCursor"] is None:
            return found
        fields = fields | {"cursor": response["nextCursor"]}


def _features(client: Client) -> dict[str, int]:
    from kafkapy import __version__

    response = client.call("ApiVersions", {"clientSoftwareName": "kafkapy", "clientSoftwareVersion": __version__})
    raise_for(response["errorCode"])
    return {each["name"]: each["maxVersionLevel"] for each in response["finalizedFeatures"]}


def _client_quotas(client: Client) -> dict[QuotaEntity, dict[str, float]]:
    response = client.call("DescribeClientQuotas", {"components": [], "strict": False})
    raise_for(response["errorCode"], response["errorMessage"])
    return {
        tuple(sorted((each["entityType"], each["entityName"]) for each in entry["entity"])): {
            value["key"]: value["value"] for value in entry["values"]
        }
        for entry in response["entries"] or ()
    }


def _acls(client: Client) -> dict[str, Acl]:
    """The protocol knows no ids of ACLs, so their numbers stand for them."""
    filters = dict.fromkeys(("resourceTypeFilter", "patternTypeFilter", "operation", "permissionType"), ANY)
    names = dict.fromkeys(("resourceNameFilter", "principalFilter", "hostFilter"))
    response = client.call("DescribeAcls", {**filters, **names})
    raise_for(response["errorCode"], response["errorMessage"])
    found = [
        Acl(
            resource["resourceType"], resource["resourceName"], resource["patternType"],
            acl["principal"], acl["host"], acl["operation"], acl["permissionType"],
        )
        for resource in response["resources"]
        for acl in resource["acls"]
    ]  # fmt: skip
    return {str(number): acl for number, acl in enumerate(sorted(found))}


def _scram(client: Client) -> dict[tuple[int, str], ScramCredential]:
    response = client.call("DescribeUserScramCredentials", {"users": None})
    raise_for(response["errorCode"], response["errorMessage"])
    return {
        (info["mechanism"], result["user"]): ScramCredential(b"", b"", b"", info["iterations"])
        for result in response["results"]
        for info in result["credentialInfos"]
    }
