"""How ``kafkapy consumer-groups`` tells what went wrong."""

from collections.abc import Sequence
from typing import NoReturn

import typer

from kafkapy.errors import KafkapyError
from kafkapy.output.output_format import Output

from .tool_errors import warn


def failed(output: Output, error: KafkapyError) -> NoReturn:
    """End as Kafka's tool tells a failure: on stdout. Rows are not mixed with that."""
    text = f"Executing consumer group command failed due to {error}"
    if output is not Output.KAFKA:
        raise KafkapyError(text)
    from kafkapy.output.printing import print_lines

    print_lines(["", f"Error: {text}"])
    raise typer.Exit(1)


def tell_problems(problems: Sequence[str]) -> None:
    """Tell on stderr what could not be read."""
    for problem in problems:
        warn(f"kafkapy: {problem}, skipped")
