"""The order and the numbers of batches that are not acknowledged, against a broker that checks them as Kafka's do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.live.partition_queue import MOST_UNDER_WAY, PartitionQueue, WaitingBatch
from kafkapy.backends.sealed_batch import Packed


def batch(count: int = 1) -> WaitingBatch:
    return WaitingBatch(Packed(b"", count, 0, 0, 0), 0.0)


def filled(*counts: int) -> PartitionQueue:
    queue = PartitionQueue()
    queue.waiting.extend(batch(count) for count in counts)
    return queue


def known(*counts: int) -> PartitionQueue:
    """A queue whose first batch, of one record, is acknowledged."""
    queue = filled(1, *counts)
    queue.acknowledge(queue.take(1))
    return queue


def test_the_second_batch_waits_for_the_first() -> None:
    queue = filled(1, 1)
    first = queue.take(1)
    assert not queue.may_go_to(1)
    queue.acknowledge(first)
    assert queue.may_go_to(1)


def test_no_more_than_five_are_under_way_and_all_to_one_broker() -> None:
    queue = known(*[1] * 9)
    for _ in range(MOST_UNDER_WAY):
        assert queue.may_go_to(1)
        assert not queue.under_way or not queue.may_go_to(2)
        queue.take(1)
    assert not queue.may_go_to(1)


def test_what_failed_goes_out_again_in_order_when_all_has_come_back() -> None:
    queue = known(2, 3, 4)
    first, second, third = queue.take(1), queue.take(1), queue.take(1)
    queue.retry(third)
    queue.retry(first)
    assert not queue.settle(0.0)
    queue.retry(second)
    assert queue.settle(0.0)
    assert [queue.take(1) for _ in range(3)] == [first, second, third]
    assert [each.sequence for each in (first, second, third)] == [1, 3, 6]


def test_a_batch_that_is_refused_leaves_no_gap() -> None:
    queue = known(2, 3)
    first, second = queue.take(1), queue.take(1)
    queue.refuse(first)
    assert queue.has_before(second)
    queue.retry(second)
    assert not queue.is_ready(1.0)
    assert queue.settle(0.0)
    assert queue.take(1).sequence == 1
    assert queue.next_sequence == 4


def test_halves_have_the_numbers_of_the_whole() -> None:
    queue = known(4, 1)
    whole, after = queue.take(1), queue.take(1)
    queue.replace(whole, [batch(2), batch(2)])
    queue.retry(after)
    queue.settle(0.0)
    assert [queue.take(1).sequence for _ in range(3)] == [1, 3, 5]


def test_another_producer_id_counts_from_0() -> None:
    queue = known(2, 2)
    sent = queue.take(1)
    sent.data = b"sealed"
    queue.retry(sent)
    queue.settle(0.0)
    queue.start_over()
    assert (queue.take(1).sequence, sent.data) == (0, b"")


class Broker:
    """Takes what follows, knows the last five again, and refuses everything else."""

    def __init__(self) -> None:
        self.taken: list[WaitingBatch] = []
        self._spans: list[tuple[int, int]] = []

    def receive(self, sent: WaitingBatch) -> bool:
        assert sent.sequence is not None
        span = (sent.sequence, sent.sequence + sent.packed.record_count)
        if span in self._spans[-5:]:
            return True
        if self._spans and self._spans[-1][1] != span[0]:
            return False
        self._spans.append(span)
        self.taken.append(sent)
        return True


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=30),
    st.lists(st.sampled_from(["taken", "lost before", "lost after"]), max_size=60),
)
def test_nothing_is_lost_doubled_or_out_of_order(counts: list[int], fates: list[str]) -> None:
    queue, broker = filled(*counts), Broker()
    batches = list(queue.waiting)
    while not queue.is_empty:
        while queue.is_ready(1.0) and queue.may_go_to(1):
            queue.take(1)
        for sent in list(queue.under_way):
            fate = fates.pop() if fates else "taken"
            if fate == "lost before":
                queue.retry(sent)
            elif not broker.receive(sent):
                assert queue.has_before(sent)
                queue.retry(sent)
            elif fate == "lost after":
                queue.retry(sent)
            else:
                queue.acknowledge(sent)
        queue.settle(0.0)
    assert broker.taken == batches
