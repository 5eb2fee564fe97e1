"""Kafka's own ConsumerGroupCommand against ``kafkapy consumer-groups``, on one cluster directory.

kafkapy makes the directory with topics and groups of every kind; a real Kafka 4.3.1 broker boots on it. Every command
runs in one JVM against the broker and in this process on the directory beneath it. Then commands that change something
run against the broker and on a copy of the directory, and must say the same. What Kafka prints in hash order is sorted.

The readers of datetimes, durations and regular expressions are asked with many random texts, right and wrong.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafkapy.backends.group_lock import GroupLock
from kafkapy.backends.reset_times import parse_datetime, parse_duration
from kafkapy.cli import main
from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.re2_syntax import check_syntax
from tests.group_cluster import LONG, ORDERS, TRIMMED, WIDE, made
from tests.kafka_jars import kafka_libs
from tests.kafka_java import kafka_java
from tests.real_kafka import RealCluster

ALL = ("active", "ahead", "modern", "modern-empty", "readers", WIDE)
DESCRIBED = (("--all-groups",), *(("--group", group) for group in ALL), ("--group", "readers", "--group", "active"))
"""Not of ``simple`` alone: one of its commits lies before the log start, where Kafka counts deleted records as lag."""

SUB_ACTIONS = ((), ("--offsets",), ("--members",), ("--state",))
RESET = ("--reset-offsets", "--dry-run")
READERS = (*RESET, "--group", "readers")
SIMPLE = (*RESET, "--group", "simple", "--all-topics")

PATIENT = ("group.consumer.session.timeout.ms=600000", "group.consumer.max.session.timeout.ms=600000")
"""The member of a group is one of files only, and must not be taken for dead before a slow machine has asked for it."""
READING = [
    *(
        ("--describe", *groups, *sub, *verbose)
        for groups in DESCRIBED
        for sub in SUB_ACTIONS
        for verbose in ((), ("--verbose",))
        if groups != ("--all-groups",) or sub in SUB_ACTIONS[2:]
    ),
    ("--list",),
    ("--list", "--state"),
    ("--list", "--type"),
    ("--list", "--state", "--type"),
    ("--list", "--state", "empty, STABLE"),
    ("--list", "--state", "Dead"),
    ("--list", "--type", "classic"),
    ("--list", "--type", "Consumer,CLASSIC", "--state", "empty"),
    ("--describe", "--group", "nope"),
    ("--describe", "--group", "nope", "--members"),
    ("--describe", "--group", "nope", "--group", "readers", "--state"),
    ("--describe", "--group", "connectors"),
    (*READERS, "--topic", ORDERS, "--to-earliest"),
    (*READERS, "--topic", ORDERS, "--to-latest"),
    (*READERS, "--topic", ORDERS, "--to-current"),
    (*READERS, "--topic", f"{ORDERS}:0,2", "--topic", LONG, "--to-offset", "1"),
    (*READERS, "--topic", TRIMMED, "--to-earliest"),
    (*READERS, "--topic", TRIMMED, "--to-offset", "3"),
    (*READERS, "--topic", TRIMMED, "--to-offset", "-3"),
    (*READERS, "--topic", TRIMMED, "--to-offset", "99"),
    (*READERS, "--topic", f"{ORDERS}:0", "--shift-by", "-2"),
    (*READERS, "--topic", f"{ORDERS}:0", "--shift-by", "99"),
    (*READERS, "--topic", ORDERS, "--to-datetime", "2026-01-01T00:00:03.500"),
    (*READERS, "--topic", ORDERS, "--to-datetime", "2026-01-01T02:00:03.001+02:00"),
    (*READERS, "--topic", ORDERS, "--to-datetime", "2026-01-01T00:00:03"),
    (*READERS, "--topic", ORDERS, "--to-datetime", "2026-01-01"),
    (*READERS, "--topic", ORDERS, "--by-duration", "P9999D"),
    (*READERS, "--topic", ORDERS, "--by-duration", "-P1D"),
    (*READERS, "--topic", ORDERS, "--by-duration", "P1W"),
    (*READERS, "--topic", ORDERS, "--by-duration", "P999999999999D"),
    (*READERS, "--topic", "nope", "--to-earliest"),
    (*READERS, "--topic", "nope:0", "--to-earliest"),
    (*READERS, "--topic", f"{ORDERS}:1,9", "--topic", f"{ORDERS}:8", "--to-earliest"),
    (*READERS, "--all-topics", "--to-earliest", "--export"),
    (*SIMPLE, "--to-earliest"),
    (*SIMPLE, "--to-current"),
    (*SIMPLE, "--to-latest", "--export"),
    (*SIMPLE, "--shift-by", "0"),
    (*RESET, "--group", "simple", "--group", "readers", "--all-topics", "--to-latest"),
    (*RESET, "--group", "simple", "--group", "readers", "--all-topics", "--to-latest", "--export"),
    (*RESET, "--group", WIDE, "--group", "readers", "--all-topics", "--to-latest", "--export"),
    (*RESET, "--group", WIDE, "--all-topics", "--to-latest"),
    (*RESET, "--group", "brand-new", "--topic", ORDERS, "--to-latest"),
    (*RESET, "--group", "brand-new", "--all-topics", "--to-latest"),
    (*RESET, "--group", "brand-new", "--all-topics", "--to-latest", "--export"),
    (*RESET, "--group", "modern-empty", "--all-topics", "--to-earliest"),
    (*RESET, "--group", "active", "--all-topics", "--to-earliest"),
    (*RESET, "--group", "modern", "--all-topics", "--to-earliest"),
    (*RESET, "--group", "active", "--all-topics", "--to-earliest", "--export"),
    ("--reset-offsets", "--group", "readers", "--all-topics", "--to-earliest"),
    (*READERS, "--from-file", "short.csv"),
    (*READERS, "--from-file", "short.csv", "--export"),
    (*READERS, "--topic", TRIMMED, "--from-file", "short.csv"),
    (*READERS, "--from-file", "long.csv"),
    (*RESET, "--group", "readers", "--group", "simple", "--from-file", "long.csv"),
    (*RESET, "--group", "simple", "--group", "modern-empty", "--from-file", "long.csv"),
    ("--validate-regex", "a.*b"),
    ("--validate-regex", "(a"),
    ("--validate-regex", "a**"),
    ("--validate-regex", ""),
]
FILES = {
    "short.csv": f"{ORDERS},0,3\n{ORDERS},1,99\r\n{TRIMMED},0, 1\n\n",
    "long.csv": f'readers,{ORDERS},0,3\n"simple",{TRIMMED},0,9\n',
}

USAGE = [
    ("--list", "--describe", "--all-groups"),
    ("--describe",),
    ("--delete",),
    ("--delete", "--group", "g", "--topic", "t"),
    ("--delete-offsets", "--group", "g"),
    ("--delete-offsets", "--topic", "t"),
    ("--reset-offsets", "--dry-run", "--execute", "--group", "g"),
    (*RESET, "--all-topics", "--to-earliest"),
    (*READERS, "--to-earliest"),
    (*READERS, "--to-earliest", "--to-latest", "--all-topics"),
    (*READERS, "--to-offset", "0", "--to-current", "--all-topics"),
    (*READERS, "--topic", ORDERS, "--shift-by", "1"),
    (*READERS, "--topic", f"{ORDERS}:", "--to-latest"),
    (*READERS, "--topic", f"{ORDERS}:1:2", "--to-latest"),
    (*READERS, "--topic", f"{ORDERS}:x", "--to-latest"),
    ("--group", "g", "--list"),
    ("--describe", "--group", "g", "--all-groups"),
    ("--describe", "--group", "g", "--topic", "t"),
    ("--list", "--topic", "t"),
    ("--describe", "--group", "g", "--members", "--state"),
    ("--describe", "--group", "g", "--state", "empty"),
    ("--list", "--members"),
    ("--list", "--verbose"),
    ("--delete", "--group", "g", "--state"),
    ("--describe", "--group", "g", "--type"),
    ("--group", "g"),
    ("--validate-regex", "a", "--list"),
]
UNORDERED_USAGE = [
    ("--list", "--state", "bogus"),
    ("--list", "--state", "empty,,stable"),
    ("--list", "--state", "NotReady"),
    ("--list", "--type", "share"),
]

CHANGING = [
    ("--delete-offsets", "--group", "nope", "--topic", ORDERS),
    ("--delete-offsets", "--group", "nope", "--topic", "nope"),
    ("--delete-offsets", "--group", "active", "--topic", ORDERS),
    ("--delete-offsets", "--group", "active", "--topic", TRIMMED),
    ("--delete-offsets", "--group", "readers", "--topic", f"{ORDERS}:0,9", "--topic", LONG, "--topic", "nope"),
    ("--describe", "--group", "readers"),
    ("--delete", "--group", "nope"),
    ("--delete", "--group", "active", "--group", "nope", "--group", "simple"),
    ("--delete", "--group", "ahead", "--group", WIDE),
    ("--reset-offsets", "--group", "modern-empty", "--topic", ORDERS, "--to-earliest", "--execute"),
    ("--reset-offsets", "--group", "brand-new", "--topic", ORDERS, "--to-latest", "--execute"),
    ("--reset-offsets", "--group", "modern", "--topic", ORDERS, "--to-latest", "--execute"),
    ("--describe", "--group", "brand-new", "--verbose"),
    ("--describe", "--group", "modern-empty", "--verbose"),
    ("--list", "--state", "--type"),
]


class Answer(NamedTuple):
    out: str
    err: str
    exit: int


def judge(directory: Path, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kafka's answers, from one JVM that runs in ``directory``."""
    jobs, results = directory / "jobs", directory / "results"
    jobs.write_text("".join(json.dumps(question) + "\n" for question in questions))
    command = [*kafka_java("JudgeConsumerGroups", "-Dfile.encoding=UTF-8"), str(jobs), str(results)]
    subprocess.run(command, check=True, timeout=600, capture_output=True, cwd=directory)
    return [json.loads(line) for line in results.read_text().splitlines()]


