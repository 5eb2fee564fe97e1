"""What a kind of step is made of: how its argument and options are read from a file, and how it is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kafkapy.lab.laboratory import Laboratory
from kafkapy.lab.place import Place
from kafkapy.lab.scenario import Setup, Step

Parse = Callable[[str, Place, Setup], Any]
Play = Callable[[Laboratory, Step], str]


class StepKind(NamedTuple):
    """``argument`` None: the step is its name alone. ``topic`` is "one" where it acts on one topic, which has to be
    named if there are several, "all" where it acts on all unless one is named, and "" where topics are no matter.
    ``play`` gives the sentence that says what the step did."""

    play: Play
    argument: Parse | None = None
    options: Mapping[str, Parse] = {}
    topic: str = ""


def _broker(what: str, place: Place, setup: Setup) -> int:
    """A broker of the setup."""
    broker_id = place.integer(what)
    if broker_id not in setup.brokers:
        raise place.error(f"{what}: there is no broker {broker_id}; there are {numbers(setup.brokers)}")
    return broker_id


def brokers(what: str, place: Place, setup: Setup) -> tuple[int, ...]:
    """One broker or several, each once."""
    found: list[int] = []
    for each in place.one_or_more(what):
        broker_id = _broker(what, each, setup)
        if broker_id in found:
            raise each.error(f"{what}: broker {broker_id} is given twice")
        found.append(broker_id)
    return tuple(found)


def some_brokers(what: str, place: Place, setup: Setup) -> tuple[int, ...]:
    """Who a step is about: at least one."""
    found = brokers(what, place, setup)
    if not found:
        raise place.error(f"{what}: which brokers? There are {numbers(setup.brokers)}")
    return found


def flag(what: str, place: Place, _: Setup) -> bool:
    return place.flag(what)


def count(what: str, place: Place, _: Setup) -> int:
    return place.integer(what, least=1)


def name(what: str, place: Place, _: Setup) -> str:
    return place.text(what)


def names(what: str, place: Place, _: Setup) -> tuple[str, ...]:
    """One text or several."""
    return tuple(each.text(what) for each in place.one_or_more(what))


def numbers(values: Sequence[int]) -> str:
    """As a reader sees a list of brokers."""
    return ", ".join(map(str, values))


def words(values: Sequence[str]) -> str:
    """As a reader sees a list of records: ``m1``, ``m1 and m2``, ``m1, m2 and m3``."""
    if not values:
        return "nothing"
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
