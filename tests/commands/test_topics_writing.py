"""topics --create, --alter, --delete and --from-file on a cluster directory: Kafka's lines, and nothing half done."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.backends import failures
from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.directory_reader import DirectoryReader
from kafkapy.backends.log_dir_lock import LogDirHeldError
from kafkapy.backends.selection import Selection, open_cluster_for_writing
from kafkapy.log.files import Files
from tests.backends.contract import log_dirs, marks, opened, topics
from tests.commands.running import Done, run

Capture = pytest.CaptureFixture[str]
WARNING = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both.\n"
)
ERROR = "Error while executing topic command : "


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    make_cluster(str(tmp_path / "c"), 3, ["a", "b", "a"], files=Files(sync=False))
    return tmp_path / "c"


def create(capfd: Capture, cluster: Path, *args: str) -> Done:
    return run(capfd, "topics", "--cluster", cluster, "--no-fsync", "--create", *args)


def test_create_describe_alter_delete(capfd: Capture, cluster: Path) -> None:
    done = create(
        capfd, cluster, "--topic", "t", "--partitions", "3", "--replication-factor", "2", "--config", "retention.ms=5"
    )
    assert done == (0, "Created topic t.\n", "")
    assert run(capfd, "topics", "--cluster", cluster, "--list") == (0, "t\n", "")
    lines = run(capfd, "topics", "--cluster", cluster, "--describe", "--topic", "t").lines
    assert "\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: " in lines[0]
    assert "retention.ms=5" in lines[0]
    assert len(lines) == 4
    assert run(capfd, "topics", "--cluster", cluster, "--alter", "--topic", "t", "--partitions", "5") == (0, "", "")
    assert len(run(capfd, "topics", "--cluster", cluster, "--describe", "--topic", "t").lines) == 6
    assert run(capfd, "topics", "--cluster", cluster, "--delete", "--topic", "t") == (0, "", "")
    assert run(capfd, "topics", "--cluster", cluster, "--list") == (0, "\n", "")
    assert not list(cluster.glob("broker-*/t-*"))


@pytest.mark.parametrize(
    ("assignment", "replicas"),
    [("1:2:,2:3,", ["[1, 2]", "[2, 3]"]), ("1,", ["[1]"]), ("", None), (",", None)],
)
def test_what_is_empty_at_the_end_of_an_assignment_does_not_count(
    capfd: Capture, cluster: Path, assignment: str, replicas: list[str] | None
) -> None:
    done = create(capfd, cluster, "--topic", "t", "--replica-assignment", assignment)
    assert done == (0, "Created topic t.\n", "")
    described = run(capfd, "topics", "--cluster", cluster, "--describe", "--topic", "t", "--output", "jsonl").rows
    found = [str(row["replicas"]) for row in described if row["type"] == "partition"]
    assert len(found) == 1 if replicas is None else found == replicas


@pytest.mark.parametrize("by_log_dirs", [False, True])
def test_a_partition_is_unavailable_where_no_broker_that_runs_leads_it(
    capfd: Capture, cluster: Path, by_log_dirs: bool
) -> None:
    create(capfd, cluster, "--topic", "healthy", "--replica-assignment", "1:2:3,2:3:1")
    create(capfd, cluster, "--topic", "alone", "--replica-assignment", "3,1")
    where = ("--log-dirs", ",".join(map(str, cluster.glob("broker-*")))) if by_log_dirs else ("--cluster", str(cluster))
    filtered = ("topics", *where, "--describe", "--output", "jsonl", "--unavailable-partitions")
    assert run(capfd, *filtered) == (0, "", "")
    run(capfd, "cluster", "kill-broker", "3", "--cluster", cluster)
    assert [(row["topic"], row["partition"]) for row in run(capfd, *filtered).rows] == [("alone", 0)]


@pytest.mark.parametrize("action", [("--list",), ("--create", "--topic", "t", "--partitions", "1")])
@pytest.mark.parametrize("loss", ["directory", "file"])
def test_of_a_broken_cluster_directory_the_doctor_is_named(
    capfd: Capture, cluster: Path, action: tuple[str, ...], loss: str
) -> None:
    if loss == "file":
        (cluster / "cluster.yaml").write_text("a: 1\n")
    else:
        shutil.rmtree(cluster / "broker-2")
    done = run(capfd, "topics", "--cluster", cluster, *action)
    assert done.code == 1
    assert f"\nkafkapy: 'kafkapy doctor --cluster {cluster}' explains what to do; " in done.err


def test_debug_shows_where_an_error_in_kafkas_words_arose(
    capfd: Capture, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKAPY_DEBUG", "1")
    done = run(capfd, "topics", "--cluster", cluster, "--describe", "--topic", "t")
    assert done.out == f"{ERROR}Topic 't' does not exist as expected\n"
    assert done.err.startswith("Traceback")


def test_racks_are_spread(capfd: Capture, cluster: Path) -> None:
    create(capfd, cluster, "--topic", "t", "--partitions", "6", "--replication-factor", "2")
    for partition in log_dirs(cluster).image().topics["t"].partitions.values():
        assert 2 in partition.replicas, "the only broker of rack b"


def test_replicas_where_they_are_wanted(capfd: Capture, cluster: Path) -> None:
    assert create(capfd, cluster, "--topic", "t", "--replica-assignment", "3:1,2:3").code == 0
    partitions = log_dirs(cluster).image().topics["t"].partitions
    assert [partition.replicas for partition in partitions.values()] == [(3, 1), (2, 3)]
    alter = ("topics", "--cluster", cluster, "--alter", "--topic", "t", "--partitions", "3")
    assert run(capfd, *alter, "--replica-assignment", "9:9,9:8,1:2").out.startswith(ERROR + "Partition replica lists")
    assert run(capfd, *alter, "--replica-assignment", "3:1,2:3,1:2") == (0, "", "")
    assert log_dirs(cluster).image().topics["t"].partitions[2].replicas == (1, 2)


def test_names_that_are_allowed(capfd: Capture, cluster: Path) -> None:
    longest = "x" * 249
    assert create(capfd, cluster, "--topic", longest) == (0, f"Created topic {longest}.\n", "")
    assert run(capfd, "topics", "--cluster", cluster, "--delete", "--topic", longest) == (0, "", "")
    assert create(capfd, cluster, "--topic", "a.b") == (0, WARNING + "Created topic a.b.\n", "")
    assert create(capfd, cluster, "--topic", "...") == (0, WARNING + "Created topic ....\n", "")


INVALID = "Topic name is invalid: "
CHARACTERS = " contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
COUNTS = "The replication factor must be between 1 and 32767 inclusive"
KEY_VAL = 'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".'


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["x" * 250], f"{INVALID}the length of '{'x' * 250}' is longer than the max allowed length 249"),
        (["a b"], f"{INVALID}'a b'{CHARACTERS}"),
        (["\u00fc"], f"{INVALID}'\u00fc'{CHARACTERS}"),
        ([""], f"{INVALID}the empty string is not allowed"),
        (["here"], "Topic 'here' already exists."),
        (["t", "--partitions", "0"], "The partitions must be greater than 0"),
        (["t", "--partitions", "-1"], "The partitions must be greater than 0"),
        (["t", "--replication-factor", "0"], COUNTS),
        (["t", "--replication-factor", "32768"], COUNTS),
        (
            ["t", "--replication-factor", "4"],
            "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached because "
            "only 3 broker(s) are registered or some brokers have all their log directories cordoned.",
        ),
        (["t", "--config", "nosuch=1"], "Unknown topic config name: nosuch"),
        (
            ["t", "--config", "retention.ms=abc"],
            "Invalid value abc for configuration retention.ms: Not a number of type LONG",
        ),
        (["t", "--config", "retention.ms"], KEY_VAL),
        (["t", "--config", "retention.ms="], KEY_VAL),
        (["t", "--config", "a=b=c"], KEY_VAL),
        (["t", "--replica-assignment", "1:1"], "Partition replica lists may not contain duplicate entries: 1"),
        (["t", "--replica-assignment", "1:2,3"], "Partition 1 has different replication factor: [3]"),
        (["t", "--replica-assignment", "1:x"], 'For input string: "x"'),
    ],
)
def test_refusals_in_kafkas_words(capfd: Capture, cluster: Path, args: list[str], error: str) -> None:
    create(capfd, cluster, "--topic", "here")
    before = topics(log_dirs(cluster))
    assert create(capfd, cluster, "--topic", *args) == (1, f"{ERROR}{error}\n", "")
    assert topics(log_dirs(cluster)) == before
    assert marks(cluster) == 3
    assert sum(path.name != "__cluster_metadata-0" for path in cluster.glob("broker-*/*-[0-9]")) == 1


def test_a_broker_that_is_not_there(capfd: Capture, cluster: Path) -> None:
    assert create(capfd, cluster, "--topic", "t", "--replica-assignment", "7") == (
        1,
        f"{ERROR}The manual partition assignment includes broker 7, but no such broker is registered.\n",
        "kafkapy: there is no broker 7; there are 1, 2, 3\n",
    )


@pytest.mark.parametrize("name", [".", ".."])
def test_dots_alone_are_no_names(capfd: Capture, cluster: Path, name: str) -> None:
    assert create(capfd, cluster, "--topic", name) == (
        1,
        f"{WARNING}{ERROR}Topic name is invalid: '{name}' is not allowed\n",
        "",
    )


def test_dots_and_underscores_collide(capfd: Capture, cluster: Path) -> None:
    create(capfd, cluster, "--topic", "a.b")
    done = create(capfd, cluster, "--topic", "a_b")
    assert done == (1, f"{WARNING}{ERROR}Topic 'a_b' collides with existing topic: a.b\n", "")


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (
            ["--alter", "--topic", "t", "--partitions", "2"],
            "The topic t currently has 3 partition(s); 2 would not be an increase.",
        ),
        (["--alter", "--topic", "t", "--partitions", "3"], "Topic already has 3 partition(s)."),
        (["--alter", "--topic", "none", "--partitions", "3"], "Topic 'none' does not exist as expected"),
        (["--delete", "--topic", "none"], "Topic 'none' does not exist as expected"),
    ],
)
def test_refused_changes(capfd: Capture, cluster: Path, args: list[str], error: str) -> None:
    create(capfd, cluster, "--topic", "t", "--partitions", "3")
    before = topics(log_dirs(cluster))
    assert run(capfd, "topics", "--cluster", cluster, *args) == (1, f"{ERROR}{error}\n", "")
    assert topics(log_dirs(cluster)) == before


def test_where_that_is_wanted_what_is_there_or_not_is_no_error(capfd: Capture, cluster: Path) -> None:
    create(capfd, cluster, "--topic", "t")
    assert create(capfd, cluster, "--topic", "t", "--if-not-exists") == (0, "", "")
    for args in (["--delete"], ["--alter", "--partitions", "3"]):
        assert run(capfd, "topics", "--cluster", cluster, *args, "--topic", "none", "--if-exists") == (0, "", "")


def test_one_bad_topic_of_several_changes_none(capfd: Capture, cluster: Path) -> None:
    create(capfd, cluster, "--topic", "t1", "--partitions", "1")
    create(capfd, cluster, "--topic", "t2", "--partitions", "4")
    done = run(capfd, "topics", "--cluster", cluster, "--alter", "--topic", "t.", "--partitions", "3")
    assert done.code == 1
    assert len(log_dirs(cluster).image().topics["t1"].partitions) == 1


@pytest.mark.parametrize(
    "args",
    [
        ["--create"],
        ["--alter", "--topic", "t"],
        ["--create", "--topic", "t", "--replica-assignment", "1", "--partitions", "1"],
        ["--create", "--delete", "--topic", "t"],
        ["--from-file", "f"],
        ["--from-file", "f", "--plan", "--apply"],
        ["--plan"],
        ["--from-file", "f", "--plan", "--list"],
    ],
)
def test_bad_usage(capfd: Capture, cluster: Path, args: list[str]) -> None:
    done = run(capfd, "topics", "--cluster", cluster, *args)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_refused_first_topic_makes_no_cluster(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KAFKAPY_CLUSTER", raising=False)
    assert run(capfd, "topics", "--create", "--topic", "t", "--partitions", "0").code == 1
    assert list(tmp_path.iterdir()) == []
    done = run(capfd, "topics", "--create", "--topic", "t", "--no-fsync")
    assert done.out == "Created topic t.\n"
    assert done.err == "kafkapy: created the cluster directory kafkapy-cluster with 3 brokers\n"


# ---- one writer at a time, and where none may write


def contents(directory: Path) -> dict[Path, bytes]:
    """Every file but the locks: the system drops a process's lock when the process closes the file once."""
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.name != ".lock"}


