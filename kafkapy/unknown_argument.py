"""What was meant by an argument of a command that takes none: an option without its dashes, as in ``topics list``, the
name of a topic or a group, as in ``topics --describe orders``, or the value of an option that there has to be, as in
``dump-log orders-0``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkapy.near_misses import VERY_SIMILAR, near_miss

if TYPE_CHECKING:
    from typer._click import Context

_NAMES = ("--topic", "--group")
_NAMES_OF_GROUPS = ("--group",)


def meant_by(word: str, ctx: Context, line: Sequence[str]) -> list[str]:
    """What to suggest in place of a word in a command line."""
    params = ctx.command.get_params(ctx)
    names = {name for param in params for name in param.opts if name.startswith("--")}
    flags = {name for param in params if getattr(param, "is_flag", False) for name in param.opts}
    found = word if f"--{word}" in names else near_miss(word, (name.removeprefix("--") for name in flags), VERY_SIMILAR)
    if found is not None:
        return [f"--{found}"]
    named = _NAMES_OF_GROUPS if (ctx.info_name or "").endswith("groups") else _NAMES
    needed = [param.opts[0] for param in params if param.required and param.param_type_name == "option"]
    return [f"{name} {word}" for name in (*named, *needed) if name in names and not _is_given(name, line)][:1]


def _is_given(name: str, line: Sequence[str]) -> bool:
    return any(word.lstrip("-").partition("=")[0] == name.lstrip("-") for word in line if word.startswith("-"))
