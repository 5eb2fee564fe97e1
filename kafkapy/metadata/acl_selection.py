"""AclCommand's options as resources and entries: which ACLs are to be added, removed or listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkapy.errors import KafkaError, UsageError
from kafkapy.metadata import acls
from kafkapy.metadata.acls import AccessControlEntry, ResourcePattern
from kafkapy.near_misses import hinting

# What producers and consumers need.
PRODUCER_TOPIC = ("WRITE", "DESCRIBE", "CREATE")
PRODUCER_TRANSACTIONAL_ID = ("WRITE", "DESCRIBE")
PRODUCER_CLUSTER = ("IDEMPOTENT_WRITE",)
CONSUMER_TOPIC = ("READ", "DESCRIBE")
CONSUMER_GROUP = ("READ",)

NO_RESOURCE = (
    "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or --delegation-token "
    "<Delegation Token ID>"
)

Entries = dict[ResourcePattern, list[AccessControlEntry]]


class Resources(NamedTuple):
    """The resources by name; ``idempotent`` means the cluster too."""

    pattern_type: int = acls.LITERAL
    topics: tuple[str, ...] = ()
    cluster: bool = False
    groups: tuple[str, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    delegation_tokens: tuple[str, ...] = ()
    user_principals: tuple[str, ...] = ()
    idempotent: bool = False

    def patterns(self) -> list[ResourcePattern]:
        """Each resource once, in order."""
        names = {
            acls.TOPIC: [name.strip() for name in self.topics],
            acls.GROUP: [name.strip() for name in self.groups],
            acls.TRANSACTIONAL_ID: self.transactional_ids,
            acls.DELEGATION_TOKEN: [name.strip() for name in self.delegation_tokens],
            acls.USER: [name.strip() for name in self.user_principals],
        }
        found = {ResourcePattern(kind, name, self.pattern_type) for kind, given in names.items() for name in given}
        if self.pattern_type == acls.LITERAL and (self.cluster or self.idempotent):
            found.add(acls.THE_CLUSTER)
        return sorted(found)


class Access(NamedTuple):
    """Who may and who may not do what; a principal without a host is meant on every host."""

    operations: tuple[str, ...] = ("All",)
    allow_principals: tuple[str, ...] = ()
    deny_principals: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    producer: bool = False
    consumer: bool = False

    def entries(self, operations: Iterable[int]) -> list[AccessControlEntry]:
        """The entries for some operations, each once, in order."""
        wanted = list(operations)
        return sorted(
            {
                *_entries(self.allow_principals, self.allow_hosts, wanted, acls.ALLOW),
                *_entries(self.deny_principals, self.deny_hosts, wanted, acls.DENY),
            }
        )


def wanted_acls(resources: Resources, access: Access) -> Entries:
    """The entries for each resource that is named; without any principal a resource has none."""
    patterns = resources.patterns()
    if not patterns:
        raise UsageError(NO_RESOURCE)
    found: dict[ResourcePattern, set[AccessControlEntry]] = {}
    for pattern, operations in _operations(patterns, resources, access):
        found.setdefault(pattern, set()).update(access.entries(operations))
    for pattern, entries in found.items():
        _check_operations(pattern, entries, access.operations)
    return {pattern: sorted(found[pattern]) for pattern in sorted(found)}


def parse_principal(text: str) -> str:
    """``User:alice``: a type and a name."""
    stripped = text.strip()
    if ":" not in stripped:
        error = KafkaError(
            "IllegalArgumentException", f"expected a string in format principalType:principalName but got {stripped}"
        )
        if stripped:
            error.hint = f"there is no principal '{stripped}'; did you mean 'User:{stripped}'?"
        raise error
    return stripped


def parse_pattern_type(text: str) -> int:
    """The number of ``literal``, ``prefixed``, ``any`` or ``match``, in any case."""
    name = text.upper()
    if name == acls.PATTERN_TYPES[acls.UNKNOWN] or name not in acls.PATTERN_TYPES:
        raise UsageError(f"--resource-pattern-type: {text} is not one of any, match, literal, prefixed")
    return acls.PATTERN_TYPES.index(name)


def _operations(
    patterns: Iterable[ResourcePattern], resources: Resources, access: Access
) -> Iterator[tuple[ResourcePattern, list[int]]]:
    """Each resource with what is to be done to it; --producer and --consumer say so by themselves."""
    if not access.producer and not access.consumer:
        given = [_operation(each) for each in access.operations]
        yield from ((pattern, given) for pattern in patterns)
        return
    roles: list[tuple[bool, int, tuple[str, ...]]] = [
        (access.producer, acls.TOPIC, PRODUCER_TOPIC),
        (access.producer, acls.TRANSACTIONAL_ID, PRODUCER_TRANSACTIONAL_ID),
        (access.producer and resources.idempotent, acls.CLUSTER, PRODUCER_CLUSTER),
        (access.consumer, acls.TOPIC, CONSUMER_TOPIC),
        (access.consumer, acls.GROUP, CONSUMER_GROUP),
    ]
    named = [*patterns, *([acls.THE_CLUSTER] if resources.idempotent else [])]
    for holds, resource_type, names in roles:
        if holds:
            operations = [acls.OPERATIONS.index(name) for name in names]
            yield from ((each, operations) for each in dict.fromkeys(named) if each.resource_type == resource_type)


def _operation(text: str) -> int:
    """By its name as in ``DescribeConfigs``, in any case; UNKNOWN for anything else."""
    names = [acls.title(name).upper() for name in acls.OPERATIONS]
    wanted = text.strip().upper()
    return names.index(wanted) if wanted in names else acls.UNKNOWN


def _entries(
    principals: Iterable[str], hosts: Iterable[str], operations: Iterable[int], permission: int
) -> Iterator[AccessControlEntry]:
    places = [host.strip() for host in hosts] or [acls.WILDCARD]
    for principal in map(parse_principal, principals):
        for operation in operations:
            yield from (AccessControlEntry(principal, host, operation, permission) for host in places)


def _check_operations(pattern: ResourcePattern, entries: Iterable[AccessControlEntry], named: Iterable[str]) -> None:
    supported = (*acls.SUPPORTED_OPERATIONS[pattern.resource_type], acls.OPERATIONS[acls.ALL])
    if any(acls.named(acls.OPERATIONS, entry.operation) not in supported for entry in entries):
        kind = acls.named(acls.RESOURCE_TYPES, pattern.resource_type)
        error = UsageError(f"ResourceType {kind} only supports operations [{', '.join(supported)}]")
        unknown = (each for each in named if _operation(each) == acls.UNKNOWN)
        raise hinting(error, "operation", next(unknown, ""), map(acls.title, supported))
