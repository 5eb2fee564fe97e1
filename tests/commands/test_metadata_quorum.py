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
        (["remove-controller", "--status"], "invalid choice: 'remove-controller' (choose from 'describe')"),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "metadata-quorum", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")
