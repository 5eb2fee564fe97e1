"""What --debug tells: where in the program an error arose that is told in one line."""

from __future__ import annotations

import os
import sys


def is_debugging() -> bool:
    """Whether --debug or KAFKAPY_DEBUG=1 was given."""
    return os.environ.get("KAFKAPY_DEBUG", "0") not in ("", "0")


def show_where() -> None:
    """Write the traceback of the error that is being handled to stderr, where that was asked for."""
    if is_debugging() and sys.exc_info()[0] is not None:
        import traceback

        traceback.print_exc()
