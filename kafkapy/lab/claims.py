"""What a scenario says has to be the case after a step.

``expect`` are cells of a partition's table: leader, epoch, isr and elr, and for each broker leo, hw, remote-leo, state
and log. With several topics they stand below the topic's name. ``assert`` is the rest: what was acknowledged or lost,
who waits, and where consumers are. What is not named is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkapy.lab.place import Place
from kafkapy.lab.scenario import Claim, Setup
from kafkapy.lab.step_kind import Parse, brokers, names
from kafkapy.lab.view import ConsumerView, LabView, PartitionView
from kafkapy.metadata.topics_image import NO_LEADER
from kafkapy.replication.broker_state import STATES
from kafkapy.replication.fetch import UNKNOWN_OFFSET

NONE = "none"
UNKNOWN = "unknown"


def _number(what: str, place: Place, _: Setup) -> int:
    return place.integer(what)


def _leader(what: str, place: Place, _: Setup) -> int:
    return NO_LEADER if place.value == NONE else place.integer(what)


def _offset(what: str, place: Place, _: Setup) -> int | None:
    """An offset; none where there is none to know, unknown where it is not known yet."""
    if place.value == NONE:
        return None
    return UNKNOWN_OFFSET if place.value == UNKNOWN else place.integer(what)


def _state(what: str, place: Place, _: Setup) -> str:
    return place.one_of(what, STATES)


PARTITION_CELLS: dict[str, tuple[Parse, Callable[[PartitionView], Any]]] = {
    "leader": (_leader, lambda view: view.table.leader),
    "epoch": (_number, lambda view: view.table.leader_epoch),
    "isr": (brokers, lambda view: view.table.isr),
    "elr": (brokers, lambda view: view.table.elr),
}
REPLICA_CELLS: dict[str, tuple[Parse, Callable[[PartitionView, int], Any]]] = {
    "leo": (_number, lambda view, broker_id: view.row(broker_id).log_end_offset),
    "hw": (_number, lambda view, broker_id: view.row(broker_id).high_watermark),
    "remote-leo": (_offset, lambda view, broker_id: view.row(broker_id).remote_log_end_offset),
    "state": (_state, lambda view, broker_id: view.row(broker_id).state),
    "log": (names, lambda view, broker_id: tuple(each.value for each in view.logs[broker_id])),
}
CONSUMER_CELLS: dict[str, tuple[Parse, Callable[[ConsumerView], Any]]] = {
    "position": (_offset, lambda view: view.position),
    "committed": (_offset, lambda view: view.committed),
    "in-hand": (names, lambda view: view.in_hand),
    "done": (names, lambda view: view.done),
}


def _of_all(field: str) -> Callable[[LabView], tuple[Any, ...]]:
    """A field of all partitions, one behind the other."""
    return lambda view: tuple(each for partition in view.topics.values() for each in getattr(partition, field))


ASSERTIONS: dict[str, tuple[Parse, Callable[[LabView], Any]]] = {
    "acknowledged": (names, _of_all("acknowledged")),
    "lost": (names, _of_all("lost")),
    "unanswered": (names, _of_all("unanswered")),
    "purgatory": (brokers, _of_all("purgatory")),
    "controller-epoch": (_number, lambda view: view.controller_epoch),
}
CONSUMERS = "consumers"


def expectations(place: Place, setup: Setup) -> Iterator[Claim]:
    """The claims of an ``expect``."""
    if len(setup.topics) == 1:
        yield from _of_topic(next(iter(setup.topics)), place, setup)
        return
    for topic, below in place.fields("expect", list(setup.topics)).items():
        yield from _of_topic(topic, below, setup)


def assertions(place: Place, setup: Setup) -> Iterator[Claim]:
    """The claims of an ``assert``."""
    for name, field in place.fields("assert", (*ASSERTIONS, CONSUMERS)).items():
        if name == CONSUMERS:
            for consumer, cells in field.fields(CONSUMERS).items():
                yield from _of_consumer(consumer, cells, setup)
        else:
            parse, read = ASSERTIONS[name]
            yield Claim(field.line, name, parse(name, field, setup), read)


def _of_topic(topic: str, place: Place, setup: Setup) -> Iterator[Claim]:
    known = (*PARTITION_CELLS, *map(str, setup.topics[topic]))
    for name, field in place.fields("expect", known).items():
        if name in PARTITION_CELLS:
            parse, read = PARTITION_CELLS[name]
            yield Claim(field.line, f"{topic}-0 {name}", parse(name, field, setup), _in_topic(topic, read))
        else:
            yield from _of_replica(topic, int(name), field, setup)


def _of_replica(topic: str, broker_id: int, place: Place, setup: Setup) -> Iterator[Claim]:
    for name, field in place.fields(f"broker {broker_id}", REPLICA_CELLS).items():
        parse, read = REPLICA_CELLS[name]
        subject = f"{topic}-0 broker {broker_id} {name}"
        yield Claim(field.line, subject, parse(name, field, setup), _in_topic(topic, _of_broker(broker_id, read)))


def _of_consumer(consumer: str, place: Place, setup: Setup) -> Iterator[Claim]:
    for name, field in place.fields(f"consumer {consumer}", CONSUMER_CELLS).items():
        parse, read = CONSUMER_CELLS[name]
        subject = f"consumer {consumer} {name}"
        yield Claim(field.line, subject, parse(name, field, setup), _for_consumer(consumer, read))


def _in_topic(topic: str, read: Callable[[PartitionView], Any]) -> Callable[[LabView], Any]:
    return lambda view: read(view.topics[topic])


def _of_broker(broker_id: int, read: Callable[[PartitionView, int], Any]) -> Callable[[PartitionView], Any]:
    return lambda view: read(view, broker_id)


def _for_consumer(name: str, read: Callable[[ConsumerView], Any]) -> Callable[[LabView], Any]:
    return lambda view: read(view.consumers[name]) if name in view.consumers else "no such consumer"
