"""Failures that a command tells by itself: Kafka's lines, without the ``kafkapy:`` of every other error, and what could
not be read while the rest was shown."""

from collections.abc import Iterable
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


def tell_problems(problems: Iterable[str]) -> None:
    """Tell on stderr what could not be read."""
    for problem in problems:
        warn(f"kafkapy: {problem}")


def finish(problems: Iterable[str]) -> None:
    """Tell what is missing from what was shown; exit 1 where something is."""
    missing = list(problems)
    tell_problems(missing)
    if missing:
        raise typer.Exit(1)
