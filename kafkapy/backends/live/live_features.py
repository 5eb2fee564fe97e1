"""Features of a running cluster: what a node says of itself with ApiVersions, and UpdateFeatures."""

from __future__ import annotations

from collections.abc import Sequence

from kafkapy.backends.live.client import Client
from kafkapy.errors import KafkaError
from kafkapy.formats.error_codes import NONE, kafka_error, raise_for
from kafkapy.formats.message import Value
from kafkapy.metadata.feature_description import FeatureDescription, no_such_node
from kafkapy.metadata.feature_updates import FeatureUpdate

NOT_CONTROLLER = "NotControllerException"


def describe_features(client: Client, node_id: int | None) -> list[FeatureDescription]:
    """By name; of one node, else of any broker or of the active controller."""
    from kafkapy import __version__

    if node_id is not None and node_id not in client.nodes():
        raise no_such_node(node_id)
    fields = {"clientSoftwareName": "kafkapy", "clientSoftwareVersion": __version__}

    def attempt() -> Value:
        response = client.call("ApiVersions", fields, client.controller() if node_id is None else node_id)
        raise_for(response["errorCode"])
        return response

    response = client.retrying(attempt)
    finalized = {each["name"]: each["maxVersionLevel"] for each in response["finalizedFeatures"]}
    epoch = response["finalizedFeaturesEpoch"]
    return [
        FeatureDescription(
            each["name"],
            each["minVersion"],
            each["maxVersion"],
            finalized.get(each["name"], 0),
            None if epoch < 0 else epoch,
        )
        for each in sorted(response["supportedFeatures"], key=lambda each: each["name"])
    ]


def update_features(client: Client, updates: Sequence[FeatureUpdate], dry_run: bool) -> dict[str, KafkaError | None]:
    """All or none, but for brokers that are too old for that; for each feature why not."""
    fields = {
        "timeoutMs": client.config.request_timeout_ms,
        "featureUpdates": [
            {
                "feature": update.feature,
                "maxVersionLevel": update.level,
                "upgradeType": update.upgrade_type,
            }
            for update in updates
        ],
        "validateOnly": dry_run,
    }

    def attempt() -> Value:
        response = client.call("UpdateFeatures", fields, client.controller())
        if response["errorCode"] != NONE:
            error = kafka_error(response["errorCode"], response["errorMessage"])
            if error.name == NOT_CONTROLLER:
                raise error
        return response

    response = client.retrying(attempt)
    failures = dict.fromkeys((update.feature for update in updates), _error(response))
    failures |= {each["feature"]: _error(each) for each in response["results"] if each["feature"] in failures}
    return failures


def _error(result: Value) -> KafkaError | None:
    return None if result["errorCode"] == NONE else kafka_error(result["errorCode"], result["errorMessage"])
