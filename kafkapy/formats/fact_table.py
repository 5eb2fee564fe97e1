"""Facts that stand in a text file beside the code: one a line, its columns parted by tabs."""

from __future__ import annotations

import os


def read_rows(file_name: str) -> list[list[str]]:
    """The columns of every line of a table in this directory."""
    with open(os.path.join(os.path.dirname(__file__), file_name), encoding="utf-8") as table:
        return [line.rstrip("\n").split("\t") for line in table]
