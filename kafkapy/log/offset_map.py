"""The newest offset of each key in the part of a log that compaction looks at.

Invariant: offsets are put in order, so the last one of a key is its newest. ``latest_offset`` is how far the map
knows the log: what is newer than that is not to be judged by it. A full map ends there, and the next round goes on.

Keys of 16 bytes and more are kept as a digest of 16 bytes, as all keys are in Kafka.
"""

from __future__ import annotations

from hashlib import blake2b

DIGEST_SIZE = 16
CAPACITY = 1_000_000  # Kafka's 128 MiB hold 5 million of its slots; an entry here takes some 180 bytes
NO_OFFSET = -1


class OffsetMap:
    """Up to ``capacity`` keys."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = NO_OFFSET

    @property
    def is_full(self) -> bool:
        """Whether no more keys may be put."""
        return len(self._offsets) >= self._capacity

    def put(self, key: bytes, offset: int) -> None:
        """Note a record."""
        self._offsets[_short(key)] = offset
        self.latest_offset = offset

    def get(self, key: bytes) -> int:
        """The newest offset of a key, NO_OFFSET for one that was not met."""
        return self._offsets.get(_short(key), NO_OFFSET)


def _short(key: bytes) -> bytes:
    return key if len(key) < DIGEST_SIZE else blake2b(key, digest_size=DIGEST_SIZE).digest()