def second(cluster: Path, root: Path) -> "subprocess.Popen[str]":
    """A second process that wants to write."""
    command = [sys.executable, "-m", "kafkapy", "topics", "--cluster", str(cluster), "--create", "--topic", "t"]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_second_writer_waits_for_the_first(cluster: Path, root: Path) -> None:
    holder = opened(cluster)
    with second(cluster, root) as waiting:
        assert waiting.stderr is not None
        line = waiting.stderr.readline()
        assert line.startswith(f"kafkapy: waiting for process {os.getpid()} (")
        assert line.endswith(f"), which writes to {cluster}/broker-1\n")
        failures.stop_broker(holder, 1)
        holder.close()
        assert waiting.communicate() == ("Created topic t.\n", "")
        assert waiting.returncode == 0
    (registration,) = DirectoryReader(str(cluster)).image().topics["t"].partitions.values()
    assert 1 not in registration.replicas, "what it had read before it waited is not what holds"


def test_who_waits_can_be_interrupted(cluster: Path, root: Path) -> None:
    holder = opened(cluster)
    before = contents(cluster)
    with second(cluster, root) as waiting:
        assert waiting.stderr is not None
        waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        assert waiting.communicate() == ("", "")
        assert waiting.returncode == 130
    assert contents(cluster) == before
    holder.close()


