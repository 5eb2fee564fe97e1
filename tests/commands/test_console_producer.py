"""``kafkapy console-producer``, read back by ``kafkapy console-consumer``."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commands import console_producer

Run = Callable[..., subprocess.CompletedProcess[str]]
KEYS = ["--reader-property", "parse.key=true"]


@pytest.fixture
def cluster(kafkapy: Run, tmp_path: Path) -> str:
    directory = str(tmp_path / "cluster")
    assert kafkapy("storage", "format", "--cluster", directory, "--brokers", "1").returncode == 0
    return directory


@pytest.fixture
def produce(kafkapy: Run, cluster: str) -> Run:
    return lambda text, *args: kafkapy("console-producer", "--cluster", cluster, "--topic", "t", *args, input=text)


@pytest.fixture
def consumed(kafkapy: Run, cluster: str) -> Callable[..., str]:
    def run(*names: str) -> str:
        properties = [word for name in names for word in ("--formatter-property", f"print.{name}=true")]
        done = kafkapy("console-consumer", "--cluster", cluster, "--topic", "t", "--from-beginning", *properties)
        assert done.returncode == 0
        return done.stdout

    return run


def test_lines_come_back(produce: Run, consumed: Callable[..., str]) -> None:
    done = produce("one\n\ntwö")
    assert (done.returncode, done.stdout) == (0, "")
    assert "{t=UNKNOWN_TOPIC_OR_PARTITION}" in done.stderr
    again = produce("three\n")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert consumed("offset") == "Offset:0\tone\nOffset:1\t\nOffset:2\ttwö\nOffset:3\tthree\n"


def test_nothing_makes_no_topic(produce: Run, kafkapy: Run, cluster: str) -> None:
    assert produce("").returncode == 0
    assert kafkapy("topics", "--cluster", cluster, "--list").stdout.strip() == ""


def test_headers_keys_and_nulls(produce: Run, consumed: Callable[..., str]) -> None:
    done = produce("h:1,g:N\tk\tv\nN\tN\tN\n", *KEYS, "--reader-property", "parse.headers=true", "--reader-property",
                   "null.marker=N", "--sync")  # fmt: skip
    assert done.returncode == 0
    assert consumed("headers", "key") == "h:1,g:null\tk\tv\nNO_HEADERS\tnull\tnull\n"


@pytest.mark.parametrize("codec", [[], ["none"], ["gzip"], ["snappy"], ["lz4"], ["zstd"]])
def test_codecs(produce: Run, consumed: Callable[..., str], kafkapy: Run, cluster: str, codec: list[str]) -> None:
    text = "".join(f"value {n}\n" for n in range(3000))
    assert produce(text, "--compression-codec", *codec).returncode == 0
    assert consumed() == text
    dumped = kafkapy("dump-log", "--files", f"{cluster}/broker-1/t-0/00000000000000000000.log").stdout
    assert f" compresscodec: {(codec or ['gzip'])[0]} " in dumped


def test_the_lines_before_a_wrong_one_are_sent(produce: Run, consumed: Callable[..., str]) -> None:
    done = produce("a\t1\nwrong\nb\t2\n", *KEYS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "kafkapy: No key separator found on line number 2: 'wrong'"
    assert consumed("key") == "a\t1\n"


def test_old_spellings(produce: Run, consumed: Callable[..., str]) -> None:
    done = produce("a\t1\n", "--property", "parse.key=true", "--max-partition-memory-bytes", "100", "--timeout", "5")
    assert done.returncode == 0
    assert done.stdout == (
        "Warning: --property is deprecated and will be removed in a future version. Use --reader-property instead.\n"
        "Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. "
        "Use --batch-size instead.\n"
    )
    assert consumed("key") == "a\t1\n"


def test_a_record_that_the_producer_refuses(produce: Run, consumed: Callable[..., str]) -> None:
    done = produce(f"a\n{'x' * 1000}\nb\n", "--command-property", "max.request.size=500")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "kafkapy: 1 of 3 messages were not acknowledged"
    assert "larger than 500, which is the value of the max.request.size configuration." in done.stderr
    assert consumed() == "a\nb\n"


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (["--line-reader", "X"], 2, "no line reader 'X'"),
        (["--compression-codec", "zip"], 1, "Invalid value zip for configuration compression.type"),
        (["--request-required-acks", "7"], 1, "Invalid value 7 for configuration acks"),
        (["--reader-property", "null.marker=:"], 1, "null.marker and headers.key.separator may not be equal"),
        (
            ["--reader-property", "a=b", "--property", "a=b"],
            2,
            "Options --reader-property and --property cannot be specified together",
        ),
    ],
)
def test_what_cannot_be(produce: Run, args: list[str], code: int, error: str) -> None:
    done = produce("a\n", *args)
    assert done.returncode == code
    assert done.stderr.startswith(f"kafkapy: {error}")


def test_a_topic_must_be_named(kafkapy: Run, cluster: str) -> None:
    done = kafkapy("console-producer", "--cluster", cluster, input="")
    assert done.returncode == 2
    assert done.stderr.startswith('kafkapy: Missing required argument "[topic]"')


def test_directories_of_real_brokers_are_not_written(kafkapy: Run, golden: Path) -> None:
    directory = str(golden / "clean" / "broker-1")
    done = kafkapy("console-producer", "--log-dirs", directory, "--topic", "orders", input="a\n")
    assert done.returncode == 1
    assert done.stderr.startswith("kafkapy: producing is not supported by --log-dirs")


def test_a_terminal_gets_a_prompt_and_a_record_is_there_after_its_linger(cluster: str, kafkapy: Run) -> None:
    command = [sys.executable, "-m", "kafkapy", "console-producer", "--cluster", cluster, "--topic", "t"]
    ours, theirs = pty.openpty()
    with subprocess.Popen([*command, "--timeout", "10"], stdin=theirs, stdout=theirs) as process:
        os.close(theirs)
        assert os.read(ours, 1) == b">"
        os.write(ours, b"one\n")
        seen = b""
        while not seen.endswith(b">"):
            seen += os.read(ours, 100)
        follow = ["--follow", "--max-messages", "1", "--timeout-ms", "60000"]
        done = kafkapy("console-consumer", "--cluster", cluster, "--topic", "t", "--from-beginning", *follow)
        assert done.stdout == "one\n"
        os.write(ours, b"\x04")
        assert process.wait(60) == 0
    os.close(ours)


def test_an_interrupt_loses_no_line(cluster: str, consumed: Callable[..., str]) -> None:
    command = [sys.executable, "-m", "kafkapy", "console-producer", "--cluster", cluster, "--topic", "t"]
    with subprocess.Popen([*command, "--timeout", "60000"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"one\ntwo\n")
        process.stdin.flush()
        assert b"UNKNOWN_TOPIC_OR_PARTITION" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert (process.wait(60), process.stderr.read()) == (130, b"")
    assert consumed() == "one\ntwo\n"


@pytest.mark.parametrize(("records", "what"), [(0, "the first messages"), (3, "2 of 3 messages")])
def test_an_interrupt_that_waits_tells_what_for(monkeypatch: pytest.MonkeyPatch, records: int, what: str) -> None:
    """No message is counted before the cluster has told of the topic."""
    told: list[str] = []

    def send(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.3)

    monkeypatch.setattr(console_producer, "PATIENCE_S", 0.05)
    monkeypatch.setattr(console_producer, "_send_input", send)
    producer: Any = SimpleNamespace(records=records, unsent=2, tell=told.append, pause=lambda: None)
    with pytest.raises(KeyboardInterrupt):
        console_producer._send_all(producer)
    assert told == [f"kafkapy: {what} are not acknowledged yet; another Ctrl-C gives up waiting for them"]


def test_transactions_are_committed_and_aborted_in_turn(
    produce: Run, consumed: Callable[..., str], kafkapy: Run, cluster: str
) -> None:
    options = ("--transactional-id", "t", "--transaction-size", "2", "--abort-every", "2", "--no-fsync")
    assert produce("0\n1\n2\n3\n4\n5\n6\n", *options).returncode == 0
    read = ("console-consumer", "--cluster", cluster, "--topic", "t", "--from-beginning")
    assert kafkapy(*read, "--isolation-level", "read_committed").stdout.split() == ["0", "1", "4", "5"]
    assert consumed().split() == list("0123456")
