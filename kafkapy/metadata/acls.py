"""Access control lists: what they are about, which of them a filter means, and how Kafka writes them.

An ACL allows or denies a principal an operation, from a host, on the resources of a type whose names a pattern matches:
LITERAL means the one name, or with ``*`` all; PREFIXED means all names that begin so. In a filter None and ANY stand
for everything; MATCH asks for all patterns, of either kind, that would match a name.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.metadata.security_image import Acl

RESOURCE_TYPES = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
PATTERN_TYPES = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
OPERATIONS = (
    *("UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION"),
    *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"),
)
PERMISSION_TYPES = ("UNKNOWN", "ANY", "DENY", "ALLOW")

UNKNOWN = 0
ANY = 1
MATCH, LITERAL, PREFIXED = 2, 3, 4
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = 2, 3, 4, 5, 6, 7
ALL = 2
DENY, ALLOW = 2, 3
WILDCARD = "*"
CLUSTER_NAME = "kafka-cluster"

# What can be done with the resources of a type; ALL always can.
SUPPORTED_OPERATIONS = {
    TOPIC: ("READ", "WRITE", "CREATE", "DESCRIBE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    GROUP: ("READ", "DESCRIBE", "DELETE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    CLUSTER: (
        *("CREATE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "ALTER", "DESCRIBE"),
    ),
    TRANSACTIONAL_ID: ("DESCRIBE", "WRITE", "TWO_PHASE_COMMIT"),
    DELEGATION_TOKEN: ("DESCRIBE",),
    USER: ("CREATE_TOKENS", "DESCRIBE_TOKENS"),
}


class ResourcePattern(NamedTuple):
    """Which resources are meant; ``name`` None means any, in a filter."""

    resource_type: int
    name: str | None
    pattern_type: int

    def __str__(self) -> str:
        name = "<any>" if self.name is None else self.name
        return (
            f"ResourcePattern(resourceType={named(RESOURCE_TYPES, self.resource_type)}, name={name}, "
            f"patternType={named(PATTERN_TYPES, self.pattern_type)})"
        )

    def matches(self, acl: Acl) -> bool:
        """Whether an ACL is about what this means."""
        if self.resource_type not in (ANY, acl.resource_type):
            return False
        if self.pattern_type not in (ANY, MATCH, acl.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type != MATCH:
            return self.name == acl.resource_name
        if acl.pattern_type == PREFIXED:
            return self.name.startswith(acl.resource_name)
        return acl.resource_name in (self.name, WILDCARD)


class AccessControlEntry(NamedTuple):
    """Who may or may not do what, and from where; None and ANY mean any, in a filter."""

    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    def __str__(self) -> str:
        principal, host = ("<any>" if each is None else each for each in (self.principal, self.host))
        return (
            f"(principal={principal}, host={host}, operation={named(OPERATIONS, self.operation)}, "
            f"permissionType={named(PERMISSION_TYPES, self.permission_type)})"
        )

    def matches(self, acl: Acl) -> bool:
        """Whether an ACL is one of those that this means."""
        return (
            self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (ANY, acl.operation)
            and self.permission_type in (ANY, acl.permission_type)
        )


class AclFilter(NamedTuple):
    """Which ACLs are meant."""

    pattern: ResourcePattern
    entry: AccessControlEntry

    def matches(self, acl: Acl) -> bool:
        return self.pattern.matches(acl) and self.entry.matches(acl)


ANY_RESOURCE = ResourcePattern(ANY, None, ANY)
ANY_ENTRY = AccessControlEntry(None, None, ANY, ANY)
THE_CLUSTER = ResourcePattern(CLUSTER, CLUSTER_NAME, LITERAL)


def pattern_of(acl: Acl) -> ResourcePattern:
    """What an ACL is about."""
    return ResourcePattern(acl.resource_type, acl.resource_name, acl.pattern_type)


def entry_of(acl: Acl) -> AccessControlEntry:
    """Whom an ACL concerns, and what it says."""
    return AccessControlEntry(acl.principal, acl.host, acl.operation, acl.permission_type)


def bound(pattern: ResourcePattern, entry: AccessControlEntry) -> Acl:
    """The ACL that applies an entry to resources."""
    assert pattern.name is not None
    assert entry.principal is not None
    assert entry.host is not None
    who, what = (entry.principal, entry.host), (entry.operation, entry.permission_type)
    return Acl(pattern.resource_type, pattern.name, pattern.pattern_type, *who, *what)


def named(names: tuple[str, ...], number: int) -> str:
    """The name of a number; UNKNOWN for one that 4.3.1 does not have."""
    return names[number] if 0 <= number < len(names) else names[0]


def title(name: str) -> str:
    """``ClusterAction`` for CLUSTER_ACTION, as operations are written on the command line."""
    return name.title().replace("_", "")
