"""How ``kafkapy consumer-groups`` tells what went wrong."""

from collections.abc import Sequence
from typing import NoReturn

import typer

from kafkapy.errors import KafkapyError
from kafkapy.output.output_format import Output

from .tool_errors import tell_hint, warn

FAILED = "Executing {} group command failed due to"


def failed(output: Output, error: KafkapyError, notes: Sequence[str] = ()) -> NoReturn:
    """End as Kafka's tool tells a failure: on stdout. Rows are not mixed with that. ``notes`` is what else is known."""
    if output is Output.KAFKA:
        print_failure(error)
    for note in notes:
        warn(f"kafkapy: {note}")
    tell_hint(error)
    if output is not Output.KAFKA:
        raise KafkapyError(f"{FAILED.format('consumer')} {error}")
    raise typer.Exit(1)


def print_failure(error: KafkapyError, kind: str = "consumer") -> None:
    """Kafka's lines about a failure of a command for groups of a kind."""
    from kafkapy.output.printing import print_lines

    print_lines(["", f"Error: {FAILED.format(kind)} {error}"])
