"""The two kinds of options that commands are made of; each stands under the title of its ``panel`` in the help."""

from typing import Any

import typer


def flag(name: str, help_text: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help_text, rich_help_panel=panel)


def value(name: str, metavar: str, help_text: str, panel: str | None = None) -> Any:
    """An option with a value."""
    return typer.Option(name, metavar=metavar, help=help_text, rich_help_panel=panel)
