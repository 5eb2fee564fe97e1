"""The options of ``share-groups`` that ``streams-groups`` does not have."""

from typing import Annotated

from .option_kinds import flag, value
from .typed_group_options import WHICH

TopicOption = Annotated[
    list[str] | None,
    value(
        "--topic",
        "TOPIC[:PARTITION,...]",
        "The topic, with --reset-offsets also single partitions; may be given again.",
        WHICH,
    ),
]
AllTopicsOption = Annotated[bool, flag("--all-topics", "All topics that the group reads.", WHICH)]
