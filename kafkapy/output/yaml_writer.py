"""Rows as one YAML document, the same as that of ``--output json``: a version, and a list to which a row can be added.

    schema_version: 1
    rows:
    - type: partition
      topic: orders
      replicas: [1, 2, 3]

A text is plain only where every version of YAML reads it as that text; any other is in double quotes, with all that
cannot be printed escaped. So ``no``, ``1e3``, ``0o17``, ``12:30`` and ``2026-01-31`` stay texts. After a crash what was
written is a document with the rows so far, the last of which may lack fields.
"""

from __future__ import annotations

import re
from typing import Any

from kafkapy.errors import Unsupported
from kafkapy.output.row_writer import SCHEMA_VERSION
from kafkapy.output.sink import Buffer, Sink

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+(-][A-Za-z0-9_./@+()-]*)*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class YamlDocument:
    """One document; its head is written with the first row, or at the end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._is_begun = False

    def row(self, row: dict[str, Any]) -> None:
        lines = [f"{text(name)}: {flow(value)}" for name, value in row.items()]
        head = "" if self._is_begun else f"schema_version: {SCHEMA_VERSION}\nrows:\n"
        self._is_begun = True
        self._sink.write((head + "- " + "\n  ".join(lines) + "\n").encode("utf-8", "replace"))

    def write_rows(self, data: Buffer) -> None:
        raise Unsupported("writing encoded rows", "YAML output", "write rows")

    def finish(self, is_cut_short: bool = False) -> None:
        if not self._is_begun:
            self._sink.write(f"schema_version: {SCHEMA_VERSION}\nrows: []\n".encode())
            self._is_begun = True


def flow(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{text(str(name))}: {flow(item)}' for name, item in value.items())}}}"
    return str(value) if isinstance(value, int) else text(str(value))


def text(value: str) -> str:
    """A text, in quotes where it could be taken for something else."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(_ESCAPED.get(c) or (c if c.isprintable() else _escape(c)) for c in value)}"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _number(value: float) -> str:
    """YAML 1.1 takes a number with an exponent only where it has a point."""
    digits = repr(value)
    if digits.lstrip("-") in ("inf", "nan"):
        return digits.replace("inf", ".inf").replace("nan", ".nan")
    return digits if "." in digits else digits.replace("e", ".0e")
