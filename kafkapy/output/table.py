"""Rows as a table for people, drawn by rich.

A table shows what a person looks for: times as dates, and no column that says the same dull thing in every row, such as
a producer id of -1 or a codec of none. Where the terminal is too narrow, the columns that matter least go first, and no
number is cut. The other formats have every field.
"""

from __future__ import annotations

import io
import os
import shutil
from datetime import UTC, datetime
from typing import Any

LEFT_OUT = {
    "record": {"base_offset", "batch_position", "key_size", "value_size", "timestamp_type", "magic"},
    "batch": {"last_sequence", "crc"},
    "partition": {"topic_id", "configs"},
}
DULL: tuple[Any, ...] = (None, "", -1, [], {})
DULL_IN = {"compression": "none", "valid": True, "magic": 2, "timestamp_type": "CreateTime", "matches": True}
GOES_FIRST = (
    "coordinator_epoch", "offset_delta", "first_sequence", "base_sequence", "producer_epoch", "partition_leader_epoch",
    "size", "sequence", "compression", "position", "last_sequence", "control", "producer_id", "transactional",
    "headers",
)  # fmt: skip
WIDTH_IN_A_PIPE = 200
GUTTER = 3
NARROWEST_TEXT = 12


def render(rows: list[dict[str, Any]]) -> str:
    """All ``rows``, of one kind, as one table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    cells = {name: [_cell(name, row.get(name)) for row in rows] for name in _columns(rows)}
    texts = {name for name in cells if any(isinstance(row.get(name), str | list | dict) for row in rows)}
    _fit(cells, texts, _width())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, column in cells.items():
        justify: Any = "left" if name in texts or "timestamp" in name else "right"
        least = _narrowest(name, column, name in texts) - GUTTER
        title = "\n".join(name.split("_"))
        table.add_column(title, justify=justify, no_wrap=name not in texts, overflow="fold", min_width=least)
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    out = io.StringIO()
    console = Console(file=out, width=_width(), force_terminal=False, markup=False, highlight=False, emoji=False)
    if "file" in rows[0]:
        console.print(rows[0]["file"], soft_wrap=True)
    console.print(table)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _fit(cells: dict[str, list[str]], texts: set[str], width: int) -> None:
    """Take columns away until the rest can stand beside one another."""
    for name in GOES_FIRST:
        if sum(_narrowest(column, cells[column], column in texts) for column in cells) <= width:
            return
        if len(cells) > 1:
            cells.pop(name, None)


def _narrowest(name: str, column: list[str], is_text: bool) -> int:
    words = max(len(word) for word in name.split("_"))
    widest = max(len(cell) for cell in column)
    return GUTTER + max(words, min(widest, NARROWEST_TEXT) if is_text else widest)


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """The columns that tell something, in the order of the fullest row."""
    left_out = {"type", "file"} | LEFT_OUT.get(rows[0]["type"], set())
    telling: set[str] = set()
    for row in rows:
        telling.update(name for name, value in row.items() if not _is_dull(name, value))
    fullest = max((list(row) for row in rows), key=len)
    ordered = sorted(telling - left_out, key=lambda name: fullest.index(name) if name in fullest else len(fullest))
    return ordered or [name for name in fullest if name not in left_out]


def _is_dull(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value is DULL_IN.get(name, False)
    return value in DULL or (name in DULL_IN and value == DULL_IN[name])


def _width() -> int:
    if "COLUMNS" in os.environ or os.isatty(1):
        return shutil.get_terminal_size().columns
    return WIDTH_IN_A_PIPE


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if "timestamp" in name and isinstance(value, int):
        return _date(value)
    if isinstance(value, list):
        return ", ".join(_item(item) for item in value)
    if isinstance(value, dict):
        import json

        return value["text"] if set(value) == {"type", "text"} else json.dumps(value, ensure_ascii=False)
    return str(value)


def _item(item: Any) -> str:
    """A header as ``key=value``."""
    return f"{item['key']}={item['value']}" if isinstance(item, dict) and "key" in item else str(item)


def _date(timestamp: int) -> str:
    try:
        moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{timestamp % 1000:03d}" if timestamp >= 0 else str(timestamp)
