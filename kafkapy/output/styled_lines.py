"""Lines with styles: a line is a list of pieces, each a text and the name of its style, so that the same lines are
plain in a pipe and coloured in a terminal.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kafkapy.output.printing import print_lines
from kafkapy.output.sink import ControlEscaper, Sink

STYLES = {
    "": "",
    "title": "bold",
    "step": "bold cyan",
    "command": "bold green",
    "note": "cyan",
    "changed": "bold yellow",
    "bad": "bold red",
    "dim": "dim",
}

Piece = tuple[str, str]
Line = list[Piece]


def print_styled(lines: Iterable[Line]) -> None:
    """Write lines as they come, with colour where a person looks at them."""
    if not os.isatty(1) or "NO_COLOR" in os.environ:
        sink = Sink()
        for line in lines:
            print_lines(["".join(text for text, _ in line)], sink)
        return
    from rich.console import Console
    from rich.text import Text

    console, escape = Console(highlight=False, markup=False, emoji=False), ControlEscaper()
    for line in lines:
        pieces = [(escape(text.encode()).decode(), STYLES[style]) for text, style in line]
        console.print(Text.assemble(*pieces), soft_wrap=True)
