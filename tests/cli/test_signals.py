"""Signals that wait for the end of a write."""

import signal
from collections.abc import Callable

import pytest

from kafkapy.errors import Terminated
from kafkapy.signals import HeldSignals, terminated_like_interrupted

Tell = Callable[[str], None]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def once(tell: Tell) -> None:
    with HeldSignals(lambda: tell("told")):
        interrupt()
        tell("whole")
    tell("never")


def twice(tell: Tell) -> None:
    with HeldSignals():
        interrupt()
        tell("half")
        interrupt()
        tell("never")


def before_it_is_let_through(tell: Tell) -> None:
    with HeldSignals() as signals:
        with signals.let_through():
            tell("first")
        interrupt()
        tell("second")
        with signals.let_through():
            tell("never")


def where_it_is_let_through(tell: Tell) -> None:
    with HeldSignals() as signals, signals.let_through():
        interrupt()
        tell("never")


def in_the_inner_of_two(tell: Tell) -> None:
    with HeldSignals():
        with HeldSignals():
            interrupt()
        tell("after the inner")
    tell("never")


@pytest.mark.parametrize(
    ("interrupted", "done"),
    [
        (once, ["told", "whole"]),
        (twice, ["half"]),
        (before_it_is_let_through, ["first", "second"]),
        (where_it_is_let_through, []),
        (in_the_inner_of_two, ["after the inner"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_an_interrupt_ends_it(interrupted: Callable[[Tell], None], done: list[str]) -> None:
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(seen.append)
    assert seen == done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sigterm_waits_where_it_does_not_kill() -> None:
    seen: list[str] = []

    def terminated() -> None:
        with terminated_like_interrupted(), HeldSignals():
            signal.raise_signal(signal.SIGTERM)
            seen.append("whole")

    with pytest.raises(Terminated):
        terminated()
    assert seen == ["whole"]
