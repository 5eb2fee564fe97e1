"""What administrators ask of a running cluster, each question in a module of its own.

Where controllers were named, they are asked themselves, by the active one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.administration import ClusterNode, NodeApiVersions
from kafkapy.backends.live.client import Call, Client
from kafkapy.backends.live.library.network import Address
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.formats.error_codes import raise_for
from kafkapy.formats.message import Value

if TYPE_CHECKING:
    from kafkapy.backends.quorum import Quorum, Voter
    from kafkapy.metadata.acls import AclFilter
    from kafkapy.metadata.feature_description import FeatureDescription
    from kafkapy.metadata.feature_updates import FeatureUpdate
    from kafkapy.metadata.security_image import Acl

BROKERS = 1
CONTROLLERS = 2


class LiveAdministration:
    """The questions as requests."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def cluster_id(self) -> str | None:
        found: str | None = self._describe_cluster()["clusterId"]
        return found

    def nodes(self, include_fenced: bool = False) -> list[ClusterNode]:
        response = self._describe_cluster(include_fenced)
        is_controller = response["endpointType"] == CONTROLLERS
        return [
            ClusterNode(each["brokerId"], each["host"], each["port"], each["rack"], each["isFenced"], is_controller)
            for each in sorted(response["brokers"], key=lambda each: each["brokerId"])
        ]

    def api_versions(self) -> list[NodeApiVersions]:
        from kafkapy import __version__

        self._client.knock()
        nodes = [ClusterNode(*node) for _, node in sorted(self._client.nodes().items())]
        fields = {"clientSoftwareName": "kafkapy", "clientSoftwareVersion": __version__}
        responses = self._client.call_all(Call("ApiVersions", fields, node.id) for node in nodes)
        return [NodeApiVersions(node, _ranges(response)) for node, response in zip(nodes, responses, strict=True)]

    def unreachable(self, nodes: Sequence[ClusterNode]) -> dict[int, KafkapyError]:
        found = self._client.reach(Address(node.host, node.port) for node in nodes)
        return {node.id: why for node, why in zip(nodes, found, strict=True) if why is not None}

    def unregister_broker(self, broker_id: int) -> None:
        def attempt() -> None:
            response = self._client.call("UnregisterBroker", {"brokerId": broker_id}, self._client.controller())
            raise_for(response["errorCode"], response["errorMessage"])

        self._client.retrying(attempt)

    def features(self, node_id: int | None = None) -> list[FeatureDescription]:
        from kafkapy.backends.live.live_features import describe_features

        return describe_features(self._client, node_id)

    def update_features(self, updates: Sequence[FeatureUpdate], dry_run: bool) -> dict[str, KafkaError | None]:
        from kafkapy.backends.live.live_features import update_features

        return update_features(self._client, updates, dry_run)

    def quorum(self) -> Quorum:
        from kafkapy.backends.live.live_quorum import describe_quorum

        return describe_quorum(self._client, self.cluster_id())

    def add_controller(self, voter: Voter) -> None:
        from kafkapy.backends.live.live_quorum import add_voter

        add_voter(self._client, voter)

    def remove_controller(self, controller_id: int, directory_id: str) -> None:
        from kafkapy.backends.live.live_quorum import remove_voter

        remove_voter(self._client, controller_id, directory_id)

    def acls(self, filters: Sequence[AclFilter]) -> list[Acl]:
        from kafkapy.backends.live.live_acls import describe_acls

        return describe_acls(self._client, filters)

    def _describe_cluster(self, include_fenced: bool = False) -> Value:
        def attempt() -> Value:
            controller = self._client.controller()
            endpoints = BROKERS if controller is None else CONTROLLERS
            fields = {"endpointType": endpoints, "includeFencedBrokers": include_fenced}
            response = self._client.call("DescribeCluster", fields, controller)
            raise_for(response["errorCode"], response["errorMessage"])
            return response

        return self._client.retrying(attempt)


def _ranges(response: Value | KafkapyError) -> dict[int, tuple[int, int]] | KafkapyError:
    if isinstance(response, KafkapyError):
        return response
    try:
        raise_for(response["errorCode"])
    except KafkaError as error:
        return error
    return {each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in response["apiKeys"]}
