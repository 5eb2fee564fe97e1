"""``--context``: an option of every command that names a cluster, and what it adds to the command line.

Importing this costs nothing: the user's file is looked for when a command line is parsed, and read where it is there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typer._click import Context, Parameter
from typer.core import TyperOption

if TYPE_CHECKING:
    from kafkapy.contexts.resolution import Added

CLUSTER = "Which cluster (by default $KAFKAPY_CLUSTER, $KAFKAPY_CONTEXT, the current context, ./kafkapy-cluster)"
"""The group of the options that name a cluster: a command that has --cluster in it takes --context, too."""
CONTEXT_OPTION = TyperOption(
    param_decls=["--context"],
    metavar="CONTEXT",
    expose_value=False,
    help="The name of a cluster, given with 'kafkapy config add'; by default $KAFKAPY_CONTEXT.",
    rich_help_panel=CLUSTER,
)
_ADDED = "kafkapy.added"


def context_options(params: Sequence[Parameter]) -> list[Parameter]:
    """``--context`` for a command that names a cluster, nothing for any other."""
    return [CONTEXT_OPTION] if any("--cluster" in param.opts and _is_of_cluster(param) for param in params) else []


def add_options(
    ctx: Context,
    params: Sequence[Parameter],
    optional_arguments: Mapping[str, str],
    values: Mapping[str, Any],
    order: Sequence[Parameter],
) -> Added:
    """What the user's file adds to a command line of which the parser made ``values``, in this ``order``."""
    from kafkapy.contexts.resolution import Typed, options_of_context

    shown = [param for param in params if not getattr(param, "hidden", False)]
    offered = {name: tuple(getattr(param.type, "choices", ())) for param in shown for name in param.opts}
    typed = Typed(
        values.get("context"),
        any(_names_cluster(param, values, offered, optional_arguments) for param in order),
        {name: values.get(param.name or "") for param in order for name in param.opts},
        ctx.info_name or "",
    )
    added = options_of_context(offered, bool(context_options(params)), typed)
    ctx.meta[_ADDED] = added
    return added


def warn_unread(added: Added) -> None:
    """Say that the file is not read, and why."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    print_lines([f"kafkapy: {added.unread}; the file is not read, and no defaults are taken from it"], Sink(2))


def cluster_meant(ctx: Context, params: Sequence[Parameter]) -> str | None:
    """Which cluster a command works on, and why on this one; None for a command that has none."""
    if not context_options(params):
        return None
    given = _given(ctx, params)
    added: Added | None = ctx.meta.get(_ADDED)
    if given:
        return f"{given} ({added.said_by})" if added is not None and added.said_by else given
    return cluster_by_default()


def _given(ctx: Context, params: Sequence[Parameter]) -> str:
    """The options that name a cluster, whoever gave them."""
    named = [(param.opts[0], ctx.params.get(param.name or "")) for param in params if _is_of_cluster(param)]
    return " ".join(f"{option} {value}" for option, value in named if value)


def cluster_by_default() -> str:
    """The cluster directory that commands mean which no option and no context names one for, and why."""
    variable = os.environ.get("KAFKAPY_CLUSTER")
    return f"{variable} ($KAFKAPY_CLUSTER)" if variable else "./kafkapy-cluster (the default)"


def with_source(ctx: Context, text: str) -> str:
    """What an error says, with the context or the variable behind a path or server in it that nobody typed."""
    values, source = _not_typed(ctx)
    at = next((place for value in values if (place := _behind(value, text)) is not None), None)
    return text if at is None else f"{text[:at]} ({source}){text[at:]}"


def _not_typed(ctx: Context) -> tuple[Sequence[str], str]:
    """Paths and servers that nobody typed, and who gave them."""
    added: Added | None = ctx.meta.get(_ADDED)
    if added is not None and added.given:
        return added.given, added.source
    variable = os.environ.get("KAFKAPY_CLUSTER")
    if variable and context_options(ctx.command.params) and not _given(ctx, ctx.command.params):
        return [variable], "$KAFKAPY_CLUSTER"
    return [], ""


def _behind(value: str, text: str) -> int | None:
    """The place behind a value in a text, its end where the value only begins a longer path; None where it is not in
    it. A directory's name may be any word, and such a one has to stand where a path can."""
    import re

    own = re.escape(value)
    if re.fullmatch(r"[\w.-]+", value):
        whole = re.search(rf"^{own}(?=[\s:;,]|$)|(?<=\s){own}(?=[:;,]|$)", text)
        is_there = re.search(rf"(?<!\S){own}/", text) is not None
    else:
        whole = re.search(rf"{own}(?=[\s:;,]|$)", text)
        is_there = value in text
    if whole is not None:
        return whole.end()
    return len(text) if is_there else None


def _names_cluster(
    param: Parameter, values: Mapping[str, Any], offered: Collection[str], optional_arguments: Mapping[str, str]
) -> bool:
    """Whether an option that was typed says which cluster is meant; how to log in to one does not, and neither does the
    ``--cluster`` of acls without a directory."""
    if not _is_of_cluster(param):
        return False
    if "--command-config" in offered and {"--command-config", "--config"} & {*param.opts}:
        return False
    left_out = [optional_arguments[name] for name in param.opts if name in optional_arguments]
    return not left_out or any(each not in left_out for each in values.get(param.name or "") or ())


def _is_of_cluster(param: Parameter) -> bool:
    return getattr(param, "rich_help_panel", None) == CLUSTER and param is not CONTEXT_OPTION
