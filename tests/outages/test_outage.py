"""What commands that run for long say and do while no broker is there at all."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live_kafka import BROKERS, LiveKafka

SENT, LOST = 25, 75
LINGER = ("--command-property", "linger.ms=0")


class Producer:
    """A console producer whose first lines have arrived."""

    def __init__(self, live: LiveKafka, *args: str) -> None:
        topic = live.create_topic()
        on = ("--bootstrap-server", live.bootstrap, "--topic", topic)
        self.process = _start("console-producer", *on, *LINGER, *args)
        self._live = live
        self.send(SENT)
        asked = ("get-offsets", "--bootstrap-server", live.bootstrap, "--topic", topic)
        live.until(lambda: live.kafkapy(*asked).out == f"{topic}:0:{SENT}\n")

    def send(self, count: int) -> None:
        """Write lines, and wait until they are read."""
        pipe = self.process.stdin
        assert pipe is not None
        pipe.write("".join(f"{n}\n" for n in range(count)))
        pipe.flush()
        self._live.until(lambda: fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4))


class Watch:
    """A watch over the lag of a group that has told it once."""

    def __init__(self, live: LiveKafka) -> None:
        topic = live.create_topic()
        live.commit("outage-group", topic, {0: 0})
        on = ("--bootstrap-server", live.bootstrap, "--group", "outage-group")
        self.process = _start("lag", *on, "--watch", "--interval", "500ms", "--output", "jsonl", stdout=subprocess.PIPE)
        self.row()

    def row(self) -> dict[str, Any]:
        """The next row."""
        assert self.process.stdout is not None
        row: dict[str, Any] = json.loads(self.process.stdout.readline())
        return row

    def told(self) -> str:
        """The next line on stderr."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()


class Outage:
    """Commands that were begun before it."""

    def __init__(self, live: LiveKafka) -> None:
        self.patient = Producer(live)
        self.hasty = Producer(live, "--command-property", "delivery.timeout.ms=3000")
        self.watch = Watch(live)
        self.processes = [self.patient.process, self.hasty.process, self.watch.process]


@pytest.fixture(scope="module")
def outage(live: LiveKafka) -> Iterator[Outage]:
    begun = Outage(live)
    for broker_id in BROKERS:
        live.kill_broker(broker_id, wait=False)
    try:
        begun.patient.send(LOST)
        begun.hasty.send(LOST)
        yield begun
    finally:
        for process in begun.processes:
            process.kill()
            process.communicate()
        live.start_all()


def _start(*args: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "kafkapy", *args]
    return subprocess.Popen(command, stdin=pipe, stdout=stdout, stderr=pipe, text=True)


def test_all_that_was_not_sent_is_told(outage: Outage) -> None:
    _, err = outage.hasty.process.communicate()
    assert outage.hasty.process.returncode == 1
    assert err.splitlines()[-1] == f"kafkapy: {LOST} of {SENT + LOST} messages were not acknowledged"
    assert "TimeoutException: Expiring " in err


def test_ctrl_c_tells_what_is_waited_for_and_another_gives_it_up(outage: Outage) -> None:
    process = outage.patient.process
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    unsent = f"{LOST} of {SENT + LOST} messages"
    assert (
        process.stderr.readline()
        == f"kafkapy: {unsent} are not acknowledged yet; another Ctrl-C gives up waiting for them\n"
    )
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err) == (130, f"kafkapy: {unsent} were not acknowledged\n")


def test_a_watch_tells_the_outage_once_and_goes_on_when_it_is_over(outage: Outage, live: LiveKafka) -> None:
    told = outage.watch.told()
    assert told.startswith("kafkapy: no figures since ")
    assert "cannot be reached: connection refused" in told
    live.start_all()
    started = time.time() * 1000
    while outage.watch.row()["timestamp"] < started:
        pass
    outage.watch.process.send_signal(signal.SIGINT)
    _, err = outage.watch.process.communicate()
    begun, over = (err.count(f"kafkapy: {words}") for words in ("no figures since", "figures again at"))
    assert (outage.watch.process.returncode, over - begun) == (0, 1)
