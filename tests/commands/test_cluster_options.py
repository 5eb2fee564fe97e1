"""The options that name a cluster: one that is given and empty must not mean the default cluster directory, and a
broker that says nothing is not waited for longer than was asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.running import run

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("value", ["", " ", ","])
@pytest.mark.parametrize("option", ["--cluster", "--log-dirs", "--bootstrap-server", "--command-config"])
def test_an_empty_option_is_refused(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capfd, "topics", "--create", "--topic", "lost", option, value)
    assert done == (2, "", f"kafkapy: {option} is empty. Try 'kafkapy topics --help'.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_controller_is_refused(capfd: Capture) -> None:
    done = run(capfd, "acls", "--list", "--bootstrap-controller", "")
    assert done == (2, "", "kafkapy: --bootstrap-controller is empty. Try 'kafkapy acls --help'.\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("lookup --topic t --partition 0 --offset 1", "lookup reads files, not a running cluster: give --log-dirs"),
        ("export --to json --out o", "export reads files, not a running cluster: give --log-dirs"),
        ("sql SELECT", "sql reads files, not a running cluster: give --log-dirs"),
        ("maintenance", "the brokers of a running cluster do this themselves: --dry-run with --log-dirs shows"),
        ("maintenance --dry-run", "the brokers of a running cluster do this themselves: --dry-run with --log-dirs"),
    ],
)
def test_what_is_always_refused_is_not_offered(capfd: Capture, args: str, said: str) -> None:
    assert "--bootstrap-server" not in run(capfd, args.partition(" ")[0], "--help").out
    done = run(capfd, *args.split(), "--bootstrap-server", "127.0.0.1:1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {said}")


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_the_time_of_the_whole_bounds_a_connection(capfd: Capture, silent: str) -> None:
    done = run(capfd, "consumer-groups", "--list", "--bootstrap-server", silent, "--timeout", "250")
    assert (done.code, done.out) == (1, "")
    assert f"broker {silent} accepted the connection and said nothing for 250 ms (--timeout): " in done.err


@pytest.mark.parametrize(
    ("setup", "said"),
    [("100", "100 ms (socket.connection.setup.timeout.ms)"), ("500", "200 ms (default.api.timeout.ms)")],
)
def test_the_setting_to_raise_is_named(capfd: Capture, tmp_path: Path, silent: str, setup: str, said: str) -> None:
    config = tmp_path / "client.properties"
    config.write_text(
        f"request.timeout.ms=150\ndefault.api.timeout.ms=200\nsocket.connection.setup.timeout.ms={setup}\n"
    )
    done = run(capfd, "topics", "--list", "--bootstrap-server", silent, "--command-config", config)
    assert (done.code, done.out) == (1, "")
    assert f"said nothing for {said}: " in done.err
