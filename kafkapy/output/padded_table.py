"""The tables of Kafka's newer tools: columns as wide as their widest cell, and a tab after each, also the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each row; the first are the titles."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "".join(f"{cell:{width}}\t" for cell, width in zip(row, widths, strict=True))
