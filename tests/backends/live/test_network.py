"""Waiting for brokers, and the signals that come meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest

from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.library.network import Network
from kafkapy.signals import HeldSignals

ANSWER_MS = 400
INTERRUPT_S = 0.1


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network(ClientConfig())
    yield network
    network.close()


@pytest.mark.parametrize(("holding", "answers"), [(nullcontext(), []), (HeldSignals(), ["answer"])])
def test_what_holds_signals_waits_for_the_answer(
    network: Network, holding: AbstractContextManager[object], answers: list[str]
) -> None:
    async def answer() -> str:
        await network.sleep(ANSWER_MS)
        return "answer"

    seen: list[str] = []
    started = time.monotonic()
    threading.Timer(INTERRUPT_S, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), holding:
        seen.append(network.run(answer()))
    assert seen == answers
    assert (time.monotonic() - started >= ANSWER_MS / 1000) is bool(answers)
