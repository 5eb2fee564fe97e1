"""The commands of MetadataShell over an image's tree: words in, lines out.

    cat FILE...      what files hold            cd [DIR]         go to a directory, / without one
    find [PATH...]   paths and all beneath      pwd              where one is
    ls [PATH...]     names in directories       history [N]      the last N commands
    tree PATH...     names and what they hold   help, man, exit

Those on the right make sense at a prompt only, and are refused elsewhere. What is wrong with a command is one of its
lines, as in Kafka's shell; ``failed`` remembers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kafkapy.metadata.image_tree import Directory, Found, children, find_lines, resolve, tree_lines
from kafkapy.near_misses import near_miss

NARROWEST_COLUMN = 4
GUTTER = 2
ALL_HISTORY = 2**31 - 1


class Command(NamedTuple):
    """``most`` is how many arguments it takes at most, None for any number."""

    arguments: str
    least: int
    most: int | None
    description: str
    at_prompt_only: bool = False


COMMANDS = {
    "cat": Command("FILE...", 1, None, "Show what files hold."),
    "cd": Command("[DIR]", 0, 1, "Go to a directory.", True),
    "exit": Command("", 0, 0, "Leave the shell.", True),
    "find": Command("[PATH...]", 0, None, "Show the paths of nodes and of all beneath them."),
    "help": Command("", 0, 0, "Show the commands.", True),
    "history": Command("[N]", 0, 1, "Show the last commands.", True),
    "ls": Command("[PATH...]", 0, None, "List nodes."),
    "man": Command("COMMAND", 1, 1, "Show how one command is used.", True),
    "pwd": Command("", 0, 0, "Show the directory that one is in.", True),
    "tree": Command("PATH...", 1, None, "Show nodes and all beneath them as a tree."),
}


class MetadataShell:
    """A session; ``width`` is that of the terminal at which the commands are typed, None without one."""

    def __init__(self, tree: Directory, interactive: bool = False, width: int | None = None) -> None:
        self.working_directory = "/"
        self.history: list[str] = []
        self.done = False
        self.failed = False
        self.hints: list[str] = []
        self._tree = tree
        self._interactive = interactive
        self._width = width

    @property
    def commands(self) -> list[str]:
        """The commands that there are."""
        return [name for name, command in COMMANDS.items() if self._interactive or not command.at_prompt_only]

    def run(self, words: list[str]) -> Iterator[str]:
        """What a command prints."""
        if not words:
            return
        name, *arguments = words
        if name not in self.commands:
            yield self._wrong(f"invalid choice: '{name}' (choose from {', '.join(map(repr, self.commands))})")
            return
        command = COMMANDS[name]
        if len(arguments) < command.least:
            yield self._wrong("too few arguments")
        elif command.most is not None and len(arguments) > command.most:
            yield self._wrong(f"unrecognized arguments: '{' '.join(arguments[command.most :])}'")
        else:
            handler: Callable[[list[str]], Iterator[str]] = getattr(self, f"_{name}_lines")
            yield from handler(arguments)

    def complete(self, text: str) -> list[str]:
        """The paths that begin so; directories end in a slash."""
        parent, slash, start = text.rpartition("/")
        found = resolve(self._tree, parent + slash if parent or slash else ".", self.working_directory)
        return [
            f"{parent}{slash}{name}{'/' if isinstance(node, Directory) else ''}"
            for each in found
            if isinstance(each.node, Directory)
            for name, node in children(each.node, start)
        ]

    def complete_word(self, before: list[str], text: str) -> list[str]:
        """What may stand at the prompt after these words: a command, the name of one for man, or a path."""
        if not before or before == ["man"]:
            return [f"{name} " for name in self.commands if name.startswith(text)]
        paths = self.complete(text)
        return [path for path in paths if path.endswith("/")] if before[0] == "cd" else paths

    def _resolve(self, path: str) -> list[Found]:
        return resolve(self._tree, path, self.working_directory)

    def _wrong(self, line: str) -> str:
        self.failed = True
        return line

    def _missing(self, path: str, line: str) -> str:
        """That a path is not there; what was probably meant is kept for whoever runs the command."""
        parent, slash, name = path.rstrip("/").rpartition("/")
        found = near_miss(name, [each.rstrip("/").rpartition("/")[2] for each in self.complete(parent + slash)])
        if found is not None:
            self.hints.append(f"there is no '{path}'; did you mean '{parent}{slash}{found}'?")
        return self._wrong(line)

    def _cat_lines(self, paths: list[str]) -> Iterator[str]:
        for path in paths:
            found = self._resolve(path)
            if not found:
                yield self._missing(path, f"cat: {path}: No such file or directory.")
            for each in found:
                yield self._wrong(f"cat: {path}: Is a directory") if isinstance(each.node, Directory) else each.node

    def _tree_lines(self, paths: list[str]) -> Iterator[str]:
        for path in paths:
            found = self._resolve(path)
            if not found:
                yield self._missing(path, f"tree: {path}: No such file or directory.")
            for each in found:
                yield from tree_lines(each.node)

    def _find_lines(self, paths: list[str]) -> Iterator[str]:
        for path in paths or ["."]:
            found = self._resolve(path)
            if not found:
                yield self._missing(path, f"find: {path}: no such file or directory.")
            for each in found:
                yield from find_lines(each.node, path)

    def _ls_lines(self, paths: list[str]) -> Iterator[str]:
        found: list[Found] = []
        for path in paths or ["."]:
            matches = self._resolve(path)
            if not matches:
                yield self._missing(path, f"ls: {path}: no such file or directory.")
            found += matches
        files = [each.name for each in found if not isinstance(each.node, Directory)]
        yield from in_columns(files, self._width)
        directories = [(each.name, sorted(each.node.names)) for each in found if isinstance(each.node, Directory)]
        before = [""] if files else []
        for name, names in directories:
            if names and (files or len(directories) > 1):
                yield from (*before, f"{name}:")
            if names:
                yield from in_columns(names, self._width)
            before = [""]

    def _cd_lines(self, arguments: list[str]) -> Iterator[str]:
        target = arguments[0] if arguments else "/"
        found = self._resolve(target)
        if not found:
            yield self._wrong(f"cd: {target}: no such directory.")
        for each in found:
            if isinstance(each.node, Directory):
                self.working_directory = each.path
            else:
                yield self._wrong(f"cd: {target}: not a directory.")

    def _pwd_lines(self, _: list[str]) -> Iterator[str]:
        yield self.working_directory

    def _exit_lines(self, _: list[str]) -> Iterator[str]:
        self.done = True
        return iter(())

    def _history_lines(self, arguments: list[str]) -> Iterator[str]:
        count = int(arguments[0]) if arguments and arguments[0].isdecimal() else ALL_HISTORY
        first = max(0, len(self.history) - count)
        for number, line in enumerate(self.history[first:], first):
            yield f"{number:5d}  {line}"

    def _help_lines(self, _: list[str]) -> Iterator[str]:
        width = max(len(f"{name} {command.arguments}") for name, command in COMMANDS.items())
        for name, command in COMMANDS.items():
            yield f"  {f'{name} {command.arguments}':{width}}  {command.description}"

    def _man_lines(self, arguments: list[str]) -> Iterator[str]:
        name = arguments[0]
        if name not in COMMANDS:
            yield self._wrong(f"man: unknown command {name}. Type help to get a list of commands.")
            return
        yield f"{name}: {COMMANDS[name].description}"
        yield ""
        yield f"usage: {name} {COMMANDS[name].arguments}".rstrip()


def in_columns(names: list[str], width: int | None) -> Iterator[str]:
    """Names down the columns, of which there are as many as fit; one column without a terminal."""
    widths = _column_widths(names, width)
    per_column = -(-len(names) // len(widths))
    for line in range(-(-len(names) // len(widths))):
        cells = names[line::per_column]
        yield "".join(f"{cell:{size}}" for cell, size in zip(cells[:-1], widths, strict=False)) + _last(cells, widths)


def _last(cells: list[str], widths: list[int]) -> str:
    """The last cell of a line: filled up only where its column is not the last one."""
    return cells[-1] if len(cells) == len(widths) else f"{cells[-1]:{widths[len(cells) - 1]}}"


def _column_widths(names: list[str], width: int | None) -> list[int]:
    for columns in range(min((width or 0) // NARROWEST_COLUMN, len(names)), 1, -1):
        per_column = -(-len(names) // columns)
        parts = [names[start : start + per_column] for start in range(0, len(names), per_column)]
        widths = [max(map(len, part)) + GUTTER for part in parts]
        if len(parts) == columns and sum(widths) <= (width or 0):
            return widths
    return [0]