def ours(capfd: pytest.CaptureFixture[str], directory: str, args: tuple[str, ...]) -> Answer:
    capfd.readouterr()
    code = main(["consumer-groups", "--cluster", directory, *args])
    return Answer(*capfd.readouterr(), code)


def shape(text: str) -> tuple[bool, list[str]]:
    """The lines in an order of their own, and whether the text ends with a line's end."""
    return text.endswith("\n"), sorted(text.split("\n"))


def is_failure(answer: Answer) -> bool:
    return "Error: " in answer.out or " is invalid: " in answer.out


def compare(args: tuple[str, ...], mine: Answer, kafka: Answer) -> list[str]:
    """What differs."""
    in_order = args[0] == "--describe" and "--members" not in args and "active" not in args
    same_out = mine.out == kafka.out if in_order else shape(mine.out) == shape(kafka.out)
    wrong = [] if same_out else [f"stdout:\n{mine.out}\nKafka's:\n{kafka.out}"]
    traces = "Exception" in kafka.err  # Kafka's stack traces are not the contract
    said = "".join(line for line in mine.err.splitlines(True) if not line.startswith("kafkapy: "))  # our own notes
    if not traces and said != kafka.err:
        wrong.append(f"stderr:\n{mine.err}\nKafka's:\n{kafka.err}")
    if (mine.exit != 0) != is_failure(kafka):
        wrong.append(f"exit {mine.exit}")
    return [f"{' '.join(args)}: {each}" for each in wrong]


