"""Steps that the scenarios of kafkapy do not play, and what goes wrong in playing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.lab.laboratory import Laboratory, StepError
from kafkapy.lab.play import play
from kafkapy.lab.steps import STEPS
from tests.lab.playing import cells, played, scenario


def test_who_lags_leaves_the_isr_and_comes_back(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - lag: 2
          expect: {2: {state: lagging}}
        - produce: a
        - advance: 500
          expect: {isr: [1, 2], 1: {hw: 0}}
          assert: {unanswered: [a]}
        - advance: 1
          expect: {isr: [1], 1: {hw: 1}}
          assert: {acknowledged: [a]}
        - start: 2
          expect: {isr: [1], 2: {state: running}}
        - fetch-round
        - fetch-round
        - expect: {isr: [1, 2]}
        """,
        "{replica-lag-time-max-ms: 500}",
    )


def test_an_answer_of_a_leader_of_the_past_is_ignored(tmp_path: Path) -> None:
    *_, last = played(
        tmp_path,
        """
        - produce: a
          acks: 1
        - fetch-request: 3
        - kill: 1
        - fetch-response: 3
          expect: {leader: 2, 3: {leo: 0}}
        """,
        "{topics: {t: [1, 2, 3]}}",
    )
    assert last.sentences == ("The answer arrives at broker 3: it is from a former leader, and is ignored.",)


def test_an_answer_to_who_crashed_is_gone(tmp_path: Path) -> None:
    with pytest.raises(
        StepError, match=r"^test.yaml:6: step 3, fetch-response: 2: no answer is on its way to broker 2"
    ):
        played(tmp_path, "- fetch-request: 2\n- restart: 2\n- fetch-response: 2")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("- start: 2", "broker 2 is running; it must be stopped or killed or lagging"),
        ("- stop: 2\n- kill: 2", "broker 2 is stopped; it must be running or lagging"),
        ("- lag: 2\n- fetch: 2", "broker 2 is lagging; it must be running"),
        ("- fetch: 1", "broker 1 follows no leader, so it has nothing to fetch"),
        ("- retry", "nothing has been produced yet that could be sent again"),
        ("- {produce: a, idempotent: on, acks: 1}", "an idempotent producer needs acks=all"),
        ("- commit: c", "there is no consumer c: its first step must be consume"),
        (
            "- apply-as-old-controller: {elect: preferred}",
            "there is no old controller: it takes a fail-over-controller first",
        ),
    ],
)
def test_steps_that_make_no_sense(tmp_path: Path, steps: str, message: str) -> None:
    with pytest.raises(StepError) as error:
        played(tmp_path, steps)
    assert str(error.value).endswith(f": {message}")


def test_an_error_that_is_not_expected_ends_the_run(tmp_path: Path) -> None:
    done = list(play(scenario("- kill: 1\n- kill: 2\n- produce: a\n- start: 1"), str(tmp_path)))
    assert len(done) == 4
    [failure] = done[-1].failures
    assert failure == (6, "the step ends in", "no error", "LeaderNotAvailableException")


def test_an_expected_error_that_does_not_come_ends_the_run(tmp_path: Path) -> None:
    done = list(play(scenario("- produce: a\n  fails: NotEnoughReplicasException\n- catch-up"), str(tmp_path)))
    assert [each[1:] for each in done[-1].failures] == [("the step ends in", "NotEnoughReplicasException", "no error")]


def test_several_topics_on_the_same_brokers(tmp_path: Path) -> None:
    done = played(
        tmp_path,
        """
        - produce: o1
          topic: orders
        - fetch: [2, 3]
          topic: orders
        - catch-up
        - produce: p1
          topic: payments
        - stop: 1
          expect:
            orders: {leader: 2, isr: [2, 3]}
            payments: {leader: 3, isr: [3]}
        - fetch: 3
        """,
        "{topics: {orders: [1, 2, 3], payments: [3, 1]}}",
    )
    assert cells(done[-1], "orders")[2] == (1, 1, None)
    assert cells(done[-1], "payments") == {3: (1, 1, None), 1: (0, 0, 0)}


