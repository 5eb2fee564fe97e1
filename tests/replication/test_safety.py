"""Whatever happens, in whatever order: what acks=all acknowledged is not lost.

Unless by an unclean election, or by a crash with loss of the last in-sync replica: neither happens here.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.errors import KafkaError
from kafkapy.log.partition_log import AppendInfo
from kafkapy.metadata.elections import PREFERRED
from kafkapy.replication.simulated_partition import SimulatedPartition
from tests.replication.playing import batch, held

FAILURES = ("stop", "kill", "lose", "lag", "flush", "restart", *["start"] * 4)
BROKER = st.integers(1, 3)
STEP = st.one_of(
    st.tuples(st.just("produce"), st.sampled_from((-1, -1, -1, 1))),
    st.tuples(st.sampled_from(("fetch", "ask", "send")), BROKER),
    st.tuples(st.sampled_from(("round", "round", "round", "catch_up", "elect")), st.just(0)),
    st.tuples(st.sampled_from(FAILURES), BROKER),
    st.tuples(st.just("advance"), st.sampled_from((1, 20_000, 40_000))),
)


class Player:
    """Plays steps and remembers what was acknowledged."""

    def __init__(self, directory: str, brokers: int, min_isr: int, elr: bool) -> None:
        configs = {"min.insync.replicas": str(min_isr)}
        self.brokers = range(1, brokers + 1)
        self.played = SimulatedPartition(directory, self.brokers, configs=configs, elr=elr)
        self.count = 0
        self.sent: list[tuple[AppendInfo, str]] = []
        self.acknowledged: dict[int, str] = {}

    def play(self, step: str, argument: int) -> None:
        with suppress(KafkaError):  # refused, as it would be
            getattr(self, step)(argument)
        self.note_acknowledged()
        self.check()

    def produce(self, acks: int) -> None:
        self.count += 1
        value = f"v{self.count}"
        info = self.played.produce(batch(value), acks)
        if acks == -1:
            self.sent.append((info, value))

    def fetch(self, broker_id: int) -> None:
        self.played.fetch(broker_id)

    def ask(self, broker_id: int) -> None:
        """A fetch whose answer gets lost."""
        self.played.partition.send_fetch(broker_id, self.played.now)

    def send(self, broker_id: int) -> None:
        """A batch, and all fetches that acknowledge it; the last answers get lost, with a follower that restarts."""
        self.produce(-1)
        self.played.fetch_round()
        for follower in self.played.partition.fetching():
            self.ask(follower)
        self.note_acknowledged()
        self.restart(broker_id)

    def round(self, _: int) -> None:
        self.played.fetch_round()

    def catch_up(self, _: int) -> None:
        self.played.catch_up()

    def stop(self, broker_id: int) -> None:
        if self.played.brokers[broker_id].is_alive:
            self.forget_unanswered(broker_id)
            self.played.stop(broker_id)

    def kill(self, broker_id: int) -> None:
        if self.played.brokers[broker_id].is_alive:
            self.forget_unanswered(broker_id)
            self.played.kill(broker_id)

    def lose(self, broker_id: int) -> None:
        if self.played.brokers[broker_id].is_alive and set(self.played.table().isr) - {broker_id}:
            self.forget_unanswered(broker_id)
            self.played.kill(broker_id, lose_unflushed=True)

    def restart(self, broker_id: int) -> None:
        if self.played.brokers[broker_id].is_alive:
            self.forget_unanswered(broker_id)
            self.played.restart(broker_id)

    def start(self, broker_id: int) -> None:
        self.played.start(broker_id)

    def lag(self, broker_id: int) -> None:
        if self.played.brokers[broker_id].is_alive:
            self.played.lag(broker_id)

    def flush(self, broker_id: int) -> None:
        self.played.flush(broker_id)

    def advance(self, ms: int) -> None:
        self.played.advance(ms)

    def elect(self, _: int) -> None:
        self.forget_unanswered(self.played.table().leader)
        self.played.elect(PREFERRED)

    def forget_unanswered(self, broker_id: int) -> None:
        """A leader that goes answers nobody any more."""
        if broker_id == self.played.table().leader:
            self.sent.clear()

    def note_acknowledged(self) -> None:
        if self.played.partition.leader is None:
            return
        for info, value in self.sent:
            with suppress(KafkaError):  # not enough replicas after the append
                if self.played.is_acknowledged(info):
                    self.acknowledged[info.last_offset] = value

    def check(self) -> None:
        partition, table = self.played.partition, self.played.table()
        assert table.leader == -1 or table.leader in table.isr
        leader = partition.leader
        if leader is None:
            return
        records = held(leader.replica)
        assert self.acknowledged.items() <= records.items(), "what was acknowledged is there"
        for row in table.replicas:
            replica = partition.replicas[row.broker_id]
            if row.is_in_sync:
                assert leader.replica.high_watermark <= replica.log_end_offset
                end = leader.replica.high_watermark
            else:
                end = replica.high_watermark
            assert held(replica, end).items() <= records.items(), "replicas agree up to the high watermark"


@settings(max_examples=150)
@given(st.lists(STEP, min_size=20, max_size=80), st.sampled_from((2, 3)), st.sampled_from((1, 2)), st.booleans())
def test_what_was_acknowledged_is_never_lost(
    steps: list[tuple[str, int]], brokers: int, min_isr: int, elr: bool
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        player = Player(directory, brokers, min_isr, elr)
        for step, argument in steps:
            if argument <= brokers or step == "advance":
                player.play(step, argument)
        for broker_id in player.brokers:
            player.play("start", broker_id)
        for _ in range(2):
            player.play("catch_up", 0)
        table = player.played.table()
        if table.leader != -1:
            assert set(table.isr) == set(player.brokers)
            assert len({(row.log_end_offset, row.high_watermark) for row in table.replicas}) == 1
            held_by = [held(replica) for replica in player.played.partition.replicas.values()]
            assert all(each == held_by[0] for each in held_by)
        player.played.close()
