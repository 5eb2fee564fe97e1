"""A copy of a partition's log as comparisons see it, wherever its batches come from: files, or a broker."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from kafkapy.errors import KafkapyError

if TYPE_CHECKING:
    from kafkapy.formats.transaction_index import AbortedTxn
    from kafkapy.log.batch import Batch


class DamagedCopyError(KafkapyError):
    """Damage in a copy that comes from elsewhere than a file of this machine; ``path`` is what it is there."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Cursor(Protocol):
    """A place in a copy, which moves on by batches. Every batch it gives out is whole and passes its checksum; what
    does not is a DamagedFileError or DamagedCopyError."""

    @property
    def path(self) -> str:
        """What to call the place of the batch here."""
        ...

    def position(self, batch: Batch) -> int | None:
        """Where a batch that was given out lies in that, if that is known."""
        ...

    def batch(self) -> Batch | None:
        """The batch here; None at the end."""
        ...

    def skip(self, size: int) -> None:
        """Go on behind the batch here, which has that many bytes."""
        ...

    def skip_equal(self, other: Any) -> int:
        """Move this and another place of the same kind over the batches that are the same; how many bytes these are."""
        ...

    def offset(self) -> int:
        """The offset where the next batch is to be expected."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class ComparedLog(Protocol):
    """A copy."""

    @property
    def log_start_offset(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    def cursor(self, offset: int) -> Cursor:
        """A place at the first batch that has ``offset`` or a later one."""
        ...

    def aborted_transactions(self, start: int, upper_bound: int) -> list[AbortedTxn]:
        """The aborted transactions with records in [start, upper_bound)."""
        ...
