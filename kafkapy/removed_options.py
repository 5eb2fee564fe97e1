"""Options that Kafka's tools had once, which old scripts still have, and what is in their place now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer._click import Command

_REMOVED = ("--broker-list", "--zookeeper")
_SUCCESSOR = "--bootstrap-server"


def in_its_place(option: str, command: Command) -> str | None:
    """What to append to an error about a removed option; None where it is none, or nothing of the command's is in its
    place. A group has the options of its commands."""
    from typer.core import TyperGroup

    is_there = isinstance(command, TyperGroup) or any(_SUCCESSOR in param.opts for param in command.params)
    return f" ({_SUCCESSOR}, with a broker's address, is in its place)" if option in _REMOVED and is_there else None
