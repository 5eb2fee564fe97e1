"""Failures that one of Kafka's tools tells in a line of its own, without the ``kafkapy:`` of every other error."""

from typing import NoReturn

import typer


def warn(line: str) -> None:
    """Write a line to stderr."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    print_lines([line], Sink(2))


def fail(line: str) -> NoReturn:
    """Write the line to stderr, and end with exit code 1."""
    warn(line)
    raise typer.Exit(1)
