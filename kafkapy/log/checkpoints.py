"""Reading the offset checkpoints at the root of a log dir.

A checkpoint speeds a broker's start; it is never the truth. One that is missing or damaged is as good as empty: the log
itself then tells where it begins and ends.
"""

from __future__ import annotations

import os

from kafkapy.errors import FormatError
from kafkapy.formats import offset_checkpoint

Offsets = dict[tuple[str, int], int]


def read_checkpoint(log_dir: str, name: str) -> Offsets:
    """The offsets in one of the files that ``offset_checkpoint`` names."""
    path = os.path.join(log_dir, name)
    try:
        with open(path, "rb") as file:
            return offset_checkpoint.decode(file.read(), path)
    except (FileNotFoundError, FormatError):
        return {}
