"""Every example of the help and the documentation: it can be run, ends well, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer._click import Context

from kafkapy.cli import main
from kafkapy.subcommand import Subcommand
from tests.examples.pages import LANGUAGES, Example, Page, blocks, help_pages, markdown_files, markdown_pages
from tests.examples.running import NOT_HERE, WHOLE_TOURS, enter, run_page
from tests.examples.shell import divided, words

PAGES = [*help_pages(), *markdown_pages()]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_examples_that_need_something_parse(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subcommand, "invoke", end)
    for example in (each for each in page.examples if not needs_nothing(each)):
        for stage in (stage for part in divided(words(example.line), "&&") for stage in divided(part, "|")):
            args = stage[1 : stage.index(">") if ">" in stage else None]
            if stage[:1] == ["kafkapy"]:
                assert main(args) == 0, example.line


def end(_command: Subcommand, ctx: Context) -> None:
    """In the place of what a command does, once its command line was understood."""
    ctx.exit()


@every_page
def test_examples_run(page: Page, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path / "here", world, monkeypatch)
    run_page(page, needs_nothing)


def needs_nothing(example: Example) -> bool:
    return not example.is_live and not example.is_spark


@pytest.mark.parametrize("path", markdown_files(), ids=lambda path: path.name)
def test_every_block_says_what_it_is(path: Path) -> None:
    assert {language for language, _ in blocks(path.read_text("utf-8"))} <= set(LANGUAGES)


def test_what_is_not_run_is_there() -> None:
    lines = [example.line for page in PAGES for example in page.examples]
    assert [start for start in NOT_HERE if not any(line.startswith(start) for line in lines)] == []
    assert set(WHOLE_TOURS) <= set(lines)