def test_commands_against_a_real_broker(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    kafka_libs()
    directory = made(tmp_path / "cluster", offsets_partitions=5)
    copy = str(tmp_path / "copy")
    shutil.copytree(directory, copy)
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    commands = [*READING, *USAGE, *UNORDERED_USAGE]
    with RealCluster(Path(directory), tmp_path, PATIENT) as real:
        real.wait_until_in_sync(10)

        def asked(args: tuple[str, ...]) -> dict[str, Any]:
            return {"args": ["--bootstrap-server", real.bootstrap, *args]}

        theirs = [Answer(**each) for each in judge(tmp_path, [asked(args) for args in commands])]
        mine = [ours(capfd, directory, args) for args in commands]
        changed = [Answer(**each) for each in judge(tmp_path, [asked(args) for args in CHANGING])]
    pairs = list(zip(commands, mine, theirs, strict=True))
    wrong = [line for each in pairs[: len(READING)] for line in compare(*each)]
    for args, answer, kafka in pairs[len(READING) :]:
        said = answer.err.removeprefix("kafkapy: ").rpartition(". Try ")[0]
        told = kafka.err.splitlines()[0].removesuffix(".") if kafka.err else ""
        if args in UNORDERED_USAGE:
            said, told = (" ".join(sorted(text.replace(",", "").split())) for text in (said, told))
        elif " takes " in told or "requires" in told:
            said, told = ("".join(sorted(text)) for text in (said, told))
        if (said, answer.exit, kafka.exit) != (told, 2, 1):
            wrong.append(f"{' '.join(args)}: {answer.exit} {answer.err}\nKafka's: {kafka.exit} {told}")
    held = [GroupLock(copy, group, 0) for group in ("active", "modern")]  # or their members would be taken for dead
    for args, kafka in zip(CHANGING, changed, strict=True):
        wrong += compare(args, ours(capfd, copy, args), kafka)
    for lock in held:
        lock.release()
    assert not wrong, "\n\n".join(wrong)


TOKENS = [
    *"abz09[]()*+?{}|^$.\\-:,<>=!PQEpxdDwWzZAbBCU_i~ms ", "(?", "(?P<n>", "(?<m>", "(?:", "(?i)", "(?-s:", "[:alpha:]",
    "[[:", "\\p{Greek}", "\\pL", "\\P{^Lu}", "\\Q", "\\E", "\\x{1F600}", "\\x41", "\\123", "\\0", "{2}", "{2,}",
    "{3,2}", "{1001}", "{1,1000}", "{0}", "{01}", "{,3}", "{999999999}", "\U0001f600", "a-z", "[^", "(?<=a)", "(?!",
    "\\1", "\\8",
]  # fmt: skip
ZONES = ["", "Z", "+02:00", "-13:00", "-13:30", "+14:59", "+02", "+0230", "+2", "z", "Zx", "+02:60", "+02:5", " Z", "-"]


def random_regex(chance: random.Random) -> str:
    return "".join(chance.choice(TOKENS) for _ in range(chance.randint(0, 9)))


def random_datetime(chance: random.Random) -> str:
    year = chance.choice([chance.randint(1, 3000), 1582, 1900, 2000, 0, 292278994])
    date = f"{chance.choice(['', ' '])}{year:04d}-{chance.randint(0, 13):02d}-{chance.randint(0, 32):02d}"
    time = f"{chance.randint(0, 24):02d}:{chance.choice([0, 59, 60])}:{chance.choice(['', ' '])}{chance.randint(0, 60)}"
    fraction = chance.choice([".0", ".5", ".123", ".1234", ".", "", ". 5", ".0001", ",5"])
    return f"{date}{chance.choice('TTTTTTTt ')}{time}{fraction}{chance.choice(ZONES)}"


def random_duration(chance: random.Random) -> str:
    def number() -> str:
        large = chance.choice([2**63, 2**63 - 1, 106751991167300, 10**17, chance.randint(0, 2**64)])
        return chance.choice(["", "", "-", "+"]) + str(chance.choice([0, 1, 30, chance.randint(0, 10**6), large]))

    def maybe(text: str) -> str:
        return chance.choice(["", text])

    fraction = chance.choice(["", ".", ".5", ",25", ".123456789", ".1234567890"])
    time = maybe(f"{number()}H") + maybe(f"{number()}M") + maybe(f"{number()}{fraction}S")
    return f"{chance.choice(['', '-', '+'])}{chance.choice('PPPp')}{maybe(number() + 'D')}{chance.choice('TTt')}{time}"


def answer_of(read: Callable[[str], Any], text: str) -> dict[str, str]:
    try:
        return {"value": str(read(text))}
    except (KafkaError, FormatError) as error:
        return {"error": str(error).removeprefix("java.text.ParseException: ")}


def seconds_and_nanoseconds(text: str) -> str:
    seconds, nanoseconds = divmod(parse_duration(text), 10**9)
    return f"{seconds} {nanoseconds}"


def is_right(pattern: str) -> str:
    check_syntax(pattern)
    return "true"


def test_values_are_read_as_java_reads_them(tmp_path: Path) -> None:
    chance = random.Random(1)
    readers: dict[str, tuple[Callable[[random.Random], str], Callable[[str], Any]]] = {
        "datetime": (random_datetime, parse_datetime),
        "duration": (random_duration, seconds_and_nanoseconds),
        "regex": (random_regex, is_right),
    }
    questions = [{"read": name, "text": made_up(chance)} for name, (made_up, _) in readers.items() for _ in range(4000)]
    answers = judge(tmp_path, questions)
    for name in readers:
        kinds = {tuple(answer) for question, answer in zip(questions, answers, strict=True) if question["read"] == name}
        assert kinds == {("value",), ("error",)}, "right and wrong ones were asked"
    wrong = [
        (question, mine, answer)
        for question, answer in zip(questions, answers, strict=True)
        if (mine := answer_of(readers[question["read"]][1], question["text"])) != answer
    ]
    assert not wrong
