"""What a page of the manual says: the same sections, in the same order, for every command."""

from __future__ import annotations

from typing import NamedTuple

from kafkapy.command_node import Node, Option

EXIT_STATUS = (
    ("0", "Done."),
    ("1", "The operation failed, and standard error says why in one line; or what was checked has problems."),
    ("2", "The command line is wrong."),
    ("130", "Interrupted."),
    ("141", "Standard output was closed by its reader."),
    ("143", "Terminated."),
)
ENVIRONMENT = (
    ("KAFKAPY_CLUSTER", "The cluster directory that is meant where no option names a cluster."),
    ("KAFKAPY_CONTEXT", "The context that is meant where neither an option nor KAFKAPY_CLUSTER names a cluster."),
    ("KAFKAPY_CONFIG", "The file of contexts and defaults; by default ~/.config/kafkapy/config.yaml."),
    ("KAFKAPY_DEBUG", "Set to 1: the same as --debug."),
    ("KAFKAPY_VERBOSE", "Set to 1: the same as --verbose."),
    ("KAFKAPY_KERNEL", "Set to plain: do without the compiled kernel."),
    ("NO_COLOR", "Set to anything: no colours."),
    ("JAVA_HOME", "The Java that Spark runs on; by default the one on PATH."),
    (
        "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME",
        "Where the files below are, in the place of ~/.config and so on.",
    ),
)
FILES = (
    ("./kafkapy-cluster", "The cluster directory that is meant by default; the first change makes it."),
    ("~/.config/kafkapy/config.yaml", "Contexts and defaults, which kafkapy config writes."),
    ("~/.local/state/kafkapy/sql_history", "What was asked at the prompt of kafkapy sql."),
    ("~/.cache/kafkapy", "What makes Spark start quicker. It can be removed at any time."),
)


class Paragraph(NamedTuple):
    """Running text."""

    text: str


class Heading(NamedTuple):
    """The title of a part of a section."""

    text: str


class Term(NamedTuple):
    """Something with its explanation: ``names`` as they are typed, then what stands for a value."""

    names: tuple[str, ...]
    value: str
    text: str


class Reference(NamedTuple):
    """Another page, and what it tells of."""

    name: str
    text: str


class Example(NamedTuple):
    """A sentence, and the command line that does it."""

    sentence: str
    line: str


Block = Paragraph | Heading | Term | Reference | Example


class Page(NamedTuple):
    """A page; ``related`` are the names of other pages."""

    name: str
    summary: str
    command: str
    usage: str
    sections: dict[str, list[Block]]
    related: tuple[str, ...]


def page_of(node: Node) -> Page:
    """The page of a command."""
    sections: dict[str, list[Block]] = {"DESCRIPTION": [Paragraph(text) for text in node.description]}
    if node.children:
        sections["COMMANDS"] = [Reference(_name(child), child.summary) for child in node.children]
    sections["OPTIONS"] = _options(node)
    sections["EXAMPLES"] = [Example(*example) for example in node.examples]
    sections["EXIT STATUS"] = [Term((code,), "", meaning) for code, meaning in EXIT_STATUS]
    sections["ENVIRONMENT"] = [Term((name,), "", meaning) for name, meaning in ENVIRONMENT]
    sections["FILES"] = [Term((name,), "", meaning) for name, meaning in FILES]
    parent = ["-".join(node.path[:-1])] if len(node.path) > 1 else []
    return Page(
        _name(node),
        node.summary.rstrip("."),
        " ".join(node.path),
        " ".join(node.command.collect_usage_pieces(node.ctx)),
        sections,
        (*map(_name, node.children), *parent),
    )


def _name(node: Node) -> str:
    return "-".join(node.path)


def _options(node: Node) -> list[Block]:
    """The options, with a heading for each group where there are several."""
    blocks: list[Block] = []
    groups = node.option_groups
    for title, group in groups.items():
        if len(groups) > 1:
            blocks.append(Heading(title))
        blocks += [_option(option) for option in group]
    return blocks


def _option(option: Option) -> Term:
    return Term(() if option.is_argument else option.names, option.metavar or "", option.help)
