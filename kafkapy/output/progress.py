"""A progress bar on stderr for work that turns out to be long, and only where a person can see it."""

from __future__ import annotations

import os
import time
from typing import Any

PATIENCE_S = 1.0


class Progress:
    """Counts bytes. The bar appears after a second, on a terminal that the output itself does not go to; never where
    there are none to count, nor where the work is ``hidden``, being part of what another bar counts."""

    def __init__(self, total: int, quiet_stdout: bool = False, hidden: bool = False) -> None:
        self._total = total
        self._done = 0
        self._bar: Any = None
        self._task: Any = None
        self._enabled = total > 0 and not hidden and os.isatty(2) and (quiet_stdout or not os.isatty(1))
        self._started = time.monotonic()

    def advance(self, amount: int) -> None:
        """Say that ``amount`` more bytes are done."""
        if not self._enabled:
            return
        self._done += amount
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE_S:
                return
            self._show()
        self._bar.update(self._task, completed=self._done)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=self._total)
        self._bar.start()