def test_eligible_leader_replicas(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - stop: 2
          expect: {isr: [1], elr: [2]}
        - stop: 1
          expect: {leader: none, isr: [], elr: [1, 2]}
        - start: 2
          expect: {leader: 2, isr: [2], elr: [1]}
        """,
        "{configs: {min.insync.replicas: 2}, eligible-leader-replicas: on}",
    )


def test_a_producer_whose_leader_crashed_has_no_answer(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - produce: a
          assert: {unanswered: [a]}
        - fetch: 2
        - kill: 1
          assert: {unanswered: [], acknowledged: [], lost: []}
        - expect: {leader: 2, 2: {log: [a], hw: 1}}
        """,
    )


def test_several_brokers_one_after_the_other(tmp_path: Path) -> None:
    done = played(
        tmp_path,
        """
        - kill: [1, 2]
          expect: {leader: 3, epoch: 2, isr: [3], 1: {state: killed}, 2: {state: killed}}
        - start: [2, 1]
          expect: {leader: 3, isr: [3]}
        - catch-up
        - lag: [1, 2]
          expect: {1: {state: lagging}, 2: {state: lagging}}
        - stop: [3, 1]
          expect: {leader: 2, epoch: 4, isr: [2], 1: {state: stopped}, 3: {state: stopped}}
        """,
        "{topics: {t: [1, 2, 3]}}",
    )
    assert done[1].sentences[0] == (
        "Broker 1 crashes, and the controller fences it. Broker 2 crashes, and the controller fences it."
    )


def test_of_several_brokers_none_is_touched_if_one_cannot_be(tmp_path: Path) -> None:
    steps = scenario("- stop: 2\n- stop: [1, 2]")
    lab = Laboratory(str(tmp_path), steps.setup)
    STEPS["stop"].play(lab, steps.steps[0])
    before = lab.view()
    with pytest.raises(StepError, match="broker 2 is stopped"):
        STEPS["stop"].play(lab, steps.steps[1])
    assert lab.view() == before
    lab.close()


def test_what_a_controller_orders(tmp_path: Path) -> None:
    played(
        tmp_path,
        """
        - alter-isr: 1
          expect: {isr: [1]}
        - fail-over-controller
        - apply-as-old-controller: {alter-isr: [1, 2]}
          fails: NotControllerException
          expect: {isr: [1]}
          assert: {controller-epoch: 2}
        """,
    )


def test_sentences_say_what_came_of_a_step(tmp_path: Path) -> None:
    done = played(tmp_path, "- produce: [a, b, c]\n- fetch: 2\n- fetch: 2\n- kill: 1")
    assert [each.sentences for each in done[1:]] == [
        ("PRODUCE of a, b and c with acks=all: leader 1 appends at offset 0, and answers when all in-sync replicas "
         "have it.",),
        ("FETCH of broker 2 from offset 0: it gets a, b and c, and its high watermark is 0.",),
        ("FETCH of broker 2 from offset 3: it gets nothing, and its high watermark is 3.",
         "The leader's high watermark goes from 0 to 3.", "The producer has its answer: a, b and c are written."),
        ("Broker 1 crashes, and the controller fences it.", "Broker 2 leads, in epoch 1.", "The ISR is now 2."),
    ]  # fmt: skip


def test_an_answer_that_gets_lost_is_sent_when_it_is_due(tmp_path: Path) -> None:
    _, due, at_once = played(tmp_path, "- {produce: a, answer: lost}\n- {produce: b, answer: lost, acks: 1}")
    assert [*due.sentences, *at_once.sentences] == [
        "PRODUCE of a with acks=all: leader 1 appends at offset 0; the answer, when all in-sync replicas have it, is "
        "lost on its way.",
        "PRODUCE of b with acks=1: leader 1 appends at offset 1; the answer is lost on its way.",
    ]


def test_an_epoch_in_which_nothing_was_written_is_forgotten(tmp_path: Path) -> None:
    *_, first, last = played(
        tmp_path,
        """
        - produce: a
        - catch-up
        - stop: 1
        - start: 1
        - catch-up
        - elect: preferred
        - produce: b
        - fetch: 2
        - catch-up
        """,
    )
    assert first.sentences == ("FETCH of broker 2 from offset 1: it forgets an epoch in which nothing was written.",)
    assert cells(last) == {1: (2, 2, None), 2: (2, 2, 2)}
