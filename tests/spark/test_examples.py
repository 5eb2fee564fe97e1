"""The examples of the help and the documentation that start Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.examples.conftest import world
from tests.examples.pages import Example, Page, help_pages, markdown_pages
from tests.examples.running import enter, run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["world"]


def on_spark(example: Example) -> bool:
    return example.is_spark and not example.is_live


PAGES = [page for page in (*help_pages(), *markdown_pages()) if any(map(on_spark, page.examples))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(
    spark: SparkSession, page: Page, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path / "here", world, monkeypatch)
    run_page(page, on_spark)
