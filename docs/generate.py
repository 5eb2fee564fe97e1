"""Writes docs/reference/*.md, a page for each command and its subcommands, from the commands themselves.

    python docs/generate.py           write the pages
    python docs/generate.py --check   write nothing; exit 1 and name the pages that are not what they should be

The same tree of commands makes the man pages, so that both always say the same.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kafkapy.command_tree import Node, Option, command_tree, walk  # noqa: E402
from kafkapy.manual.page import EXIT_STATUS  # noqa: E402
from man.generate import publish  # noqa: E402

REFERENCE = ROOT / "docs" / "reference"
MARKDOWN_CHARACTERS = re.compile(r"([\\`*_\[\]<>|#~])")


def main(args: list[str]) -> int:
    """Write the pages, or check them."""
    return publish(pages(), args, sorted(REFERENCE.glob("*.md")))


def pages() -> dict[Path, str]:
    """Each page's path and text."""
    root = command_tree()
    index = {REFERENCE / "README.md": index_page(root)}
    return index | {REFERENCE / f"{node.path[-1]}.md": page(node) for node in root.children}


def index_page(root: Node) -> str:
    """The list of commands, and what holds for all of them."""
    names = [(node.path[-1], escaped(node.summary)) for node in root.children]
    commands = [f"| [kafkapy {name}]({name}.md) | {summary} |" for name, summary in names]
    codes = [f"| {code} | {escaped(meaning)} |" for code, meaning in EXIT_STATUS]
    return joined(
        [
            "# Reference",
            "",
            "What `kafkapy COMMAND --help` says, generated from the commands by `docs/generate.py`.",
            "",
            *table("command", "what it does", commands),
            "",
            "## Options of kafkapy itself",
            "",
            *options(root, 3),
            "## Exit codes",
            "",
            *table("code", "when", codes),
        ]
    )


def page(command: Node) -> str:
    """One command with everything beneath it."""
    lines = []
    for node in walk(command):
        level = len(node.path) - 1
        lines += [f"{'#' * level} {' '.join(node.path)}", "", *section(node, level + 1)]
    return joined(lines)


def section(node: Node, level: int) -> list[str]:
    """One command: how it is called, what it does, its examples and its options."""
    usage = " ".join([*node.path, *node.command.collect_usage_pieces(node.ctx)])
    lines = [line for paragraph in node.description for line in (escaped(paragraph), "")]
    lines += ["```text", usage, "```", ""]
    if node.children:
        links = [f"[{child.path[-1]}](#{'-'.join(child.path).lower()})" for child in node.children]
        lines += [f"Commands: {', '.join(links)}.", ""]
    for sentence, line in node.examples:
        lines += [escaped(sentence), "", "```text", line, "```", ""]
    return lines + options(node, level)


def options(node: Node, level: int) -> list[str]:
    """The options, a table for each group."""
    lines = []
    for title, group in node.option_groups.items():
        rows = [f"| {names(option)} | {escaped(option.help)} |" for option in group]
        lines += [*heading(title, level), *table("option", "", rows), ""]
    return lines


def heading(title: str, level: int) -> list[str]:
    """The title of a group; what it has in parentheses is a sentence below it, to keep tables of contents short."""
    short, _, rest = title.removesuffix(")").partition(" (")
    return [f"{'#' * level} {short}", "", *([f"{escaped(rest[:1].upper() + rest[1:])}.", ""] if rest else [])]


def names(option: Option) -> str:
    """An option's names, and what it takes; as HTML, since a table cannot have a bar in code in every Markdown."""
    typed = () if option.is_argument else option.names
    words = [*typed[:-1], " ".join(filter(None, (*typed[-1:], option.metavar)))]
    return ", ".join(f"<code>{html.escape(word).replace('|', '&#124;')}</code>" for word in words)


def table(left: str, right: str, rows: list[str]) -> list[str]:
    """A table of two columns."""
    return [f"| {left} | {right} |", "|---|---|", *rows]


def escaped(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return MARKDOWN_CHARACTERS.sub(r"\\\1", " ".join(text.split()))


def joined(lines: list[str]) -> str:
    """The text of a page."""
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
