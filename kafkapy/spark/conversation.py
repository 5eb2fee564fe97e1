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


class Conversation(threading.Thread, Generic[T]):
    """An action, which begins at once, and what became of it; an error of Spark's comes as one of ours."""

    def __init__(self, action: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._ended = threading.Event()
        self._action = action
        self._results: list[T] = []
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Do it. What an error says is asked of the JVM too."""
        try:
            with told_plainly():
                self._results.append(self._action())
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def has_ended(self, seconds: float | None = 0) -> bool:
        """Whether it has ended, for which it has so much time."""
        return self._ended.wait(seconds)

    def result(self) -> T:
        """What comes of it, when it has ended."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]
