"""The program as a process: exit codes, one-line errors, signals and closed pipes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkapy import __version__

Run = Callable[..., subprocess.CompletedProcess[str]]


def one_line(text: str) -> str:
    assert text.startswith("kafkapy: ")
    assert text.count("\n") == 1
    return text.removeprefix("kafkapy: ").rstrip("\n")


@pytest.mark.parametrize("args", [["--version"], ["dump-log", "--version"], ["dump-log", "-version"]])
def test_version(kafkapy: Run, args: list[str]) -> None:
    done = kafkapy(*args)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kafkapy {__version__} (Kafka 4.3.1)\n", "")


def test_help_names_the_commands_and_examples(kafkapy: Run) -> None:
    done = kafkapy("--help")
    assert done.returncode == 0
    assert re.search(r"dump-log +Show what is inside log segments", done.stdout)
    assert "Examples:\n" in done.stdout


def test_nothing_to_do_is_bad_usage_and_shows_the_help(kafkapy: Run) -> None:
    done = kafkapy()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == kafkapy("--help").stdout


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ("dmp-log", "no such command: dmp-log (did you mean dump-log?). Try 'kafkapy --help'."),
        ("kafka-dump-log.sh", "no such command: kafka-dump-log.sh (did you mean dump-log?). Try 'kafkapy --help'."),
        ("kafka-topics.sh", "no such command: kafka-topics.sh (did you mean topics?). Try 'kafkapy --help'."),
        ("--verson", "no such option: --verson (did you mean --version?). Try 'kafkapy --help'."),
        ("dump-log --fles x", "no such option: --fles (did you mean --files?). Try 'kafkapy dump-log --help'."),
        ("console-consumer --output json", "no such option: --output. Try 'kafkapy console-consumer --help'."),
        ("dump-log -fles x", "no such option: --fles (did you mean --files?). Try 'kafkapy dump-log --help'."),
        (
            "topics --zookeeper localhost:2181 --list",
            "no such option: --zookeeper (use --bootstrap-server with a broker's address instead). Try 'kafkapy "
            "topics --help'.",
        ),
        (
            "transactions --broker-list localhost:9092 list",
            "no such option: --broker-list (use --bootstrap-server with a broker's address instead). Try 'kafkapy "
            "transactions --help'.",
        ),
        (
            "replica-diff --topic orders",
            "no such option: --topic (TOPIC[:PARTITION] is given without the name of an option). Try 'kafkapy "
            "replica-diff --help'.",
        ),
        ("dump-log --zookeeper x", "no such option: --zookeeper. Try 'kafkapy dump-log --help'."),
        ("transactions lst", "no such command: lst (did you mean list?). Try 'kafkapy transactions --help'."),
        ("cluster kill 2", "no such command: kill (did you mean kill-broker?). Try 'kafkapy cluster --help'."),
        (
            "config unset",
            "no such command: unset (there are list, use, add, remove, show). Try 'kafkapy config --help'.",
        ),
        ("version", "no such command: version (did you mean --version?). Try 'kafkapy --help'."),
        ("topics --lst", "no such option: --lst (did you mean --list?). Try 'kafkapy topics --help'."),
        ("sql --describe records", "no such option: --describe (did you mean --tables?). Try 'kafkapy sql --help'."),
        ("topics list", "unexpected argument: list (did you mean --list?). Try 'kafkapy topics --help'."),
        (
            "topics --describe orders",
            "unexpected argument: orders (did you mean --topic orders?). Try 'kafkapy topics --help'.",
        ),
        (
            "topics --describe topic1",
            "unexpected argument: topic1 (did you mean --topic topic1?). Try 'kafkapy topics --help'.",
        ),
        ("topics --list (a)", "unexpected argument: (a) (did you mean --topic (a)?). Try 'kafkapy topics --help'."),
        ("topics lst", "unexpected argument: lst (did you mean --list?). Try 'kafkapy topics --help'."),
        (
            "topics --describe --topic orders payments",
            "unexpected argument: payments. Try 'kafkapy topics --help'.",
        ),
        (
            "consumer-groups --describe billing",
            "unexpected argument: billing (did you mean --group billing?). Try 'kafkapy consumer-groups --help'.",
        ),
        (
            "--context disks topics --list",
            "no such option: --context (it goes after the command: kafkapy topics --context). Try 'kafkapy --help'.",
        ),
        (
            "--cluster=demo cluster status",
            "no such option: --cluster (it goes after the command: kafkapy cluster status --cluster). "
            "Try 'kafkapy --help'.",
        ),
        (
            "cluster --topic orders status",
            "no such option: --topic (it goes after the command: kafkapy cluster status --topic). "
            "Try 'kafkapy cluster --help'.",
        ),
        ("--output json", "no such option: --output (it goes after the command). Try 'kafkapy --help'."),
        ("--files topics", "no such option: --files. Try 'kafkapy --help'."),
        (
            "consumer-groups --reset-offsets --group g --to-latest",
            "One of the reset scopes should be defined: --all-topics, --topic. Try 'kafkapy consumer-groups --help'.",
        ),
        ("dump-log", "missing option '--files'. Try 'kafkapy dump-log --help'."),
        ("dump-log --files", "option '--files' requires an argument. Try 'kafkapy dump-log --help'."),
        ("dump-log --files ,", "--files names no file. Try 'kafkapy dump-log --help'."),
        (
            "dump-log /kafka/1/orders-0",
            "unexpected argument: /kafka/1/orders-0 (did you mean --files /kafka/1/orders-0?). "
            "Try 'kafkapy dump-log --help'.",
        ),
        (
            "console-producer orders",
            "unexpected argument: orders (did you mean --topic orders?). Try 'kafkapy console-producer --help'.",
        ),
        (
            "lookup --topic orders 0",
            "unexpected argument: 0 (did you mean --partition 0?). Try 'kafkapy lookup --help'.",
        ),
        ("dump-log --files a b c", "unexpected arguments: b c. Try 'kafkapy dump-log --help'."),
        (
            "export --out o",
            "missing option '--to'. Choose from: parquet, json, csv, orc, avro, text. Try 'kafkapy export --help'.",
        ),
        (
            "dump-log --files a --max-bytes x",
            "invalid value for '--max-bytes': 'x' is not a whole number. Try 'kafkapy dump-log --help'.",
        ),
        (
            "throughput --top x",
            "invalid value for '--top': 'x' is not a whole number. Try 'kafkapy throughput --help'.",
        ),
        (
            "storage format --brokers x",
            "invalid value for '--brokers': 'x' is not a whole number. Try 'kafkapy storage format --help'.",
        ),
    ],
)
def test_bad_usage_is_one_line_with_a_hint(kafkapy: Run, args: str, error: str) -> None:
    done = kafkapy(*args.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) == error


def test_controls_in_an_argument_do_not_reach_the_terminal(kafkapy: Run) -> None:
    done = kafkapy("dump\x1b[31m\nlog")
    assert one_line(done.stderr).startswith("no such command: dump\\x1b[31m\\nlog")


@pytest.mark.parametrize("name", ["00000000000000000000", "nosuch"])
@pytest.mark.parametrize("suffix", ["log", "index", "timeindex", "txnindex", "snapshot"])
def test_a_missing_file_is_one_line(kafkapy: Run, tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"{name}.{suffix}"
    done = kafkapy("dump-log", "--files", str(path))
    assert done.returncode == 1
    assert done.stdout.startswith(f"Dumping {path}\n")
    assert one_line(done.stderr) == f"{path}: No such file or directory"


def test_a_name_without_an_offset(kafkapy: Run, tmp_path: Path) -> None:
    path = tmp_path / "orders.log"
    path.touch()
    done = kafkapy("dump-log", "--files", str(path))
    assert (done.returncode, done.stdout) == (1, f"Dumping {path}\n")
    assert one_line(done.stderr) == f"{path}: the name does not begin with the segment's base offset"


def test_a_directory_without_segments_names_the_help_of_the_command(kafkapy: Run, tmp_path: Path) -> None:
    done = kafkapy("dump-log", "--files", str(tmp_path))
    assert done.returncode == 2
    assert one_line(done.stderr).endswith(" in this directory. Try 'kafkapy dump-log --help'.")


def test_debug_shows_the_traceback_and_keeps_the_exit_code(kafkapy: Run, tmp_path: Path) -> None:
    args = ["dump-log", "--files", str(tmp_path / "00000000000000000000.log")]
    plain = kafkapy(*args)
    for done in (
        kafkapy(*args, "--debug"),
        kafkapy("--debug", *args),
        kafkapy(*args, env={**os.environ, "KAFKAPY_DEBUG": "1"}),
    ):
        assert done.returncode == plain.returncode
        assert done.stderr.startswith("Traceback")
        assert done.stderr.endswith(plain.stderr)


@pytest.fixture
def long_dump(sample: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A dump of far more than a pipe holds, of which one line was read: it is at work, or waits for its reader."""
    segments = ",".join([str(sample / "00000000000000000000.log")] * 200)
    command = [sys.executable, "-m", "kafkapy", "dump-log", "--print-data-log", "--files", segments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"Dumping ")
        yield process


def test_a_reader_that_leaves_ends_the_program_quietly(long_dump: subprocess.Popen[bytes]) -> None:
    assert long_dump.stdout is not None
    assert long_dump.stderr is not None
    long_dump.stdout.close()
    assert long_dump.stderr.read() == b""
    assert long_dump.wait() == 141


def test_an_interrupt_ends_the_program_quietly(long_dump: subprocess.Popen[bytes]) -> None:
    long_dump.send_signal(signal.SIGINT)
    _, err = long_dump.communicate()
    assert (long_dump.returncode, err) == (130, b"")


def test_output_that_cannot_be_written_is_an_error() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kafkapy", "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "No space left on device" in one_line(done.stderr)
