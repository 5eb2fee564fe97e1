"""Help, man pages and completions say the same as the commands, and every example can be run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.command_names import COMMANDS, JOBS
from kafkapy.command_tree import Node, command_tree, walk

Run = Callable[..., subprocess.CompletedProcess[str]]
NODES = {" ".join(node.path): node for node in walk(command_tree())}
every_command = pytest.mark.parametrize("node", NODES.values(), ids=NODES.keys())


def test_every_file_in_commands_is_registered(root: Path) -> None:
    modules = {path.stem for path in (root / "commands").glob("*.py") if "\napp = new_" in path.read_text()}
    assert modules == {name.replace("-", "_") for name in COMMANDS}


def test_the_help_lists_every_command_once_by_what_it_is_for(kafkapy: Run) -> None:
    lines = kafkapy("--help").stdout.split("\nExamples:")[0].splitlines()
    shown: dict[str, list[str]] = {}
    for line in lines:
        if line.endswith(":") and not line.startswith(" "):
            names = shown.setdefault(line[:-1], [])
        elif found := re.match(r"  ([a-z-]+)  +[A-Z]", line):
            names.append(found[1])
    assert {job: tuple(shown[job]) for job in JOBS} == JOBS
    assert sorted(name for names in JOBS.values() for name in names) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_registry_has_the_first_line_of_the_help(name: str) -> None:
    assert NODES[f"kafkapy {name}"].summary == COMMANDS[name]


@every_command
def test_every_command_has_examples_that_parse(node: Node) -> None:
    assert len(node.examples) >= 2
    for sentence, line in node.examples:
        assert sentence.endswith(":")
        program, command, *args = shlex.split(line)
        assert program == "kafkapy"
        if "--help" not in args:
            child = NODES[f"kafkapy {command}"]
            child.command.make_context(command, args)


def test_the_commands_of_the_index_of_jobs_parse(root: Path) -> None:
    """Where it leaves the cluster open, with dots, there a cluster may stand."""
    lines = re.findall(r"`(kafkapy [^`]+)`", (root / "docs" / "README.md").read_text())
    assert len(lines) > 25
    for line in lines:
        _, command, *args = shlex.split(line.replace(" ...", " --log-dirs x", 1))
        if args:
            NODES[f"kafkapy {command}"].command.make_context(command, args)


@every_command
def test_every_option_has_a_help_text(node: Node) -> None:
    assert [option.names for option in node.options if not option.help] == []


@every_command
def test_help_fits_a_terminal_of_80_columns(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no name is broken at its hyphen."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = node.command.get_help(node.ctx).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if re.search("[a-z]-$", line)] == []


@pytest.mark.parametrize("generator", ["man/generate.py", "completions/generate.py", "docs/generate.py"])
def test_generated_files_are_fresh(root: Path, generator: str) -> None:
    done = subprocess.run([sys.executable, generator, "--check"], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["", "topics", "storage", "storage format", "transactions --context x"])
def test_help_is_spelled_as_in_kafkas_tools(kafkapy: Run, words: str) -> None:
    texts = [kafkapy(*words.split(), spelling) for spelling in ("--help", "-help", "-h")]
    assert [done.returncode for done in texts] == [0, 0, 0]
    assert {done.stdout for done in texts} == {texts[0].stdout}
    assert texts[0].stdout.startswith("Usage: kafkapy")


def test_a_stale_page_is_named(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    shutil.copytree(root / "kafkapy", copy / "kafkapy", ignore=shutil.ignore_patterns("__pycache__"))
    for directory in ("commands", "man"):
        shutil.copytree(root / directory, copy / directory, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "man" / "kafkapy.1").write_text("old")
    (copy / "man" / "kafkapy-gone.1").write_text("left behind")
    done = subprocess.run(
        [sys.executable, "man/generate.py", "--check"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["man/kafkapy.1", "man/kafkapy-gone.1"]


@every_command
def test_man_pages_have_no_warnings(root: Path, node: Node) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    page = root / "man" / f"{'-'.join(node.path)}.1"
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFSEQ": ""}
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    shown = subprocess.run(["man", "-l", page], env=environment, capture_output=True, text=True, check=True)
    assert "\N{HYPHEN}\n" not in shown.stdout, "names are copied from it"
    for option in node.options:
        assert all(name in shown.stdout for name in option.names)


def test_both_halves_of_a_flag_are_told() -> None:
    names = [option.names for option in NODES["kafkapy reassign-partitions"].options]
    assert ("--wait", "--no-wait") in names


def test_what_stands_without_an_option_is_told_by_its_metavar(root: Path) -> None:
    page = (root / "docs" / "reference" / "cluster.md").read_text("utf-8")
    assert "\nkafkapy cluster lag-broker [OPTIONS] BROKER\n" in page
    assert "| <code>BROKER</code> |" in page


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("groups", "--list"),
        ("console-producer", "--topic"),
        ("maintenance", "--dry-run"),
        ("maintenance", "--topic"),
        ("transactions forceTerminateTransaction", "--transactionalId"),
    ],
)
def test_what_a_command_is_for_is_no_other_option(name: str, option: str) -> None:
    others = NODES[f"kafkapy {name}"].option_groups["Other options"]
    assert option not in [each.names[0] for each in others]


@pytest.mark.parametrize(
    ("name", "option"),
    [("acls", "--force"), ("configs", "--all"), ("metadata-quorum describe", "--human-readable")],
)
def test_what_goes_with_an_action_is_none_of_which_to_give_one(name: str, option: str) -> None:
    groups = NODES[f"kafkapy {name}"].option_groups
    (title,) = (title for title, options in groups.items() if any(option in each.names for each in options))
    assert title.startswith("With --")
