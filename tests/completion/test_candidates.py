"""What ``kafkapy __complete`` offers, and what it leaves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.command_tree import command_tree, walk
from kafkapy.completion.candidates import candidates
from kafkapy.completion.command_line import CommandLine
from kafkapy.completion.entry import unquoted
from kafkapy.completion.record_keys import names_in_keys
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.metadata.changes import DeleteTopic
from kafkapy.value_kind import ValueKind, choices, value_kind
from tests import group_cluster

HEAVY = {"typer", "rich", "kafka", "numpy", "pyarrow", "kafkapy.backends.log_dirs", "kafkapy.metadata.image"}


def offered(metavar: str, *words: str) -> list[str]:
    kind = value_kind(metavar)
    assert kind is not None
    return candidates(kind, CommandLine(words))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    directory = group_cluster.made(tmp_path / "cluster")
    monkeypatch.setenv("KAFKAPY_CLUSTER", directory)
    return directory


@pytest.mark.parametrize(
    ("metavar", "kind"),
    [
        ("TOPIC", ValueKind("TOPIC")),
        ("TOPIC[,TOPIC...]", ValueKind("TOPIC", several=True)),
        ("CONFIG=VALUE", ValueKind("CONFIG", ends_with="=")),
        ("CONFIG=VALUE[,...]", ValueKind("CONFIG", several=True, ends_with="=")),
        ("TOPIC[:PARTITION,...]", ValueKind("TOPIC", partitions=True, several_partitions=True)),
        ("TOPIC:PARTITION[,...]", ValueKind("TOPIC", several=True, ends_with=":", partitions=True)),
        ("SCENARIO|FILE.yaml", ValueKind("SCENARIO", or_file=True)),
        ("[CONTEXT]", ValueKind("CONTEXT")),
        ("TRANSACTIONAL-ID", ValueKind("TRANSACTIONAL-ID")),
        ("TOPICS", None),
        ("N", None),
    ],
)
def test_a_metavar_says_what_a_value_is(metavar: str, kind: ValueKind | None) -> None:
    assert value_kind(metavar) == kind


def test_a_metavar_of_small_letters_has_the_choices() -> None:
    assert choices("classic|consumer") == ("classic", "consumer")
    assert choices("[none|gzip]") == ("none", "gzip")
    assert choices("NAME|FILE.yaml") == ()


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("--topic", "TOPIC"),
        ("--group", "GROUP"),
        ("--broker", "BROKER"),
        ("--broker-list", "BROKER"),
        ("--partition", "PARTITION"),
        ("--transactional-id", "TRANSACTIONAL-ID"),
        ("--context", "CONTEXT"),
    ],
)
def test_every_option_of_that_name_takes_that_kind(option: str, kind: str) -> None:
    found = {
        (" ".join(node.path), each.value_kind.kind if each.value_kind else each.metavar)
        for node in walk(command_tree())
        for each in node.options
        if option in each.names
    }
    assert {(path, kind) for path, _ in found} == found != set()


def test_the_names_of_a_cluster_directory(cluster: str) -> None:
    assert offered("TOPIC", "") == sorted(("__consumer_offsets", group_cluster.LONG, "orders", "trimmed"))
    assert offered("BROKER", "") == ["1"]
    assert offered("PARTITION", "--topic", "orders", "--partition", "") == ["0", "1", "2"]
    assert offered("PARTITION", "--partition", "") == []
    assert set(offered("GROUP", "")) >= {"simple", "readers", "active", "connectors", "modern", group_cluster.WIDE}


def test_log_dirs_tell_the_same(cluster: str) -> None:
    for kind in ("TOPIC", "BROKER", "GROUP"):
        assert offered(kind, "--log-dirs", f"{cluster}/broker-1", "") == offered(kind, "") != []


def test_what_was_deleted_is_not_offered(cluster: str) -> None:
    opened = group_cluster.opened(cluster)
    opened.groups().offset_manager.commit("short-lived", {group_cluster.O0: OffsetAndMetadata(1)})
    opened.close()
    assert "short-lived" in offered("GROUP", "s")
    opened = group_cluster.opened(cluster)
    opened.groups().delete_groups(["short-lived"])
    opened.apply(DeleteTopic("trimmed"))
    opened.close()
    assert offered("GROUP", "s") == ["simple"]
    assert offered("TOPIC", "t") == []


def test_a_group_whose_tombstone_lies_in_a_newer_segment(cluster: str) -> None:
    opened = group_cluster.opened(cluster)
    opened.groups().offset_manager.commit("short-lived", {group_cluster.O0: OffsetAndMetadata(1)})
    opened.close()
    before = {path: path.read_bytes() for path in Path(cluster).glob("broker-1/__consumer_offsets-*/*.log")}
    opened = group_cluster.opened(cluster)
    opened.groups().delete_groups(["short-lived"])
    opened.close()
    (path,) = (path for path, data in before.items() if path.read_bytes() != data)
    newer = path.read_bytes()[len(before[path]) :]
    path.write_bytes(before[path])
    assert "short-lived" in names_in_keys([str(path.parent)])
    path.with_name(f"{1000:020d}.log").write_bytes(newer)
    assert "short-lived" not in names_in_keys([str(path.parent)])


def test_a_name_is_read_past_a_torn_end(cluster: str) -> None:
    directories = sorted(map(str, Path(cluster).glob("broker-1/__consumer_offsets-*")))
    whole = names_in_keys(directories)
    for path in Path(cluster).glob("broker-1/__consumer_offsets-*/*.log"):
        path.write_bytes(path.read_bytes() + b"\0" * 30)
    assert names_in_keys(directories) == whole != set()


def test_no_time_no_names(cluster: str) -> None:
    assert names_in_keys(sorted(map(str, Path(cluster).glob("broker-1/__consumer_offsets-*"))), -1.0) == set()


def test_what_was_named_is_not_offered_again(cluster: str) -> None:
    assert offered("TOPIC[,TOPIC...]", "orders,") == [
        f"orders,{name}" for name in sorted(("__consumer_offsets", group_cluster.LONG, "trimmed"))
    ]


def test_a_variable_and_a_tilde_in_a_path(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKAPY_CLUSTER", "/nowhere")
    monkeypatch.setenv("HOME", str(Path(cluster).parent))
    assert offered("TOPIC", "--cluster", "~/cluster", "or") == ["orders"]
    assert offered("TOPIC", "--cluster=$HOME/cluster", "or") == ["orders"]


@pytest.mark.parametrize(
    ("entity", "config"),
    [
        (["--entity-type", "topics"], "min.insync.replicas"),
        (["--broker", "1"], "background.threads"),
        (["--user-defaults"], "producer_byte_rate"),
        (["--ip", "127.0.0.1"], "connection_creation_rate"),
        (["--client-metrics", "x"], "interval.ms"),
    ],
)
def test_configs_of_an_entity(entity: list[str], config: str) -> None:
    assert offered("CONFIG=VALUE[,...]", *entity, "--add-config", config[:-1]) == [f"{config}="]


def test_columns_are_those_of_the_tables() -> None:
    pytest.importorskip("pyarrow")
    from kafkapy.tables.column_names import COLUMN_NAMES
    from kafkapy.tables.registry import TABLES, find_table

    assert {name: find_table(name).schema.names for name in TABLES} == COLUMN_NAMES


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plain", "plain"),
        (r"a\ b", "a b"),
        ("'a b", "a b"),
        ('"a \\" b', 'a " b'),
        ('x"y z"w', "xy zw"),
        ("it\\'s", "it's"),
        ("open\\", "open"),
    ],
)
def test_words_as_bash_has_them(typed: str, meant: str) -> None:
    assert unquoted(typed) == meant


@pytest.mark.parametrize(
    "args",
    [
        ["zsh", "TOPIC", ""],
        ["zsh", "NOTHING", ""],
        ["zsh", "TOPIC"],
        [],
        ["zsh", "TOPIC", "--log-dirs", "/nowhere", ""],
    ],
)
def test_failure_is_silent(root: Path, args: list[str], tmp_path: Path) -> None:
    program = [sys.executable, "-m", "kafkapy", "__complete", *args]
    environment = {"KAFKAPY_CLUSTER": str(tmp_path / "none"), "PYTHONPATH": str(root)}
    done = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "kind", ["TOPIC", "GROUP", "BROKER", "TRANSACTIONAL-ID", "CONFIG", "SCENARIO", "TABLE", "COLUMN"]
)
def test_nothing_heavy_is_imported(root: Path, cluster: str, kind: str) -> None:
    program = (
        "import os, sys; from kafkapy.cli import main\n"
        "os._exit = lambda code: (print(*sys.modules, file=sys.stderr), sys.exit(code))\n"
        f"main(['__complete', 'zsh', {kind!r}, ''])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    modules = set(done.stderr.split())
    assert "kafkapy.completion.candidates" in modules
    assert modules & HEAVY == set()
