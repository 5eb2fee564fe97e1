"""Where a printer's output goes in tests."""

from __future__ import annotations

from collections.abc import Callable


def draining(pieces: list[bytes]) -> Callable[[bytearray], None]:
    """Keeps each piece, and takes it out of where it was."""

    def drain(data: bytearray) -> None:
        pieces.append(bytes(data))
        data.clear()

    return drain
