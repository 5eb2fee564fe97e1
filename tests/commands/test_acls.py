"""acls on files: a cluster directory that is written, and log dirs that are not."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from tests.commands.running import dirs, run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 2, files=Files(sync=False))
    return directory


def test_added_listed_and_removed(capfd: Capture, cluster: Path) -> None:
    where = ("acls", "--cluster", cluster)
    added = run(capfd, *where, "--add", "--topic", "t", "--allow-principal", "User:a", "--operation", "Read")
    assert added == (
        0,
        "Adding ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`: \n"
        " \t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n\n",
        "",
    )
    again = run(capfd, *where, "--add", "--topic", "t", "--allow-principal", "User:a", "--operation", "Read")
    assert again.out == (
        "Acl (pattern=ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL), entry=(principal=User:a, "
        "host=*, operation=READ, permissionType=ALLOW)) already exists.\n"
    )
    listing = (
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:\n"
        "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n\n"
    )
    assert run(capfd, *where, "--list") == (0, listing, "")
    in_files = ",".join(str(path) for path in sorted(cluster.glob("broker-*")))
    assert run(capfd, "acls", "--log-dirs", in_files, "--list") == (0, listing, "")
    assert run(capfd, *where, "--remove", "--force", "--topic", "t") == (0, "", "")
    assert run(capfd, *where, "--list") == (0, "", "")


def test_added_as_rows(capfd: Capture, cluster: Path) -> None:
    args = ("acls", "--cluster", cluster, "--add", "--topic", "t", "--allow-principal", "User:a", "--output", "jsonl")
    assert run(capfd, *args, "--operation", "Read").code == 0
    done = run(capfd, *args, "--operation", "Read", "--operation", "Write")
    found = [(row["type"], row["resource_name"], row["operation"], row["is_new"]) for row in done.rows]
    assert found == [("added_acl", "t", "READ", False), ("added_acl", "t", "WRITE", True)]
    assert len(run(capfd, "acls", "--cluster", cluster, "--list", "--output", "jsonl").rows) == 2


def test_the_cluster_is_a_resource_and_a_directory(capfd: Capture, cluster: Path) -> None:
    where = ("acls", "--cluster", cluster)
    done = run(capfd, *where, "--add", "--cluster", "--operation", "Alter", "--allow-principal", "User:a")
    assert "resourceType=CLUSTER, name=kafka-cluster" in done.out
    (row,) = run(capfd, *where, "--list", "--output", "jsonl", "--cluster").rows
    assert (row["resource_type"], row["operation"]) == ("CLUSTER", "ALTER")


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("Y\n", 0), ("n\n", 1), ("\n", 1)])
def test_an_answer(capfd: Capture, monkeypatch: pytest.MonkeyPatch, cluster: Path, answer: str, left: int) -> None:
    where = ("acls", "--cluster", cluster)
    run(capfd, *where, "--add", "--topic", "t", "--allow-principal", "User:a", "--operation", "Read")
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    done = run(capfd, *where, "--remove", "--topic", "t", "--allow-principal", "User:a", "--operation", "Read")
    assert done == (
        0,
        "Are you sure you want to remove ACLs: \n"
        " \t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n"
        " from resource filter `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`? (y/n)\n",
        "",
    )
    assert len(run(capfd, *where, "--list", "--output", "jsonl").lines) == left


def test_no_answer(capfd: Capture, monkeypatch: pytest.MonkeyPatch, cluster: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    done = run(capfd, "acls", "--cluster", cluster, "--remove", "--topic", "t")
    assert (done.code, done.err) == (
        1,
        "kafkapy: there was no answer, so nothing was removed; --force skips the question\n",
    )


def test_log_dirs_are_only_read(capfd: Capture, golden: Path) -> None:
    where = ("acls", "--log-dirs", dirs(golden))
    assert run(capfd, *where, "--list").code == 0
    done = run(capfd, *where, "--add", "--topic", "t", "--allow-principal", "User:a")
    assert done.code == 1
    assert "these directories are only read" in done.err


def test_a_principal_without_a_type(capfd: Capture, cluster: Path) -> None:
    done = run(capfd, "acls", "--cluster", cluster, "--add", "--topic", "t", "--allow-principal", "alice")
    reason = "expected a string in format principalType:principalName but got alice"
    meant = "kafkapy: there is no principal 'alice'; did you mean 'User:alice'?\n"
    assert done == (1, f"Error while executing ACL command: {reason}\n", meant)


def test_no_principal_is_not_all_of_them(capfd: Capture, cluster: Path) -> None:
    """A variable of a script that is empty must not show the ACLs of everybody."""
    done = run(capfd, "acls", "--cluster", cluster, "--list", "--principal", "")
    reason = "expected a string in format principalType:principalName but got "
    assert done == (1, f"Error while executing ACL command: {reason}\n", "")


def test_usage_errors_end_in_one_full_stop(capfd: Capture) -> None:
    done = run(capfd, "acls", "--add", "--remove")
    assert done.err == (
        "kafkapy: Command must include exactly one action: --list, --add, --remove. Try 'kafkapy acls --help'.\n"
    )
