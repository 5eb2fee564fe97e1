"""What was meant by an option that a command does not have, beyond a slip of the keys: one that Kafka's tools had once,
which old scripts still have, or what is an argument here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer._click import Command

_REMOVED = ("--broker-list", "--zookeeper")
_SUCCESSOR = "--bootstrap-server"


def meant_by(option: str, command: Command) -> str | None:
    """What to append to the error; None where nothing of the command's is meant."""
    from typer.core import TyperGroup

    has_successor = isinstance(command, TyperGroup) or any(_SUCCESSOR in param.opts for param in command.params)
    if option in _REMOVED and has_successor:  # a group has the options of its commands
        return f" ({_SUCCESSOR}, with a broker's address, is in its place)"
    for param in command.params:
        if param.param_type_name == "argument" and option == f"--{param.name}":
            return f" ({param.metavar or param.name} stands without the name of an option)"
    return None
