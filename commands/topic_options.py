"""The options of ``kafkapy topics``."""

from enum import StrEnum
from typing import Annotated

import typer

from kafkapy.errors import UsageError

from .option_kinds import flag, value

ACTIONS = "What to do (exactly one)"
TOPICS = "Which topics"
NEW = "Partitions, replicas and configs"
FILE = "Topics in a file"
FILTERS = "Which partitions to describe (any of these)"


class Placement(StrEnum):
    """How brokers are chosen for new replicas."""

    STRIPED = "striped"
    LEGACY = "legacy"


CreateOption = Annotated[bool, flag("--create", "Create a topic.", ACTIONS)]
ListOption = Annotated[bool, flag("--list", "List all topics, one name per line.", ACTIONS)]
DescribeOption = Annotated[
    bool,
    flag("--describe", "Show partitions, replicas and configs of topics.", ACTIONS),
]
AlterOption = Annotated[bool, flag("--alter", "Give topics more partitions.", ACTIONS)]
DeleteOption = Annotated[bool, flag("--delete", "Delete topics with all their data.", ACTIONS)]
TopicOption = Annotated[
    str | None,
    value("--topic", "TOPIC", "A name, or a regular expression for several.", TOPICS),
]
TopicIdOption = Annotated[
    str | None,
    value("--topic-id", "TOPIC-ID", "The topic with this id; takes precedence over --topic.", TOPICS),
]
ExcludeInternalOption = Annotated[bool, flag("--exclude-internal", "Omit Kafka's own topics.", TOPICS)]
IfExistsOption = Annotated[
    bool,
    flag("--if-exists", "Do nothing if the topic does not exist.", TOPICS),
]
IfNotExistsOption = Annotated[
    bool,
    flag("--if-not-exists", "Create nothing if the topic already exists.", TOPICS),
]
PartitionsOption = Annotated[
    int | None,
    value("--partitions", "N", "The number of partitions (create), or the new number (alter).", NEW),
]
ReplicationFactorOption = Annotated[
    int | None, value("--replication-factor", "N", "How many copies of each partition.", NEW)
]
ReplicaAssignmentOption = Annotated[
    str | None,
    value(
        "--replica-assignment", "BROKER:BROKER[,...]", "The brokers of each partition, the preferred leader first.", NEW
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    value("--config", "CONFIG=VALUE", "A config of the new topic. May be repeated.", NEW),
]
DeleteConfigOption = Annotated[
    list[str] | None,
    value("--delete-config", "CONFIG", "Without effect, as in Kafka: use kafkapy configs.", NEW),
]
PlacementOption = Annotated[
    Placement,
    typer.Option(
        help="Where replicas go: striped over racks as Kafka 4 does, or by start index and shift as before it.",
        rich_help_panel=NEW,
    ),
]
NoFsyncOption = Annotated[
    bool,
    flag("--no-fsync", "Do not wait for the disk: only for experiments.", NEW),
]
PartitionSizeLimitOption = Annotated[
    int | None,
    value(
        "--partition-size-limit-per-response",
        "N",
        "Accepted for compatibility with Kafka's tool: kafkapy asks for all at once.",
        TOPICS,
    ),
]
TopicsWithOverridesOption = Annotated[
    bool,
    flag("--topics-with-overrides", "Only topics with configs of their own.", TOPICS),
]
UnderReplicatedPartitionsOption = Annotated[
    bool,
    flag("--under-replicated-partitions", "Only partitions with replicas that are out of sync.", FILTERS),
]
UnavailablePartitionsOption = Annotated[
    bool,
    flag("--unavailable-partitions", "Only partitions without a live leader.", FILTERS),
]
UnderMinIsrPartitionsOption = Annotated[
    bool,
    flag(
        "--under-min-isr-partitions", "Only partitions with fewer replicas in sync than min.insync.replicas.", FILTERS
    ),
]
AtMinIsrPartitionsOption = Annotated[
    bool,
    flag("--at-min-isr-partitions", "Only partitions with exactly min.insync.replicas in sync.", FILTERS),
]
FromFileOption = Annotated[
    str | None,
    value(
        "--from-file",
        "FILE.yaml",
        "A YAML file of topics as they should be: created, given more partitions and configs, never deleted.",
        FILE,
    ),
]
PlanOption = Annotated[bool, flag("--plan", "Show what would change.", FILE)]
ApplyOption = Annotated[bool, flag("--apply", "Make the changes, all or none.", FILE)]

_ACTIONS = ("list", "describe", "create", "alter", "delete")
# What goes with some of the actions only.
_GO_WITH = {
    "config": ("create", "alter"),
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "under-replicated-partitions": ("describe",),
    "under-min-isr-partitions": ("describe",),
    "at-min-isr-partitions": ("describe",),
    "unavailable-partitions": ("describe",),
    "topics-with-overrides": ("describe",),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
}


def check_options(given: set[str]) -> str:
    """The one action among the options that were given; a UsageError in TopicCommand's words where they do not go
    together."""
    actions = [action for action in _ACTIONS if action in given]
    if len(actions) != 1:
        raise UsageError("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
    (action,) = actions
    if action == "describe" and "if-exists" in given and given.isdisjoint(("topic", "topic-id")):
        raise UsageError("--topic or --topic-id is required to describe a topic")
    if action in ("create", "alter", "delete") and "topic" not in given:
        raise UsageError('Missing required argument "[topic]"')
    if action == "alter" and "config" in given:
        raise UsageError(
            'Option "[config]" can\'t be used with option "[alter]" '
            "(To alter topic configurations, the kafka-configs tool can be used.)"
        )
    if action == "alter" and "partitions" not in given:
        raise UsageError('Missing required argument "[partitions]"')
    for option, allowed in _GO_WITH.items():
        if option in given and action not in allowed:
            raise UsageError(f'Option "[{option}]" can\'t be used with option "[{action}]"')
    _check_pairs(action, given)
    return action


def _check_pairs(action: str, given: set[str]) -> None:
    others = ("partitions", "replication-factor")
    if action == "create" and "replica-assignment" in given and not given.isdisjoint(others):
        raise UsageError('Option "[replica-assignment]" can\'t be used with [partitions] or [replication-factor]')
    filters = [option for option, allowed in _GO_WITH.items() if option.endswith("-partitions") and option in given]
    if filters and "topics-with-overrides" in given:
        raise UsageError(f'Option "[{filters[0]}]" can\'t be used with option "[topics-with-overrides]"')
