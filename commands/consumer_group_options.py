"""The options of ``kafkapy consumer-groups``."""

from typing import Annotated

from .option_kinds import flag, value

ACTIONS = "What to do (exactly one)"
WHICH = "Which groups and topics"
LISTING = "With --list"
DESCRIBING = "With --describe"
RESETTING = "With --reset-offsets"
SCENARIOS = "Where to reset to (exactly one)"
RUNNING = "For a running cluster"


ListOption = Annotated[bool, flag("--list", "List the groups, one id per line.", ACTIONS)]
DescribeOption = Annotated[bool, flag("--describe", "Show offsets and lag, members, or states.", ACTIONS)]
DeleteOption = Annotated[bool, flag("--delete", "Delete groups with all their offsets.", ACTIONS)]
ResetOffsetsOption = Annotated[
    bool, flag("--reset-offsets", "Move the offsets of groups that have no members.", ACTIONS)
]
DeleteOffsetsOption = Annotated[bool, flag("--delete-offsets", "Delete the offsets of a group for topics.", ACTIONS)]
ValidateRegexOption = Annotated[
    str | None,
    value("--validate-regex", "REGEX", "Say whether brokers accept a regular expression for topics (RE2).", ACTIONS),
]

GroupOption = Annotated[list[str] | None, value("--group", "GROUP", "The group; may be given again.", WHICH)]
AllGroupsOption = Annotated[bool, flag("--all-groups", "All consumer groups.", WHICH)]
TopicOption = Annotated[
    list[str] | None,
    value("--topic", "TOPIC[:PARTITION,...]", "The topic, or only these partitions of it; may be given again.", WHICH),
]
AllTopicsOption = Annotated[bool, flag("--all-topics", "All partitions that the group has committed.", WHICH)]

StateOption = Annotated[
    str | None,
    value(
        "--state",
        "[STATE,...]",
        "With --list: show states, and only groups in these (Stable, Empty, ...). With --describe: show the state.",
        LISTING,
    ),
]
TypeOption = Annotated[
    str | None,
    value("--type", "[classic|consumer,...]", "Show types, and only groups of these (classic, consumer).", LISTING),
]

OffsetsOption = Annotated[bool, flag("--offsets", "Show offsets and lag (the default).", DESCRIBING)]
MembersOption = Annotated[bool, flag("--members", "Show the members.", DESCRIBING)]
VerboseOption = Annotated[bool, flag("--verbose", "Show epochs and assignments too.", DESCRIBING)]
TotalsOption = Annotated[
    bool,
    flag(
        "--totals",
        "Show the lag of each topic and in total (*); with --offsets, of partitions too. PARTITIONS counts all "
        "partitions of a topic that the group has, UNKNOWN-LAG those without a commit or a log here, which LAG does "
        "not include.",
        DESCRIBING,
    ),
]
LaggingOption = Annotated[
    bool, flag("--lagging", "Show only the partitions that have something left to read.", DESCRIBING)
]

DryRunOption = Annotated[bool, flag("--dry-run", "Only show what would change (the default).", RESETTING)]
ExecuteOption = Annotated[bool, flag("--execute", "Make the change.", RESETTING)]
ExportOption = Annotated[bool, flag("--export", "Print CSV, as --from-file reads it.", RESETTING)]
NoFsyncOption = Annotated[bool, flag("--no-fsync", "Do not wait for the disk: only for experiments.")]

ToEarliestOption = Annotated[bool, flag("--to-earliest", "The beginning of the log.", SCENARIOS)]
ToLatestOption = Annotated[bool, flag("--to-latest", "The end of the log.", SCENARIOS)]
ToCurrentOption = Annotated[bool, flag("--to-current", "Where the group is.", SCENARIOS)]
ToOffsetOption = Annotated[
    int | None, value("--to-offset", "OFFSET", "An offset, or the nearest one that exists.", SCENARIOS)
]
ShiftByOption = Annotated[int | None, value("--shift-by", "N", "Move N records forward, or back (-N).", SCENARIOS)]
ToDatetimeOption = Annotated[
    str | None,
    value(
        "--to-datetime", "TIME", "The first record from YYYY-MM-DDThh:mm:ss.sss on, in UTC or with +hh:mm.", SCENARIOS
    ),
]
ByDurationOption = Annotated[
    str | None, value("--by-duration", "DURATION", "The first record since PnDTnHnMnS ago.", SCENARIOS)
]
ToTimestampOption = Annotated[
    str | None, value("--to-timestamp", "MS", "The first record from these epoch milliseconds on.", SCENARIOS)
]
ToGroupOption = Annotated[
    str | None,
    value("--to-group", "GROUP", "The offsets of this other group; all of its partitions, or --topic.", SCENARIOS),
]
FromFileOption = Annotated[
    str | None,
    value("--from-file", "FILE.csv", "Offsets in a CSV file (- is stdin): [group,]topic,partition,offset.", SCENARIOS),
]

TimeoutOption = Annotated[int, value("--timeout", "MS", "How long each request may take, including retries.", RUNNING)]
