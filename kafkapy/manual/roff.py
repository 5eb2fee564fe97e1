"""A page of the manual in roff, for ``man``.

Lines are neither justified nor hyphenated: names of configs and options are copied from them. The macros of groff turn
hyphenation on again with every heading, unless the register HY says not to.
"""

from __future__ import annotations

import re

from kafkapy import __version__
from kafkapy.folded_line import INDENT, folded
from kafkapy.manual.page import Block, Example, Heading, Page, Paragraph, Reference, Term

ROOM = 67
"""What 80 columns leave for a command line."""
_INDENTED = "\\&" + INDENT
CHARACTERS = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"})


def roff(page: Page) -> str:
    """The page."""
    lines = [
        f'.TH "{page.name.upper()}" "1" "" "kafkapy {__version__}" "kafkapy manual"',
        ".nh",
        ".nr HY 0",
        ".ad l",
        ".SH NAME",
        f"{_text(page.name)} \\- {_text(page.summary)}",
        ".SH SYNOPSIS",
        f".B {_text(page.command)}",
        _text(page.usage),
    ]
    for title, blocks in page.sections.items():
        lines += [f".SH {title}", *(line for block in blocks for line in _block(block))]
    if page.related:
        lines += [".SH SEE ALSO", ",\n".join(map(_reference, page.related))]
    return "\n".join(lines) + "\n"


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return [".PP", _text(block.text)]
    if isinstance(block, Heading):
        return [f".SS {_text(block.text)}"]
    if isinstance(block, Example):
        lines = [f"{_INDENTED}{_text(line)}" if at else _text(line) for at, line in enumerate(folded(block.line, ROOM))]
        return [".PP", _text(block.sentence), ".PP", ".RS 4", ".EX", *lines, ".EE", ".RE"]
    return [".TP", _reference(block.name) if isinstance(block, Reference) else _term(block), _text(block.text)]


def _reference(name: str) -> str:
    return f"\\fB{_text(name)}\\fR(1)"


def _term(term: Term) -> str:
    """Names in bold, a value in italics; many choices may be broken between two of them."""
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in term.names)
    value = _text(term.value).replace("|", "|\\:")
    return " ".join(filter(None, (names, f"\\fI{value}\\fR" if value else "")))


def _text(text: str) -> str:
    """Text that roff prints as it stands."""
    escaped = re.sub(r"\s+", " ", text).strip().translate(CHARACTERS)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
