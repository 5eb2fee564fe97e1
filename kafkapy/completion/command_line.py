"""The words of a command line that is not finished: options with their values, and the cluster that they name.

Words come without quotes and with nothing expanded, so ``~`` and variables in paths are expanded here. The last one is
what is being typed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection

LONGEST_WAIT_MS = 1500


class CommandLine:
    """What stands before the word that is being typed, and that word."""

    def __init__(self, words: Sequence[str]) -> None:
        *self._before, self.typed = words or ("",)
        self._values: dict[str, str] = {}
        for word, following in pairwise([*self._before, ""]):
            name, equals, value = word.partition("=")
            if name.startswith("-"):
                self._values[name.lstrip("-")] = value if equals else "" if following.startswith("--") else following

    def value(self, option: str) -> str | None:
        """The value of an option, by its name without dashes; None where it was not given, or no value with it."""
        return self._values.get(option) or None

    def gives(self, option: str) -> bool:
        """Whether the option stands there."""
        return option in self._values

    def paths(self, option: str) -> list[str]:
        """The paths that an option lists."""
        return [_expanded(path) for path in (self.value(option) or "").split(",") if path]

    def path(self, option: str) -> str | None:
        """The path that an option has; None where it was not given."""
        path = self.value(option)
        return None if path is None else _expanded(path)

    def has_one_of(self, words: Collection[str]) -> bool:
        """Whether one of these words stands there."""
        return not set(words).isdisjoint(self._before)

    def arguments(self) -> set[str]:
        """The words behind the command that stand there without an option, where one without an option is typed."""
        if not self._before or self._before[-1].startswith("-"):
            return set()
        return {word for option, word in pairwise(self._before) if not (option.startswith("-") or word.startswith("-"))}

    def command(self, known: Collection[str]) -> str:
        """Which of these commands it is, each by all of its words; nothing where it is none of them."""
        found = ""
        for word in self._before:
            longer = f"{found} {word}".lstrip()
            if any(f"{each} ".startswith(f"{longer} ") for each in known):
                found = longer
        return found if found in known else ""

    def selection(self) -> Selection:
        """The cluster that the line, or else the environment or a context names."""
        from kafkapy.backends.selection import Selection
        from kafkapy.contexts.config_file import COMMAND_CONFIG, KINDS
        from kafkapy.contexts.resolution import Typed, options_of_context

        options = {f"--{name}": value for name, value in self._values.items()}
        typed = Typed(self.value("context"), any(map(self.value, KINDS)), options)
        added = options_of_context({f"--{name}": () for name in (*KINDS, COMMAND_CONFIG)}, True, typed)
        line = CommandLine([*added.words, ""])
        line._values.update(self._values)
        return Selection(
            line.path("cluster"),
            tuple(line.paths("log-dirs")),
            line.value("bootstrap-server"),
            line.path("command-config"),
            line.value("bootstrap-controller"),
            LONGEST_WAIT_MS,
        )


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))
