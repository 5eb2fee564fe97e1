"""ACLs of a running cluster: DescribeAcls, CreateAcls and DeleteAcls.

Creating an ACL that is there and deleting one that is not changes nothing, so all of it may be done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkapy.backends.live.client import Call, Client
from kafkapy.errors import KafkapyError
from kafkapy.formats.error_codes import raise_for
from kafkapy.formats.message import Value
from kafkapy.metadata.acls import AclFilter
from kafkapy.metadata.security_image import Acl


def describe_acls(client: Client, filters: Sequence[AclFilter]) -> list[Acl]:
    """The ACLs that any of the filters means, each once, in order."""

    def attempt() -> list[Value]:
        responses = client.call_all(Call("DescribeAcls", _filter(each), client.controller()) for each in filters)
        return [_checked(response) for response in responses]

    found = {
        Acl(
            *(resource["resourceType"], resource["resourceName"], resource["patternType"]),
            *(acl["principal"], acl["host"], acl["operation"], acl["permissionType"]),
        )
        for response in client.retrying(attempt)
        for resource in response["resources"]
        for acl in resource["acls"]
    }
    return sorted(found)


def create_acls(client: Client, changes: Sequence[Any]) -> None:
    """CreateAcl changes in one request; the first that is refused is raised."""
    creations = [
        {
            "resourceType": change.acl.resource_type,
            "resourceName": change.acl.resource_name,
            "resourcePatternType": change.acl.pattern_type,
            "principal": change.acl.principal,
            "host": change.acl.host,
            "operation": change.acl.operation,
            "permissionType": change.acl.permission_type,
        }
        for change in changes
    ]

    def attempt() -> None:
        for result in client.call("CreateAcls", {"creations": creations}, client.controller())["results"]:
            raise_for(result["errorCode"], result["errorMessage"])

    client.retrying(attempt)


def delete_acls(client: Client, changes: Sequence[Any]) -> None:
    """DeleteAcls changes in one request; the first that is refused is raised."""
    filters = [_filter(change.filter) for change in changes]

    def attempt() -> None:
        for result in client.call("DeleteAcls", {"filters": filters}, client.controller())["filterResults"]:
            raise_for(result["errorCode"], result["errorMessage"])
            for acl in result["matchingAcls"]:
                raise_for(acl["errorCode"], acl["errorMessage"])

    client.retrying(attempt)


def _filter(wanted: AclFilter) -> Value:
    return {
        "resourceTypeFilter": wanted.pattern.resource_type,
        "resourceNameFilter": wanted.pattern.name,
        "patternTypeFilter": wanted.pattern.pattern_type,
        "principalFilter": wanted.entry.principal,
        "hostFilter": wanted.entry.host,
        "operation": wanted.entry.operation,
        "permissionType": wanted.entry.permission_type,
    }


def _checked(response: Value | KafkapyError) -> Value:
    if isinstance(response, KafkapyError):
        raise response
    raise_for(response["errorCode"], response["errorMessage"])
    return response
