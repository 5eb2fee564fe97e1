"""A progress bar on stderr for work that comes in tasks, of which more may turn up as it goes on."""

from __future__ import annotations

import os
import time
from typing import Any

from kafkapy.output.progress import PATIENCE_S


class TaskProgress:
    """Counts tasks. The bar appears after a second, on a terminal only, and is gone before any result is printed."""

    def __init__(self) -> None:
        self.is_enabled = os.isatty(2)
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def show(self, done: int, known: int) -> None:
        """Say how many tasks are done, and of how many."""
        if not self.is_enabled or not known or time.monotonic() - self._started < PATIENCE_S:
            return
        if self._bar is None:
            self._begin()
        self._bar.update(self._task, completed=done, total=known)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("tasks"), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()
