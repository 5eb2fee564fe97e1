"""Members that come and go while a group consumes: ``join@100``, ``leave:2@200``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.errors import UsageError


class Event(NamedTuple):
    """``leaves`` is the number of the member that leaves after so many records; None: a new one joins."""

    after: int
    leaves: int | None = None

    def __str__(self) -> str:
        return f"join@{self.after}" if self.leaves is None else f"leave:{self.leaves}@{self.after}"


def parse_events(texts: Iterable[str], members: int) -> list[Event]:
    """In the order of when; a member can only leave that is there."""
    events = sorted((_parse(text) for text in texts), key=lambda event: event.after)
    present, number = set(range(1, members + 1)), members
    for event in events:
        if event.leaves is None:
            number += 1
            present.add(number)
        elif event.leaves not in present:
            raise UsageError(
                f"{event}: there is no member {event.leaves} at that point; members are numbered in the order in "
                "which they join"
            )
        else:
            present.remove(event.leaves)
    return events


def _parse(text: str) -> Event:
    what, _, after = text.partition("@")
    name, _, number = what.partition(":")
    is_join = what == "join"
    is_leave = name == "leave" and number.isascii() and number.isdigit()
    if not (is_join or is_leave) or not (after.isascii() and after.isdigit()):
        raise UsageError(
            f"'{text}' is not an event: write join@100 or leave:2@200, where the last number says how many records "
            "come before it"
        )
    return Event(int(after), None if is_join else int(number))
