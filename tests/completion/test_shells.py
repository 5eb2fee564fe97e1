"""Bash, zsh and fish complete subcommands, flags, enumerations, and the names that a cluster directory has."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafkapy.cli import main
from tests import group_cluster
from tests.completion.shells import SHELLS, completed, offered

every_shell = pytest.mark.parametrize("shell", SHELLS)
OTHERS = ("__consumer_offsets", group_cluster.LONG)
DESCRIBING = ["Describe", "DescribeConfigs", "DescribeTokens"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cluster directory whose path has a blank."""
    directory = group_cluster.made(tmp_path_factory.mktemp("completion") / "a cluster")
    scram, rate = "SCRAM-SHA-256=[password=x]", "producer_byte_rate=1"
    for entity, config in (("--user=alice", scram), ("--user=bob@EXAMPLE.COM", rate), ("--client=app", rate)):
        assert main(["configs", "--cluster", directory, "--alter", entity, "--add-config", config]) == 0
    return directory


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a user who has kafkapy on the path; all tests share it, since zsh keeps there what it has read."""
    home = tmp_path_factory.mktemp("home")
    program = home / "kafkapy"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kafkapy "$@"\n')
    program.chmod(0o755)
    return home


@pytest.fixture
def environment(cluster: str, home: Path) -> dict[str, str]:
    """What a shell finds: kafkapy, and the cluster."""
    return {
        "HOME": str(home),
        "PATH": f"{home}:{os.environ['PATH']}",
        "PYTHONPATH": os.getcwd(),
        "KAFKAPY_CLUSTER": cluster,
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
    }


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_first_time_is_like_the_second(root: Path, environment: Mapping[str, str], shell: str) -> None:
    """At which the script is loaded, and what zsh keeps in the user's home is there."""
    assert offered(shell, "kafkapy topics --topic or", root, environment, times=2) == ["orders"]


