"""AclCommand's lines. What Kafka prints in the order of a hash map is sorted here.

Kafka puts a blank before the tab of the first entry of a list that is added or removed, and an empty line behind each
list but the one in a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafkapy.metadata import acls
from kafkapy.metadata.acls import AccessControlEntry, ResourcePattern, entry_of, pattern_of
from kafkapy.metadata.security_image import Acl


def list_pairs(found: Iterable[Acl]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """``--list``: the ACLs of each resource, and the row of each."""
    resources: dict[ResourcePattern, list[Acl]] = {}
    for acl in sorted(found):
        resources.setdefault(pattern_of(acl), []).append(acl)
    for pattern, of_resource in resources.items():
        yield f"Current ACLs for resource `{pattern}`:", None
        for acl in of_resource:
            yield f"\t{entry_of(acl)}", _row(acl)
        yield "", None


def exists_line(pattern: ResourcePattern, entry: AccessControlEntry) -> str:
    """An ACL that was to be added and is there."""
    return f"Acl (pattern={pattern}, entry={entry}) already exists."


def adding_lines(pattern: ResourcePattern, entries: Sequence[AccessControlEntry]) -> Iterator[str]:
    """What is about to be added."""
    yield f"Adding ACLs for resource `{pattern}`: "
    yield from _entries(entries)
    yield ""


def added_row(acl: Acl, is_new: bool) -> dict[str, Any]:
    """An ACL that was added, or was there."""
    return {**_row(acl), "type": "added_acl", "is_new": is_new}


def question(pattern: ResourcePattern, entries: Sequence[AccessControlEntry]) -> Iterator[str]:
    """What is asked before anything is removed."""
    if not entries:
        yield f"Are you sure you want to delete all ACLs for resource filter `{pattern}`? (y/n)"
        return
    yield "Are you sure you want to remove ACLs: "
    yield from _entries(entries)
    yield f" from resource filter `{pattern}`? (y/n)"


def _entries(entries: Sequence[AccessControlEntry]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield f"{'' if number else ' '}\t{entry}"


def _row(acl: Acl) -> dict[str, Any]:
    return {
        "type": "acl",
        "resource_type": acls.named(acls.RESOURCE_TYPES, acl.resource_type),
        "resource_name": acl.resource_name,
        "pattern_type": acls.named(acls.PATTERN_TYPES, acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": acls.named(acls.OPERATIONS, acl.operation),
        "permission_type": acls.named(acls.PERMISSION_TYPES, acl.permission_type),
    }
