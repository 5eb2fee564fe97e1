"""What is told of a broker that does not answer, and what of one that was waited for in vain."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

import pytest

from kafkapy.backends.live import long_waits
from kafkapy.backends.live.client import Client
from kafkapy.backends.live.client_config import ClientConfig, Limit
from kafkapy.backends.live.library.network import Address, ConnectionLost
from kafkapy.backends.live.long_waits import LongWaits, Wait

HOST = "127.0.0.1"
LIMIT = Limit(1_000, "request.timeout.ms")


@pytest.fixture
def mute() -> Iterator[Address]:
    """A port that takes connections and says nothing."""
    with socket.create_server((HOST, 0)) as listening:
        yield Address(HOST, listening.getsockname()[1])


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stderr is one, and nobody has patience."""
    monkeypatch.setattr(os, "isatty", lambda descriptor: descriptor == 2)
    monkeypatch.setattr(long_waits, "PATIENCE_S", 0.0)


def _fails(client: Client) -> str:
    with pytest.raises(ConnectionLost) as raised:
        client.retrying(client.nodes)
    client.close()
    return str(raised.value)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_is_told_whom_a_command_waits_for(mute: Address, capsys: pytest.CaptureFixture[str]) -> None:
    _fails(Client([mute], ClientConfig(connection_timeout_ms=900)))
    limit = "900 ms (socket.connection.setup.timeout.ms)"
    assert capsys.readouterr().err == f"kafkapy: waiting for a connection to broker {mute}, for up to {limit}\n"


@pytest.mark.usefixtures("terminal")
def test_who_asks_again_and_again_is_told_nothing(mute: Address, capsys: pytest.CaptureFixture[str]) -> None:
    _fails(Client([mute], ClientConfig(connection_timeout_ms=900, tells_long_waits=False)))
    assert capsys.readouterr().err == ""


def test_a_pipe_is_told_nothing(
    mute: Address, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_waits, "PATIENCE_S", 0.0)
    _fails(Client([mute], ClientConfig(connection_timeout_ms=900)))
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_each_thing_is_told_once_and_not_what_takes_long_by_its_nature(capsys: pytest.CaptureFixture[str]) -> None:
    waits, begun = LongWaits(), time.monotonic() - 1
    with waits.during("broker b to answer ListOffsets", LIMIT):
        waits.look()
        waits.look(Wait("broker b to answer JoinGroup", LIMIT._replace(is_far=True), begun))
        waits.look(Wait("broker b to answer Fetch", LIMIT, begun))
    waits.look()
    for _ in range(2):
        waits.tried_again("broker b cannot be reached", LIMIT, begun)
    assert capsys.readouterr().err.splitlines() == [
        "kafkapy: waiting for broker b to answer ListOffsets, for up to 1000 ms (request.timeout.ms)",
        "kafkapy: waiting for broker b to answer Fetch, for up to 1000 ms (request.timeout.ms)",
        "kafkapy: broker b cannot be reached; trying again, for up to 1000 ms (request.timeout.ms)",
    ]


@pytest.mark.usefixtures("terminal")
def test_a_short_wait_is_not_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(long_waits, "PATIENCE_S", 60.0)
    waits = LongWaits()
    with waits.during("broker b to answer ListOffsets", LIMIT):
        waits.look()
    waits.tried_again("broker b cannot be reached", LIMIT, time.monotonic())
    assert capsys.readouterr().err == ""


def test_a_limit_that_one_try_used_up_is_told_once(mute: Address) -> None:
    client = Client([mute], ClientConfig(api_timeout_ms=300))
    client._connections.was_reached = True  # as a broker that hangs after the first answer
    error = _fails(client)
    assert error.count("300 ms (default.api.timeout.ms)") == 1
    assert "tried for" not in error


def test_what_was_tried_for_long_tells_for_how_long() -> None:
    with socket.create_server((HOST, 0)) as listening:
        nobody = Address(HOST, listening.getsockname()[1])
    client = Client([nobody], ClientConfig(api_timeout_ms=300))
    client._connections.was_reached = True
    with pytest.raises(ConnectionLost) as raised:
        client.retrying(lambda: client.retrying(client.nodes))
    client.close()
    assert str(raised.value) == (
        f"broker {nobody} cannot be reached: connection refused; tried for 300 ms (default.api.timeout.ms)"
    )