@every_shell
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("kafkapy topi", ["topics"], id="subcommand"),
        pytest.param("kafkapy transactions desc", ["describe", "describe-producers"], id="subcommand of a subcommand"),
        pytest.param("kafkapy topics --conf", ["--config"], id="flag"),
        pytest.param("kafkapy configs --entity-type b", ["broker-loggers", "brokers"], id="enumeration"),
        pytest.param("kafkapy dump-log --output js", ["json", "jsonl"], id="enumeration of a type"),
        pytest.param("kafkapy topics --topic or", ["orders"], id="topic"),
        pytest.param("kafkapy topics --describe --topic a.topic.w", [group_cluster.LONG], id="topic with dots"),
        pytest.param("kafkapy topics --topic '", None, id="open quote"),
        pytest.param("kafkapy consumer-groups --group mod", ["modern", "modern-empty"], id="group"),
        pytest.param("kafkapy cluster stop-broker ", ["1"], id="broker as an argument"),
        pytest.param("kafkapy configs --broker ", ["1"], id="broker"),
        pytest.param("kafkapy lookup --topic orders --partition ", ["0", "1", "2"], id="partition"),
        pytest.param("kafkapy topics --config segment.j", ["segment.jitter.ms="], id="config name"),
        pytest.param(
            "kafkapy configs --group x --delete-config share.au", ["share.auto.offset.reset"], id="of a group"
        ),
        pytest.param("kafkapy configs --entity-type topics --entity-name tr", ["trimmed"], id="entity"),
        pytest.param("kafkapy configs --alter --user al", ["alice"], id="user"),
        pytest.param("kafkapy configs --entity-type users --entity-name al", ["alice"], id="user as an entity"),
        pytest.param("kafkapy configs --client ap", ["app"], id="client id"),
        pytest.param("kafkapy features disable --feature sha", ["share.version"], id="feature"),
        pytest.param("kafkapy acls --add --operation Descr", DESCRIBING, id="operation"),
        pytest.param("kafkapy consumer-groups --list --type cl", ["classic"], id="list of choices"),
        pytest.param("kafkapy topics --describe --sort-by leade", ["leader"], id="column of rows"),
        pytest.param("kafkapy transactions list --sort-by coo", ["coordinator"], id="column of a command's command"),
        pytest.param("kafkapy lab run data", ["data-loss", "data-loss-prevented"], id="scenario"),
        pytest.param("kafkapy export --table tr", ["transactions"], id="table"),
        pytest.param("kafkapy help cluster sta", ["start-broker", "status"], id="page of a command's command"),
        pytest.param("kafkapy metadata-shell l", ["ls"], id="command of the metadata shell"),
        pytest.param("kafkapy metadata-shell ls /im", ["/image/"], id="path of the metadata shell"),
        pytest.param("kafkapy metadata-shell cat a image/topics/byName/orders/0", ["image/topics/byName/orders/0"]),
        pytest.param("kafkapy console-consumer --offset e", ["earliest"], id="choices beside what the user knows"),
        pytest.param("kafkapy console-consumer --formatter sh", ["share-group", "share-group-state"], id="formatter"),
        pytest.param("kafkapy export --table transactions --columns transactional", ["transactional_id"], id="column"),
        pytest.param("kafkapy topics --topic nothing-like-it", [], id="no match"),
        pytest.param("kafkapy topics --cluster /nowhere --topic ", [], id="no cluster"),
        pytest.param("kafkapy topics --bootstrap-server 127.0.0.1:1 --topic ", [], id="no running cluster"),
    ],
)
def test_offers(root: Path, environment: Mapping[str, str], shell: str, line: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = sorted(("__consumer_offsets", group_cluster.LONG, "orders", "trimmed"))
    assert offered(shell, line, root, environment) == expected


@every_shell
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("log-dirs --topic-list orders,tr", ["orders,trimmed"]),
        ("log-dirs --topic-list orders,trimmed,", [f"orders,trimmed,{name}" for name in OTHERS]),
        ("log-dirs --broker-list 1,", []),
        ("get-offsets --topic orders --partitions 0,2,", ["0,2,1"]),
        ("topics --describe --columns topic,partition,is", ["topic,partition,isr"]),
        ("topics --describe --columns isr,is", []),
        ("consumer-groups --list --state Stable,E", ["Stable,Empty"]),
        ("export --partition-by date,", ["date,partition", "date,topic"]),
        ("configs --topic x --delete-config segment.ms,segment.j", ["segment.ms,segment.jitter.ms"]),
    ],
)
def test_lists(root: Path, environment: Mapping[str, str], shell: str, line: str, expected: list[str]) -> None:
    """What was typed before the last comma stays, and what it names is not offered again."""
    assert offered(shell, f"kafkapy {line}", root, environment) == expected


@every_shell
@pytest.mark.parametrize(
    ("line", "kept", "expected"),
    [
        (
            "get-offsets --topic-partitions orders:0,",
            "orders:",
            [f"0,{name}" for name in (*OTHERS, "orders", "trimmed")],
        ),
        ("get-offsets --topic-partitions trimmed,orders:", "trimmed,orders:", ["0", "1", "2"]),
        ("get-offsets --topic-partitions orders:0,orders:", "orders:0,orders:", ["1", "2"]),
        ("configs --topic x --add-config a=b,segment.j", "a=", ["b,segment.jitter.ms="]),
        ("configs --topic x --add-config segment.ms=1,segment.m", "segment.ms=", []),
        ("configs --topic x --add-config a=[b,c],segment.j", "a=", ["[b,c],segment.jitter.ms="]),
        ("configs --topic x --add-config a=[b,c],compression.type=z", "a=[b,c],compression.type=", ["zstd"]),
        ("topics --replica-assignment 1:1,", "1:", ["1,1"]),
        ("features upgrade --feature group.version=", "group.version=", ["0", "1"]),
        ("maintenance --assume orders:preallocate=t", "orders:preallocate=", ["true"]),
        ("acls --add --allow-principal User:al", "User:", ["alice"]),
        ("topics --sort-by leader:", "leader:", ["desc"]),
        ("console-consumer --formatter-property print.key=", "print.key=", ["false", "true"]),
        ("console-producer --command-property acks=al", "acks=", ["all"]),
        ("acls --add --allow-principal User:bob@EX", "User:bob@", ["EXAMPLE.COM"]),
        ("sql --conf spark.ui.e", "", ["spark.ui.enabled="]),
        ("sql --conf spark.ui.enabled=t", "spark.ui.enabled=", ["true"]),
        ("console-consumer --members 2 --then leave:", "leave:", ["1@", "2@"]),
        ("export --decode-value con", "", ["confluent:"]),
        ("export --decode-value avro:docs/sam", "avro:", ["docs/samples/"]),
        ("export --decode-value avro:pyproj", "avro:", ["pyproject.toml"]),
    ],
)
def test_what_bash_cuts(
    root: Path, environment: Mapping[str, str], shell: str, line: str, kept: str, expected: list[str]
) -> None:
    """Bash takes what stands behind the last colon or equals sign for the word that is completed."""
    found = offered(shell, f"kafkapy {line}", root, environment)
    assert found == (expected if shell == "bash" else [kept + each for each in expected])


