"""Decompressed bodies of batches in one scratch buffer, which grows up to ``MAX_WINDOW`` and is used again and again.

A body is good until the next one is asked for.
"""

from __future__ import annotations

from kafkapy.errors import CompressionError
from kafkapy.formats.compression import Codec, decompressing_reader
from kafkapy.log.window import FIRST_WINDOW, MAX_WINDOW

CODECS = tuple(Codec)


class Inflater:
    """The scratch buffer of one reader."""

    def __init__(self) -> None:
        self._scratch = bytearray(FIRST_WINDOW)

    def inflate(self, codec: int, data: memoryview) -> memoryview | None:
        """For the kernel, which leaves what does not decompress, or is too large, to somebody who looks closer."""
        try:
            return self.decompress(CODECS[codec], data)
        except CompressionError:
            return None

    def decompress(self, codec: Codec, data: memoryview) -> memoryview | None:
        """The body; None where that is more than the buffer may hold."""
        reader = decompressing_reader(codec, data)
        size = 0
        while True:
            size += reader.readinto(memoryview(self._scratch)[size:])
            if size < len(self._scratch):
                return memoryview(self._scratch)[:size]
            if size >= MAX_WINDOW:
                return None
            self._scratch = self._scratch + bytes(size)
