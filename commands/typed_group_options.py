"""What ``share-groups`` and ``streams-groups`` have in common: their options."""

from typing import Annotated, ClassVar

from kafkapy.subcommand import Subcommand

from .option_kinds import flag, value

ACTION = "What to do (exactly one)"
WHICH = "Which groups and topics"
WHAT = "What to describe"
RESETTING = "With --reset-offsets"
SCENARIOS = "Where to reset to (exactly one)"
RUNNING = "For a running cluster"


class TypedGroups(Subcommand):
    """``--state`` may go without a value."""

    optional_arguments: ClassVar[dict[str, str]] = {"--state": ""}


ListOption = Annotated[bool, flag("--list", "List groups.", ACTION)]
DescribeOption = Annotated[bool, flag("--describe", "Describe groups: their offsets, members or state.", ACTION)]
DeleteOption = Annotated[bool, flag("--delete", "Delete groups that have no members.", ACTION)]
ResetOffsetsOption = Annotated[
    bool, flag("--reset-offsets", "Move the offsets of groups that have no members.", ACTION)
]
DeleteOffsetsOption = Annotated[bool, flag("--delete-offsets", "Delete the offsets of a group for topics.", ACTION)]
GroupOption = Annotated[
    list[str] | None, value("--group", "GROUP", "Only this group. Can be given more than once.", WHICH)
]
AllGroupsOption = Annotated[bool, flag("--all-groups", "All groups of this type.", WHICH)]
OffsetsOption = Annotated[bool, flag("--offsets", "How far they are in each partition (the default).", WHAT)]
MembersOption = Annotated[bool, flag("--members", "Their members.", WHAT)]
StateOption = Annotated[
    str | None,
    value(
        "--state",
        "[STATE,...]",
        "Their state; with --list, show states, and with a value only groups in one of these.",
        WHAT,
    ),
]
VerboseOption = Annotated[bool, flag("--verbose", "More columns.", WHAT)]

DryRunOption = Annotated[bool, flag("--dry-run", "Only show what would change.", RESETTING)]
ExecuteOption = Annotated[bool, flag("--execute", "Make the change.", RESETTING)]
ToEarliestOption = Annotated[bool, flag("--to-earliest", "The beginning of the log.", SCENARIOS)]
ToLatestOption = Annotated[bool, flag("--to-latest", "The end of the log.", SCENARIOS)]
ToDatetimeOption = Annotated[
    str | None,
    value(
        "--to-datetime", "TIME", "The first record from YYYY-MM-DDThh:mm:ss.sss on, in UTC or with +hh:mm.", SCENARIOS
    ),
]
TimeoutOption = Annotated[int, value("--timeout", "MS", "How long each request may take, including retries.", RUNNING)]