@every_shell
@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a=[b,c],segment.j", "a=[b,c],segment.jitter.ms="),
        ("a=b,cleanup.policy=[compact,d", "a=b,cleanup.policy=[compact,delete"),
    ],
)
def test_a_list_in_quotes(
    root: Path, environment: Mapping[str, str], shell: str, quote: str, typed: str, expected: str
) -> None:
    """Zsh takes a bracket without quotes for an index while it is open."""
    line = f"kafkapy configs --topic x --add-config {quote}{typed}"
    assert offered(shell, line, root, environment) == [expected]


@every_shell
@pytest.mark.parametrize("typed", ['"größer als', "'größer als", "größer\\ als"])
def test_a_name_with_blanks_and_special_characters(
    root: Path, environment: Mapping[str, str], shell: str, typed: str
) -> None:
    (found,) = offered(shell, f"kafkapy consumer-groups --group {typed}", root, environment)
    quoted = shell == "bash" and typed[0] not in "'\""
    assert (found.replace("\\", "") if quoted else found) == group_cluster.WIDE
    assert not quoted or shlex.split(found) == [group_cluster.WIDE]


@every_shell
def test_a_value_behind_an_equals_sign(root: Path, environment: Mapping[str, str], shell: str) -> None:
    (found,) = offered(shell, "kafkapy topics --topic=or", root, environment)
    assert found == ("--topic=orders" if shell == "fish" else "orders")


@every_shell
@pytest.mark.parametrize(
    ("typed", "kept", "expected"),
    [
        ("LIC", "", ["LICENSE"]),
        ("README.md,LIC", "README.md,", ["LICENSE"]),
        ("README.md,docs,completions/kafkapy.b", "README.md,docs,completions/", ["kafkapy.bash"]),
        ("nothing-like-it", "", []),
        ("README.md,nothing-like-it", "", []),
    ],
)
def test_files(
    root: Path, environment: Mapping[str, str], shell: str, typed: str, kept: str, expected: list[str]
) -> None:
    """Also after a comma; zsh keeps what stands before a file's name by itself."""
    found = offered(shell, f"kafkapy dump-log --files {typed}", root, environment)
    assert found == [each if shell == "zsh" else kept + each for each in expected]


