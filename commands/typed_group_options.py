"""What ``share-groups`` and ``streams-groups`` have in common: their options, and what these may not be."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import typer

from kafkapy.errors import Unsupported, UsageError
from kafkapy.subcommand import Subcommand

ACTION = "Action (exactly one)"
WHICH = "Which groups"
WHAT = "What to describe"
POSSIBLE = ("list", "describe")
ACTIONS = (*POSSIBLE, "delete", "reset-offsets", "delete-offsets")


class TypedGroups(Subcommand):
    """``--state`` may go without a value."""

    optional_arguments: ClassVar[dict[str, str]] = {"--state": ""}


def _flag(name: str, help_text: str, panel: str) -> Any:
    return typer.Option(name, help=help_text, rich_help_panel=panel)


ListOption = Annotated[bool, _flag("--list", "List groups.", ACTION)]
DescribeOption = Annotated[bool, _flag("--describe", "Describe groups: their offsets, members or state.", ACTION)]
DeleteOption = Annotated[bool, typer.Option("--delete", hidden=True)]
ResetOffsetsOption = Annotated[bool, typer.Option("--reset-offsets", hidden=True)]
DeleteOffsetsOption = Annotated[bool, typer.Option("--delete-offsets", hidden=True)]
GroupOption = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="ID", help="This group. Can be given more than once.", rich_help_panel=WHICH),
]
AllGroupsOption = Annotated[bool, _flag("--all-groups", "All groups of this type.", WHICH)]
OffsetsOption = Annotated[bool, _flag("--offsets", "How far they are in each partition (the default).", WHAT)]
MembersOption = Annotated[bool, _flag("--members", "Their members.", WHAT)]
StateOption = Annotated[
    str | None,
    typer.Option(
        "--state",
        metavar="[STATE,...]",
        help="Their state; with --list, show states, and with a value only groups in one of these.",
        rich_help_panel=WHAT,
    ),
]
VerboseOption = Annotated[bool, _flag("--verbose", "More columns.", WHAT)]


def check_usage(tool: str, params: Mapping[str, Any]) -> None:
    """Exactly one action, one that is possible here, and what goes with it; ``tool`` is Kafka's script, ``params`` are
    those of the command, by the names of its arguments."""
    given = {name.rstrip("_").replace("_", "-"): bool(value) for name, value in params.items()}
    named = [name for name in ACTIONS if given[name]]
    if len(named) != 1:
        listed = ", ".join(f"--{name}" for name in POSSIBLE)
        raise UsageError(f"Command must include exactly one action: {listed}")
    if named[0] not in POSSIBLE:
        raise Unsupported(f"--{named[0]}", "this version", f"run Kafka's {tool} on the running cluster")
    if named[0] == "list":
        _check_list(given)
    else:
        _check_describe(given, params["state"])


def _check_list(given: Mapping[str, bool]) -> None:
    if given["group"]:
        raise UsageError('Option "[list]" can\'t be used with option "[group]"')
    for name in ("offsets", "members", "verbose"):
        if given[name]:
            raise UsageError(f"Option(s) [{name}] are unavailable given other options on the command line")


def _check_describe(given: Mapping[str, bool], state: str | None) -> None:
    if not given["group"] and not given["all-groups"]:
        raise UsageError("Option [describe] takes one of these options: [all-groups], [group]")
    if given["group"] and given["all-groups"]:
        raise UsageError('Option "[all-groups]" can\'t be used with option "[group]"')
    if given["offsets"] + given["members"] + (state is not None) > 1:
        raise UsageError("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if state:
        raise UsageError("Option [describe] does not take a value for [state]")
