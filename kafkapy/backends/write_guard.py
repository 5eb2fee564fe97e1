"""What keeps a process from writing on after a write that failed half way, on a full disk or by an interrupt.

What is in memory and what is on disk may differ from then on. The files are as after a crash, and only recovery, by the
next command, puts them right; so nothing more is written, and no mark of a clean stop is left. A first Ctrl-C does not
do that to a short write: it waits until that is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.signals import HeldSignals


class WriteGuard:
    """Of one cluster directory that is open."""

    def __init__(self) -> None:
        self._broken_by: BaseException | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a write failed."""
        return self._broken_by is not None

    @contextmanager
    def short(self) -> Iterator[None]:
        """As ``whole``, for what is done in a moment: Ctrl-C waits for it."""
        with HeldSignals(), self.whole():
            yield

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What fails inside, other than by being refused, leaves files that only recovery puts right."""
        if self._broken_by is not None:
            raise KafkapyError(
                f"an earlier write failed ({cause(self._broken_by)}): nothing more is written until the next command "
                "has recovered"
            )
        try:
            yield
        except KafkaError:
            raise
        except BaseException as error:
            self._broken_by = error
            raise


def cause(error: BaseException) -> str:
    """A failure in few words, with the file where it is known."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
