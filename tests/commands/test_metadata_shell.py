"""metadata-shell: one-shot commands, the prompt, and columns."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.metadata.image_tree import Directory
from kafkapy.metadata.metadata_shell import MetadataShell, in_columns
from tests.commands.running import Done, dirs, run

Capture = pytest.CaptureFixture[str]
SNAPSHOT = "clean/broker-1/__cluster_metadata-0/00000000000000000992-0000000003.checkpoint"


def shell(capfd: Capture, golden: Path, *words: str) -> Done:
    return run(capfd, "metadata-shell", "-s", golden / SNAPSHOT, *words)


def test_ls(capfd: Capture, golden: Path) -> None:
    assert shell(capfd, golden, "ls").lines == ["image", "local"]
    assert " ".join(shell(capfd, golden, "ls", "image").lines) == (
        "acls clientQuotas cluster configs delegationToken features producerIds provenance scram topics"
    )
    assert shell(capfd, golden, "ls", "image/topics/byName/tx").lines == ["0", "id", "name"]


def test_ls_of_several(capfd: Capture, golden: Path) -> None:
    done = shell(capfd, golden, "ls", "image/topics/byName/tx/id", "local", "/image/topics")
    assert done.lines == ["id", "", "local:", "commitId", "version", "", "topics:", "byId", "byName"]


def test_cat(capfd: Capture, golden: Path) -> None:
    done = shell(capfd, golden, "cat", "image/features/metadataVersion", "image/topics/byName/tx/name")
    assert done == (0, "Optional[4.3-IV0]\ntx\n", "")
    partition = shell(capfd, golden, "cat", "image/topics/byName/tx/0").out
    assert partition.startswith("PartitionRegistration(replicas=[3, 2, 1], directories=[")


def test_find_and_globs(capfd: Capture, golden: Path) -> None:
    assert shell(capfd, golden, "find", "local").lines == ["local", "local/commitId", "local/version"]
    done = shell(capfd, golden, "cat", "image/topics/byName/codec-{gzip,lz?}/name")
    assert done.lines == ["codec-gzip", "codec-lz4"]


def test_tree(capfd: Capture, golden: Path) -> None:
    done = shell(capfd, golden, "tree", "image/features")
    assert done.lines[:2] == ["finalized_eligible.leader.replicas.version:", "  1"]
    assert done.lines[-2:] == ["metadataVersion:", "  Optional[4.3-IV0]"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("ls nosuch", "ls: nosuch: no such file or directory."),
        ("find nosuch", "find: nosuch: no such file or directory."),
        ("cat nosuch", "cat: nosuch: No such file or directory."),
        ("tree nosuch", "tree: nosuch: No such file or directory."),
        ("cat image", "cat: image: Is a directory"),
        ("help", "invalid choice: 'help' (choose from 'cat', 'find', 'ls', 'tree')"),
        ("cat", "too few arguments"),
    ],
)
def test_failures_are_told_in_kafkas_words(capfd: Capture, golden: Path, words: str, line: str) -> None:
    assert shell(capfd, golden, *words.split()) == (1, line + "\n", "")


def test_the_newest_of_all_log_dirs(capfd: Capture, golden: Path) -> None:
    snapshot = shell(capfd, golden, "cat", "image/provenance").out
    whole = run(capfd, "metadata-shell", "--log-dirs", dirs(golden), "cat", "image/provenance").out
    assert whole != snapshot
    assert "996" in whole


@pytest.mark.parametrize("name", ["00000000000000000000.log", SNAPSHOT.rpartition("/")[2]])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_file_shows_what_comes_before(
    capfd: Capture, golden: Path, tmp_path: Path, name: str, damage: str
) -> None:
    data = (golden / SNAPSHOT).with_name(name).read_bytes()
    at = len(data) - 10
    damaged = tmp_path / name
    damaged.write_bytes(data[:at] if damage == "cut" else data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
    done = run(capfd, "metadata-shell", "--snapshot", damaged, "ls", "image/topics/byName")
    assert done.code == 1
    assert "orders" in done.lines
    assert done.err.startswith(f"kafkapy: {damaged}: damaged at byte ")
    assert done.err.count("\n") == 1


def test_a_snapshot_without_its_end_is_told(capfd: Capture, golden: Path, tmp_path: Path) -> None:
    """Cut between two batches: of its bytes none is wrong."""
    data = (golden / SNAPSHOT).read_bytes()
    footer = data.rindex(b"\x02", 0, len(data) - 40) - 16
    (tmp_path / "cut.checkpoint").write_bytes(data[:footer])
    done = run(capfd, "metadata-shell", "--snapshot", tmp_path / "cut.checkpoint", "ls", "image/topics/byName")
    assert (done.code, "orders" in done.lines) == (1, True)
    assert done.err.endswith("the snapshot ends without its footer\n")


@pytest.mark.parametrize("name", ["server.log", "clean/broker-1/orders-0/00000000000000000000.log"])
def test_a_file_without_metadata_is_refused(capfd: Capture, golden: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "server.log").write_text("[2026-01-01 00:00:00,000] INFO started (kafka.server.KafkaRaftServer)\n" * 9)
    path = golden / name if "/" in name else tmp_path / name
    done = run(capfd, "metadata-shell", "--snapshot", path, "ls")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"kafkapy: {path} is neither a metadata log nor a snapshot of one: ")


def test_an_empty_segment_is_an_empty_image(capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "00000000000000000007.log").touch()
    (tmp_path / "empty.checkpoint").touch()
    assert run(capfd, "metadata-shell", "-s", tmp_path / "00000000000000000007.log", "ls").lines == ["image", "local"]
    done = run(capfd, "metadata-shell", "-s", tmp_path / "empty.checkpoint", "ls")
    assert done.err.endswith("is neither a metadata log nor a snapshot of one: it is empty\n")


def test_a_log_file_alone(capfd: Capture, golden: Path) -> None:
    log = golden / "clean" / "broker-1" / "__cluster_metadata-0" / "00000000000000000000.log"
    done = run(capfd, "metadata-shell", "--snapshot", log, "ls", "image/topics/byName")
    assert "orders" in done.lines


def test_without_metadata(capfd: Capture, zk_era: Path) -> None:
    done = run(capfd, "metadata-shell", "--log-dirs", dirs(zk_era), "ls")
    assert (done.code, done.out) == (1, "")
    assert "there is no metadata log" in done.err


def test_a_file_and_a_cluster_cannot_both_be_meant(capfd: Capture, golden: Path) -> None:
    assert run(capfd, "metadata-shell", "-s", golden / SNAPSHOT, "--log-dirs", dirs(golden), "ls").code == 2


def test_a_cluster_that_does_not_answer(capfd: Capture) -> None:
    done = run(capfd, "metadata-shell", "--bootstrap-server", "127.0.0.1:1", "ls", "/")
    assert (done.code, done.out) == (1, "")
    assert "127.0.0.1:1" in done.err


def test_the_prompt(capfd: Capture, golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moving = ("ls", "", "cd image/topics", "pwd", "cd ..", "pwd", "cd nosuch", "cd provenance")
    typed = (*moving, "man ls", "man x", "ls 'a b", "history 2", "exit", "ls")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(typed)))
    done = shell(capfd, golden)
    assert done.code == 0
    assert done.lines == [
        *("[ Kafka Metadata Shell ]", "image", "local", "/image/topics", "/image"),
        *("cd: nosuch: no such directory.", "cd: provenance: not a directory."),
        *("ls: List nodes.", "", "usage: ls [PATH...]"),
        "man: unknown command x. Type help to get a list of commands.",
        *("ls: 'a: no such file or directory.", "ls: b: no such file or directory."),
        *("    9  ls 'a b", "   10  history 2"),
    ]


def test_help_names_every_command(golden: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("help\n"))
    named = [line.split()[0] for line in shell(capfd, golden).lines[1:]]
    assert named == ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd", "tree"]


def test_completion() -> None:
    inner = Directory(("abc", "abd", "x"), {"abc": "1", "abd": Directory((), lambda _: None), "x": "2"}.get)
    at_work = MetadataShell(Directory(("dir", "file"), {"dir": inner, "file": "3"}.get), interactive=True)
    assert at_work.complete("") == ["dir/", "file"]
    assert at_work.complete("dir/ab") == at_work.complete("dir/ab") == ["dir/abc", "dir/abd/"]
    assert at_work.complete("/d") == ["/dir/"]
    assert at_work.complete("nosuch/") == []
    assert list(at_work.run(["cd", "dir"])) == []
    assert at_work.complete("../f") == ["../file"]


def test_completion_by_the_command() -> None:
    at_work = MetadataShell(Directory(("dir", "file"), {"dir": Directory((), lambda _: None), "file": "3"}.get), True)
    assert at_work.complete_word([], "h") == at_work.complete_word(["man"], "h") == ["help ", "history "]
    assert at_work.complete_word(["ls"], "") == at_work.complete_word(["cat", "man"], "") == ["dir/", "file"]
    assert at_work.complete_word(["cd"], "") == ["dir/"]


def test_ls_on_a_terminal() -> None:
    inner = Directory(("abc", "x"), {"abc": "1", "x": "2"}.get)
    at_work = MetadataShell(Directory(("dir", "file"), {"dir": inner, "file": "3"}.get), interactive=True, width=80)
    assert [" ".join(line.split()) for line in at_work.run(["ls"])] == ["dir file"]
    assert [" ".join(line.split()) for line in at_work.run(["ls", "dir"])] == ["abc x"]
    assert list(at_work.run(["ls", "file"])) == ["file"]
    assert [" ".join(line.split()) for line in at_work.run(["ls", "file", "dir"])] == ["file", "", "dir:", "abc x"]


@given(names=st.lists(st.text("abc", min_size=1, max_size=12)), width=st.none() | st.integers(0, 100))
def test_columns_hold_every_name_and_fit(names: list[str], width: int | None) -> None:
    lines = list(in_columns(names, width))
    assert sorted(word for line in lines for word in line.split()) == sorted(names)
    if len(lines) < len(names):
        assert width is not None
        assert max(map(len, lines)) <= width
    else:
        assert lines == names
    first_column = [line.split()[0] for line in lines]
    assert first_column == names[: len(lines)]
