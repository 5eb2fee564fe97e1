"""``kafkapy tour``: it gets to its end, what it shows can be typed by hand, and what it says is true."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafkapy.tour.itinerary import STEPS, SUGGESTIONS
from kafkapy.tour.step import StepName
from tests.tour.transcript import NOTE, Shown, Transcript, environment

ELSEWHERE = ("--log-dirs", "--bootstrap-server")
CHANGING = [
    (r"TopicId: \S+", "TopicId: ID"),
    (r"cluster id \S+", "cluster id ID"),
    (r"CreateTime: \d+", "CreateTime: TIME"),
    (r"crc: \d+", "crc: CRC"),
    (r"Leader: \d\tReplicas: [\d,]+\tIsr: [\d,]+", "Leader, replicas and ISR"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
]
"""What differs from one cluster to the next: ids, times, and the broker that a topic begins with."""
BY_THE_CLOCK = (StepName.LAG, StepName.THROUGHPUT, StepName.REASSIGNMENT)
REPEATABLE = (
    "kafkapy console-consumer --topic payments",
    "kafkapy dump-log",
    "kafkapy throughput",
    "ls cluster/",
)
"""Commands that are to print the same bytes again when the whole tour is over."""


def typed(transcript: Transcript, directory: Path, line: str, path: str) -> str:
    """What a command prints to somebody who types it into a shell that was prepared as the tour says."""
    preparations = [each for each in transcript.preparations if not each.startswith("cd ")]
    done = subprocess.run(
        ["sh", "-c", "\n".join([*preparations, line])],
        cwd=directory, env=environment(path), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def rows(directory: Path, *args: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "kafkapy", *args, "--output", "jsonl"],
        cwd=directory, env=environment("", KAFKAPY_CLUSTER="cluster"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def only(taken: Transcript, name: StepName, beginning: str = "") -> Shown:
    """The last command of a step that begins so."""
    return [each for each in taken.shown[name] if each.command.line.startswith(beginning)][-1]


def test_it_gets_to_its_end_without_java(taken: Transcript) -> None:
    assert re.findall(r"^\[(\d+)/11\] (.*)$", taken.text, re.MULTILINE) == [
        (str(number), step.title) for number, step in enumerate(STEPS, 1)
    ]
    assert set(taken.shown) == set(StepName) - {StepName.SQL}
    assert (
        "\n\nSkipped: Spark needs Java 17 or newer, but there is none: install it, or set\nJAVA_HOME to it\n"
        in taken.text
    )
    assert taken.text.index("\nThe end of the tour. What to try next:\n") > taken.text.index("\nSkipped")


def test_what_it_says_fits_80_columns(taken: Transcript) -> None:
    outputs = {line for step in taken.shown.values() for each in step for line in each.output.splitlines()}
    said = [line for line in taken.text.splitlines() if line not in outputs and not line.startswith("$ cd ")]
    too_long = [line for line in said if len(line) > 80 and not line.startswith("$ export PATH=")]
    assert too_long == []
    assert len(said) > 100


def test_the_commands_print_the_same_when_they_are_typed(
    taken: Transcript, tmp_path: Path, path_without_java: str
) -> None:
    for name, commands in taken.shown.items():
        for shown in commands:
            printed = typed(taken, tmp_path, shown.command.line, path_without_java)
            if name not in BY_THE_CLOCK:
                assert same(printed) == same(shown.output), shown.command.line
            for note in shown.command.notes:
                flags = re.MULTILINE if shown.command.is_line_by_line else 0
                assert re.search(note.pattern, printed, flags), shown.command.line


def same(output: str) -> str:
    for pattern, replacement in CHANGING:
        output = re.sub(pattern, replacement, output)
    return output


def test_what_only_reads_prints_the_same_bytes_again(taken: Transcript, kept: Path, path_without_java: str) -> None:
    repeatable = [each for step in taken.shown.values() for each in step if each.command.line.startswith(REPEATABLE)]
    assert len(repeatable) == 6
    for shown in repeatable:
        assert typed(taken, kept, shown.command.line, path_without_java) == shown.output


def test_the_way_into_the_directory_is_told(taken: Transcript, kept: Path) -> None:
    assert taken.preparations[:2] == [f"cd {kept}", "export KAFKAPY_CLUSTER=cluster"]
    end = taken.text.partition("\nThe end of the tour. What to try next:\n")[2]
    assert end.startswith("".join(f"$ {line}\n" for line in taken.preparations))


def test_what_it_says_of_topics(taken: Transcript, kept: Path) -> None:
    partition = next(
        row for row in rows(kept, "topics", "--describe", "--topic", "orders") if row.get("partition") == 0
    )
    leader, replicas, isr = partition["leader"], partition["replicas"], partition["isr"]
    notes = only(taken, StepName.TOPICS).notes
    assert f"Broker {leader} leads" in notes
    assert f"Brokers {','.join(map(str, replicas))} have copies" in notes
    assert f"the Isr, are {','.join(map(str, isr))};" in notes


def test_what_it_says_of_offsets(taken: Transcript) -> None:
    shown = only(taken, StepName.PRODUCE)
    ends = [int(line.rpartition(":")[2]) for line in shown.output.splitlines()]
    assert sum(ends) == 7
    assert min(ends) > 0
    assert "{} records went to partition 0, {} to 1 and {} to 2.".format(*ends) in shown.notes


def test_what_it_says_of_transactions(taken: Transcript) -> None:
    *_, uncommitted, committed = taken.shown[StepName.TRANSACTIONS]
    assert uncommitted.output.splitlines()[:-1] == [f"invoice-{number}" for number in range(1, 5)]
    assert uncommitted.notes.startswith("All 4 are in the log")
    assert committed.output.splitlines()[:-1] == ["invoice-1", "invoice-2"]
    assert committed.notes.startswith("2 records, up to invoice-2:")


def test_what_it_says_of_the_group(taken: Transcript) -> None:
    consumer, described = taken.shown[StepName.GROUP]
    partition, offset, key, value = consumer.output.splitlines()[-2].split("\t")
    assert (
        f"at offset {offset[7:]} of partition {partition[10:]}, has the key {key} and the value {value}"
        in consumer.notes
    )
    committed, end, lag = next(
        line.split()[3:6] for line in described.output.splitlines() if line.split()[:3] == ["billing", "orders", "0"]
    )
    assert f"committed offset {committed}, where the next run begins; the log ends at {end}." in described.notes
    assert described.notes.endswith(f"its lag: {lag}.")
    assert int(lag) > 0


def test_every_file_and_every_line_of_the_dump_is_explained(taken: Transcript) -> None:
    lines = taken.text.splitlines()
    explained = [only(taken, StepName.FILES), taken.shown[StepName.DUMP][0]]
    printed = [line for each in explained for line in each.output.splitlines() if line]
    assert len(printed) == 7 + 12
    assert [line for line in printed if not lines[lines.index(line) + 1].startswith(NOTE)] == []


def test_what_it_says_of_the_dump(taken: Transcript, kept: Path) -> None:
    segment = "cluster/broker-1/payments-0/00000000000000000000.log"
    batches = rows(kept, "dump-log", "--files", segment)
    notes = taken.shown[StepName.DUMP][0].notes
    first, commit, second, abort = batches
    assert f"offsets {first['base_offset']} to {first['last_offset']}, {first['size']} bytes from byte 0" in notes
    assert f"producer id {first['producer_id']}, epoch {first['producer_epoch']}." in notes
    assert f"It takes offset {commit['base_offset']}," in notes
    assert f"the transaction that ends at offset {commit['base_offset']} is committed" in notes
    assert f"offsets {second['base_offset']} to {second['last_offset']}." in notes
    assert f"now {second['producer_epoch']}," in notes
    assert f"ends it, at offset {abort['base_offset']} ..." in notes
    aborted = taken.shown[StepName.DUMP][1].notes
    assert aborted.endswith(
        f"producer {first['producer_id']} aborted what it wrote from offset {second['base_offset']} to "
        f"{abort['base_offset']}."
    )


def test_what_it_says_of_lag_and_throughput(taken: Transcript, kept: Path) -> None:
    lag = sum(row["lag"] for row in rows(kept, "lag", "--group", "billing") if row["type"] == "lag")
    assert f"the group is {lag} records behind" in only(taken, StepName.LAG).notes
    assert lag > 1000
    orders = rows(kept, "throughput", "--topic", "orders", "--measure-compression")[0]
    assert (
        f"orders: {orders['records']} records in {orders['batches']} batches and {orders['bytes']} bytes, "
        f"{orders['record_rate']} records a second from the first to the last; IN/S in the output of lag covers the "
        f"time between commits. Uncompressed, they would take {orders['compression_ratio']} times"
    ) in only(taken, StepName.THROUGHPUT).notes


def test_what_it_says_of_the_plan(taken: Transcript, kept: Path) -> None:
    plan = json.loads(kept.joinpath("plan.json").read_text())
    assert {each["topic"] for each in plan["partitions"]} == {"orders"}
    assert all(3 not in each["replicas"] for each in plan["partitions"])
    notes = only(taken, StepName.REASSIGNMENT).notes
    assert re.match(rf"{len(plan['partitions'])} of \d+ partitions change: 2 copies have to be made", notes)


def test_what_it_suggests_can_be_done(taken: Transcript, kept: Path, tmp_path: Path, path_without_java: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(kept, copy)
    near = [each for each in SUGGESTIONS if not any(word in each.line for word in ELSEWHERE)]
    assert len(near) == len(SUGGESTIONS) - 2
    for each in near:
        assert each.text in taken.text.replace("\n", " ")
        assert typed(taken, copy, each.line, path_without_java)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_note_names_what_its_pattern_finds(step: Any) -> None:
    for command in step.commands:
        for note in command.notes:
            groups = re.compile(note.pattern).groupindex
            note.text.format(**dict.fromkeys(groups, ""))


def test_the_steps_are_in_the_order_of_their_names() -> None:
    assert [step.name for step in STEPS] == list(StepName)
