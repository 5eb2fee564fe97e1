"""The options of ``kafkapy topics``."""

from enum import StrEnum
from typing import Annotated

import typer

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
    typer.Option(metavar="REGEX", help="A name, or a regular expression for several.", rich_help_panel=TOPICS),
]
TopicIdOption = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The topic with this id; wins over --topic.", rich_help_panel=TOPICS),
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
        metavar="B:B,B:B", help="The brokers of each partition, the preferred leader first.", rich_help_panel=NEW
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A config of the new topic. May be repeated.", rich_help_panel=NEW),
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
        metavar="FILE",
        help="A YAML file of topics as they should be: created, given more partitions and configs, never deleted.",
        rich_help_panel=FILE,
    ),
]
PlanOption = Annotated[bool, typer.Option("--plan", help="Show what would change.", rich_help_panel=FILE)]
ApplyOption = Annotated[bool, typer.Option("--apply", help="Make the changes, all or none.", rich_help_panel=FILE)]
