"""The keys of offset commits, numbered: thousands of commits have as many keys as groups have partitions.

A key gets its number when it is first met. What is no commit, or of a topic or partition that nobody asked for, is
``NOT_WANTED``; a key that is null or does not decode is ``DAMAGED``.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kafkapy.coordinator.offset_records import TYPES, OffsetKey, canonical, decode_key
from kafkapy.errors import SchemaError

NOT_WANTED = -1
DAMAGED = -2


class CommitKeys:
    """The keys of some records."""

    def __init__(self, topics: frozenset[str] | None, partitions: frozenset[int] | None) -> None:
        self._topics = topics
        self._partitions = partitions
        self._found: list[OffsetKey] = []
        self._reasons: dict[bytes, str] = {}

    def numbers(self, keys: pa.Array) -> pa.Array:
        """The number of each key."""
        encoded = keys.dictionary_encode()
        known = pa.array(map(self._number, encoded.dictionary.to_pylist()), pa.int64())
        return pc.fill_null(known.take(encoded.indices), DAMAGED)

    def columns(self, numbers: pa.Array) -> dict[str, pa.Array]:
        """The names that the keys with these numbers have."""
        names = {
            "group": pa.array([key.group_id for key in self._found], pa.string()),
            "topic": pa.array([key.partition.topic for key in self._found], pa.string()),
            "partition": pa.array([key.partition.partition for key in self._found], pa.int32()),
        }
        return {name: column.take(numbers) for name, column in names.items()}

    def reason(self, key: bytes | None) -> str:
        """Why a key is damaged."""
        return "a record without a key" if key is None else self._reasons[key]

    def _number(self, key: bytes) -> int:
        if len(key) >= 2 and key[:2] not in TYPES:
            return NOT_WANTED
        try:
            names = decode_key(key) or canonical(key, None)[1]
        except SchemaError as error:
            self._reasons[key] = str(error)
            return DAMAGED
        if not self._wants(names):
            return NOT_WANTED
        self._found.append(names)
        return len(self._found) - 1

    def _wants(self, names: OffsetKey) -> bool:
        topic, partition = names.partition
        return (self._topics is None or topic in self._topics) and (
            self._partitions is None or partition in self._partitions
        )
