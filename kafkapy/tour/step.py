"""What a step of the tour is: words, command lines as they can be typed, and notes on what these print.

A note finds its words in the output, so it can only tell what is there: ``pattern`` is a regular expression, whose
named groups are what ``text`` names in braces. A note that finds nothing is an error of the step.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class StepName(StrEnum):
    """The steps, in the order in which they are played."""

    CLUSTER = "cluster"
    TOPICS = "topics"
    PRODUCE = "produce"
    TRANSACTIONS = "transactions"
    GROUP = "group"
    FILES = "files"
    DUMP = "dump"
    LAG = "lag"
    THROUGHPUT = "throughput"
    REASSIGNMENT = "reassignment"
    SQL = "sql"


class Note(NamedTuple):
    """What there is to say about a part of the output."""

    pattern: str
    text: str


class Command(NamedTuple):
    """A command line for the shell. Its notes follow the output, or with ``is_line_by_line`` each follows the first
    line that it is about and that no note before it has taken."""

    line: str
    notes: tuple[Note, ...] = ()
    is_line_by_line: bool = False


class Step(NamedTuple):
    """Some commands about one thing."""

    name: StepName
    title: str
    text: str
    commands: tuple[Command, ...]
    needs_spark: bool = False
