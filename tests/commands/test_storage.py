"""storage: making cluster directories and looking at log dirs."""

from pathlib import Path

import pytest

from tests.commands.running import dirs, run

Capture = pytest.CaptureFixture[str]


def test_format_says_what_it_made(capfd: Capture, tmp_path: Path) -> None:
    target = tmp_path / "c"
    done = run(capfd, "storage", "format", "--cluster", target, "--brokers", "2", "--racks", "a,b", "-t", "my-id")
    assert done == (0, f"Created the cluster directory {target} with brokers 1, 2 and cluster id my-id.\n", "")
    assert sorted(path.name for path in target.iterdir()) == ["broker-1", "broker-2", "cluster.yaml"]
    done = run(capfd, "storage", "format", "--cluster", tmp_path / "one", "--brokers", "1", "-t", "my-id")
    assert done.out == f"Created the cluster directory {tmp_path / 'one'} with broker 1 and cluster id my-id.\n"


def test_format_says_which_cluster_commands_still_mean(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(name: str, *args: str) -> str:
        done = run(capfd, "storage", "format", "--cluster", tmp_path / name, "--brokers", "1", *args)
        assert done.code == 0
        return done.err

    def still(name: str, other: str) -> str:
        how = f"'--cluster {tmp_path / name}' selects the new one"
        return f"kafkapy: commands that name no cluster still use {other}; {how}\n"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KAFKAPY_CONFIG", str(tmp_path / "config.yaml"))
    assert told("none") == ""
    assert run(capfd, "config", "add", "dev", "--cluster", "dev").code == 0
    assert run(capfd, "config", "add", "prod", "--bootstrap-server", "localhost:9092").code == 0
    assert told("dev") == "", "they mean the new one"
    assert told("a") == still("a", f"{tmp_path / 'dev'} (context dev)")
    monkeypatch.setenv("KAFKAPY_CONTEXT", "prod")
    assert told("b") == still("b", "localhost:9092 (context prod, by $KAFKAPY_CONTEXT)")
    monkeypatch.setenv("KAFKAPY_CONTEXT", "nosuch")
    assert told("c") == "", "they are refused"
    monkeypatch.setenv("KAFKAPY_CLUSTER", "elsewhere")
    assert told("d") == still("d", "elsewhere ($KAFKAPY_CLUSTER)")
    monkeypatch.setenv("KAFKAPY_CLUSTER", "e")
    assert told("e") == ""


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (["--brokers", "0"], 2, "0"),
        (["--brokers", "2000000000"], 2, "--brokers: a cluster directory has 1000 brokers at most, not 2000000000"),
        (["--log-dirs-per-broker", "1000000"], 2, "--log-dirs-per-broker: a broker has 100 at most, not 1000000"),
        (["--brokers", "3", "--racks", "a,b"], 2, "2 racks for 3 brokers"),
        (["--feature", "metadata.version"], 2, "is not of the form NAME=LEVEL"),
        (["--feature", "nosuch=1"], 1, "nosuch"),
        (["--metadata-version", "9.9"], 1, "9.9"),
    ],
)
def test_bad_wishes_make_nothing(capfd: Capture, tmp_path: Path, args: list[str], code: int, error: str) -> None:
    done = run(capfd, "storage", "format", "--cluster", tmp_path / "c", *args)
    assert (done.code, done.out) == (code, "")
    assert error in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_named_as_it_was_typed(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(capfd, "storage", "format", "--cluster", tmp_path / "file" / "c", "--brokers", "1")
    assert done == (1, "", f"kafkapy: {tmp_path}/file/c: Not a directory\n")


def test_a_directory_with_something_in_it_stays(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    done = run(capfd, "storage", "format", "--cluster", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"kafkapy: {tmp_path} exists already, and is not an empty directory\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_directory_of_the_environment_is_made(
    capfd: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKAPY_CLUSTER", str(tmp_path / "env"))
    done = run(capfd, "storage", "format", "--brokers", "2")
    assert done.out.startswith(f"Created the cluster directory {tmp_path / 'env'} with brokers 1, 2 and cluster id ")
    monkeypatch.delenv("KAFKAPY_CLUSTER")
    assert run(capfd, "storage", "format", "--brokers", "2").code == 2


def test_random_uuid(capfd: Capture) -> None:
    first, second = (run(capfd, "storage", "random-uuid").out for _ in range(2))
    assert first != second
    assert len(first) == len(second) == 23


def test_broker_properties(capfd: Capture, tmp_path: Path) -> None:
    run(capfd, "storage", "format", "--cluster", tmp_path / "c", "--brokers", "2")
    done = run(
        capfd, "storage", "broker-properties", "--cluster", tmp_path / "c", "--broker", "2", "--base-port", "900"
    )
    assert done.code == 0
    assert "listeners=PLAINTEXT://127.0.0.1:902,CONTROLLER://127.0.0.1:903" in done.lines
    refused = run(capfd, "storage", "broker-properties", "--cluster", tmp_path / "c", "--broker", "3")
    assert (refused.code, refused.out) == (2, "")
    assert "there is no broker 3; there are 1, 2" in refused.err


def test_info_of_a_cluster_directory(capfd: Capture, tmp_path: Path) -> None:
    run(capfd, "storage", "format", "--cluster", tmp_path / "c", "--brokers", "2", "-t", "my-id")
    done = run(capfd, "storage", "info", "--cluster", tmp_path / "c")
    assert (done.code, done.err) == (0, "")
    assert done.lines[:4] == ["Found log directories:", f"  {tmp_path}/c/broker-1", f"  {tmp_path}/c/broker-2", ""]
    assert done.lines[4].startswith("Found metadata: {cluster.id=my-id, directory.id=")
    assert done.lines[4].endswith(", node.id=1, version=1}")


def test_info_of_brokers_directories(capfd: Capture, golden: Path) -> None:
    done = run(capfd, "storage", "info", "--log-dirs", dirs(golden, brokers=1))
    assert done.code == 0
    assert done.lines == [
        "Found log directory:",
        f"  {golden}/clean/broker-1",
        "",
        "Found metadata: {cluster.id=Z29sZGVuLWNsdXN0ZXItMQ, directory.id=WxRoNPMAhM7j3W9ehDfktg, node.id=1, "
        "version=1}",
        "",
    ]


def test_info_of_what_is_none(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    given = ",".join(str(tmp_path / name) for name in ("empty", "file", "none"))
    done = run(capfd, "storage", "info", "--log-dirs", given)
    assert done.code == 1
    assert done.lines[5:] == [
        "Found problems:",
        f"  {tmp_path}/empty is not formatted.",
        f"  {tmp_path}/file is not a directory",
        f"  {tmp_path}/none does not exist",
        "",
    ]
    both = run(capfd, "storage", "info", "--log-dirs", given, "--cluster", "x")
    assert both.code == 2
