"""A command with its options and subcommands: what man pages, completions and the reference are made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typer._click import Command, Context, Parameter
from typer.core import TyperGroup

from kafkapy.subcommand import first_sentence, option_groups
from kafkapy.value_kind import ValueKind, choices, file_suffix, takes_directories, takes_files, value_kind


@dataclass(frozen=True)
class Node:
    """One command: ``path`` is how it is called, such as ("kafkapy", "dump-log")."""

    path: tuple[str, ...]
    command: Command
    ctx: Context
    children: tuple[Node, ...]

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return first_sentence(self.command)

    @property
    def description(self) -> list[str]:
        """The paragraphs of the help, each as one line."""
        return [" ".join(part.split()) for part in (self.command.help or "").strip().split("\n\n")]

    @property
    def examples(self) -> list[tuple[str, str]]:
        """The epilog's examples: a sentence and a command line each."""
        lines = [line.strip() for line in (self.command.epilog or "").splitlines()[1:] if line]
        return list(zip(lines[::2], lines[1::2], strict=True))

    @property
    def option_groups(self) -> dict[str, list[Option]]:
        """The visible options under the titles of their groups."""
        groups = option_groups(self.command, self.ctx)
        return {title: [_option(param, self.ctx) for param in params] for title, params in groups.items()}

    @property
    def options(self) -> list[Option]:
        """The visible options."""
        return [option for group in self.option_groups.values() for option in group if not option.is_argument]

    @property
    def arguments(self) -> list[Option]:
        """What stands without the name of an option, also where the help tells of it elsewhere."""
        return [_option(param, self.ctx) for param in self.command.params if param.param_type_name == "argument"]


@dataclass(frozen=True)
class Option:
    """One option, or argument, as a reader and a shell see it; ``metavar`` is None for a flag."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    choices: tuple[str, ...]
    repeatable: bool
    is_argument: bool

    @property
    def summary(self) -> str:
        """The first sentence of the help."""
        return self.help.partition("  [")[0].partition(". ")[0].partition(": ")[0].rstrip(".")

    @property
    def takes_files(self) -> bool:
        """Whether the value is a path or a list of them."""
        return self.metavar is not None and takes_files(self.metavar)

    @property
    def takes_directories(self) -> bool:
        """Whether only directories will do."""
        return self.metavar is not None and takes_directories(self.metavar)

    @property
    def file_suffix(self) -> str:
        """How the names of the files end that are meant."""
        return file_suffix(self.metavar or "")

    @property
    def is_list(self) -> bool:
        """Whether the value may be several with commas."""
        return "," in (self.metavar or "")

    @property
    def value_kind(self) -> ValueKind | None:
        """The names that the value is one of, where a cluster or kafkapy knows them."""
        return None if self.metavar is None else value_kind(self.metavar)

    @property
    def is_optional(self) -> bool:
        """Whether the option's value may be left out."""
        return self.metavar is not None and self.metavar.startswith("[") and not self.is_argument


def walk(node: Node) -> Iterator[Node]:
    """A node and all beneath it, parents first."""
    yield node
    for child in node.children:
        yield from walk(child)


def node_of(path: tuple[str, ...], command: Command, parent: Context | None) -> Node:
    """A command and all beneath it, imported; ``path`` is how it is called."""
    ctx = Context(command, info_name=path[-1], parent=parent)
    children = []
    if isinstance(command, TyperGroup):
        for name in command.list_commands(ctx):
            child = command.get_command(ctx, name)
            if child is not None and not child.hidden:
                children.append(node_of((*path, name), child, ctx))
    return Node(path, command, ctx, tuple(children))


def _option(param: Parameter, ctx: Context) -> Option:
    record = param.get_help_record(ctx)
    metavar = None if getattr(param, "is_flag", False) else param.make_metavar(ctx=ctx)
    return Option(
        names=(*param.opts, *param.secondary_opts),
        metavar=metavar,
        help=record[1] if record else "",
        choices=tuple(getattr(param.type, "choices", ())) or choices(metavar or ""),
        repeatable=getattr(param, "multiple", False),
        is_argument=param.param_type_name == "argument",
    )
