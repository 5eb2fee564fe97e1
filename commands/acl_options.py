"""The options of ``kafkapy acls``, and which of them go together."""

from typing import TYPE_CHECKING, Annotated, Any

from kafkapy.contexts.context_option import CLUSTER
from kafkapy.errors import UsageError

from .option_kinds import flag, value

if TYPE_CHECKING:
    from kafkapy.metadata.acl_selection import Access, Resources

ACTIONS = "What to do (exactly one)"
RESOURCES = "Which resources"
ENTRIES = "Who may or may not do what"
LISTING = "What to list"
REMOVING = "With --remove"


def _several(name: str, metavar: str, help_text: str, panel: str) -> Any:
    return value(name, metavar, f"{help_text} May be repeated.", panel)


AddOption = Annotated[bool, flag("--add", "Add ACLs.", ACTIONS)]
RemoveOption = Annotated[bool, flag("--remove", "Remove ACLs, after asking.", ACTIONS)]
ListOption = Annotated[bool, flag("--list", "List ACLs: of resources, or all.", ACTIONS)]
TopicOption = Annotated[list[str] | None, _several("--topic", "TOPIC", "A topic; '*' for all.", RESOURCES)]
GroupOption = Annotated[list[str] | None, _several("--group", "GROUP", "A group; '*' for all.", RESOURCES)]
ClusterOrDirectoryOption = Annotated[
    list[str] | None,
    value(
        "--cluster",
        "[DIR]",
        "A cluster directory. Without DIR: the cluster itself, as a resource.",
        CLUSTER,
    ),
]
TransactionalIdOption = Annotated[
    list[str] | None, _several("--transactional-id", "TRANSACTIONAL-ID", "A transactional id; '*' for all.", RESOURCES)
]
DelegationTokenOption = Annotated[
    list[str] | None, _several("--delegation-token", "TOKEN", "A delegation token; '*' for all.", RESOURCES)
]
UserPrincipalOption = Annotated[
    list[str] | None,
    _several("--user-principal", "PRINCIPAL", "A user for whom tokens may be created or described.", RESOURCES),
]
PatternTypeOption = Annotated[
    str,
    value(
        "--resource-pattern-type",
        "literal|prefixed|any|match",
        "How to interpret names: literal, or prefixed (all names that begin like this); to list or remove also any "
        "(of either type), or match (whatever applies to the name).",
        RESOURCES,
    ),
]
AllowPrincipalOption = Annotated[
    list[str] | None,
    _several("--allow-principal", "PRINCIPAL", "Who is allowed, such as User:alice or User:*.", ENTRIES),
]
DenyPrincipalOption = Annotated[
    list[str] | None, _several("--deny-principal", "PRINCIPAL", "Who is denied, whatever else allows it.", ENTRIES)
]
AllowHostOption = Annotated[
    list[str] | None, _several("--allow-host", "HOST", "The host from which they are allowed; by default any.", ENTRIES)
]
DenyHostOption = Annotated[
    list[str] | None, _several("--deny-host", "HOST", "The host from which they are denied; by default any.", ENTRIES)
]
OperationOption = Annotated[
    list[str] | None,
    _several(
        "--operation",
        "OPERATION",
        "The operation: All (the default), Read, Write, Create, Delete, Alter, Describe, ClusterAction, "
        "DescribeConfigs, AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens or TwoPhaseCommit.",
        ENTRIES,
    ),
]
ProducerOption = Annotated[bool, flag("--producer", "What a producer needs on topics and transactional ids.", ENTRIES)]
ConsumerOption = Annotated[bool, flag("--consumer", "What a consumer needs on topics and groups.", ENTRIES)]
IdempotentOption = Annotated[bool, flag("--idempotent", "With --producer: an idempotent one.", ENTRIES)]
PrincipalOption = Annotated[
    list[str] | None, _several("--principal", "PRINCIPAL", "With --list: only the ACLs of these.", LISTING)
]
ForceOption = Annotated[bool, flag("--force", "Do not ask for confirmation.", REMOVING)]


def check_usage(
    actions: tuple[bool, bool, bool], resources: "Resources", access: "Access", operations: bool, principals: bool
) -> None:
    """Refuse what does not go together, in Kafka's words; ``actions`` are add, remove and list."""
    if sum(actions) != 1:
        raise UsageError("Command must include exactly one action: --list, --add, --remove.")
    given = {
        "producer": access.producer,
        "consumer": access.consumer,
        "allow-host": bool(access.allow_hosts),
        "allow-principal": bool(access.allow_principals),
        "deny-host": bool(access.deny_hosts),
        "deny-principal": bool(access.deny_principals),
        "operation": operations,
    }
    if actions[2]:
        _refuse("list", [name for name in given if given[name] and name != "operation"])
    for role in ("producer", "consumer"):
        if given[role]:
            _refuse(role, [name for name in ("operation", "deny-principal", "deny-host") if given[name]])
    _check_roles(resources, access)
    if principals and not actions[2]:
        raise UsageError("The --principal option is only available if --list is set")


def _check_roles(resources: "Resources", access: "Access") -> None:
    if access.producer and not resources.topics:
        raise UsageError("With --producer you must specify a --topic")
    if resources.idempotent and not access.producer:
        raise UsageError("The --idempotent option is only available if --producer is set")
    others = not access.producer and (resources.cluster or resources.transactional_ids)
    if access.consumer and (not resources.topics or not resources.groups or others):
        raise UsageError(
            "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option "
            "should be specified."
        )


def _refuse(used: str, others: list[str]) -> None:
    if others:
        raise UsageError(f'Option "[{used}]" can\'t be used with option "[{others[0]}]"')
