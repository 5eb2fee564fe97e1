"""What the controller makes of ACLs that are to be added or removed: records, or a refusal in Kafka's words."""

from __future__ import annotations

from collections.abc import Callable

from kafkapy.errors import KafkaError
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.metadata import acls
from kafkapy.metadata.changes import CreateAcl, DeleteAcls
from kafkapy.metadata.image import MetadataImage
from kafkapy.metadata.records import new_record
from kafkapy.metadata.security_image import Acl, acl_record


def create_acl(image: MetadataImage, change: CreateAcl, new_uuid: Callable[[], str]) -> list[MetadataRecord]:
    """One that is there already needs no record."""
    _check(change.acl)
    if change.acl in image.acls.values():
        return []
    return [acl_record(new_uuid(), change.acl)]


def delete_acls(image: MetadataImage, change: DeleteAcls) -> list[MetadataRecord]:
    """Whatever the filter means; that may be nothing."""
    found = sorted(acl_id for acl_id, acl in image.acls.items() if change.filter.matches(acl))
    return [new_record("RemoveAccessControlEntryRecord", 0, {"id": acl_id}) for acl_id in found]


def _check(acl: Acl) -> None:
    if acl.resource_type in (acls.UNKNOWN, acls.ANY):
        raise _invalid(f"Invalid resourceType {acls.named(acls.RESOURCE_TYPES, acl.resource_type)}")
    if acl.pattern_type not in (acls.LITERAL, acls.PREFIXED):
        raise _invalid(f"Invalid patternType {acls.named(acls.PATTERN_TYPES, acl.pattern_type)}")
    if acl.operation in (acls.UNKNOWN, acls.ANY):
        raise _invalid(f"Invalid operation {acls.named(acls.OPERATIONS, acl.operation)}")
    if acl.permission_type not in (acls.DENY, acls.ALLOW):
        raise _invalid(f"Invalid permissionType {acls.named(acls.PERMISSION_TYPES, acl.permission_type)}")
    if not acl.resource_name:
        raise _invalid("Resource name should not be empty")
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal type from "
            "the principal name)"
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError("InvalidRequestException", message)
