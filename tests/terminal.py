"""A program that runs to its end on a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path


def shown_on_terminal(
    args: Sequence[str], root: Path, environment: Mapping[str, str], width: int = 80, height: int = 50
) -> bytes:
    """What a terminal of that size gets to see; stderr is that terminal, too. The program has to succeed."""
    mine, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (height, width))
    process = subprocess.Popen(args, cwd=root, stdout=theirs, stderr=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(mine, 65536):
            shown += chunk
    except OSError:
        pass  # Linux says so when the last one closes the other end
    finally:
        os.close(mine)
    assert process.wait() == 0
    return shown.replace(b"\r\n", b"\n")
