"""The options of ``kafkapy consumer-groups``."""

from typing import Annotated, Any

import typer

ACTIONS = "What to do (exactly one)"
WHICH = "Which groups and topics"
LISTING = "With --list"
DESCRIBING = "With --describe"
RESETTING = "With --reset-offsets"
SCENARIOS = "Where to reset to (exactly one)"
RUNNING = "For a running cluster"


def _flag(name: str, help_text: str, panel: str) -> Any:
    return typer.Option(name, help=help_text, rich_help_panel=panel)


def _value(name: str, metavar: str, help_text: str, panel: str) -> Any:
    return typer.Option(name, metavar=metavar, help=help_text, rich_help_panel=panel)


ListOption = Annotated[bool, _flag("--list", "List the groups, an id a line.", ACTIONS)]
DescribeOption = Annotated[bool, _flag("--describe", "Show offsets and lag, members, or states.", ACTIONS)]
DeleteOption = Annotated[bool, _flag("--delete", "Delete groups with all their offsets.", ACTIONS)]
ResetOffsetsOption = Annotated[
    bool, _flag("--reset-offsets", "Move the offsets of groups that have no members.", ACTIONS)
]
DeleteOffsetsOption = Annotated[bool, _flag("--delete-offsets", "Delete the offsets of a group for topics.", ACTIONS)]
ValidateRegexOption = Annotated[
    str | None,
    _value("--validate-regex", "REGEX", "Say whether brokers take a regular expression for topics (RE2).", ACTIONS),
]

GroupOption = Annotated[list[str] | None, _value("--group", "GROUP", "The group; may be given again.", WHICH)]
AllGroupsOption = Annotated[bool, _flag("--all-groups", "All consumer groups.", WHICH)]
TopicOption = Annotated[
    list[str] | None,
    _value("--topic", "TOPIC[:PARTITION,...]", "The topic, or only these partitions of it; may be given again.", WHICH),
]
AllTopicsOption = Annotated[bool, _flag("--all-topics", "All partitions that the group has committed.", WHICH)]

StateOption = Annotated[
    str | None,
    _value(
        "--state",
        "[STATE,...]",
        "With --list: show states, and only groups in these (Stable, Empty, ...). With --describe: show the state.",
        LISTING,
    ),
]
TypeOption = Annotated[
    str | None,
    _value("--type", "[classic|consumer,...]", "Show types, and only groups of these (classic, consumer).", LISTING),
]

OffsetsOption = Annotated[bool, _flag("--offsets", "Show offsets and lag (the default).", DESCRIBING)]
MembersOption = Annotated[bool, _flag("--members", "Show the members.", DESCRIBING)]
VerboseOption = Annotated[bool, _flag("--verbose", "Show epochs and assignments too.", DESCRIBING)]
TotalsOption = Annotated[
    bool,
    _flag(
        "--totals",
        "Show the lag of each topic and of all (*); with --offsets, of partitions too. PARTITIONS counts all of a "
        "topic that the group has, UNKNOWN-LAG those of them without a commit or a log here, which LAG leaves out.",
        DESCRIBING,
    ),
]
LaggingOption = Annotated[
    bool, _flag("--lagging", "Show only the partitions that have something left to read.", DESCRIBING)
]

DryRunOption = Annotated[bool, _flag("--dry-run", "Only show what would change (the default).", RESETTING)]
ExecuteOption = Annotated[bool, _flag("--execute", "Make the change.", RESETTING)]
ExportOption = Annotated[bool, _flag("--export", "Print CSV, as --from-file reads it.", RESETTING)]
NoFsyncOption = Annotated[bool, typer.Option("--no-fsync", help="Do not wait for the disk: for play only.")]

ToEarliestOption = Annotated[bool, _flag("--to-earliest", "The beginning of the log.", SCENARIOS)]
ToLatestOption = Annotated[bool, _flag("--to-latest", "The end of the log.", SCENARIOS)]
ToCurrentOption = Annotated[bool, _flag("--to-current", "Where the group is.", SCENARIOS)]
ToOffsetOption = Annotated[
    int | None, _value("--to-offset", "OFFSET", "An offset, or the nearest there is.", SCENARIOS)
]
ShiftByOption = Annotated[int | None, _value("--shift-by", "N", "So many records on, or back (-N).", SCENARIOS)]
ToDatetimeOption = Annotated[
    str | None,
    _value(
        "--to-datetime", "TIME", "The first record from YYYY-MM-DDThh:mm:ss.sss on, in UTC or with +hh:mm.", SCENARIOS
    ),
]
ByDurationOption = Annotated[
    str | None, _value("--by-duration", "DURATION", "The first record from PnDTnHnMnS ago on.", SCENARIOS)
]
ToTimestampOption = Annotated[
    str | None, _value("--to-timestamp", "MS", "The first record from these epoch milliseconds on.", SCENARIOS)
]
ToGroupOption = Annotated[
    str | None,
    _value("--to-group", "GROUP", "Where this other group is; all of its partitions, or --topic.", SCENARIOS),
]
FromFileOption = Annotated[
    str | None,
    _value("--from-file", "FILE.csv", "Offsets in a CSV file (- is stdin): [group,]topic,partition,offset.", SCENARIOS),
]

TimeoutOption = Annotated[int, _value("--timeout", "MS", "How long each request may take, retries and all.", RUNNING)]
