"""The words of a command line that is not finished: options with their values, and the cluster that they name.

Words come without quotes and with nothing expanded, so ``~`` and variables in paths are expanded here. The last one is
what is being typed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection

LONGEST_WAIT_MS = 1500


class CommandLine:
    """What stands before the word that is being typed, and that word."""

    def __init__(self, words: Sequence[str]) -> None:
        *before, self.typed = words or ("",)
        self._values: dict[str, str] = {}
        for position, word in enumerate(before):
            name, equals, value = word.partition("=")
            if name.startswith("-"):
                following = before[position + 1 :][:1]
                self._values[name.lstrip("-")] = value if equals else following[0] if following else ""

    def value(self, option: str) -> str | None:
        """The value of an option, by its name without dashes; None where it was not given, or no value with it."""
        return self._values.get(option) or None

    def gives(self, option: str) -> bool:
        """Whether the option stands there."""
        return option in self._values

    def selection(self) -> Selection:
        """The cluster that the line, or else the environment or a context names."""
        from kafkapy.backends.selection import Selection
        from kafkapy.contexts.config_file import COMMAND_CONFIG, KINDS
        from kafkapy.contexts.resolution import Typed, options_of_context

        typed = Typed(self.value("context"), any(map(self.value, KINDS)), [f"--{name}" for name in self._values])
        added = options_of_context({f"--{name}": () for name in (*KINDS, COMMAND_CONFIG)}, True, typed)
        line = CommandLine([*added.words, ""])
        line._values.update(self._values)
        log_dirs = line.value("log-dirs") or ""
        return Selection(
            line._path("cluster"),
            tuple(_expanded(path) for path in log_dirs.split(",") if path),
            line.value("bootstrap-server"),
            line._path("command-config"),
            line.value("bootstrap-controller"),
            LONGEST_WAIT_MS,
        )

    def _path(self, option: str) -> str | None:
        path = self.value(option)
        return None if path is None else _expanded(path)


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))
