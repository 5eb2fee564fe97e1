"""The values of an image as Kafka prints them: the leaves of MetadataShell's tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkapy.metadata.acls import OPERATIONS, PATTERN_TYPES, PERMISSION_TYPES, RESOURCE_TYPES, named
from kafkapy.metadata.cluster_image import (
    SECURITY_PROTOCOLS,
    BrokerRegistration,
    ControllerRegistration,
    Endpoint,
    VersionRange,
)
from kafkapy.metadata.features import METADATA_VERSION, metadata_version_name
from kafkapy.metadata.image import Provenance, QuotaEntity
from kafkapy.metadata.security_image import Acl, DelegationToken, ScramCredential
from kafkapy.metadata.topics_image import PartitionRegistration

_RECOVERY_STATES = ("RECOVERED", "RECOVERING")

_ENTITY_NAMES = {"client-id": "clientId", "ip": "ip", "user": "user"}


def partition_text(partition: PartitionRegistration) -> str:
    return (
        f"PartitionRegistration(replicas={_list(partition.replicas)}, directories={_list(partition.directories)}, "
        f"isr={_list(partition.isr)}, removingReplicas={_list(partition.removing_replicas)}, "
        f"addingReplicas={_list(partition.adding_replicas)}, elr={_list(partition.elr)}, "
        f"lastKnownElr={_list(partition.last_known_elr)}, leader={partition.leader}, "
        f"leaderRecoveryState={_RECOVERY_STATES[partition.leader_recovery_state]}, "
        f"leaderEpoch={partition.leader_epoch}, partitionEpoch={partition.partition_epoch})"
    )


def broker_text(broker: BrokerRegistration) -> str:
    cordoned = "null" if broker.cordoned is None else _list(broker.cordoned)
    return (
        f"BrokerRegistration(id={broker.id}, epoch={broker.epoch}, incarnationId={broker.incarnation_id}, "
        f"listeners={_listeners(broker.listeners)}, supportedFeatures={_features(broker.supported_features)}, "
        f"rack={optional_text(broker.rack)}, fenced={_bool(broker.fenced)}, "
        f"inControlledShutdown={_bool(broker.in_controlled_shutdown)}, "
        f"isMigratingZkBroker={_bool(broker.is_migrating_zk_broker)}, directories={_list(broker.directories)}, "
        f"cordonedDirectories={cordoned})"
    )


def controller_text(controller: ControllerRegistration) -> str:
    return (
        f"ControllerRegistration(id={controller.id}, incarnationId={controller.incarnation_id}, "
        f"zkMigrationReady={_bool(controller.zk_migration_ready)}, listeners={_listeners(controller.listeners)}, "
        f"supportedFeatures={_features(controller.supported_features)})"
    )


def metadata_version_text(features: Mapping[str, int]) -> str:
    level = features.get(METADATA_VERSION)
    return optional_text(None if level is None else metadata_version_name(level))


def provenance_text(provenance: Provenance) -> str:
    from datetime import UTC, datetime, timedelta

    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=provenance.timestamp)
    fraction = f".{time.microsecond:06}".rstrip("0").rstrip(".")
    moment = f"{time:%Y-%m-%dT%H:%M:%S}{fraction}Z[UTC]"
    return f"offset {provenance.offset}, epoch {provenance.epoch}, time {moment}"


def scram_text(credential: ScramCredential) -> str:
    return (
        f"ScramCredentialData(salt={credential.salt.hex()}, storedKey={credential.stored_key.hex()}, "
        f"serverKey={credential.server_key.hex()}, iterations={credential.iterations})"
    )


def acl_text(acl: Acl) -> str:
    return (
        f"StandardAcl[resourceType={named(RESOURCE_TYPES, acl.resource_type)}, resourceName={acl.resource_name}, "
        f"patternType={named(PATTERN_TYPES, acl.pattern_type)}, principal={acl.principal}, host={acl.host}, "
        f"operation={named(OPERATIONS, acl.operation)}, "
        f"permissionType={named(PERMISSION_TYPES, acl.permission_type)}]"
    )


def token_text(token: DelegationToken) -> str:
    """Kafka 4.3.1 closes none of the first parentheses."""
    return (
        f"DelegationTokenDatatokenId={token.token_id}(owner={token.owner}(tokenRequester={token.requester}"
        f"(renewers={' '.join(token.renewers)}, issueTimestamp={token.issue_timestamp}, "
        f"maxTimestamp={token.max_timestamp}), expiryTimestamp={token.expiration_timestamp}"
    )


def quota_entity_text(entity: QuotaEntity) -> str:
    """``clientId(a)_user(b)``; default entities are left out, as in Kafka."""
    names = dict(entity)
    return "_".join(
        f"{text}({_escape(names[key] or '')})" for key, text in _ENTITY_NAMES.items() if names.get(key) is not None
    )


def optional_text(value: str | None) -> str:
    """A ``java.util.Optional``."""
    return "Optional.empty" if value is None else f"Optional[{value}]"


def _listeners(listeners: Iterable[Endpoint]) -> str:
    return _list(
        f"Endpoint(listenerName='{listener.name}', "
        f"securityProtocol={named(SECURITY_PROTOCOLS, listener.security_protocol)}, "
        f"host='{listener.host}', port={listener.port})"
        for listener in sorted(listeners)
    )


def _features(ranges: Mapping[str, VersionRange]) -> str:
    return "{" + ", ".join(f"{name}: {ranges[name]}" for name in sorted(ranges)) + "}"


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
