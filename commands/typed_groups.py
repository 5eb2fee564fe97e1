"""What ``share-groups`` and ``streams-groups`` do in the same way: listing groups, telling of them group by group, and
telling what went wrong."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

import typer

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output

from .tool_errors import finish, tell_hint, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.groups import Groups
    from kafkapy.coordinator.group import GroupType

T = TypeVar("T")


class Told(NamedTuple):
    """The lines and the rows of a group, and what is told of it on stderr before them."""

    lines: Iterable[str]
    rows: Iterable[dict[str, Any]]
    note: str | None = None


def list_groups(opened: "Cluster", group_type: "GroupType", state: str | None, output: Output) -> None:
    """List groups, with their states where ``state`` is given, also as an empty word."""
    from kafkapy.coordinator.typed_groups import parse_states
    from kafkapy.output.printing import print_rows
    from kafkapy.output.share_group_lines import listing_lines, listing_rows

    groups = opened.groups()
    listings = groups.list(parse_states(state or "", group_type), [group_type])
    if output is Output.KAFKA:
        print_rows(output, ((line, None) for line in listing_lines(listings, state is not None)))
    else:
        print_rows(output, ((None, row) for row in listing_rows(listings)))
    finish(groups.problems)


def group_ids(groups: "Groups", group_type: "GroupType", named: Sequence[str] | None) -> list[str]:
    """The groups that are named, or all of the type."""
    return sorted(set(named)) if named else [listing.group_id for listing in groups.list(types=[group_type])]


def none_failed(answers: dict[str, T | KafkaError], groups: "Groups", group_type: "GroupType") -> dict[str, T]:
    """The answers, if none of them is an error; it has the name that Java prints before it."""
    from kafkapy.backends.group_selection import group_failure

    for group_id, answer in answers.items():
        if isinstance(answer, KafkaError):
            raise group_failure(answer, group_id, lambda: groups.list(types=[group_type]))
    return {group_id: answer for group_id, answer in answers.items() if not isinstance(answer, KafkaError)}


def print_groups(groups: Iterable[T], told_of: Callable[[T], Told], output: Output) -> None:
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


def fail(group_type: "GroupType", error: KafkapyError, output: Output, notes: Sequence[str] = ()) -> NoReturn:
    """Kafka's tools tell a failure on stdout; rows are not mixed with that. ``notes`` is what else is known."""
    print_error(f"Executing {group_type.lower()} group command failed due to {error}", output)
    for note in notes:
        warn(f"kafkapy: {note}")
    tell_hint(error)
    raise typer.Exit(1)


def print_error(text: str, output: Output) -> None:
    """Kafka's lines about an error."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    print_lines(["", f"Error: {text}"], Sink(1 if output is Output.KAFKA else 2))
