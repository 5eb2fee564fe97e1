"""SCRAM credentials, ACLs and delegation tokens as the metadata log holds them.

The log has a SCRAM user's salted keys, never the password; a delegation token is here without its secret, which
Kafka derives from ``delegation.token.secret.key``.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata.records import new_record

SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


class ScramCredential(NamedTuple):
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class Acl(NamedTuple):
    """The numbers are those of Kafka's ResourceType, PatternType, AclOperation and AclPermissionType."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class DelegationToken(NamedTuple):
    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int


def scram_from_record(value: Value) -> ScramCredential:
    return ScramCredential(value["salt"], value["storedKey"], value["serverKey"], value["iterations"])


def scram_record(mechanism: int, user: str, credential: ScramCredential) -> MetadataRecord:
    value: Value = {
        "name": user,
        "mechanism": mechanism,
        "salt": credential.salt,
        "storedKey": credential.stored_key,
        "serverKey": credential.server_key,
        "iterations": credential.iterations,
    }
    return new_record("UserScramCredentialRecord", 0, value)


def acl_from_record(value: Value) -> Acl:
    return Acl(*(value[field] for field in _ACL_FIELDS))


def acl_record(acl_id: str, acl: Acl) -> MetadataRecord:
    return new_record("AccessControlEntryRecord", 0, {"id": acl_id, **dict(zip(_ACL_FIELDS, acl, strict=True))})


def token_from_record(value: Value) -> DelegationToken:
    token = DelegationToken(*(value[field] for field in _TOKEN_FIELDS))
    return token._replace(renewers=tuple(token.renewers))


def token_record(token: DelegationToken) -> MetadataRecord:
    value: Value = dict(zip(_TOKEN_FIELDS, token, strict=True))
    return new_record("DelegationTokenRecord", 0, value | {"renewers": list(token.renewers)})


_ACL_FIELDS = ("resourceType", "resourceName", "patternType", "principal", "host", "operation", "permissionType")
_TOKEN_FIELDS = (
    "tokenId",
    "owner",
    "requester",
    "renewers",
    "issueTimestamp",
    "maxTimestamp",
    "expirationTimestamp",
)