def test_a_second_process_is_told_who_holds_it(cluster: Path, root: Path) -> None:
    holder = opened(cluster)
    before = contents(cluster)
    code = (
        "import sys; from kafkapy.backends.selection import Selection, open_cluster_for_writing\n"
        "try: open_cluster_for_writing(Selection(sys.argv[1]), wait_s=0.1)\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code, cluster], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{cluster}/broker-1 is held by process {os.getpid()} (")
    assert done.stdout.endswith("; stop it, or wait (waited for 0.1 s)\n")
    assert done.stderr == "", "it is told only after a second"
    assert contents(cluster) == before
    reading = [sys.executable, "-m", "kafkapy", "topics", "--cluster", str(cluster), "--list"]
    assert subprocess.run(reading, cwd=root, capture_output=True, check=True).stdout == b"\n", "reading needs no lock"
    holder.close()
    with second(cluster, root) as free:
        assert free.communicate() == ("Created topic t.\n", "")


def test_a_log_dir_that_a_broker_holds_is_not_written(cluster: Path, root: Path) -> None:
    """The lock of the second broker alone: those taken before it are given back."""
    code = (
        "import sys; from kafkapy.backends.log_dir_lock import LogDirLock; LogDirLock(sys.argv[1]); "
        "print('held', flush=True); sys.stdin.read()"
    )
    broker = subprocess.Popen(
        [sys.executable, "-c", code, str(cluster / "broker-2")],
        cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with broker:
        assert broker.stdout is not None
        broker.stdout.readline()
        with pytest.raises(LogDirHeldError, match=f"{cluster}/broker-2 is held by process {broker.pid}"):
            open_cluster_for_writing(Selection(str(cluster)), wait_s=0)
        assert [path.parent.name for path in cluster.glob("broker-*/.lock")] == ["broker-2"]
        assert marks(cluster) == 3


def test_a_read_only_directory_is_one_line(capfd: Capture, cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cluster.parent)
    cluster.parent.chmod(0o755)
    for path in cluster.glob("broker-*"):
        path.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        listed = run(capfd, "topics", "--cluster", "c", "--list")
        done = run(capfd, "topics", "--cluster", "c", "--create", "--topic", "t")
    finally:
        if is_root:
            os.seteuid(0)
    assert done == (1, "", "kafkapy: the log dir c/broker-1 is not writable: Permission denied\n")
    assert listed == (0, "\n", "")
    assert marks(cluster) == 3


def test_what_was_recovered_is_told(capfd: Capture, cluster: Path) -> None:
    create(capfd, cluster, "--topic", "t", "--replication-factor", "3")
    (cluster / "broker-2" / ".kafka_cleanshutdown").unlink()
    with (cluster / "broker-2" / "t-0" / "00000000000000000000.log").open("ab") as log:
        log.write(b"torn")
    done = create(capfd, cluster, "--topic", "u")
    assert (done.code, done.out) == (0, "Created topic u.\n")
    assert done.err == (
        f"kafkapy: recovered {cluster}/broker-2/t-0: cut 4 bytes off the end of 00000000000000000000.log, after an "
        "unclean stop\n"
    )


# ---- topics from a file


def test_plan_changes_nothing_and_apply_does(capfd: Capture, cluster: Path, tmp_path: Path) -> None:
    create(capfd, cluster, "--topic", "here", "--config", "retention.ms=5")
    wanted = tmp_path / "topics.yaml"
    wanted.write_text("new: {partitions: 2}\nhere: {partitions: 3, configs: {retention.ms: 7}}\n")
    args = ("topics", "--cluster", cluster, "--from-file", wanted)
    before = topics(log_dirs(cluster))
    planned = run(capfd, *args, "--plan")
    assert planned.lines == [
        "+ new: create with partitions=2, replication_factor=1",
        "~ here: partitions 1 -> 3",
        "~ here: set retention.ms=7 (was 5)",
    ]
    assert topics(log_dirs(cluster)) == before
    assert [row["action"] for row in run(capfd, *args, "--plan", "--output", "jsonl").rows] == [
        "create", "add_partitions", "set_config",
    ]  # fmt: skip
    assert run(capfd, *args, "--apply") == planned
    assert len(log_dirs(cluster).image().topics["here"].partitions) == 3
    for action in ("--plan", "--apply"):
        assert run(capfd, *args, action) == (0, "Nothing to change: the topics are as the file says.\n", "")


@pytest.mark.parametrize("action", ["--plan", "--apply"])
def test_what_a_file_cannot_have_is_refused_before_anything_is_done(
    capfd: Capture, cluster: Path, tmp_path: Path, action: str
) -> None:
    create(capfd, cluster, "--topic", "here", "--partitions", "2")
    wanted = tmp_path / "topics.yaml"
    wanted.write_text("new: {partitions: 2}\nhere: {partitions: 1}\n")
    done = run(capfd, "topics", "--cluster", cluster, "--from-file", wanted, action)
    assert (done.code, done.out) == (1, "")
    assert done.err == ("kafkapy: nothing was changed: here has 2 partitions, and cannot have fewer: the file says 1\n")
    assert set(log_dirs(cluster).image().topics) == {"here"}
    missing = run(capfd, "topics", "--cluster", cluster, "--from-file", tmp_path / "none", action)
    assert (missing.code, missing.err) == (1, f"kafkapy: {tmp_path}/none: No such file or directory\n")


def test_legacy_placement_is_a_start_index_and_a_shift(capfd: Capture, tmp_path: Path) -> None:
    five = tmp_path / "five"
    make_cluster(str(five), 5, files=Files(sync=False))
    counts = ("--partitions", "5", "--replication-factor", "2")
    assert create(capfd, five, "--topic", "t", *counts, "--placement", "legacy").code == 0
    partitions = log_dirs(five).image().topics["t"].partitions
    replicas = [partitions[number].replicas for number in sorted(partitions)]
    assert len({(second - first) % 5 for first, second in replicas}) == 1, "the shift stays within one round"
    assert [first for first, _ in replicas[1:]] == [first % 5 + 1 for first, _ in replicas[:-1]]
