"""``kafkapy console-consumer``, on what real brokers wrote."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.formats.record_batch import decode_header

Run = Callable[..., subprocess.CompletedProcess[str]]


def log_dirs(golden: Path) -> str:
    return ",".join(str(golden / "clean" / f"broker-{n}") for n in (1, 2, 3))


@pytest.fixture
def consume(kafkapy: Run, golden: Path) -> Run:
    return lambda *args: kafkapy("console-consumer", "--log-dirs", log_dirs(golden), *args)


def printing(*names: str) -> list[str]:
    return [word for name in names for word in ("--formatter-property", f"print.{name}=true")]


@pytest.mark.parametrize(
    ("case", "args"),
    [
        ("console-orders", ["--topic", "orders", *printing("key", "offset", "partition", "timestamp", "headers")]),
        ("console-tx-committed", ["--topic", "tx", "--isolation-level", "read_committed", *printing("offset")]),
    ],
)
def test_kafka_printed_the_same(consume: Run, golden: Path, case: str, args: list[str]) -> None:
    done = consume("--from-beginning", *args)
    expected = (golden / "tools" / f"{case}.out").read_text()
    assert sorted(done.stdout.splitlines()) == sorted(expected.splitlines())
    count = expected.count("\n")
    assert (done.returncode, done.stderr) == (0, f"Processed a total of {count} messages\n")


def test_one_partition_from_an_offset_on(consume: Run) -> None:
    done = consume("--topic", "orders", "--partition", "0", "--offset", "3", "--max-messages", "2", *printing("offset"))
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == ["Offset:3", "Offset:4"]
    assert done.stderr == "Processed a total of 2 messages\n"


def test_without_following_the_end_is_the_end(consume: Run) -> None:
    done = consume("--topic", "orders")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Processed a total of 0 messages\n")


def test_an_offset_that_is_not_there(consume: Run) -> None:
    done = consume("--topic", "orders", "--partition", "0", "--offset", "99999999")
    assert done.stderr.startswith("Fetch position 99999999 is out of range for partition orders-0, resetting offset")
    assert (done.returncode, done.stdout) == (0, "")


def test_an_old_spelling_works_and_is_told_about(consume: Run) -> None:
    done = consume("--topic", "orders", "--from-beginning", "--max-messages", "1", "--property", "print.offset=true")
    first, second = done.stdout.splitlines()
    assert first == (
        "Option --property is deprecated and will be removed in a future version. Use --formatter-property instead."
    )
    assert second.startswith("Offset:0\t")


def test_properties_of_files(consume: Run, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("print.offset=true\nprint.value=false\nkey.deserializer=Integer\n")
    (tmp_path / "c").write_text("auto.offset.reset=earliest\n")
    files = ["--formatter-config", str(tmp_path / "f"), "--command-config", str(tmp_path / "c")]
    done = consume("--topic", "orders", "--max-messages", "1", *files, "--key-deserializer", "String", *printing("key"))
    assert done.stdout == "Offset:0\tk114\n"


def test_a_record_that_is_not_what_the_deserializer_takes(consume: Run) -> None:
    args = ["--topic", "orders", "--partition", "0", "--offset", "0", "--value-deserializer", "Integer"]
    done = consume(*args, *printing("offset"))
    assert (done.returncode, done.stdout) == (1, "Offset:0\t")
    assert done.stderr == (
        "Processed a total of 1 messages\nkafkapy: Size of data received by IntegerDeserializer is not 4\n"
    )
    skipping = consume(*args, "--skip-message-on-error", "--max-messages", "2")
    assert skipping.returncode == 0
    assert skipping.stderr.count("Error processing message, skipping this message: ") == 2


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ("", "Exactly one of the following arguments is required: [topic], [include]"),
        ("--topic a --include b", "Exactly one of the following arguments is required: [topic], [include]"),
        ("--topic a --offset 1", "The partition is required when offset is specified"),
        ("--include a --partition 1", "The topic is required when partition is specified"),
        (
            "--topic a --partition 1 --offset 1 --from-beginning",
            "Options from-beginning and offset cannot be specified together",
        ),
        ("--topic a --partition 0 --offset x", "The provided offset value 'x' is incorrect. Valid values are"),
        (
            "--topic a --property x=y --formatter-property x=y",
            "Options --property and --formatter-property cannot be specified together",
        ),
        ("--topic a --formatter X", "no formatter 'X'"),
        ("--topic a --isolation-level x", "Invalid value x for configuration isolation.level"),
    ],
)
def test_bad_usage(consume: Run, args: str, error: str) -> None:
    done = consume(*args.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kafkapy: {error}")


def test_a_topic_that_does_not_exist(consume: Run) -> None:
    done = consume("--topic", "nosuch")
    assert (done.returncode, done.stderr) == (1, "kafkapy: Topic 'nosuch' does not exist\n")


def test_several_topics_and_no_output(consume: Run) -> None:
    done = consume("--include", "orders|tx", "--from-beginning", "--formatter", "no-op", "--enable-systest-events")
    assert (done.returncode, done.stdout) == (0, "shutdown_complete\n")
    assert int(done.stderr.split()[-2]) > 500


def test_following_sees_what_is_appended(golden: Path, tmp_path: Path) -> None:
    source = next((golden / "clean").glob("broker-*/orders-0"))
    copy = tmp_path / "orders-0"
    copy.mkdir()
    data = (source / "00000000000000000000.log").read_bytes()
    header = decode_header(data)
    log = copy / "00000000000000000000.log"
    log.write_bytes(data[: header.size])
    command = [sys.executable, "-m", "kafkapy", "console-consumer", "--log-dirs", str(tmp_path), "--topic", "orders"]
    command += ["--from-beginning", "--follow", "--timeout-ms", "60000", *printing("offset")]
    command += ["--max-messages", str(header.record_count + 1)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = [process.stdout.readline() for _ in range(header.record_count)]
        assert seen[-1].startswith(f"Offset:{header.last_offset}\t")
        log.write_bytes(data)
        assert process.stdout.read().startswith(f"Offset:{header.last_offset + 1}\t")
        assert process.stderr.read() == f"Processed a total of {header.record_count + 1} messages\n"
    assert process.returncode == 0
