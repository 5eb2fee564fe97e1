"""Plain text in columns, for what no tool of Kafka's prints: as wide as their widest cells, two blanks between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkapy.output.cell_width import to_the_left, to_the_right, width_of

GAP = "  "


def aligned(rows: Sequence[Sequence[object]], indent: str = "", right: bool = False) -> Iterator[str]:
    """A line for each row, cells to the left or to the ``right`` of their columns; nothing stands behind the last."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*texts, strict=True)]
    place = to_the_right if right else to_the_left
    for row in texts:
        yield f"{indent}{GAP.join(map(place, row, widths))}".rstrip()
