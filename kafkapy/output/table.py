"""Rows as a table for people, drawn by rich.

A table shows what a person looks for: times as dates, and no column that says the same dull thing in every row, such as
a producer id of -1 or a codec of none. Where the terminal is too narrow, the columns that matter least go first and are
named below, long texts take more lines, and the long ids of members lose their middle. What names a row is never left
out, nor what a command was asked for by its own ``--verbose``, and no number is cut: where that does not fit, each row
is a block of lines, a field each. Columns that were chosen are shown as chosen. In a pipe nothing is left out or loses
its middle, however wide the table. The other formats have every field.

Control characters are shown as text (``\\x00``), but for line ends, which begin a line in their cell, and tabs, which
are blanks.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kafkapy.output.cell_width import beginning, width_of
from kafkapy.output.row_blocks import Field, block_lines, broken
from kafkapy.output.row_view import ALL, RowView
from kafkapy.output.terminal_width import wanted_width

if TYPE_CHECKING:
    from rich.table import Table

LEFT_OUT = {
    "record": {"base_offset", "batch_position", "key_size", "value_size", "timestamp_type", "magic"},
    "batch": {"last_sequence", "crc"},
    "partition": {"topic_id", "configs"},
    "topic": {"topic_id"},
    "config": {"synonyms", "entity_type"},
}
DULL: tuple[Any, ...] = (None, "", -1, [], {})
DULL_IN = {"compression": "none", "valid": True, "magic": 2, "timestamp_type": "CreateTime", "matches": True}
GOES_FIRST = (
    "total_bytes", "usable_bytes",
    "coordinator_epoch", "offset_delta", "first_sequence", "base_sequence", "producer_epoch", "partition_leader_epoch",
    "size", "sequence", "compression", "position", "last_sequence", "control", "producer_id", "transactional",
    "headers", "synonyms", "topic_id", "expire_timestamp", "leader_epoch", "target_assignment",
    "target_assignment_epoch", "target_epoch", "current_epoch", "group_epoch", "coordinator", "coordinator_id",
    "protocol_type", "state_timestamp", "commit_timestamp", "metadata", "log_start_offset", "current_assignment",
    "source", "host", "protocol", "assignment_strategy", "timeout_ms", "client_id", "log_partition", "group_type",
    "group_state", "last_update_timestamp", "start_timestamp", "log_offset", "partitions_with_unknown_lag",
    "commits_since_timestamp", "commits_whole", "rates_since_timestamp", "last_commit_timestamp",
    "compression_ratio", "bytes_per_batch", "largest_batch",
    "records_per_batch", "first_timestamp",
)  # fmt: skip
GOES_NEXT = {
    "member": ("upgraded", "partitions"),
    "streams_member": ("process_id", "topology_epoch", "member_epoch"),
    "retention_forecast": (
        "oldest_segment_timestamp",
        "oldest_segment_bytes",
        "segments",
        "oldest_segment",
        "byte_rate",
    ),
    "lag": ("partitions", "catch_up_ms", "produce_rate", "consume_rate", "timestamp"),
    "lab_replica": ("elr", "log_epochs", "leader", "remote_log_end_offset", "isr", "is_in_sync"),
    "replica": ("elr", "isr", "leader", "log_dir", "is_in_sync"),
    "replicated": ("is_in_sync",),
    "throughput": ("codecs", "batches", "last_timestamp"),
}
"""What goes after these, of rows of a kind: elsewhere it is what a person looks for."""
NAMES_A_ROW = frozenset(
    (
        "topic",
        "group",
        "consumer_id",
        "member_id",
        "group_instance_id",
        "transactional_id",
        "name",
        "entity_name",
        "state",
    )
)
KEPT = {
    "hanging_transaction": frozenset(("producer_id", "producer_epoch", "coordinator_epoch")),
    "replica": frozenset(("size",)),
    "transaction": frozenset(("coordinator", "producer_id", "producer_epoch", "timeout_ms")),
}
"""What is shown at any rate, because another command asks for it, or a person does."""
KEPT_IF_VERBOSE = {
    "offset": frozenset(("leader_epoch",)),
    "group": frozenset(("group_epoch", "target_assignment_epoch")),
    "member": frozenset(("current_epoch", "current_assignment", "target_epoch", "target_assignment")),
    "share_group_offset": frozenset(("leader_epoch",)),
    "streams_group_offset": frozenset(("current_offset", "leader_epoch", "log_end_offset")),
    "streams_member": frozenset(("member_epoch", "target_assignment_epoch", "topology_epoch")),
}
"""The same, of a command that was asked for more: what Kafka's tool then has more columns for."""
STAYS_WHOLE = {"config": frozenset(("source",))}
"""Words of Kafka's own, which have no place to break: in most rows none does."""
LOSES_ITS_MIDDLE = frozenset(("consumer_id", "member_id", "leader"))
WIDTH_IN_A_PIPE = 200
GUTTER = 2
EDGES = 2
NARROWEST_TEXT = 12
NARROWEST_NAME = len("__transaction_state")
"""Kafka's own topics are not broken: each person who looks at offsets meets them."""
NARROWEST_ID = 16


