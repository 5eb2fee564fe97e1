"""The options of ``kafkapy topics``."""

from enum import StrEnum
from typing import Annotated

import typer

from kafkapy.errors import UsageError

ACTIONS = "What to do (exactly one)"
TOPICS = "Which topics"
NEW = "What to make of them"
FILE = "Topics as a file says"
FILTERS = "Which partitions to describe (any that is given)"


class Placement(StrEnum):
    """How brokers are chosen for new replicas."""

    STRIPED = "striped"
    LEGACY = "legacy"


CreateOption = Annotated[bool, typer.Option("--create", help="Create a topic.", rich_help_panel=ACTIONS)]
ListOption = Annotated[bool, typer.Option("--list", help="List all topics, a name a line.", rich_help_panel=ACTIONS)]
DescribeOption = Annotated[
    bool,
    typer.Option("--describe", help="Show partitions, replicas and configs of topics.", rich_help_panel=ACTIONS),
]
AlterOption = Annotated[bool, typer.Option("--alter", help="Give topics more partitions.", rich_help_panel=ACTIONS)]
DeleteOption = Annotated[
    bool, typer.Option("--delete", help="Delete topics with all their data.", rich_help_panel=ACTIONS)
]
TopicOption = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="A name, or a regular expression for several.", rich_help_panel=TOPICS),
]
TopicIdOption = Annotated[
    str | None,
    typer.Option(metavar="TOPIC-ID", help="The topic with this id; wins over --topic.", rich_help_panel=TOPICS),
]
ExcludeInternalOption = Annotated[
    bool, typer.Option("--exclude-internal", help="Leave Kafka's own topics out.", rich_help_panel=TOPICS)
]
IfExistsOption = Annotated[
    bool,
    typer.Option("--if-exists", help="Do nothing where the topic does not exist.", rich_help_panel=TOPICS),
]
IfNotExistsOption = Annotated[
    bool,
    typer.Option("--if-not-exists", help="Create nothing where the topic exists already.", rich_help_panel=TOPICS),
]
PartitionsOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="How many partitions (create), or will have (alter).", rich_help_panel=NEW),
]
ReplicationFactorOption = Annotated[
    int | None, typer.Option(metavar="N", help="How many copies of each partition.", rich_help_panel=NEW)
]
ReplicaAssignmentOption = Annotated[
    str | None,
    typer.Option(
        metavar="BROKER:BROKER[,...]",
        help="The brokers of each partition, the preferred leader first.",
        rich_help_panel=NEW,
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CONFIG=VALUE", help="A config of the new topic. May be repeated.", rich_help_panel=NEW),
]
DeleteConfigOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CONFIG", help="Without effect, as in Kafka: use kafkapy configs.", rich_help_panel=NEW),
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
    typer.Option("--no-fsync", help="Do not wait for the disk: for play only.", rich_help_panel=NEW),
]
PartitionSizeLimitOption = Annotated[
    int | None,
    typer.Option(
        "--partition-size-limit-per-response",
        metavar="N",
        help="For Kafka's scripts only: kafkapy asks for all at once.",
        rich_help_panel=TOPICS,
    ),
]
TopicsWithOverridesOption = Annotated[
    bool,
    typer.Option("--topics-with-overrides", help="Only topics with configs of their own.", rich_help_panel=TOPICS),
]
UnderReplicatedPartitionsOption = Annotated[
    bool,
    typer.Option("--under-replicated-partitions", help="Where replicas are out of sync.", rich_help_panel=FILTERS),
]
UnavailablePartitionsOption = Annotated[
    bool,
    typer.Option("--unavailable-partitions", help="Where no live broker leads.", rich_help_panel=FILTERS),
]
UnderMinIsrPartitionsOption = Annotated[
    bool,
    typer.Option(
        "--under-min-isr-partitions",
        help="Where fewer are in sync than min.insync.replicas.",
        rich_help_panel=FILTERS,
    ),
]
AtMinIsrPartitionsOption = Annotated[
    bool,
    typer.Option(
        "--at-min-isr-partitions", help="Where just min.insync.replicas are in sync.", rich_help_panel=FILTERS
    ),
]
FromFileOption = Annotated[
    str | None,
    typer.Option(
        "--from-file",
        metavar="FILE.yaml",
        help="A YAML file of topics as they should be: created, given more partitions and configs, never deleted.",
        rich_help_panel=FILE,
    ),
]
PlanOption = Annotated[bool, typer.Option("--plan", help="Show what would change.", rich_help_panel=FILE)]
ApplyOption = Annotated[bool, typer.Option("--apply", help="Make the changes, all or none.", rich_help_panel=FILE)]

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
