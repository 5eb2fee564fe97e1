"""What was meant by an option that a command does not have, beyond a slip of the keys: one that Kafka's tools had once,
which old scripts still have, what is an argument here, what goes after the command, or what has another name here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer._click import Command, Context

_REMOVED = ("--broker-list", "--zookeeper")
_SUCCESSOR = "--bootstrap-server"
_SHARED = ("--bootstrap-server", "--cluster", "--command-config", "--context", "--log-dirs", "--output")
"""What most commands have."""
_OTHER_NAMES = {("sql", "--describe"): "--tables", ("sql", "--list"): "--tables"}


def meant_by(option: str, ctx: Context, line: Sequence[str]) -> str | None:
    """What to append to the error about an option in a command line; None where nothing of the command's is meant."""
    from typer.core import TyperGroup

    command = ctx.command
    is_group = isinstance(command, TyperGroup)
    if option in _REMOVED and (is_group or any(_SUCCESSOR in param.opts for param in command.params)):
        return f" (use {_SUCCESSOR} with a broker's address instead)"  # a group has the options of its commands
    if is_group:
        return _after_command(option, command, ctx, line)
    for param in command.params:
        if param.param_type_name == "argument" and option == f"--{param.name}":
            return f" ({param.metavar or param.name} is given without the name of an option)"
    other = _OTHER_NAMES.get((command.name or "", option))
    return None if other is None else f" (did you mean {other}?)"


def _after_command(option: str, group: Command, ctx: Context, line: Sequence[str]) -> str | None:
    """That an option goes after the command that has it; where none is named, after whichever."""
    from typer.core import TyperGroup

    words = iter(line[line.index(ctx.info_name) + 1 :] if ctx.info_name in line else line)
    command, path = group, ctx.command_path
    while isinstance(command, TyperGroup):
        names = command.list_commands(ctx)
        named = next((word for word in words if word in names), None)
        if named is None:
            return " (it goes after the command)" if option in _SHARED else None
        command, path = command.get_command(ctx, named) or group, f"{path} {named}"
    has_it = any(option in param.opts for param in command.get_params(ctx))
    return f" (it goes after the command: {path} {option})" if has_it else None