class Column:
    """A column: its cells, and how wide it may be."""

    def __init__(self, name: str, rows: list[dict[str, Any]], is_kept: bool) -> None:
        self.name = name
        self.is_kept = is_kept
        self.cells = [_cell(name, row.get(name)) for row in rows]
        self.is_text = any(isinstance(row.get(name), str | list | dict) for row in rows)
        title = max(len(word) for word in name.split("_"))
        widths = sorted(max(map(width_of, cell.split("\n"))) for cell in self.cells)
        self.widest = max(title, widths[-1])
        most = max(title, widths[len(widths) * 3 // 4])
        self.usual = most if self.widest > 2 * most else self.widest
        least = self.usual if name in STAYS_WHOLE.get(rows[0].get("type", ""), ()) else NARROWEST_TEXT
        name_least = NARROWEST_ID if name in LOSES_ITS_MIDDLE else NARROWEST_NAME
        narrowest = name_least if name in NAMES_A_ROW else least
        self.narrowest = max(title, min(self.widest, least)) if self.is_text else self.widest
        self.width = max(title, min(self.widest, narrowest)) if self.is_text else self.widest

    def add_to(self, table: Table) -> None:
        """Put it to the right of the others."""
        title = "\n".join(self.name.split("_"))
        justify: Any = "left" if self.is_text or "timestamp" in self.name else "right"
        table.add_column(title, justify=justify, no_wrap=not self.is_text, overflow="fold", width=self.width)

    def fitting_cells(self) -> list[str]:
        """Its cells; an id that is too long has no middle."""
        if self.name not in LOSES_ITS_MIDDLE:
            return self.cells
        return [_without_middle(cell, self.width) for cell in self.cells]


def render(rows: list[dict[str, Any]], view: RowView = ALL) -> str:
    """All ``rows``, of one kind, as one table."""
    width = wanted_width()
    kept = _kept(rows, view.is_verbose)
    columns = [Column(name, rows, name in kept) for name in view.columns or _columns(rows)]
    goes = () if view.columns else (*GOES_FIRST, *GOES_NEXT.get(rows[0]["type"], ()))
    shown = _fitting(columns, width, goes)
    title = [] if view.columns or not view.has_header or "file" not in rows[0] else [rows[0]["file"]]
    if width is not None and _needed(shown) > width:
        fields = [Field(column.name, column.cells, column.is_text) for column in columns]
        lines = [*block_lines(fields, width, not view.columns), ""]
    else:
        lines = _table_lines(shown, view.has_header, width is None)
        left_out = [column.name for column in columns if column not in shown]
        if left_out:
            lines += [*broken(f"Not shown: {', '.join(left_out)} (--columns chooses)", width), ""]
    return "".join(f"{line}\n" for line in (*title, *lines))


def _table_lines(columns: list[Column], has_header: bool, is_pipe: bool) -> list[str]:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_header=has_header)
    for column in columns:
        column.add_to(table)
    for row in zip(*(column.cells if is_pipe else column.fitting_cells() for column in columns), strict=True):
        table.add_row(*row)
    out = io.StringIO()
    plain: Any = {"force_terminal": False, "markup": False, "highlight": False, "emoji": False}
    Console(file=out, width=_needed(columns), **plain).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return lines if has_header else [line.removeprefix(" ") for line in lines[1:-1]]


def _fitting(columns: list[Column], width: int | None, goes: Sequence[str]) -> list[Column]:
    """The columns that can stand beside one another, less those that may go, as far as there is no room for them; what
    room is left is shared out, first for what most rows need: one long name is not to break all others."""
    shown = list(columns)
    if width is None:
        for column in shown:
            column.width = column.widest if column.name in NAMES_A_ROW else column.width
        width, goes = WIDTH_IN_A_PIPE, ()
    for name in goes:
        if _needed(shown) <= width:
            break
        shown = [column for column in shown if column.name != name or column.is_kept or len(shown) == 1]
    if _needed(shown) > width:
        for column in shown:
            column.width = column.narrowest
    for goal in ("usual", "widest"):
        for names_a_row in (True, False):
            growing = [column for column in shown if (column.name in NAMES_A_ROW) is names_a_row]
            while _needed(shown) < width:
                narrow = [column for column in growing if column.width < getattr(column, goal)]
                if not narrow:
                    break
                min(narrow, key=lambda column: column.width).width += 1
    return shown


def _needed(columns: list[Column]) -> int:
    return sum(column.width for column in columns) + GUTTER * (len(columns) - 1) + EDGES


def _without_middle(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text
    tail = beginning(text[::-1], width // 2)[::-1]
    return f"{beginning(text, width - width_of(tail) - 1)}…{tail}"


def _kept(rows: list[dict[str, Any]], is_verbose: bool) -> frozenset[str]:
    kind = rows[0].get("type", "")
    if_verbose = KEPT_IF_VERBOSE.get(kind, frozenset()) if is_verbose else frozenset()
    return (KEPT.get(kind, frozenset()) | if_verbose).intersection(*rows)


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """The columns that tell something, in the order of the fullest row."""
    left_out = {"type", "file"} | LEFT_OUT.get(rows[0]["type"], set())
    telling = set(_kept(rows, is_verbose=False))
    for row in rows:
        telling.update(name for name, value in row.items() if not _is_dull(name, value))
    fullest = max((list(row) for row in rows), key=len)
    ordered = sorted(telling - left_out, key=lambda name: fullest.index(name) if name in fullest else len(fullest))
    return ordered or [name for name in fullest if name not in left_out]


def _is_dull(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value is DULL_IN.get(name, False)
    return value in DULL or (name in DULL_IN and value == DULL_IN[name])


def _cell(name: str, value: Any) -> str:
    text = _text(name, value).expandtabs()
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if "timestamp" in name and isinstance(value, int):
        return _date(value)
    if isinstance(value, list | tuple):
        return ", ".join(_item(item) for item in value)
    return _object(value) if isinstance(value, dict) else str(value)


def _object(value: dict[str, Any]) -> str:
    """A control record as Kafka's words for it, names and plain values as ``name=value``, anything deeper as JSON."""
    if set(value) == {"type", "text"}:
        return str(value["text"])
    if not any(isinstance(each, list | dict) for each in value.values()):
        return ", ".join(f"{name}={_text(name, each)}" for name, each in value.items())
    import json

    return json.dumps(value, ensure_ascii=False)


def _item(item: Any) -> str:
    """A header as ``key=value``, another object as ``name=value name=value``."""
    if not isinstance(item, dict):
        return str(item)
    if "key" in item:
        return f"{item['key']}={item['value']}"
    return " ".join(f"{name}={_text(name, value)}" for name, value in item.items())


def _date(timestamp: int) -> str:
    try:
        moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{timestamp % 1000:03d}" if timestamp >= 0 else str(timestamp)
