"""ACLs: what a filter means, what the controller writes, and what AclCommand's options stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError, UsageError
from kafkapy.metadata import acls
from kafkapy.metadata.acl_control import create_acl, delete_acls
from kafkapy.metadata.acl_selection import Access, Resources, parse_pattern_type, wanted_acls
from kafkapy.metadata.acls import ANY_ENTRY, ANY_RESOURCE, AccessControlEntry, AclFilter, ResourcePattern
from kafkapy.metadata.changes import CreateAcl, DeleteAcls
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.security_image import Acl

READ, WRITE = acls.OPERATIONS.index("READ"), acls.OPERATIONS.index("WRITE")
ALICE = Acl(acls.TOPIC, "orders", acls.LITERAL, "User:alice", "*", READ, acls.ALLOW)
PREFIX = Acl(acls.TOPIC, "ord", acls.PREFIXED, "User:bob", "10.0.0.1", WRITE, acls.DENY)
ALL_TOPICS = Acl(acls.TOPIC, "*", acls.LITERAL, "User:*", "*", READ, acls.ALLOW)
GROUP = Acl(acls.GROUP, "orders", acls.LITERAL, "User:alice", "*", READ, acls.ALLOW)
EVERY = [ALICE, PREFIX, ALL_TOPICS, GROUP]


def ids() -> str:
    ids.last += 1
    return f"id{ids.last}"


ids.last = 0


def image(*found: Acl):
    made = EMPTY
    for acl in found:
        made = replay(made, create_acl(made, CreateAcl(acl), ids))
    return made


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (ANY_RESOURCE, EVERY),
        (ResourcePattern(acls.TOPIC, None, acls.ANY), [ALICE, PREFIX, ALL_TOPICS]),
        (ResourcePattern(acls.TOPIC, "orders", acls.LITERAL), [ALICE]),
        (ResourcePattern(acls.TOPIC, "orders", acls.ANY), [ALICE]),
        (ResourcePattern(acls.ANY, "orders", acls.LITERAL), [ALICE, GROUP]),
        (ResourcePattern(acls.TOPIC, "orders", acls.MATCH), [ALICE, PREFIX, ALL_TOPICS]),
        (ResourcePattern(acls.TOPIC, "ord", acls.MATCH), [PREFIX, ALL_TOPICS]),
        (ResourcePattern(acls.TOPIC, "ord", acls.PREFIXED), [PREFIX]),
        (ResourcePattern(acls.TOPIC, "*", acls.LITERAL), [ALL_TOPICS]),
        (ResourcePattern(acls.TOPIC, "other", acls.LITERAL), []),
    ],
)
def test_what_a_pattern_means(pattern: ResourcePattern, found: list[Acl]) -> None:
    assert [acl for acl in EVERY if AclFilter(pattern, ANY_ENTRY).matches(acl)] == found


def test_what_an_entry_means() -> None:
    assert [acl for acl in EVERY if AccessControlEntry("User:alice", None, acls.ANY, acls.ANY).matches(acl)] == [
        ALICE,
        GROUP,
    ]
    assert [acl for acl in EVERY if AccessControlEntry(None, "10.0.0.1", WRITE, acls.DENY).matches(acl)] == [PREFIX]
    assert not AccessControlEntry(None, None, WRITE, acls.ALLOW).matches(PREFIX)


@given(st.lists(st.sampled_from(EVERY), max_size=8))
def test_an_acl_is_there_once_and_goes_once(wanted: list[Acl]) -> None:
    made = image(*wanted)
    assert sorted(made.acls.values()) == sorted(set(wanted))
    for acl in set(wanted):
        only = AclFilter(acls.pattern_of(acl), acls.entry_of(acl))
        made = replay(made, delete_acls(made, DeleteAcls(only)))
        assert acl not in made.acls.values()
        assert delete_acls(made, DeleteAcls(only)) == []
    assert made.acls == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resource_type": acls.ANY}, "Invalid resourceType ANY"),
        ({"pattern_type": acls.MATCH}, "Invalid patternType MATCH"),
        ({"operation": acls.UNKNOWN}, "Invalid operation UNKNOWN"),
        ({"permission_type": acls.ANY}, "Invalid permissionType ANY"),
        ({"resource_name": ""}, "Resource name should not be empty"),
        (
            {"principal": "alice"},
            "Could not parse principal from `alice` (no colon is present separating the principal type from the "
            "principal name)",
        ),
    ],
)
def test_what_a_controller_refuses(change: dict[str, object], message: str) -> None:
    with pytest.raises(KafkaError) as error:
        create_acl(EMPTY, CreateAcl(ALICE._replace(**change)), ids)
    assert (error.value.name, str(error.value)) == ("InvalidRequestException", message)


def entries(resources: Resources, access: Access) -> dict[str, list[str]]:
    """Names of operations by resource."""
    return {
        f"{acls.RESOURCE_TYPES[pattern.resource_type]}:{pattern.name}": [
            acls.OPERATIONS[entry.operation] for entry in found
        ]
        for pattern, found in wanted_acls(resources, access).items()
    }


def test_what_roles_need() -> None:
    resources = Resources(topics=("t",), groups=("g",), transactional_ids=("x",), idempotent=True)
    producer = Access(allow_principals=("User:a",), producer=True)
    assert entries(resources, producer) == {
        "TOPIC:t": ["WRITE", "CREATE", "DESCRIBE"],
        "CLUSTER:kafka-cluster": ["IDEMPOTENT_WRITE"],
        "TRANSACTIONAL_ID:x": ["WRITE", "DESCRIBE"],
    }
    both = producer._replace(consumer=True)
    assert entries(resources._replace(idempotent=False), both) == {
        "TOPIC:t": ["READ", "WRITE", "CREATE", "DESCRIBE"],
        "GROUP:g": ["READ"],
        "TRANSACTIONAL_ID:x": ["WRITE", "DESCRIBE"],
    }


def test_an_idempotent_producer_of_prefixed_topics() -> None:
    """The cluster is always meant by its own name."""
    resources = Resources(acls.PREFIXED, topics=("t",), idempotent=True)
    found = wanted_acls(resources, Access(allow_principals=("User:a",), producer=True))
    assert acls.THE_CLUSTER in found


@pytest.mark.parametrize(
    ("resources", "access", "message"),
    [
        (Resources(), Access(), "You must provide at least one resource"),
        (Resources(acls.PREFIXED, cluster=True), Access(), "You must provide at least one resource"),
        (
            Resources(groups=("g",)),
            Access(("Write",), ("User:a",)),
            "ResourceType GROUP only supports operations [READ, DESCRIBE, DELETE, DESCRIBE_CONFIGS, ALTER_CONFIGS, ",
        ),
        (Resources(topics=("t",)), Access(("Fly",), ("User:a",)), "ResourceType TOPIC only supports operations"),
    ],
)
def test_what_options_cannot_mean(resources: Resources, access: Access, message: str) -> None:
    with pytest.raises(UsageError, match="^" + message.replace("[", r"\[")):
        wanted_acls(resources, access)


def test_pattern_types() -> None:
    assert [parse_pattern_type(text) for text in ("any", "Match", "LITERAL", "prefixed")] == [1, 2, 3, 4]
    with pytest.raises(UsageError):
        parse_pattern_type("unknown")
