"""Draws a picture of a terminal, from what a real one showed.

    tmux capture-pane -e -p > capture.ansi
    python docs/pictures/draw.py capture.ansi docs/pictures/NAME.svg TITLE

Empty lines at the end are left out. The picture needs no font but the reader's own monospaced one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 80
FONT_FACES = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
FONT = re.compile(r"font-family: Fira Code, monospace")


def main(capture: str, picture: str, title: str) -> None:
    """Draw one picture."""
    screen = Path(capture).read_text("utf-8").rstrip()
    lines = screen.splitlines()
    width = max(COLUMNS, *(Text.from_ansi(line).cell_len for line in lines))
    with open("/dev/null", "w") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor")
        for line in lines:
            console.print(Text.from_ansi(line), no_wrap=True, crop=False)
    drawn = console.export_svg(title=title, unique_id=Path(picture).stem)
    Path(picture).write_text(FONT.sub("font-family: monospace", FONT_FACES.sub("", drawn)) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