@every_shell
@pytest.mark.parametrize(
    ("option", "typed", "expected"),
    [
        ("topics --cluster", "{}/pla", ["plans"]),
        ("topics --cluster", "{}/plan.", []),
        ("topics --log-dirs", "{}/elsewhere,{}/pla", ["plans"]),
        ("install-shims", "{}/pla", ["plans"]),
        ("reassign-partitions --reassignment-json-file", "{}/plan", ["plan.json", "plans"]),
        ("reassign-partitions --reassignment-json-file", "{}/plan.t", ["plan.txt"]),
        ("sql --out", "{}/plan", ["plan.json", "plan.txt", "plans"]),
    ],
)
def test_files_of_a_kind(
    root: Path, environment: Mapping[str, str], shell: str, tmp_path: Path, option: str, typed: str, expected: list[str]
) -> None:
    """Directories where only these will do, and files that end as they should before others; fish names those, too."""
    for name in ("plan.json", "plan.txt"):
        (tmp_path / name).touch()
    (tmp_path / "plans").mkdir()
    found = offered(shell, f"kafkapy {option} {typed.format(tmp_path, tmp_path)}", root, environment)
    names = [each.rstrip("/").rpartition("/")[2] for each in found]
    if shell == "fish" and "json" in option and len(expected) > 1:
        expected = ["plan.json", "plan.txt", "plans"]
    assert names == expected


@every_shell
def test_a_path_with_special_characters(root: Path, environment: Mapping[str, str], shell: str) -> None:
    (found,) = offered(shell, "kafkapy metadata-shell ls image/clientQuotas/cl", root, environment)
    assert found == (
        "image/clientQuotas/clientId\\(app\\)/" if shell == "bash" else "image/clientQuotas/clientId(app)/"
    )


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("configs --user x --add-config SCRAM-SHA-256=", "configs --user x --add-config SCRAM-SHA-256=\\[password="),
        ("metadata-shell ls image/clientQuotas/cl", "metadata-shell ls image/clientQuotas/clientId\\(app\\)/"),
        ("configs --topic x --add-config a=\\[b,c\\],compression.type=zs", None),
    ],
)
def test_zsh_quotes_what_it_inserts(root: Path, environment: Mapping[str, str], typed: str, line: str | None) -> None:
    """Without that a bracket is an index for the completion, and a pattern for the command."""
    assert completed(f"kafkapy {typed}", root, environment) == f"kafkapy {line or typed + 'td '}"


@every_shell
def test_a_file_in_the_place_of_a_scenario(root: Path, environment: Mapping[str, str], shell: str) -> None:
    (found,) = offered(shell, "kafkapy lab run kafkapy/lab/scenarios/purg", root, environment)
    assert found == ("purgatory.yaml" if shell == "zsh" else "kafkapy/lab/scenarios/purgatory.yaml")


@every_shell
def test_the_value_of_a_config(root: Path, environment: Mapping[str, str], shell: str) -> None:
    (found,) = offered(shell, "kafkapy topics --topic x --config cleanup.policy=c", root, environment)
    assert found == ("compact" if shell == "bash" else "cleanup.policy=compact")


@every_shell
def test_partitions_behind_a_colon(root: Path, environment: Mapping[str, str], shell: str) -> None:
    found = offered(shell, "kafkapy consumer-groups --topic orders:0,", root, environment)
    assert found == (["0,1", "0,2"] if shell == "bash" else ["orders:0,1", "orders:0,2"])


@every_shell
def test_the_cluster_that_was_typed_wins(root: Path, environment: dict[str, str], shell: str, cluster: str) -> None:
    environment["KAFKAPY_CLUSTER"] = "/nowhere"
    line = f"kafkapy topics --cluster {shlex.quote(cluster)} --topic or"
    assert offered(shell, line, root, environment) == ["orders"]


@every_shell
def test_contexts_and_the_cluster_of_one(
    root: Path, environment: dict[str, str], shell: str, cluster: str, tmp_path: Path
) -> None:
    del environment["KAFKAPY_CLUSTER"]
    (tmp_path / "config.yaml").write_text(f"contexts:\n  dev:\n    cluster: {cluster}\n")
    environment["KAFKAPY_CONFIG"] = str(tmp_path / "config.yaml")
    assert offered(shell, "kafkapy topics --context d", root, environment) == ["dev"]
    assert offered(shell, "kafkapy topics --context dev --topic or", root, environment) == ["orders"]
