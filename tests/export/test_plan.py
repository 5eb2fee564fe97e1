"""The plan of a run, against a model of a log that grows, is trimmed, cut and made again."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kafkapy.export.manifest import PartitionEntry
from kafkapy.export.plan import LogState, next_entry, plan
from kafkapy.log.topic_partition import TopicPartition

PARTITION = TopicPartition("t", 0)
events = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(st.just("trim"), st.integers(0, 9)),
        st.tuples(st.just("cut"), st.integers(0, 9)),
        st.tuples(st.just("recreate"), st.just(0)),
        st.tuples(st.just("run"), st.integers(0, 3)),
    ),
    max_size=40,
)


@given(events, st.booleans())
@example([("run", 0), ("append", 1), ("trim", 1), ("run", 0)], False)
def test_every_offset_is_exported_once(happened: list[tuple[str, int]], replace: bool) -> None:
    """``held`` has an offset for each row that the export would hold, ``log`` those that are there to be exported."""
    log, start, end, topic_id = set[int](), 0, 0, 0
    held: list[int] = []
    entry: PartitionEntry | None = None
    for name, amount in happened:
        if name == "append":
            log |= set(range(end, end + amount))
            end += amount
        elif name == "trim":
            start = min(end, start + amount)
            log -= set(range(start))
        elif name == "cut":
            end = max(start, end - amount)
            log -= set(range(end, end + amount))
        elif name == "recreate":
            log, start, end, topic_id = set(), 0, 0, topic_id + 1
        else:
            high_watermark = max(start, end - amount)
            state = LogState(PARTITION, str(topic_id), start, high_watermark, end)
            made = plan([state], {} if entry is None else {PARTITION: entry}, replace)
            for step in made.steps:
                if step.done is None:
                    held = []
                new = [offset for offset in range(step.start, step.end) if offset in log]
                assert len(new) == step.end - step.start
                held += new
                entry = next_entry(step, ())
                assert entry.end == max(entry.end, high_watermark)
            assert bool(made.steps) != bool(made.problems)
            assert made.steps or not replace
    assert len(held) == len(set(held))
    if entry is not None:
        assert sorted(held) == [offset for first, stop in entry.ranges for offset in range(first, stop)]


def test_an_id_that_nobody_wrote_is_no_other_topic() -> None:
    done = {PARTITION: PartitionEntry(None, 0, ((0, 5),))}
    made = plan([LogState(PARTITION, "id", 0, 8, 8)], done, False)
    assert [(step.start, step.end) for step in made.steps] == [(5, 8)]
    assert next_entry(made.steps[0], ()).topic_id == "id"


def test_rows_of_a_former_topic_go_also_where_the_new_one_has_no_such_partition() -> None:
    former, other = PartitionEntry("former", 0, ((0, 5),)), PartitionEntry("other", 0, ((0, 5),))
    done = {PARTITION: former, TopicPartition("t", 1): former, TopicPartition("u", 1): other}
    made = plan([LogState(PARTITION, "new", 0, 8, 8)], done, True)
    assert made.removed == [TopicPartition("t", 1)]
    assert [step.start for step in made.steps] == [0]


def test_rows_of_other_partitions_stay_where_a_log_was_cut() -> None:
    entry = PartitionEntry("id", 0, ((0, 5),))
    made = plan([LogState(PARTITION, "id", 0, 3, 3)], {PARTITION: entry, TopicPartition("t", 1): entry}, True)
    assert made.removed == []
    assert [(step.partition, step.start, step.end, step.done) for step in made.steps] == [(PARTITION, 0, 3, None)]
