"""What was probably meant by a name that is not there: the end of an error that names it.

A number that is not there is like no other, so of brokers and partitions it is told which there are. Kafka's own lines
are never changed: beside one of those, the hint is a line of its own on stderr that begins with ``kafkapy: ``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from kafkapy.errors import KafkapyError

SIMILAR = 0.6
VERY_SIMILAR = 0.75
"""For names that users give, of which many are a little alike."""
MANY = 2000
SLIP = 3
SHOWN = 20
"""How many numbers are told one by one."""

Error = TypeVar("Error", bound=KafkapyError)


class Topic(Protocol):
    """What has partitions."""

    @property
    def partitions(self) -> Mapping[int, object]: ...


def near_miss(name: str, known: Iterable[str], similarity: float = SIMILAR) -> str | None:
    """The one of ``known`` that is most like a name, but for upper and lower case; None where none is much like it."""
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in sorted(known, reverse=True)}
    like = by_lower if len(by_lower) <= MANY else _with_one_slip(name.lower(), by_lower)
    found = get_close_matches(name.lower(), like, 1, similarity)
    return by_lower[found[0]] if found else None


def _with_one_slip(name: str, known: Iterable[str]) -> list[str]:
    """Those that differ from a name in one place only, by a few characters: to compare all of very many in every way
    would keep a user waiting for the error."""
    found = []
    for each in known:
        longest, shortest = max(len(name), len(each)), min(len(name), len(each))
        if longest - shortest <= SLIP:
            head = next((at for at in range(shortest) if name[at] != each[at]), shortest)
            tail = next((at for at in range(shortest - head) if name[-1 - at] != each[-1 - at]), shortest - head)
            if longest - head - tail <= SLIP:
                found.append(each)
    return found


def did_you_mean(name: str, known: Iterable[str], similarity: float = SIMILAR) -> str:
    """What to append to an error about a name, or nothing."""
    found = near_miss(name, known, similarity)
    return "" if found is None else f"; did you mean '{found}'?"


def did_you_mean_path(path: str) -> str:
    """What to append to an error about a path that is not there: the same with another last name. One that differs in
    its number only, as broker-3 from broker-9, is no slip."""
    import os

    directory, name = os.path.split(path.rstrip("/"))
    try:
        known = os.listdir(directory or ".")
    except OSError:
        return ""
    found = near_miss(name, (each for each in known if _letters(each) != _letters(name)), VERY_SIMILAR)
    return "" if found is None else f"; did you mean '{os.path.join(directory, found)}'?"


def missing(what: str, name: str, known: Iterable[str]) -> str:
    """That there is no such thing, in kafkapy's own words."""
    return f"there is no {what} '{name}'{did_you_mean(name, known, VERY_SIMILAR)}"


def hint(what: str, name: str, known: Iterable[str]) -> str | None:
    """A line to stand beside Kafka's about a name; None where it is there, or like no other."""
    names = list(known)
    found = None if name in names else near_miss(name, names, VERY_SIMILAR)
    return None if found is None else f"there is no {what} '{name}'; did you mean '{found}'?"


def hinting(error: Error, what: str, name: str, known: Iterable[str]) -> Error:
    """An error in Kafka's words, with what was probably meant beside it."""
    error.hint = hint(what, name, known)
    return error


def missing_number(what: str, number: object, known: Iterable[int]) -> str:
    """That there is no such broker or partition, and which there are."""
    numbers = sorted(known)
    return f"there is no {what} {number}; there {'are' if len(numbers) > 1 else 'is'} {listed(numbers)}"


def hinting_number(error: Error, what: str, number: int, known: Iterable[int]) -> Error:
    """An error in Kafka's words, with the numbers that there are beside it."""
    numbers = sorted(known)
    if numbers and number not in numbers:
        error.hint = missing_number(what, number, numbers)
    return error


def partition_hint(topic: str, partition: int, topics: Mapping[str, Topic]) -> str | None:
    """A line about a partition that is not there, since there is no such topic, or it has others; else None."""
    if topic not in topics:
        return hint("topic", topic, topics)
    known = topics[topic].partitions
    return None if partition in known else missing_number("partition", f"{topic}-{partition}", known)


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdecimal())


def listed(known: Iterable[int]) -> str:
    """Numbers in words: all while they are few, else the first and the last, or how many more there are."""
    numbers = sorted(known)
    if len(numbers) > SHOWN and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"{', '.join(map(str, numbers[:SHOWN])) or 'none'}{more}"
