"""The transaction index of a segment: ``%020d.txnindex``, the aborted transactions whose marker is in the segment.

| at | size | field            |                                                                             |
|----|------|------------------|-----------------------------------------------------------------------------|
| 0  | 2    | version          | 0                                                                           |
| 2  | 8    | producerId       |                                                                             |
| 10 | 8    | firstOffset      | of the transaction, perhaps in an earlier segment                           |
| 18 | 8    | lastOffset       | of its abort marker                                                         |
| 26 | 8    | lastStableOffset | first offset of the next transaction still open then, else lastOffset + 1   |

Invariant: lastOffset strictly increases. The file is made with its first entry, never preallocated, so most segments
have none.

After a crash it is rebuilt with the producer state. Bytes after the last whole entry are ignored, as Kafka does.

Kafka 4.3.1 reads the version as the **first byte** of its two, signed: 00 01 passes as version 0, ff 00 as version -1
(both read on), 01 00 is refused as version 1.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import CorruptIndexError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kafkapy.formats.abstract_index import ReadableBuffer

CURRENT_VERSION = 0

_READ = Struct(">bxqqqq")
_WRITE = Struct(">hqqqq")


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    version: int = CURRENT_VERSION

    def __str__(self) -> str:
        return (
            f"AbortedTxn(version={self.version}, producerId={self.producer_id}, firstOffset={self.first_offset}, "
            f"lastOffset={self.last_offset}, lastStableOffset={self.last_stable_offset})"
        )


class TransactionIndex:
    """A read-only view of a transaction index file's bytes; ``location`` is the path that errors name."""

    def __init__(self, base_offset: int, buffer: ReadableBuffer, location: str) -> None:
        self.base_offset = base_offset
        self.buffer = buffer
        self.location = location

    def __iter__(self) -> Iterator[AbortedTxn]:
        for at in range(0, len(self.buffer) - _READ.size + 1, _READ.size):
            version, producer_id, first_offset, last_offset, last_stable_offset = _READ.unpack_from(self.buffer, at)
            if version > CURRENT_VERSION:
                raise CorruptIndexError(
                    f"Unexpected aborted transaction version {version} in transaction index {self.location}, "
                    f"current version is {CURRENT_VERSION}"
                )
            yield AbortedTxn(producer_id, first_offset, last_offset, last_stable_offset, version)

    def all_aborted_txns(self) -> list[AbortedTxn]:
        """Every entry, or an error: a bad entry hides the good ones before it, as in Kafka."""
        return list(self)

    def collect_aborted_txns(self, fetch_offset: int, upper_bound_offset: int) -> tuple[list[AbortedTxn], bool]:
        """The transactions that overlap [fetch_offset, upper_bound_offset), and whether the search is complete.

        It is complete once an entry's last stable offset reaches the bound: any transaction aborted later began after
        it. Otherwise the caller goes on with the next segment's index.
        """
        found: list[AbortedTxn] = []
        for txn in self:
            if txn.last_offset >= fetch_offset and txn.first_offset < upper_bound_offset:
                found.append(txn)
            if txn.last_stable_offset >= upper_bound_offset:
                return found, True
        return found, False

    def sanity_check(self) -> None:
        """Raise what Kafka raises on load, when it decides to rebuild the index."""
        for txn in self:
            if txn.last_offset < self.base_offset:
                raise CorruptIndexError(
                    f"Last offset of aborted transaction {txn} in index {self.location} is less than start offset "
                    f"{self.base_offset}"
                )


def encode(txns: Iterable[AbortedTxn]) -> bytes:
    """The bytes of the entries, always at the current version."""
    return b"".join(_WRITE.pack(CURRENT_VERSION, *txn[:4]) for txn in txns)
