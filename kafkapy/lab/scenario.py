"""A scenario: brokers and topics to begin with, the steps, and what has to be the case after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.replication.leader import ACKS_ALL

if TYPE_CHECKING:
    from kafkapy.lab.view import LabView

Read = Callable[["LabView"], Any]


class Setup(NamedTuple):
    """``topics`` are the brokers of each topic's one partition, in assignment order; ``configs`` are every topic's."""

    topics: Mapping[str, tuple[int, ...]]
    configs: Mapping[str, str]
    leader_epochs: bool = True
    eligible_leader_replicas: bool = False
    replica_lag_time_max_ms: int = 30_000
    acks: int = ACKS_ALL

    @property
    def brokers(self) -> list[int]:
        """All brokers, sorted."""
        return sorted({broker_id for replicas in self.topics.values() for broker_id in replicas})


class Claim(NamedTuple):
    """What has to be the case: ``read`` finds the value that is to be ``expected``."""

    line: int
    subject: str
    expected: Any
    read: Read


class Step(NamedTuple):
    """One step. ``action`` None only looks; ``fails`` is the name of Kafka's exception that the step must end in;
    ``text`` is the step as it is written; ``say`` are words for who watches."""

    number: int
    line: int
    action: str | None
    argument: Any
    options: Mapping[str, Any]
    text: str
    say: str = ""
    fails: str | None = None
    claims: tuple[Claim, ...] = ()

    @property
    def topic(self) -> str | None:
        """The topic that the step names."""
        return self.options.get("topic")


class Scenario(NamedTuple):
    """``location`` is the file, as errors name it."""

    location: str
    title: str
    text: str
    setup: Setup
    steps: tuple[Step, ...]
