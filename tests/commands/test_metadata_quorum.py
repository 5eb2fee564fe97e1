"""metadata-quorum describe: what files tell is what Kafka printed, everything else is unknown."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.running import dirs, printed, run

Capture = pytest.CaptureFixture[str]
ONLY_A_RUNNING_LEADER_KNOWS = ("HighWatermark:", "MaxFollowerLagTimeMs:", "CurrentObservers:")


def test_status(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "metadata-quorum", "--log-dirs", dirs(golden, "crashed"), "describe", "--status")
    wanted = [
        f"{line[:24]}unknown" if line.startswith(ONLY_A_RUNNING_LEADER_KNOWS) else line
        for line in printed(golden, "quorum-status")
    ]
    assert (done.code, done.lines) == (0, wanted)


def test_replication(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "metadata-quorum", "describe", "--log-dirs", dirs(golden), "--replication")
    header, *replicas = (line.split("\t") for line in done.lines)
    assert [cell.strip() for cell in header] == [
        *("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status", ""),
    ]
    assert [(cells[0].strip(), cells[6].strip()) for cells in replicas] == [
        ("1", "Leader"),
        ("2", "Follower"),
        ("3", "Follower"),
    ]
    assert {cells[4].strip() for cells in replicas} == {cells[5].strip() for cells in replicas} == {"unknown"}
    assert {len(line) for line in done.lines} == {len(done.lines[0])}


def test_what_is_elsewhere_is_unknown(capfd: Capture, golden: Path) -> None:
    where = ("--log-dirs", str(golden / "clean" / "broker-2"))
    rows = run(capfd, "metadata-quorum", "describe", *where, "--replication", "--output", "jsonl").rows
    ends = {row["node_id"]: (row["log_end_offset"], row["lag"]) for row in rows}
    assert ends[1] == ends[3] == (None, None)
    assert ends[2][0] > 0
    assert ends[2][1] is None
    status = run(capfd, "metadata-quorum", "describe", *where, "--status").lines
    assert "MaxFollowerLag:         unknown" in status
    assert "LeaderId:               1" in status


def test_the_highest_epoch_counts(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    shutil.copytree(golden / "clean", tmp_path / "clean")
    path = tmp_path / "clean" / "broker-3" / "__cluster_metadata-0" / "quorum-state"
    path.chmod(0o644)
    state = json.loads(path.read_text()) | {"leaderId": -1, "leaderEpoch": 77}
    path.write_text(json.dumps(state))
    status = run(capfd, "metadata-quorum", "describe", "--log-dirs", dirs(tmp_path), "--status").lines
    assert "LeaderEpoch:            77" in status
    assert "LeaderId:               unknown" in status


def test_without_metadata(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "metadata-quorum", "describe", "--log-dirs", dirs(zk_era), "--status")
    cluster_id, *rest = done.lines
    assert cluster_id.startswith("ClusterId:              ")
    assert not cluster_id.endswith("unknown")
    assert {line[24:] for line in rest} == {"unknown"}


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["describe"], "One of --status or --replication must be specified with describe sub-command"),
        (
            ["describe", "--status", "--replication"],
            "Only one of --status or --replication should be specified with describe sub-command",
        ),
        (
            ["describe", "--status", "--human-readable"],
            "The option --human-readable is only supported along with --replication",
        ),
        (["add-controller"], "You must supply the configuration file of the controller you are adding"),
        (["remove-controller", "-i", "-1", "-d", "x"], "Invalid negative --controller-id: -1"),
        (
            ["remove-controller", "-i", "1", "-d", "x"],
            "Failed to parse --controller-directory-id: Input string `x` ",
        ),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "metadata-quorum", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")


GOOD = {
    "node.id": "9",
    "process.roles": "broker,controller",
    "log.dirs": "{dir},/elsewhere",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "advertised.listeners": "PLAINTEXT://a:9092",
    "controller.listener.names": "CONTROLLER",
}
DOUBT = "Is this a valid controller configuration file?"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "and endpoints: CONTROLLER://localhost:9093"),
        ({"advertised.listeners": "controller://[::1]:7"}, "and endpoints: CONTROLLER://[::1]:7"),
        ({"metadata.log.dir": "{dir}", "log.dirs": None}, "and endpoints: CONTROLLER://localhost:9093"),
        ({"node.id": None}, f"node.id not found in configuration file. {DOUBT}"),
        ({"node.id": "-9"}, f"node.id was negative in configuration file. {DOUBT}"),
        ({"process.roles": "broker"}, f"process.roles did not contain 'controller' in configuration file. {DOUBT}"),
        ({"log.dirs": None}, f"Neither metadata.log.dir nor log.dirs were found. {DOUBT}"),
        ({"log.dirs": "/not/there"}, "Unable to read meta.properties from /not/there"),
        ({"controller.listener.names": None}, f"controller.listener.names was not found. {DOUBT}"),
        ({"controller.listener.names": "C"}, "Cannot find information about controller listener name: C"),
        ({"listeners": "CONTROLLER"}, "Unable to parse CONTROLLER to a broker endpoint"),
    ],
)
def test_a_controllers_own_file(capfd: Capture, tmp_path: Path, changes: dict[str, str | None], told: str) -> None:
    properties = {name: value for name, value in (GOOD | changes).items() if value is not None}
    (tmp_path / "meta.properties").write_text(
        "version=1\nnode.id=9\ndirectory.id=gsHsW5SETlaK3Yo2MqTjHg\ncluster.id=x\n"
    )
    file = tmp_path / "controller.properties"
    file.write_text("".join(f"{name}={value.replace('{dir}', str(tmp_path))}\n" for name, value in properties.items()))
    done = run(capfd, "metadata-quorum", "--command-config", file, "add-controller", "--dry-run")
    if done.code == 0:
        assert done.out == f"DRY RUN of adding controller 9 with directory id gsHsW5SETlaK3Yo2MqTjHg {told}\n"
    else:
        assert done == (1, "", f"kafkapy: {told}\n")
