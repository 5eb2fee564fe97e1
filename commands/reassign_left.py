"""What an execution leaves that ends before its plan is complete, and what to run next.

The cluster knows what was begun, but the command is needed for the rest: for the batches that were not begun, and to
remove the throttles. Whatever ended it, these lines stand before the error.
"""

from .tool_errors import warn

NEXT = (
    "next: --verify shows how far the moves are, and removes the throttles once none is under way; the same "
    "--execute continues; --cancel takes back what is under way"
)


class Stage:
    """How far an execution is: how many of its parts have begun, and how many are complete."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self.begun = 0
        self.complete = 0

    def tell(self, throttled: bool) -> None:
        """Write what is left."""
        told = [self._current(), *self._not_begun(), *(["the throttles stay set"] if throttled else [])]
        warn(f"kafkapy: {'; '.join(told)}")
        warn(f"kafkapy: {NEXT}")

    def _current(self) -> str:
        """A part that is refused may have begun all the same: the controller takes each partition for itself."""
        number = self.complete + 1
        name = "the plan" if self._parts == 1 else f"batch {number} of {self._parts}"
        if self.complete == self._parts:
            return "all reassignments are complete"
        return f"{name} is still under way" if self.begun == number else f"{name} was refused, or was started in part"

    def _not_begun(self) -> list[str]:
        first, last = self.complete + 2, self._parts
        if first > last:
            return []
        return [f"batch {first} was not started" if first == last else f"batches {first} to {last} were not started"]
