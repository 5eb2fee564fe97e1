"""The text of ``--help``, in which no word is broken at a hyphen: ``list-endpoints`` is a name that is copied.

Typer's own wrapping breaks there, and takes no word for it. So hyphens are hidden from it, behind a sign that is as
wide and in no help, until all is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from typer._click import HelpFormatter

_HIDDEN = "\u2011"


class OwnFormatter(HelpFormatter):
    """Writes help."""

    def write_text(self, text: str) -> None:
        """A paragraph, or several."""
        super().write_text(text.replace("-", _HIDDEN))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Terms, and what is said of each."""
        super().write_dl([(term, text.replace("-", _HIDDEN)) for term, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """What was written."""
        return super().getvalue().replace(_HIDDEN, "-")
