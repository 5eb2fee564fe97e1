"""What ``--columns``, ``--no-header`` and ``--sort-by`` ask of rows.

The options are the same for every command that has ``--output``, so they do not go through the commands: whoever runs a
command has its view be the one that is ``showing``, and whoever writes rows takes it from ``shown_view``. The columns
that the rows of the command have, for who has no row to take them from, come the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output

DESCENDING = ":desc"
ASCENDING = ":asc"
WITH_HEADER = (Output.TABLE, Output.CSV)


class RowView(NamedTuple):
    """Which columns, in which order; whether they are named; by which one the rows are sorted. With ``is_verbose`` the
    command was asked for more columns than it shows else."""

    columns: tuple[str, ...] = ()
    has_header: bool = True
    sort_by: str | None = None
    is_descending: bool = False
    is_verbose: bool = False

    @property
    def names(self) -> list[str]:
        """Every column that is asked for."""
        return [*self.columns, *([] if self.sort_by is None else [self.sort_by])]

    def check(self, known: Iterable[str]) -> None:
        """Refuse a column that no row has."""
        from kafkapy.near_misses import did_you_mean

        found = list(dict.fromkeys(known))
        for name in self.names:
            if name not in found:
                option = "--columns" if name in self.columns else "--sort-by"
                column, colon, order = name.rpartition(":")
                if option == "--sort-by" and column in found:
                    raise UsageError(
                        f"{option}: '{colon}{order}' is not a sort order: give {column} or {column}{DESCENDING}"
                    )
                hint = did_you_mean(name, found)
                raise UsageError(f"{option}: no column '{name}'{hint or '.'} The columns are {', '.join(found)}")


ALL = RowView()
_shown: ContextVar[RowView] = ContextVar("shown_view", default=ALL)
_columns: ContextVar[Callable[[], Sequence[str]]] = ContextVar("shown_columns", default=tuple)


def parse_view(output: str, columns: str | None, no_header: bool, sort_by: str | None) -> RowView:
    """The view that options ask for."""
    given = {"--columns": columns is not None, "--no-header": no_header, "--sort-by": sort_by is not None}
    if output == Output.KAFKA:
        option = next(name for name, is_given in given.items() if is_given)
        formats = WITH_HEADER if option == "--no-header" else tuple(Output)[1:]
        raise UsageError(f"{option} goes with --output {_listed(formats)}")
    if no_header and output not in WITH_HEADER:
        raise UsageError(f"--no-header goes with --output {_listed(WITH_HEADER)}: {output} has no header")
    names = tuple(name.strip() for name in (columns or "").split(","))
    if columns is not None and not all(names):
        raise UsageError(f"--columns: '{columns}' has an empty name; give COL[,COL...]")
    if len(set(names)) < len(names):
        raise UsageError(f"--columns: '{columns}' names a column twice")
    column = (sort_by or "").removesuffix(ASCENDING).removesuffix(DESCENDING)
    if sort_by is not None and not column:
        raise UsageError("--sort-by is empty; give COL or COL:desc")
    return RowView(
        () if columns is None else names, not no_header, column or None, (sort_by or "").endswith(DESCENDING)
    )


@contextmanager
def showing(view: RowView, columns: Callable[[], Sequence[str]] = tuple) -> Iterator[None]:
    """Have rows be written so; ``columns`` are those that they have."""
    before, before_columns = _shown.set(view), _columns.set(columns)
    try:
        yield
    finally:
        _shown.reset(before)
        _columns.reset(before_columns)


def shown_view() -> RowView:
    """How rows are to be written."""
    return _shown.get()


def shown_columns() -> Sequence[str]:
    """The columns of the rows that the command prints; none where they are not known."""
    return _columns.get()()


def _listed(formats: Sequence[str]) -> str:
    return f"{', '.join(formats[:-1])} or {formats[-1]}"
