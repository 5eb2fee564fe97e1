"""What tests need of a running cluster besides Kafka's tools: topics, records, offsets, and clients that stay.

All of it is done by Java clients in one JVM, which ends with the session; so do clients that a test forgot.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tests.tool_server import JavaServer, JavaServerError

GroupKind = Literal["classic", "consumer", "share", "streams"]
NO_LEADER = -1
POLL_S = 0.1
ANSWER_S = 180.0  # the first answer waits for brokers that start, which may be slow where much else runs


@dataclass(frozen=True)
class Sent:
    """A record to be sent; without a partition the producer chooses one, by the key if there is one."""

    topic: str
    value: str | None
    key: str | None = None
    partition: int | None = None
    timestamp: int | None = None
    headers: Sequence[tuple[str, str | None]] = ()


@dataclass(frozen=True)
class Seen:
    """A partition as a broker sees it."""

    topic: str
    partition: int
    leader: int
    replicas: Sequence[int]
    isr: Sequence[int]

    def is_settled(self, running: Sequence[int]) -> bool:
        """Whether nothing is to be expected any more while those brokers run and no other."""
        if self.leader == NO_LEADER:
            return set(running).isdisjoint(self.isr) and not set(self.replicas).issubset(running)
        return self.leader in running and sorted(self.isr) == sorted(set(self.replicas) & set(running))


class LiveClients:
    """The JVM that has the clients."""

    def __init__(self, bootstrap: str, log: Path) -> None:
        self._server = JavaServer("ClientServer", log, bootstrap)
        self._log = log

    def ask(self, op: str, **request: Any) -> dict[str, Any]:
        """The answer to a request that must succeed."""
        answer = self._server.ask({"op": op, **request}, ANSWER_S)
        if "status" in answer:
            said = self._log.read_text(errors="replace")[-4000:]
            raise JavaServerError(f"no answer to {op} {request} in {ANSWER_S:.0f} s, or the JVM has ended:\n{said}")
        if "error" in answer:
            raise JavaServerError(f"{op} {request}: {answer['error']}")
        return answer

    def close(self) -> None:
        self._server.close()

    def create_topic(
        self,
        topic: str,
        partitions: int,
        replicas: int,
        assignment: Sequence[Sequence[int]] | None,
        configs: Mapping[str, str],
    ) -> None:
        placed = None if assignment is None else [list(each) for each in assignment]
        self.ask(
            "create", topic=topic, partitions=partitions, replicas=replicas, assignment=placed, configs=dict(configs)
        )

    def produce(self, records: Iterable[Sent]) -> list[tuple[int, int]]:
        """Send records and wait for them; the partition and the offset of each."""
        answer = self.ask("produce", records=[asdict(record) for record in records])
        return [(partition, offset) for partition, offset in answer["written"]]

    def wait_until_settled(self, addresses: Mapping[int, str], timeout_s: float) -> list[Seen]:
        """The partitions, once the brokers with these ids and no others are alive, all see the same, and nothing is
        left to happen."""
        running = sorted(addresses)
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self.ask("views", addresses=[addresses[broker_id] for broker_id in running])
            view, *others = answer["views"]
            if answer["alive"] == running and view is not None and all(other == view for other in others):
                partitions = [Seen(**each) for each in view]
                if all(each.is_settled(running) for each in partitions):
                    return partitions
            if time.monotonic() > deadline:
                raise AssertionError(f"the brokers {running} did not settle:\n{answer}")
            time.sleep(POLL_S)


@dataclass
class Kept:
    """A client that lives until it is ended, at the latest with the ``with`` statement that it was made in."""

    clients: LiveClients
    client: int
    ended: bool = field(default=False, init=False)

    def end(self, how: str) -> None:
        """End it; a second time has no effect."""
        if not self.ended:
            self.ended = True
            self.clients.ask("end", client=self.client, how=how)

    def close(self) -> None:
        self.end("close")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Members(Kept):
    """Members of a group."""

    def stop(self) -> None:
        """They leave the group."""
        self.end("leave")

    def vanish(self) -> None:
        """They end without leaving: the group has them until their session times out. Not for share groups."""
        self.end("stay")

    close = stop


@dataclass
class OpenTransaction(Kept):
    """A transaction that is open."""

    written: list[tuple[int, int]]

    def commit(self) -> None:
        self.end("commit")

    def abort(self) -> None:
        self.end("abort")

    def leave_open(self) -> None:
        """The producer ends, and the transaction stays open until the broker times it out or somebody aborts it."""
        self.end("leave open")

    close = abort
