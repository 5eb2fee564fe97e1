"""The examples: those of each command's help, and the shell's blocks of each Markdown page.

A page is run from its top to its end, as a reader would. In Markdown the language of a block says what it is:

``sh``       a command a line
``console``  a command after each ``$``, and under it what it prints; ``...`` stands for lines, or a part of one
others       no commands: ``text`` is what something prints
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkapy.command_tree import command_tree, walk

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = ("sh", "console", "text", "sql", "python", "yaml", "json", "properties")
BLOCK = re.compile(r"^```(.*)\n((?s:.*?))^```$", re.MULTILINE)
ONLY_TELLING = ("--tables", "--help")
ASKS_SERVERS = re.compile(r"\bkafkapy (?!config\b).*--bootstrap-")
COMMENT = re.compile(r"\s+# .*$")


@dataclass(frozen=True)
class Example:
    """A command line, and what it prints where that is told."""

    line: str
    printed: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether it asks a running cluster; neither a context that is given a name nor a shim of a directory does."""
        return ASKS_SERVERS.search(self.line) is not None

    @property
    def is_spark(self) -> bool:
        """Whether it starts Spark."""
        asks = "kafkapy sql" in self.line and not any(each in self.line for each in ONLY_TELLING)
        return "--engine spark" in self.line or asks


@dataclass(frozen=True)
class Page:
    """A page's examples in their order."""

    name: str
    examples: tuple[Example, ...]


def help_pages() -> list[Page]:
    """A page for each command."""
    return [
        Page(" ".join(node.path), tuple(Example(line) for _, line in node.examples)) for node in walk(command_tree())
    ]


def markdown_files() -> list[Path]:
    """All pages that are written by hand."""
    guides = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "guides").glob("*.md"))
    return [*sorted(ROOT.glob("*.md")), *guides]


def markdown_pages() -> list[Page]:
    """A page for each file that has examples."""
    pages = [Page(str(path.relative_to(ROOT)), tuple(_examples(path.read_text("utf-8")))) for path in markdown_files()]
    return [page for page in pages if page.examples]


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and the lines of each fenced block."""
    return BLOCK.findall(text)


def _examples(text: str) -> Iterator[Example]:
    for language, body in blocks(text):
        if language == "sh":
            yield from (Example(COMMENT.sub("", line)) for line in body.splitlines() if line)
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                line, _, printed = part.partition("\n")
                yield Example(line, printed)
