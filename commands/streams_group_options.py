"""The options of ``streams-groups`` that ``share-groups`` does not have."""

from typing import Annotated

from .option_kinds import flag, value
from .typed_group_options import RESETTING, SCENARIOS, WHICH

INTERNAL = "The group's internal topics"

InputTopicOption = Annotated[
    list[str] | None,
    value(
        "--input-topic",
        "TOPIC[:PARTITION,...]",
        "The topic, or only these partitions of it; may be given again.",
        WHICH,
    ),
]
AllInputTopicsOption = Annotated[bool, flag("--all-input-topics", "All topics that the group reads.", WHICH)]
ExportOption = Annotated[bool, flag("--export", "Print the offsets as CSV.", RESETTING)]
ToCurrentOption = Annotated[bool, flag("--to-current", "Where the group is.", SCENARIOS)]
ToOffsetOption = Annotated[
    int | None, value("--to-offset", "OFFSET", "This offset, or the nearest one that exists.", SCENARIOS)
]
ShiftByOption = Annotated[int | None, value("--shift-by", "N", "Move N records forward, or back (-N).", SCENARIOS)]
ByDurationOption = Annotated[
    str | None, value("--by-duration", "DURATION", "The first record since PnDTnHnMnS ago.", SCENARIOS)
]
FromFileOption = Annotated[
    str | None,
    value("--from-file", "FILE.csv", "Offsets in a CSV file (- is stdin): [group,]topic,partition,offset.", SCENARIOS),
]
DeleteInternalTopicOption = Annotated[
    list[str] | None,
    value(
        "--delete-internal-topic", "TOPIC", "Also delete this internal topic; with --reset-offsets --execute.", INTERNAL
    ),
]
DeleteAllInternalTopicsOption = Annotated[
    bool,
    flag(
        "--delete-all-internal-topics", "Also delete all internal topics; with --reset-offsets or --delete.", INTERNAL
    ),
]
