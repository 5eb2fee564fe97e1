"""``--columns``, ``--no-header`` and ``--sort-by``: what every command that has ``--output`` takes beside it.

The commands do not see them: their values become the ``RowView`` that is shown while the command runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from typer._click import Context, Parameter
from typer.core import TyperOption

OUTPUT = "--output"
LINES = "kafka"  # the value of it that asks for lines, not for rows
COLUMNS, NO_HEADER, SORT_BY = "kafkapy.columns", "kafkapy.no_header", "kafkapy.sort_by"


def with_row_options(params: Sequence[Parameter]) -> list[Parameter]:
    """The parameters of a command, with these three behind ``--output`` where it says how rows are printed: it has a
    default there. A name that the command has for something else stays what it is."""
    taken = {name for param in params for name in param.opts}
    return [
        each
        for param in params
        for each in (param, *(_beside(param) if _says_how(param) else ()))
        if each is param or taken.isdisjoint(each.opts)
    ]


def _says_how(param: Parameter) -> bool:
    return OUTPUT in param.opts and param.default is not None


def row_view(ctx: Context) -> AbstractContextManager[None]:
    """What holds while a command runs: that rows are shown as its options say."""
    given = {name: ctx.meta.pop(name, None) for name in (COLUMNS, NO_HEADER, SORT_BY)}
    is_any_given = any(value is not None for value in given.values())
    output = next((ctx.params[param.name or ""] for param in ctx.command.params if _says_how(param)), LINES)
    if output == LINES and not is_any_given:
        return nullcontext()
    from kafkapy.output.row_view import ALL, parse_view, showing

    view = ALL
    if is_any_given:
        view = parse_view(output, given[COLUMNS], given[NO_HEADER] is not None, given[SORT_BY])
        if known := _columns_of_rows(ctx):
            view.check(known)
    return showing(view._replace(is_verbose=bool(ctx.params.get("verbose"))), partial(_columns_of_rows, ctx))


def _columns_of_rows(ctx: Context) -> list[str]:
    """The columns that the rows of a command have, by the options that were given."""
    from typer._click.core import ParameterSource

    from kafkapy.output.row_columns import columns_of

    given = {
        name.lstrip("-")
        for param in ctx.command.params
        if ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        for name in param.opts
    }
    return columns_of(ctx.command_path.partition(" ")[2], given.__contains__)


def _beside(output: Parameter) -> Iterator[TyperOption]:
    panel = getattr(output, "rich_help_panel", None)
    yield _option("--columns", COLUMNS, panel, "The columns to show, in this order.", metavar="COL[,COL...]")
    yield _option("--no-header", NO_HEADER, panel, "Omit the names of the columns from table and csv.", is_flag=True)
    yield _option(
        "--sort-by",
        SORT_BY,
        panel,
        "Sort the rows by a column; COL:desc sorts in descending order.",
        metavar="COL[:desc]",
    )


def _option(name: str, key: str, panel: str | None, help_text: str, **kind: Any) -> TyperOption:
    def keep(ctx: Context, _: Parameter, value: Any) -> None:
        if value is not None and value is not False:
            ctx.meta[key] = value

    return TyperOption(
        param_decls=[name], expose_value=False, help=help_text, callback=keep, rich_help_panel=panel, **kind
    )
