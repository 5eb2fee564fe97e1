"""What a simulated broker does: it runs, runs without fetching, or is gone.

running   leads, follows, fetches
lagging   is alive and may lead, but its fetchers stand still: it leaves the ISR after replica.lag.time.max.ms
stopped   went by a controlled stop: its leaders moved first, its log dirs bear the mark of a clean stop
killed    went as in a crash: without that mark, perhaps without what it had not flushed
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

RUNNING = "running"
LAGGING = "lagging"
STOPPED = "stopped"
KILLED = "killed"
STATES = (RUNNING, LAGGING, STOPPED, KILLED)


class BrokerState(NamedTuple):
    """``since`` is the simulated time, in ms, from which on it is so."""

    state: str = RUNNING
    since: int = 0

    @property
    def is_alive(self) -> bool:
        """Whether the broker can lead."""
        return self.state in (RUNNING, LAGGING)


class BrokerStates:
    """Who runs; brokers that ``states`` does not name do. ``alive`` can lead, ``fetching`` also fetch."""

    def __init__(self, brokers: Collection[int], states: Mapping[int, BrokerState] | None = None) -> None:
        self._states = {broker_id: BrokerState() for broker_id in brokers} | dict(states or {})
        self.known = frozenset(self._states)
        self._count()

    def __getitem__(self, broker_id: int) -> BrokerState:
        return self._states[broker_id]

    def set(self, broker_id: int, state: str, now: int) -> None:
        """From now on."""
        self._states[broker_id] = BrokerState(state, now)
        self._count()

    @property
    def lagging(self) -> frozenset[int]:
        """The brokers that are alive and do not fetch."""
        return self.alive - self.fetching

    def _count(self) -> None:
        self.alive = frozenset(each for each, state in self._states.items() if state.is_alive)
        self.fetching = frozenset(each for each, state in self._states.items() if state.state == RUNNING)
