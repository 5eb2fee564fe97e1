"""What is said to Spark's JVM, in a thread of its own.

Signals are handled in the main thread, wherever it stands. In the middle of a call to the JVM an interrupt would leave
the answer in the socket, and the next call would take it for its own. So the main thread says nothing itself: it waits
for a thread that does, and an interrupt finds it waiting. Py4J has a connection for each thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from kafkapy.spark.errors import told_plainly

T = TypeVar("T")

_WAIT_SECONDS = 0.2


class Conversation(threading.Thread, Generic[T]):
    """An action, and what became of it; an error of Spark's comes as one of ours."""

    def __init__(self, action: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._action = action
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._is_over = False
        # An event would not do: an interrupt of its wait may leave it locked, so that it cannot be set any more.
        self._going_on = threading.Lock()
        self._going_on.acquire()

    def run(self) -> None:
        """Do it. What an error says is asked of the JVM too."""
        try:
            with told_plainly():
                self._results.append(self._action())
        except BaseException as error:
            self._error = error
        finally:
            self._is_over = True
            self._going_on.release()

    def has_ended(self, seconds: float = 0) -> bool:
        """Whether it has ended, for which it has so much time."""
        if not self._is_over and self._going_on.acquire(timeout=seconds):
            self._going_on.release()
        return self._is_over

    def result(self) -> T:
        """What comes of it, when it has ended."""
        while not self.has_ended(_WAIT_SECONDS):
            continue  # a signal that came just before a wait is noticed after it
        if self._error is not None:
            raise self._error
        return self._results[0]
