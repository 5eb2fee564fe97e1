"""How wide what is printed may be. None is as wide as it likes to be."""

from __future__ import annotations

import os
import shutil


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is."""
    return shutil.get_terminal_size().columns if os.isatty(1) else None


def wanted_width() -> int | None:
    """The same, and ``$COLUMNS`` also in a pipe: for tables, which no program reads."""
    return shutil.get_terminal_size().columns if "COLUMNS" in os.environ else terminal_width()
