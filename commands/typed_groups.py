"""Listing and describing groups of one type, for ``share-groups`` and ``streams-groups``."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output

from .tool_errors import finish

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.coordinator.group import GroupType, ModernGroup
    from kafkapy.coordinator.group_coordinator import GroupCoordinator


class Told(NamedTuple):
    """The lines and the rows of a group, and what is told of it on stderr before them."""

    lines: Iterable[str]
    rows: Iterable[dict[str, Any]]
    note: str | None = None


def list_groups(opened: "Cluster", group_type: "GroupType", state: str | None, output: Output) -> None:
    """List groups, with their states where ``state`` is given, also as an empty word."""
    from kafkapy.coordinator.typed_groups import parse_states, typed_listings
    from kafkapy.output.printing import print_rows
    from kafkapy.output.share_group_lines import listing_lines, listing_rows

    coordinator = opened.groups()
    listings = typed_listings(coordinator, group_type, parse_states(state or "", group_type))
    if output is Output.KAFKA:
        print_rows(output, ((line, None) for line in listing_lines(listings, state is not None)))
    else:
        print_rows(output, ((None, row) for row in listing_rows(listings)))
    finish(coordinator.store.problems)


def find_groups(
    coordinator: "GroupCoordinator", group_type: "GroupType", ids: Sequence[str] | None, output: Output
) -> list["ModernGroup"]:
    """The groups of these ids, or all of the type; ends with Kafka's words where one is none of these."""
    from kafkapy.coordinator.typed_groups import typed_groups

    try:
        return typed_groups(coordinator, group_type, ids)
    except KafkaError as error:
        _fail(group_type, error, output)


def print_groups(groups: Iterable["ModernGroup"], told_of: Callable[["ModernGroup"], Told], output: Output) -> None:
    """Group by group, since what is told on stderr of a group stands before its table."""
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.sink import Sink

    if output is not Output.KAFKA:
        print_rows(output, ((None, row) for group in groups for row in told_of(group).rows))
        return
    out, err = Sink(), Sink(2)
    for group in groups:
        told = told_of(group)
        if told.note is not None:
            print_lines(["", told.note], err)
        print_lines(told.lines, out)


def _fail(group_type: "GroupType", error: KafkaError, output: Output) -> NoReturn:
    """Kafka's tools tell a failure on stdout; rows are not mixed with that."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    cause = f"org.apache.kafka.common.errors.{error.name}: {error}"
    line = f"Error: Executing {group_type.lower()} group command failed due to {cause}"
    print_lines(["", line], Sink(1 if output is Output.KAFKA else 2))
    raise typer.Exit(1)
