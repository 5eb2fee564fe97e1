"""A partition's table by arithmetic alone: lists for logs, the rules of Kafka's replication, and nothing of kafkapy's.

A second opinion on the tables of the scenarios. It knows what these need and no more: time stands still, there is no
ELR, who can join the ISR does so at once, and only followers restart unnoticed.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, NamedTuple

NOBODY = -1
UNKNOWN = -1


class Entry(NamedTuple):
    """A record of a log; ``batch`` is what an idempotent producer would know it by, None of others."""

    epoch: int
    value: str
    batch: int | None


class Answer(NamedTuple):
    """To a FETCH."""

    records: list[Entry]
    high_watermark: int


class Arithmetic:
    """One partition. ``remote`` is what the leader knows of the log ends of others, ``flushed`` what disks have."""

    def __init__(self, replicas: tuple[int, ...], min_isr: int, leader_epochs: bool) -> None:
        self.replicas = replicas
        self.leader, self.epoch, self.isr = replicas[0], 0, replicas
        self.min_isr = min_isr
        self.leader_epochs = leader_epochs
        self.logs: dict[int, list[Entry]] = {broker: [] for broker in replicas}
        self.high_watermark = dict.fromkeys(replicas, 0)
        self.flushed = dict.fromkeys(replicas, 0)
        self.remote = dict.fromkeys(replicas[1:], 0)
        self.epoch_start = 0
        self.down: dict[int, str] = {}
        self.waiting: list[int] = []
        self.answers: dict[int, Answer] = {}

    def cells(self) -> dict[str, Any]:
        """The table, by the names that scenarios give to its cells."""
        found: dict[str, Any] = {"leader": self.leader, "epoch": self.epoch, "isr": self.isr}
        for broker in self.replicas:
            is_remote = self.leader not in (NOBODY, broker)
            found[f"broker {broker} leo"] = self._end(broker)
            found[f"broker {broker} hw"] = self.high_watermark[broker]
            found[f"broker {broker} remote-leo"] = self.remote.get(broker, UNKNOWN) if is_remote else None
            found[f"broker {broker} log"] = tuple(each.value for each in self.logs[broker])
            found[f"broker {broker} state"] = self.down.get(broker, "running")
        return found

    # ---- producers

    def produce(self, values: tuple[str, ...], acks: int, batch: int | None) -> None:
        if self.leader == NOBODY or (acks == -1 and len(self.isr) < self.min_isr):
            return
        log = self.logs[self.leader]
        if batch is None or batch not in [each.batch for each in log]:
            log += [Entry(self.epoch, value, batch) for value in values]
        self._raise_high_watermark()
        for broker in self.waiting:
            self.answers[broker] = Answer(log[self._end(broker) :], self.high_watermark[self.leader])
            self.respond(broker)
        self.waiting = []

    # ---- followers

    def fetch(self, broker: int, wait: bool = False) -> None:
        self.request(broker)
        if wait and not self.answers[broker].records:
            self.waiting.append(broker)
        else:
            self.respond(broker)

    def request(self, broker: int) -> None:
        """The offset that is asked for is where the follower's log ends. Records are read, with the high watermark of
        that moment, before the leader makes anything of the offset; an answer without any leaves later."""
        end = self._end(self.leader)
        if self._end(broker) > end:
            self._truncate(broker, end)  # out of range; it asks again
        offset = self._end(broker)
        records, before = self.logs[self.leader][offset:], self.high_watermark[self.leader]
        self.remote[broker] = offset
        if broker not in self.isr and offset >= max(before, self.epoch_start):
            self.isr = tuple(sorted((*self.isr, broker)))
        self._raise_high_watermark()
        self.answers[broker] = Answer(records, before if records else self.high_watermark[self.leader])

    def respond(self, broker: int) -> None:
        answer = self.answers.pop(broker)
        self.logs[broker] += answer.records
        self.high_watermark[broker] = min(answer.high_watermark, self._end(broker))

    def fetch_round(self) -> None:
        for broker in self.replicas:
            if broker != self.leader and broker not in self.down:
                self.fetch(broker)

    def catch_up(self) -> None:
        before: dict[str, Any] = {}
        while self.leader != NOBODY and self.cells() != before:
            before = self.cells()
            self.fetch_round()

    # ---- brokers and the controller

    def flush(self, broker: int) -> None:
        self.flushed[broker] = self._end(broker)

    def leave(self, broker: int, state: str, lose_unflushed: bool = False) -> None:
        self.down[broker] = state
        self.answers.pop(broker, None)
        if lose_unflushed:
            self._truncate(broker, self.flushed[broker])
        left = tuple(each for each in self.isr if each != broker)
        self.isr = left or self.isr
        if broker == self.leader:
            self._lead(next((each for each in self.replicas if each in left), NOBODY))
        elif self.leader != NOBODY:
            self._raise_high_watermark()

    def restart(self, broker: int) -> None:
        """So fast that the controller does not notice."""
        self.answers.pop(broker, None)
        self._follow(broker)

    def start(self, broker: int) -> None:
        del self.down[broker]
        if self.leader == NOBODY and broker in self.isr:
            self._lead(broker)
        elif self.leader != NOBODY:
            self._follow(broker)

    def elect(self, unclean: bool) -> None:
        alive, preferred = [broker for broker in self.replicas if broker not in self.down], self.replicas[0]
        if unclean and self.leader == NOBODY and alive:
            self.isr = (alive[0],)
            self._lead(alive[0])
        elif not unclean and preferred != self.leader and preferred in self.isr and preferred in alive:
            self._lead(preferred)

    def _lead(self, broker: int) -> None:
        self.leader, self.epoch, self.remote, self.waiting = broker, self.epoch + 1, {}, []
        if broker == NOBODY:
            return
        self.epoch_start = self._end(broker)
        self._raise_high_watermark()
        for each in self.replicas:
            if each != broker and each not in self.down:
                self._follow(each)

    def _follow(self, broker: int) -> None:
        """Before 0.11 a follower cut its log off at its high watermark; since then, where its history parts from the
        leader's, which is what they find out by leader epochs."""
        both = zip(self.logs[broker], self.logs[self.leader], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
        self._truncate(broker, same if self.leader_epochs else self.high_watermark[broker])

    def _truncate(self, broker: int, end: int) -> None:
        self.logs[broker] = self.logs[broker][:end]
        self.high_watermark[broker] = min(self.high_watermark[broker], self._end(broker))

    def _raise_high_watermark(self) -> None:
        """To the lowest end in the ISR as the leader knows it; one that it does not know is lower than all."""
        if len(self.isr) < min(self.min_isr, len(self.replicas)):
            return
        ends = [self._end(self.leader), *(self.remote.get(each, UNKNOWN) for each in self.isr if each != self.leader)]
        self.high_watermark[self.leader] = max(self.high_watermark[self.leader], min(ends))

    def _end(self, broker: int) -> int:
        return len(self.logs[broker])
