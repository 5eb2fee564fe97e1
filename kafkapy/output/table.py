"""Rows as a table for people, drawn by rich."""

from __future__ import annotations

import io
import os
import shutil
from typing import Any

# what a person does not look for in a table of these rows; the other formats have it
LEFT_OUT = {
    "record": {"type", "file", "base_offset", "timestamp_type", "magic", "key_encoding", "value_encoding"},
    "batch": {"type", "file", "timestamp_type", "last_sequence"},
}
WIDTH_IN_A_PIPE = 200


def render(rows: list[dict[str, Any]]) -> str:
    """All ``rows``, of one kind, as one table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    left_out = LEFT_OUT.get(rows[0]["type"], {"type", "file"})
    names = [name for name in _names(rows) if name not in left_out]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        numeric = all(isinstance(row.get(name), int) for row in rows)
        table.add_column(name.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    out = io.StringIO()
    console = Console(file=out, width=_width(), force_terminal=False, markup=False, highlight=False, emoji=False)
    console.print(f"{rows[0]['file']}")
    console.print(table)
    return out.getvalue()


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The columns in the order of the rows, without those that no row fills."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(name for name, value in row.items() if value not in (None, "", [])))
    fullest = max((list(row) for row in rows), key=len)
    return sorted(names, key=lambda name: fullest.index(name) if name in fullest else len(fullest))


def _width() -> int:
    if "COLUMNS" in os.environ or os.isatty(1):
        return shutil.get_terminal_size().columns
    return WIDTH_IN_A_PIPE


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dict | list):
        import json

        return json.dumps(value, ensure_ascii=False) if value else ""
    return str(value)
