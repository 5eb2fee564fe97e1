"""Scenario files: what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import FormatError
from kafkapy.lab.library import NAMES
from kafkapy.lab.play import play
from kafkapy.lab.scenario_file import parse_scenario
from kafkapy.lab.steps import STEPS
from tests.lab.playing import scenario


def problem(text: str) -> str:
    with pytest.raises(FormatError) as error:
        parse_scenario(text, "f.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("- produc: m1", "4: unknown key produc; did you mean 'produce'?"),
        ("- produce: m1\n  ack: 1", "5: unknown key ack; did you mean 'acks'?"),
        ("- produce: m1\n  acks: 2", "5: acks: expected one of 0, 1, all, -1, not 2"),
        ("- produce: m1\n  wait: on",
         "5: produce: has no option wait; its options are acks, idempotent, answer, topic"),
        ("- produce: m1\n  kill: 1", "5: a step does one thing: produce or kill"),
        ("- produce: m1\n  produce: m2", "5: produce is given twice"),
        ("- produce: {a: b}", "4: produce: expected a value or a list"),
        ("- fetch: 3", "4: fetch: there is no broker 3; there are 1, 2"),
        ("- fetch: two", "4: fetch: expected a whole number of at least 0, not two"),
        ("- advance: 0", "4: advance: expected a whole number of at least 1, not 0"),
        ("- elect: best", "4: elect: expected one of preferred, unclean, not best"),
        ("- catch-up: 1", "4: catch-up: takes no argument"),
        ("- down", "4: expected one of retry, fetch-round, catch-up, fail-over-controller, not down"),
        ("- kill: 1\n  lose-unflushed: 1", "5: lose-unflushed: expected on or off, not 1"),
        ("- topic: t", "4: topic only works with a step, and there is none here"),
        ("- apply-as-old-controller: {}", "4: apply-as-old-controller: expected elect or alter-isr"),
        ("- expect: {3: {leo: 1}}", "4: expect: unknown key 3; there are leader, epoch, isr, elr, 1, 2"),
        ("- expect:\n    1: {leo: 1,\n      remote: 2}", "6: broker 1: unknown key remote; did you mean 'remote-leo'?"),
        ("- expect: {1: {state: asleep}}", "4: state: expected one of running, lagging, stopped, killed, not asleep"),
        ("- expect: [1]", "4: expect: expected keys with values"),
        ("- assert: {gone: [m1]}", "4: assert: unknown key gone; there are acknowledged, lost, unanswered, purgatory, "
         "controller-epoch, consumers"),
        ("- assert: {consumers: {c: {at: 1}}}", "4: consumer c: unknown key at; there are position, committed, "
         "in-hand, done"),
        ("- produce: !unknown m1", "4: YAML cannot read m1; put it in quotes"),
        ("- produce: 2026-13-45", "4: YAML cannot read 2026-13-45; put it in quotes"),
        ("- produce: 2026-11-15", "4: produce: expected text, in quotes if YAML would read it as something else"),
        ("- kill: [2, 2]", "4: kill: broker 2 is given twice"),
        ("- kill: []", "4: kill: which brokers? There are 1, 2"),
        ("- lag: [1,\n   3]", "5: lag: there is no broker 3; there are 1, 2"),
    ],
)  # fmt: skip
def test_wrong_steps(step: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        scenario(step)
    line, _, problem = message.partition(": ")
    assert str(error.value) == f"test.yaml:{line}: step 1: {problem}"


def test_the_step_is_counted_from_one() -> None:
    with pytest.raises(FormatError, match=r"^test\.yaml:6: step 3: catch-up: takes no argument$"):
        scenario("- catch-up\n- expect: {leader: 1}\n- catch-up: 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml:1: the file is empty"),
        ("a: \x07", "f.yaml: not YAML: unacceptable character #x0007: special characters are not allowed in "
         '"<unicode string>", position 3'),
        ("[" * 5000, "f.yaml: nested too deep"),
        ("- a", "f.yaml:1: a scenario: expected keys with values"),
        ("title: a\nsteps: [", "f.yaml:2: not YAML: expected the node content, but found '<stream end>'"),
        ("title: a", "f.yaml:1: a scenario must have steps"),
        ("steps: []", "f.yaml:1: a scenario must have title"),
        ("title: a\nsteps: 1", "f.yaml:2: steps: expected a list"),
        ("title: [a]\nsteps: []", "f.yaml:1: title: expected text, in quotes if YAML would read it as something else"),
        ("title: a\nname: b\nsteps: []", "f.yaml:2: a scenario: unknown key name; there are title, text, setup, steps"),
        ("title: a\nsetup: {brokers: 2}\nsteps: []", "f.yaml:2: setup: unknown key brokers; there are topics, configs, "
         "leader-epochs, eligible-leader-replicas, replica-lag-time-max-ms, acks"),
        ("title: a\nsetup:\n  topics: {t: [1, 1]}\nsteps: []",
         "f.yaml:3: topic t: expected brokers, each once, in assignment order"),
        ("title: a\nsetup:\n  topics: {a b: [1]}\nsteps: []",
         "f.yaml:3: topic a b: Topic name is invalid: 'a b' contains one or more characters other than ASCII "
         "alphanumerics, '.', '_' and '-'"),
        ("title: a\nsetup:\n  topics: {}\nsteps: []", "f.yaml:3: topics: there must be at least one"),
        ("title: a\nsetup:\n  configs: {retention.ms: 1}\nsteps: []", "f.yaml:3: configs: unknown key retention.ms; "
         "there are min.insync.replicas, unclean.leader.election.enable"),
        ("title: a\nsetup:\n  leader-epochs: maybe\nsteps: []",
         "f.yaml:3: leader-epochs: expected on or off, not maybe"),
        ("title: a\nsetup: {topics: {a: [1], b: [1]}}\nsteps:\n- produce: m",
         "f.yaml:4: step 1: produce: which topic? There are a, b"),
    ],
)  # fmt: skip
def test_wrong_files(text: str, message: str) -> None:
    assert problem(text) == message


def test_a_step_as_it_is_read() -> None:
    read = scenario(
        """
        - produce: [1, "m 2"]
          acks: all
          say: Two at once.
          fails: NotEnoughReplicasException
        - catch-up
        - catch-up:
        - expect: {leader: none}
        """
    )
    first, second, third, last = read.steps
    assert (first.number, first.line, first.action, first.argument) == (1, 4, "produce", ("1", "m 2"))
    assert (dict(first.options), first.say, first.fails) == ({"acks": -1}, "Two at once.", "NotEnoughReplicasException")
    assert first.text == "produce: [1, m 2], acks: all"
    assert second[2:] == third[2:]
    assert (last.action, [claim.subject for claim in last.claims], last.claims[0].expected) == (
        None, ["t-0 leader"], -1,
    )  # fmt: skip


def test_the_setup_is_read() -> None:
    setup = scenario(
        "- catch-up",
        "{topics: {a: [3, 1], b: [2]}, configs: {min.insync.replicas: 2, unclean.leader.election.enable: on}, "
        "leader-epochs: off, eligible-leader-replicas: on, replica-lag-time-max-ms: 500, acks: 1}",
    ).setup
    assert setup.topics == {"a": (3, 1), "b": (2,)}
    assert setup.configs == {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"}
    assert setup[2:] == (False, True, 500, 1)
    assert setup.brokers == [1, 2, 3]


def test_the_manual_names_every_step_and_its_example_is_right(root: Path, tmp_path: Path) -> None:
    manual = (root / "docs" / "lab.md").read_text()
    assert [name for name in STEPS if f"| `{name}" not in manual] == []
    assert [name for name in NAMES if f"| `{name}` |" not in manual] == []
    example = manual.partition("```yaml\n")[2].partition("```")[0]
    done = list(play(parse_scenario(example, "docs/lab.md"), str(tmp_path)))
    assert (len(done), done[-1].failures) == (5, [])
