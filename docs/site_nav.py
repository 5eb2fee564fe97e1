"""A hook of mkdocs: the pages of the reference, which are generated, in the site's navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

REFERENCE = "Reference"


def on_config(config: Any) -> Any:
    """Put all pages below the entry that names the reference's directory."""
    directory = Path(config["docs_dir"]) / "reference"
    pages = sorted(page.stem for page in directory.glob("*.md") if page.stem != "README")
    entry = next(each for each in config["nav"] if REFERENCE in each)
    entry[REFERENCE] = ["reference/README.md", *({page: f"reference/{page}.md"} for page in pages)]
    return config
