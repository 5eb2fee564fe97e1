"""Changes as requests: all of a kind in one request, kinds in the order in which they come.

A running cluster makes what it can of a request, so some changes may be made where others are refused; the first error
is raised with the broker's own words. Brokers hand requests on to the controller; where controllers are asked directly,
the active one gets them, and another is looked for while they elect. A connection that is lost on the way leaves it
open whether a change was made, so it is not made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.partition_leaders import LeaderRequest
from kafkapy.errors import KafkaError, KafkapyError, Unsupported
from kafkapy.formats.error_codes import NONE, kafka_error
from kafkapy.formats.message import Value
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import (
    AlterClientQuotas,
    AlterConfigs,
    AlterScramCredential,
    Change,
    CreateAcl,
    CreatePartitions,
    CreateTopic,
    DeleteAcls,
    DeleteTopic,
    ElectLeader,
    Reassign,
)
from kafkapy.metadata.image import BROKER_LOGGER

SET = 0
DELETE = 1
NOT_CONTROLLER = "NotControllerException"

Changes = Sequence[Any]


def apply(client: Client, changes: Sequence[Change]) -> None:
    """Make the changes; the first error of any is raised."""
    kinds: dict[type, list[Change]] = {}
    for change in changes:
        kinds.setdefault(type(change), []).append(change)
    for kind, same in kinds.items():
        make = _MAKERS.get(kind)
        if make is None:
            raise Unsupported(kind.__name__, "a running cluster", "its brokers do that themselves")
        make(client, same)


def delete_records(client: Client, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | KafkapyError]:
    """Move the log start offset of each partition up (-1: to the high watermark); where it stands now, or why not."""
    request: LeaderRequest[int, int] = LeaderRequest(
        "DeleteRecords",
        {"timeoutMs": client.config.request_timeout_ms},
        lambda before: {"offset": before},
        lambda partition: int(partition["lowWatermark"]),
    )
    return dict(zip(offsets, request.ask(client, list(offsets.items())), strict=True))


def _create_topics(client: Client, changes: Changes) -> None:
    topics = [
        {
            "name": change.name,
            "numPartitions": change.partitions,
            "replicationFactor": change.replication_factor,
            "assignments": [
                {"partitionIndex": number, "brokerIds": list(brokers)}
                for number, brokers in enumerate(change.assignments)
            ],
            "configs": [{"name": name, "value": value} for name, value in change.configs.items()],
        }
        for change in changes
    ]
    _ask_controller(client, "CreateTopics", {"topics": topics}, "topics")


def _create_partitions(client: Client, changes: Changes) -> None:
    topics = [
        {
            "name": change.topic,
            "count": change.partitions,
            "assignments": None
            if change.assignments is None
            else [{"brokerIds": list(brokers)} for brokers in change.assignments],
        }
        for change in changes
    ]
    _ask_controller(client, "CreatePartitions", {"topics": topics}, "results")


def _delete_topics(client: Client, changes: Changes) -> None:
    names = [change.topic for change in changes]
    fields = {"topics": [{"name": name} for name in names], "topicNames": names}
    _ask_controller(client, "DeleteTopics", fields, "responses")


def _alter_configs(client: Client, changes: Changes) -> None:
    """To each broker what is its own, and to any what is not."""
    nodes: dict[int | None, list[Value]] = {}
    for change in changes:
        nodes.setdefault(_node(client, change), []).append(_alterations(change))

    def attempt() -> None:
        calls = [
            Call("IncrementalAlterConfigs", {"resources": resources}, client.controller() if node is None else node)
            for node, resources in nodes.items()
        ]
        for response in client.call_all(calls):
            if isinstance(response, KafkapyError):
                raise response
            _raise_first(response["responses"])

    _until_there_is_a_controller(client, attempt)


def _node(client: Client, change: AlterConfigs) -> int | None:
    """Who gets it; of controllers, the active one takes all but loggers."""
    from kafkapy.backends.live.live_configs import is_asked_itself

    if not is_asked_itself(change.resource_type, change.resource):
        return None
    return int(change.resource) if change.resource_type == BROKER_LOGGER or client.controller() is None else None


def _alterations(change: AlterConfigs) -> Value:
    deleted = [{"name": name, "configOperation": DELETE, "value": ""} for name in change.delete]
    added = [{"name": name, "configOperation": SET, "value": value} for name, value in change.set.items()]
    return {"resourceType": change.resource_type, "resourceName": change.resource, "configs": [*deleted, *added]}


def _alter_client_quotas(client: Client, changes: Changes) -> None:
    entries = [
        {
            "entity": [{"entityType": kind, "entityName": name} for kind, name in change.entity],
            "ops": [
                *({"key": key, "value": value, "remove": False} for key, value in change.set.items()),
                *({"key": key, "value": 0.0, "remove": True} for key in change.delete),
            ],
        }
        for change in changes
    ]
    _ask_controller(client, "AlterClientQuotas", {"entries": entries}, "entries")


def _alter_scram_credentials(client: Client, changes: Changes) -> None:
    """The salted password is sent, from which the controller makes the keys; never the password itself."""
    removed = [{"name": each.user, "mechanism": each.mechanism} for each in changes if each.credential is None]
    made = [
        {
            "name": each.user,
            "mechanism": each.mechanism,
            "iterations": each.credential.iterations,
            "salt": each.credential.salt,
            "saltedPassword": each.salted_password,
        }
        for each in changes
        if each.credential is not None
    ]
    _ask_controller(client, "AlterUserScramCredentials", {"deletions": removed, "upsertions": made}, "results")


def _elect_leaders(client: Client, changes: Changes) -> None:
    from kafkapy.backends.live.live_elections import elect_leaders

    elect_leaders(client, changes)


def _reassign(client: Client, changes: Changes) -> None:
    from kafkapy.backends.live.live_reassignments import reassign

    reassign(client, changes)


def _create_acls(client: Client, changes: Changes) -> None:
    from kafkapy.backends.live.live_acls import create_acls

    create_acls(client, changes)


def _delete_acls(client: Client, changes: Changes) -> None:
    from kafkapy.backends.live.live_acls import delete_acls

    delete_acls(client, changes)


def _ask_controller(client: Client, api: str, fields: Value, results: str) -> None:
    """Ask once; ``results`` is the field of the response that has an error code for each item."""
    fields = {"timeoutMs": client.config.request_timeout_ms} | fields if api in _WITH_TIMEOUT else fields
    _until_there_is_a_controller(client, lambda: _raise_first(client.call(api, fields, client.controller())[results]))


def _until_there_is_a_controller(client: Client, attempt: Callable[[], None]) -> None:
    end = time.monotonic() + client.config.api_timeout_ms / 1000
    while True:
        try:
            return attempt()
        except KafkaError as error:
            if error.name != NOT_CONTROLLER or time.monotonic() > end:
                raise
        client.forget()
        time.sleep(client.config.retry_backoff_ms / 1000)


def _raise_first(results: Sequence[Value]) -> None:
    for result in results:
        if result["errorCode"] != NONE:
            raise kafka_error(result["errorCode"], result["errorMessage"])


_WITH_TIMEOUT = ("CreateTopics", "CreatePartitions", "DeleteTopics")
_MAKERS: dict[type, Callable[[Client, Changes], None]] = {
    CreateTopic: _create_topics,
    CreatePartitions: _create_partitions,
    DeleteTopic: _delete_topics,
    AlterConfigs: _alter_configs,
    AlterClientQuotas: _alter_client_quotas,
    AlterScramCredential: _alter_scram_credentials,
    CreateAcl: _create_acls,
    DeleteAcls: _delete_acls,
    ElectLeader: _elect_leaders,
    Reassign: _reassign,
}
