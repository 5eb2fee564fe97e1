"""A PRODUCE request and what became of it.

unasked       acks=0: the producer does not wait to hear
waiting       acks=all, and not every in-sync replica has it yet
acknowledged  the producer was told that it is written
unanswered    the answer was lost, or who was to give it crashed: the producer cannot know
refused       written, but to too few: the producer was told so
"""

from __future__ import annotations

from kafkapy.errors import KafkaError
from kafkapy.log.partition_log import AppendInfo
from kafkapy.replication.leader import ACKS_ALL
from kafkapy.replication.simulated_partition import SimulatedPartition

UNASKED = "unasked"
WAITING = "waiting"
ACKNOWLEDGED = "acknowledged"
UNANSWERED = "unanswered"
REFUSED = "refused"


class Produced:
    """A batch that a leader appended."""

    def __init__(self, topic: str, values: tuple[str, ...], batch: bytes, acks: int, info: AppendInfo) -> None:
        self.topic = topic
        self.values = values
        self.batch = batch
        self.acks = acks
        self.info = info
        self.leader = -1
        self.state = {0: UNASKED, ACKS_ALL: WAITING}.get(acks, ACKNOWLEDGED)

    @property
    def records(self) -> list[tuple[int, str]]:
        """Offsets with their values."""
        return list(enumerate(self.values, self.info.first_offset))

    def look(self, partition: SimulatedPartition) -> None:
        """See whether acks=all has its answer by now. Only the leader that took the batch can give it."""
        if self.state != WAITING:
            return
        leader = partition.partition.leader
        if leader is None or leader.broker_id != self.leader:
            self.state = UNANSWERED
            return
        try:
            if partition.is_acknowledged(self.info):
                self.state = ACKNOWLEDGED
        except KafkaError:
            self.state = REFUSED

    def broker_crashed(self, broker_id: int) -> None:
        """A process is gone, and with it the answers it owed."""
        if self.state == WAITING and self.leader == broker_id:
            self.state = UNANSWERED
