"""kafkapy cluster: what is printed of brokers that fail, and what other commands then see."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import Done, run

LAST_KNOWN = "an unclean election of the last known leader: only what it had not flushed is lost"


@pytest.fixture
def cluster(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """Three brokers and a topic that broker 1 leads, without eligible leader replicas."""
    directory = tmp_path / "cluster"
    features = ("--feature", "eligible.leader.replicas.version=0")
    assert run(capfd, "storage", "format", "--cluster", directory, "--racks", "a,b,a", *features).code == 0
    made = run(capfd, "topics", "--cluster", directory, "--create", "--topic", "t", "--replica-assignment", "1:2:3")
    assert made.code == 0
    return directory


@pytest.fixture
def kafkapy(cluster: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("KAFKAPY_CLUSTER", str(cluster))

    def call(*args: str) -> Done:
        return run(capfd, *args)

    return call


def test_that_no_broker_runs_is_said_once(kafkapy) -> None:  # type: ignore[no-untyped-def]
    kafkapy("topics", "--alter", "--topic", "t", "--partitions", "2")
    for broker in "123":
        kafkapy("cluster", "kill-broker", broker)
    told = kafkapy("console-consumer", "--topic", "t", "--from-beginning", "--timeout-ms", "1").err
    assert told.count(" is not read: There is no leader ") == 2
    assert told.count("kafkapy: no election is under way: brokers 1, 2, 3 do not run; 'kafkapy cluster ") == 1


@pytest.mark.parametrize(
    "args", [("console-consumer", "--topic", "t", "--group", "g"), ("topics", "--create", "--topic", "new")]
)
def test_a_topic_that_no_broker_can_have_says_how_to_start_one(kafkapy, args: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    for broker in "123":
        kafkapy("cluster", "kill-broker", broker)
    told = kafkapy(*args).err.splitlines()
    hint = "kafkapy: no broker runs: 'kafkapy cluster start-broker 1' starts one, 'kafkapy cluster status' shows all"
    assert told.count(hint) == 1


def test_status_names_the_doctor_where_something_is_wrong(kafkapy) -> None:  # type: ignore[no-untyped-def]
    assert kafkapy("cluster", "status").err == ""
    kafkapy("cluster", "kill-broker", "2")
    told = kafkapy("cluster", "status").err
    assert told.startswith("kafkapy: 'kafkapy doctor --cluster ")
    assert told.endswith(" explains what to do\n")
    assert "broker 2" in kafkapy("doctor").out


def test_a_broker_is_stopped_and_started(kafkapy) -> None:  # type: ignore[no-untyped-def]
    assert kafkapy("cluster", "stop-broker", "1").lines == ["t-0: leader 1 -> 2, isr 1,2,3 -> 2,3"]
    described = kafkapy("topics", "--describe", "--topic", "t").lines[1]
    assert "\tLeader: 2\tReplicas: 1,2,3\tIsr: 2,3\t" in described
    assert kafkapy("cluster", "start-broker", "1").lines == [
        "Broker 1 is started. No leader and no ISR changed.",
        "Broker 1 is out of the ISR of 1 partition: it catches up with 'kafkapy cluster replicate --until-caught-up'.",
    ]
    assert kafkapy("cluster", "replicate", "--until-caught-up").lines == [
        "t-0: broker 1 from offset 0 to 0, high watermark 0, in sync"
    ]
    assert kafkapy("cluster", "replicate").lines == ["Nothing was left to fetch."]
    elected = kafkapy("topics", "--describe", "--topic", "t").lines[1]
    assert "\tLeader: 2\tReplicas: 1,2,3\tIsr: 1,2,3\t" in elected


@pytest.mark.parametrize(("command", "done"), [("stop-broker", "stopped"), ("kill-broker", "killed")])
def test_that_a_broker_out_of_the_isr_is_gone_is_told(kafkapy, command: str, done: str) -> None:  # type: ignore[no-untyped-def]
    kafkapy("cluster", "stop-broker", "3")
    kafkapy("cluster", "start-broker", "3")
    assert kafkapy("cluster", command, "3").lines == [f"Broker 3 is {done}. No leader and no ISR changed."]


def test_status(kafkapy) -> None:  # type: ignore[no-untyped-def]
    kafkapy("cluster", "kill-broker", "3")
    kafkapy("cluster", "advance", "--ms", "60000")
    lines = kafkapy("cluster", "status").lines
    assert lines[0] == "Clock: 60000 ms ahead"
    assert lines[1].split() == ["Broker", "Rack", "State", "Since", "Leaders", "Replicas", "InSync"]
    assert lines[2].split() == ["1", "a", "running", "-", "1", "1", "1"]
    assert re.fullmatch(r"3 +a +killed +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +0 +1 +0", lines[4])
    assert lines[5:] == [
        "Partitions: 1, without a leader: 0, with replicas not in sync: 1",
        "t-0: leader 1, epoch 0, replicas 1,2,3, isr 1,2, elr none",
        "  Broker  State    Role      InSync  LogStart  LogEnd  HighWatermark",
        "  1       running  leader    yes     0         0       0",
        "  2       running  follower  yes     0         0       0",
        "  3       killed   follower  no      0         0       0",
    ]
    assert max(map(len, lines)) <= 80
    assert not any("\t" in line for line in lines)
    rows = kafkapy("cluster", "status", "--output", "jsonl").rows
    assert [row["type"] for row in rows] == ["clock", *["broker"] * 3, *["replica"] * 3]
    assert [type(row["since_timestamp"]) for row in rows[1:4]] == [type(None), type(None), int]
    replica = rows[-1]
    assert (replica["topic"], replica["partition"], replica["leader"], replica["isr"]) == ("t", 0, 1, [1, 2])
    assert (replica["broker_id"], replica["state"], replica["is_in_sync"]) == (3, "killed", False)


def test_status_of_a_topic_that_is_not_there(kafkapy) -> None:  # type: ignore[no-untyped-def]
    done = kafkapy("cluster", "status", "--topic", "nope")
    assert (done.code, done.out) == (1, "")
    assert "there is no topic whose name matches 'nope'" in done.err


def test_a_lagging_broker_leaves_the_isr(kafkapy) -> None:  # type: ignore[no-untyped-def]
    assert kafkapy("cluster", "lag-broker", "2").lines == [
        "t-0: acks=all waits for broker 2",
        "Broker 2, an in-sync follower of 1 partition, does not fetch until 'kafkapy cluster start-broker 2'.",
        "It leaves their ISRs when 'kafkapy cluster advance' has let enough time pass.",
    ]
    assert kafkapy("cluster", "advance", "--ms", "60000").lines == ["No leader and no ISR changed."]
    line = [sys.executable, "-m", "kafkapy", "console-producer", "--topic", "t", "--producer-property", "acks=1"]
    assert subprocess.run(line, input=b"x\n", check=False).returncode == 0
    rows = kafkapy("cluster", "status", "--output", "jsonl").rows
    assert rows[-1]["isr"] == [1, 3]
    assert [row["log_end_offset"] for row in rows[-3:]] == [1, 0, 1]
    assert kafkapy("cluster", "start-broker", "2").lines[0] == "Broker 2 is started. No leader and no ISR changed."
    moved = kafkapy("cluster", "replicate", "--until-caught-up", "--output", "jsonl").rows
    assert [(row["broker_id"], row["log_end_offset"], row["is_in_sync"]) for row in moved] == [(2, 1, True)]


def produce(value: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "kafkapy", "console-producer", "--topic", "t", *args]
    return subprocess.run(line, input=value + b"\n", check=False, capture_output=True)


def test_acks_all_says_whom_it_waits_for(kafkapy) -> None:  # type: ignore[no-untyped-def]
    rows = kafkapy("cluster", "lag-broker", "2", "--output", "jsonl").rows
    assert rows == [{"type": "lagging", "topic": "t", "partition": 0, "broker_id": 2}]
    done = produce(b"x")
    assert done.returncode == 1
    for part in (b"t-0", b"broker 2, in its ISR", b"'kafkapy cluster start-broker 2'", b"advance --ms 30001"):
        assert part in done.stderr


def test_a_leader_that_lags_is_no_hindrance(kafkapy) -> None:  # type: ignore[no-untyped-def]
    assert "an in-sync follower of 0 partitions, does not fetch until" in kafkapy("cluster", "lag-broker", "1").out
    assert produce(b"x").returncode == 0
    rows = kafkapy("cluster", "status", "--output", "jsonl").rows
    assert [(row["log_end_offset"], row["high_watermark"]) for row in rows[-3:]] == [(1, 1)] * 3


def test_what_is_lost_is_told(kafkapy) -> None:  # type: ignore[no-untyped-def]
    kafkapy("configs", "--alter", "--topic", "t", "--add-config", "unclean.leader.election.enable=true")
    kafkapy("cluster", "stop-broker", "2")
    for value in (b"a", b"b"):
        assert produce(value).returncode == 0
    assert kafkapy("cluster", "kill-broker", "3", "--lose-unflushed").lines == [
        "t-0: isr 1,3 -> 1",
        "t-0: broker 3 lost 2 offsets, 0 to 1, which it had not flushed",
        "In all: 0 leaders changed, 1 ISR changed, 0 partitions left without a leader, 2 offsets lost in 1 log.",
    ]
    kafkapy("cluster", "kill-broker", "1")
    started = kafkapy("cluster", "start-broker", "2")
    assert "t-0: leader none -> 2, isr 1 -> 2, an unclean election: what only others have is lost" in started.lines
    rows = kafkapy("cluster", "start-broker", "1", "--output", "jsonl").rows
    assert rows == [
        {
            "type": "lost",
            "topic": "t",
            "partition": 0,
            "broker_id": 1,
            "log_end_offset_before": 2,
            "log_end_offset": 0,
            "reason": "not_on_leader",
        }
    ]


def test_an_empty_isr_and_who_is_eligible(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    at = ("--cluster", tmp_path / "elr")
    assert run(capfd, "storage", "format", *at, "--brokers", "1").code == 0
    assert run(capfd, "topics", *at, "--create", "--topic", "t").code == 0
    assert run(capfd, "cluster", "kill-broker", "1", *at).lines == [
        "t-0: leader 1 -> none, isr 1 -> none, elr none -> 1"
    ]
    started = "t-0: leader none -> 1, isr none -> 1, elr 1 -> none"
    assert f"{started}, {LAST_KNOWN}" in run(capfd, "cluster", "start-broker", "1", *at).lines
    assert run(capfd, "cluster", "stop-broker", "1", *at).code == 0
    assert started in run(capfd, "cluster", "start-broker", "1", *at).lines, "it was stopped in good order"


@pytest.mark.parametrize(("min_isr", "first"), [("1", "1"), ("2", "2")])
def test_the_last_known_leader_leads_when_nobody_is_eligible(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], min_isr: str, first: str
) -> None:
    """With min.insync.replicas=2 broker 2 is eligible, too, until it is back from its crash."""
    at = ("--cluster", tmp_path / "elr")
    topic = ("--topic", "t", "--replica-assignment", "1:2:3", "--config", f"min.insync.replicas={min_isr}")
    assert run(capfd, "storage", "format", *at).code == 0
    assert run(capfd, "topics", *at, "--create", *topic).code == 0
    assert run(capfd, "cluster", "kill-broker", "3", "2", "1", *at).code == 0
    for broker in "123":
        lines = run(capfd, "cluster", "start-broker", broker, *at).lines
        told = [line for line in lines if line.startswith("t-0: leader none -> 1, isr none -> 1, ")]
        assert [line.endswith(LAST_KNOWN) for line in told] == ([True] if broker == first else [])


@pytest.mark.parametrize(
    ("hide", "shown"), [(("--exclude-internal",), "t-0"), (("--topic", "__.*"), "__transaction_state-0")]
)
def test_topics_that_are_not_shown(kafkapy, hide: tuple[str, ...], shown: str) -> None:  # type: ignore[no-untyped-def]
    kafkapy("topics", "--create", "--topic", "__transaction_state", "--replica-assignment", "1:2:3")
    summary = "1 line not shown."
    for command in (
        ("stop-broker", "2"),
        ("start-broker", "2"),
        ("replicate", "--until-caught-up"),
        ("lag-broker", "2"),
    ):
        lines = kafkapy("cluster", *command, *hide).lines
        assert {line.split(":")[0] for line in lines if re.match(r"\w+-0:", line)} <= {shown}
        assert (lines[-1].endswith(summary)) == (command[0] in ("stop-broker", "replicate"))
    status = kafkapy("cluster", "status", *hide).lines
    assert [line.split(":")[0] for line in status if re.match(r"\w+-0:", line)] == [shown]
    assert "Partitions: 1, without a leader: 0, with replicas not in sync: 0" in status


def test_lines_sum_up_the_topics_of_kafka_itself(kafkapy) -> None:  # type: ignore[no-untyped-def]
    kafkapy("topics", "--create", "--topic", "__transaction_state", "--replica-assignment", "1:2:3,2:3:1")
    status = kafkapy("cluster", "status").lines
    assert "__transaction_state: 2 partitions, all in sync (--topic shows them)" in status
    assert not any(line.startswith("__transaction_state-") for line in status)
    killed = kafkapy("cluster", "kill-broker", "2").lines
    assert [line.split(":")[0] for line in killed] == ["t-0", "In all"]
    assert killed[-1].endswith("2 lines not shown.")
    status = kafkapy("cluster", "status").lines
    assert "__transaction_state: 2 partitions, 2 with replicas not in sync (--topic shows them)" in status
    started = kafkapy("cluster", "start-broker", "2", "--output", "jsonl")
    caught_up = kafkapy("cluster", "replicate", "--until-caught-up", "--output", "jsonl")
    assert started.rows == []
    assert {row["topic"] for row in caught_up.rows} == {"t", "__transaction_state"}


def test_help_has_whole_sentences(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in run(capfd, "cluster", "--help").out.partition("Commands:")[2]
    told = run(capfd, "cluster", "advance", "--help").out
    assert "--ms MS" in told
    assert "Kafka's tool" not in told


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (("stop-broker", "9"), 1, "there is no broker 9; there are 1, 2, 3"),
        (("start-broker", "1"), 1, "broker 1 is already running"),
        (("advance",), 2, "--ms"),
        (("advance", "--ms", "0"), 2, "--ms"),
        (("advance", "--ms", "99999999999999999999"), 2, "--ms: simulated time would go beyond the year 9999"),
        (("kill-broker",), 2, "BROKER"),
        (("kill-broker", "x"), 2, "BROKER"),
    ],
)
def test_refusals(kafkapy, args: tuple[str, ...], code: int, error: str) -> None:  # type: ignore[no-untyped-def]
    done = kafkapy("cluster", *args)
    assert (done.code, done.out) == (code, "")
    assert error in done.err


def test_several_brokers_in_turn(kafkapy) -> None:  # type: ignore[no-untyped-def]
    assert kafkapy("cluster", "kill-broker", "3", "1", "3").lines == [
        "Broker 3:",
        "t-0: isr 1,2,3 -> 1,2",
        "Broker 1:",
        "t-0: leader 1 -> 2, isr 1,2 -> 2",
    ]
    assert kafkapy("cluster", "start-broker", "1", "3").code == 0
    rows = kafkapy("cluster", "status", "--output", "jsonl").rows
    assert {row["state"] for row in rows if row["type"] == "broker"} == {"running"}
    stopped = kafkapy("cluster", "stop-broker", "1", "2", "--output", "jsonl").rows
    assert [(row["leader_before"], row["leader"]) for row in stopped] == [(2, -1)]


@pytest.mark.parametrize("broker", ["9", "2"])
def test_where_one_of_several_is_refused_nothing_is_done(kafkapy, broker: str) -> None:  # type: ignore[no-untyped-def]
    kafkapy("cluster", "stop-broker", "2")
    assert kafkapy("cluster", "kill-broker", "1", broker).code == 1
    assert kafkapy("cluster", "start-broker", "2", "1").code == 1
    rows = kafkapy("cluster", "status", "--output", "jsonl").rows
    assert [row["state"] for row in rows if row["type"] == "broker"] == ["running", "stopped", "running"]


def test_a_directory_that_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for command in (("status",), ("stop-broker", "1"), ("replicate",)):
        done = run(capfd, "cluster", *command, "--cluster", tmp_path / "none")
        assert done.code == 1
        assert "there is no cluster directory" in done.err


def test_a_transaction_that_lacks_a_record_is_aborted_and_ended_when_brokers_return(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    where = ("--cluster", str(tmp_path / "transactions"))
    kafkapy = [sys.executable, "-m", "kafkapy"]
    topic = ("--topic", "x", "--replica-assignment", "1:2,2:3", "--config", "min.insync.replicas=2")
    assert run(capfd, "storage", "format", *where, "--brokers", "3").code == 0
    assert run(capfd, "topics", "--create", *topic, *where).code == 0

    def produce(first: int) -> subprocess.CompletedProcess[str]:
        keyed = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
        options = ("--topic", "x", *keyed, "--transactional-id", "tx", "--transaction-size", "20", *where)
        lines = "".join(f"k{number}:{number}\n" for number in range(first, first + 20))
        return subprocess.run(
            [*kafkapy, "console-producer", *options], input=lines, capture_output=True, text=True, check=False
        )

    assert produce(0).returncode == 0
    assert run(capfd, "cluster", "stop-broker", "1", *where).code == 0
    refused = produce(100)
    assert refused.returncode == 1
    assert "kafkapy: transaction 1 is aborted" in refused.stderr
    assert run(capfd, "cluster", "start-broker", "1", *where).code == 0
    caught_up = run(capfd, "cluster", "replicate", "--until-caught-up", *where)
    assert caught_up.err == "kafkapy: finished the transaction of tx\n"
    assert produce(200).returncode == 0
    committed = ("--topic", "x", "--from-beginning", "--isolation-level", "read_committed")
    read = run(capfd, "console-consumer", *committed, *where)
    assert sorted(map(int, read.lines)) == [*range(20), *range(200, 220)]


def test_a_terminal_does_not_break_words(kafkapy, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("kafkapy.output.at_words.terminal_width", lambda: 70)
    assert kafkapy("cluster", "lag-broker", "2").lines[1:3] == [
        "Broker 2, an in-sync follower of 1 partition, does not fetch until",
        "    'kafkapy cluster start-broker 2'.",
    ]
    assert max(map(len, kafkapy("lookup", "--topic", "t", "--partition", "0", "--time", "0").lines)) <= 70
    assert max(map(len, kafkapy("cluster", "status").lines)) <= 70
    assert max(map(len, kafkapy("sql", "--tables").lines)) <= 70
