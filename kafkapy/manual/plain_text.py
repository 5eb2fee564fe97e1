"""A page of the manual as plain text, laid out as ``man`` would."""

from __future__ import annotations

from collections.abc import Iterator

from kafkapy.folded_line import folded
from kafkapy.manual.page import Block, Example, Heading, Page, Paragraph, Reference, Term

INDENT = 7
HALF = 3
MARGIN = " " * (INDENT + 4)


def plain_text(page: Page, width: int) -> Iterator[str]:
    """The lines of a page."""
    yield "NAME"
    yield from _wrapped(f"{page.name} - {page.summary}", width, INDENT)
    yield from ("", "SYNOPSIS")
    yield from _wrapped(f"{page.command} {page.usage}".rstrip(), width, INDENT)
    for title, blocks in page.sections.items():
        yield from ("", title)
        for number, block in enumerate(blocks):
            if number and not isinstance(blocks[number - 1], Heading):
                yield ""
            yield from _block(block, width)
    if page.related:
        yield from ("", "SEE ALSO")
        yield from _wrapped(", ".join(f"{name}(1)" for name in page.related), width, INDENT)


def _block(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Heading):
        yield from _wrapped(block.text, width, HALF)
    elif isinstance(block, Paragraph):
        yield from _wrapped(block.text, width, INDENT)
    elif isinstance(block, Example):
        yield from _wrapped(block.sentence, width, INDENT)
        yield from (f"{MARGIN}{line}" for line in folded(block.line, width - len(MARGIN)))
    else:
        yield from _wrapped(f"{block.name}(1)" if isinstance(block, Reference) else _term(block), width, INDENT)
        yield from _wrapped(block.text, width, 2 * INDENT)


def _term(term: Term) -> str:
    return " ".join(filter(None, (", ".join(term.names), term.value)))


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    from textwrap import wrap

    margin = " " * indent
    return wrap(
        text,
        max(width, 3 * INDENT),
        initial_indent=margin,
        subsequent_indent=margin,
        break_on_hyphens=False,
        break_long_words=False,
    )
