"""What ``kafkapy __complete`` offers, and what it leaves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.live.client_settings import settings
from kafkapy.backends.selection import Selection
from kafkapy.completion.candidates import candidates
from kafkapy.completion.command_line import CommandLine
from kafkapy.completion.entry import spelled, unquoted
from kafkapy.completion.file_names import FileNames
from kafkapy.completion.record_keys import names_in_keys
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.log.files import Files
from kafkapy.metadata.changes import DeleteTopic
from kafkapy.value_kind import OF_A_CLUSTER, OF_KAFKAPY, value_kind
from tests import group_cluster
from tests.commands.running import run
from tests.output import row_world

HEAVY = {"typer", "rich", "kafka", "numpy", "pyarrow", "kafkapy.backends.log_dirs", "kafkapy.metadata.image"}
OF_AN_IMAGE = {"METADATA-PATH"}


def offered(metavar: str, *words: str) -> list[str]:
    kind = value_kind(metavar)
    assert kind is not None
    return candidates(kind, CommandLine(words))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    directory = group_cluster.made(tmp_path / "cluster")
    monkeypatch.setenv("KAFKAPY_CLUSTER", directory)
    return directory


def test_the_names_of_a_cluster_directory(cluster: str) -> None:
    assert offered("TOPIC", "") == sorted(("__consumer_offsets", group_cluster.LONG, "orders", "trimmed"))
    assert offered("BROKER", "") == ["1"]
    assert offered("PARTITION", "--topic", "orders", "--partition", "") == ["0", "1", "2"]
    assert offered("PARTITION", "--partition", "") == []
    assert set(offered("GROUP", "")) >= {"simple", "readers", "active", "connectors", "modern", group_cluster.WIDE}


def test_an_argument_is_not_offered_again(cluster: str) -> None:
    assert "orders" not in offered("TOPIC[:PARTITION]", "replica-diff", "orders", "")
    assert "trimmed" in offered("TOPIC[:PARTITION]", "replica-diff", "orders", "")
    assert "orders" in offered("TOPIC", "topics", "orders", "--topic", "")
    assert "orders" in offered("TOPIC[:PARTITION]", "replica-diff", "--output", "orders", "")
    assert "help" in offered("PAGE", "help", "")


def test_log_dirs_tell_the_same(cluster: str) -> None:
    for kind in ("TOPIC", "BROKER", "GROUP"):
        assert offered(kind, "--log-dirs", f"{cluster}/broker-1", "") == offered(kind, "") != []


def test_log_dirs_without_metadata_tell_of_no_entities(tmp_path: Path) -> None:
    assert FileNames(Selection(log_dirs=(str(tmp_path),))).entities("USER") == set()
    assert FileNames(Selection(log_dirs=(str(tmp_path),))).image([]).topics == {}


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


@pytest.mark.parametrize(
    ("metavar", "typed", "expected"),
    [
        ("TOPIC[,TOPIC...]", "orders,trimmed,a", [f"orders,trimmed,{group_cluster.LONG}"]),
        ("TOPIC[,TOPIC...]", "orders,trimmed,o", []),
        ("TOPIC:PARTITION[,...]", "orders:0,o", ["orders:0,orders:"]),
        ("TOPIC:PARTITION[,...]", "orders:0,orders:", ["orders:0,orders:1", "orders:0,orders:2"]),
        ("TOPIC[:PARTITION][,...]", "trimmed,or", ["trimmed,orders"]),
        ("TOPIC[:PARTITION][,...]", "trimmed,orders:1", ["trimmed,orders:1"]),
        ("TOPIC[:PARTITION,...]", "orders:2,", ["orders:2,0", "orders:2,1"]),
        ("PARTITION[,PARTITION...]", "0,2,", ["0,2,1"]),
        ("CONFIG[,CONFIG...]", "segment.ms,segment.j", ["segment.ms,segment.jitter.ms"]),
        ("CONFIG=VALUE[,...]", "segment.ms=1,segment.m", []),
        ("CONFIG=VALUE[,...]", "a=[1,2],segment.m", ["a=[1,2],segment.ms="]),
        ("CONFIG=VALUE[,...]", "a=b,compression.type=z", ["a=b,compression.type=zstd"]),
        ("CONFIG=VALUE[,...]", "cleanup.policy=compact,delete.r", ["cleanup.policy=compact,delete.retention.ms="]),
        ("CONFIG=VALUE[,...]", "cleanup.policy=", [f"cleanup.policy={each}" for each in ("compact", "delete", "[")]),
        ("CONFIG=VALUE", "cleanup.policy=", ["cleanup.policy=compact", "cleanup.policy=delete"]),
        ("CONFIG=VALUE[,...]", "cleanup.policy=[", ["cleanup.policy=[compact", "cleanup.policy=[delete"]),
        ("CONFIG=VALUE[,...]", "x=1,cleanup.policy=[compact,", ["x=1,cleanup.policy=[compact,delete"]),
        ("CONFIG=VALUE", "cleanup.policy=delete,", ["cleanup.policy=delete,compact"]),
        ("CONFIG=VALUE", "preallocate=", ["preallocate=true", "preallocate=false"]),
        ("CONFIG=VALUE", "message.timestamp.type=C", ["message.timestamp.type=CreateTime"]),
        ("CONFIG=VALUE", "retention.ms=", []),
        ("CONFIG=VALUE", "no.such.config=", []),
        ("TOPIC:CONFIG=VALUE", "orders:preal", ["orders:preallocate="]),
        ("TOPIC:CONFIG=VALUE", "orders:preallocate=t", ["orders:preallocate=true"]),
        ("FEATURE=LEVEL", "gr", ["group.version="]),
        ("FEATURE=LEVEL", "group.version=", ["group.version=0", "group.version=1"]),
        ("FEATURE=LEVEL", "metadata.version=2", [f"metadata.version={level}" for level in range(20, 30)]),
        ("FEATURE=LEVEL", "no.such.feature=", []),
        ("RELEASE", "4.3", ["4.3-IV0"]),
        ("OPERATION", "Describe", ["Describe", "DescribeConfigs", "DescribeTokens"]),
        ("topic|partition|date[,...]", "date,", ["date,topic", "date,partition"]),
        ("SPEC|MS", "max", ["max-timestamp"]),
        ("FORMATTER", "sh", ["share-group", "share-group-state"]),
        ("DESERIALIZER", "Byte", ["Bytes", "ByteBuffer", "ByteArray"]),
        ("[DECODER]", "he", ["hex"]),
        ("DECODING", "a", ["avro:"]),
        ("CHANGE", "l", ["leave:"]),
        ("EVENT@N", "", ["join@", "leave:1@"]),
        ("EVENT@N", "join@1", []),
        ("SPARK-SETTING=VALUE", "spark.executor.c", ["spark.executor.cores="]),
        ("SPARK-SETTING=VALUE", "spark.scheduler.mode=", ["spark.scheduler.mode=FIFO", "spark.scheduler.mode=FAIR"]),
        ("SPARK-SETTING=VALUE", "spark.any.other=", []),
        ("CREDENTIAL", "SCRAM-SHA-2", ["SCRAM-SHA-256=[name="]),
    ],
)
def test_lists_and_what_follows_a_name(cluster: str, metavar: str, typed: str, expected: list[str]) -> None:
    """What was typed before stays, and what it names is not offered again."""
    assert offered(metavar, "--topic", "orders", "--any", typed) == expected


def test_lists_of_brokers(tmp_path: Path) -> None:
    directory = str(tmp_path / "cluster")
    make_cluster(directory, 3, files=Files(sync=False))
    assert offered("BROKER[,BROKER...]", "--cluster", directory, "1,3,") == ["1,3,2"]
    assert offered("BROKER:BROKER[,...]", "--cluster", directory, "1:2,2:") == ["1:2,2:1", "1:2,2:3"]
    assert offered("BROKER:BROKER[,...]", "--cluster", directory, "1:2,") == ["1:2,1", "1:2,2", "1:2,3"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["consumer-groups", "--list", "--state", "Stable,E"], ["Stable,Empty"]),
        (["share-groups", "--list", "--state", "Empty,"], ["Empty,Dead", "Empty,Stable"]),
        (["streams-groups", "--list", "--state", "Not"], ["NotReady"]),
    ],
)
def test_states_of_the_groups_that_a_command_is_about(words: list[str], expected: list[str]) -> None:
    assert offered("[STATE,...]", *words) == expected


def test_the_ids_of_a_cluster_directory(cluster: str) -> None:
    topics = group_cluster.opened(cluster).image().topics
    assert offered("TOPIC-ID", "") == sorted(topic.id for topic in topics.values())
    (directory,) = offered("CONTROLLER-DIR", "remove-controller", "--controller-id", "1", "-d", "")
    assert f"directory.id={directory}" in Path(cluster, "broker-1", "meta.properties").read_text()
    assert offered("CONTROLLER-DIR", "remove-controller", "-i", "2", "-d", "") == []
    assert offered("CONTROLLER", "") == offered("NODE", "") == ["1"]


def test_the_producers_of_a_partition(tmp_path: Path) -> None:
    cluster = row_world.made(tmp_path / "cluster")
    of_partition = ("transactions", "--cluster", cluster, "abort", "--topic", "orders", "--partition")
    assert offered("PRODUCER-ID", *of_partition, "0", "--producer-id", "4") == [str(row_world.HANGING)]
    assert offered("PRODUCER-ID", *of_partition, "1", "--producer-id", "") == []
    assert offered("PRODUCER-ID", "transactions", "--cluster", cluster, "abort", "--producer-id", "") == []
    log = f"{cluster}/broker-1/orders-1/00000000000000000000.log,{cluster}/broker-1/orders-0"
    assert offered("PRODUCER-ID", "dump-log", "--files", log, "--producer-id", "4") == [str(row_world.HANGING)]


def test_an_option_whose_value_was_left_out() -> None:
    line = CommandLine(["acls", "--list", "--cluster", "--topic", "orders", ""])
    assert (line.gives("cluster"), line.value("cluster"), line.value("topic")) == (True, None, "orders")


def test_the_command_of_a_line() -> None:
    known = {"topics", "transactions list", "transactions describe"}
    assert CommandLine(["--verbose", "topics", "--list", ""]).command(known) == "topics"
    line = ["transactions", "--bootstrap-server", "a:1", "describe", "--columns", ""]
    assert CommandLine(line).command(known) == "transactions describe"
    assert CommandLine(["transactions", ""]).command(known) == CommandLine(["lag", ""]).command(known) == ""


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
        (["--user", "alice"], "SCRAM-SHA-512"),
        (["--ip", "127.0.0.1"], "connection_creation_rate"),
        (["--client-metrics", "x"], "interval.ms"),
    ],
)
def test_configs_of_an_entity(entity: list[str], config: str) -> None:
    assert offered("CONFIG=VALUE[,...]", *entity, "--add-config", config[:-1]) == [f"{config}="]


def test_the_credential_of_a_user() -> None:
    configs = ["configs", "--user", "alice", "--add-config", "SCRAM-SHA-512="]
    assert offered("CONFIG=VALUE[,...]", *configs) == ["SCRAM-SHA-512=[password="]


@pytest.mark.parametrize(
    ("metavar", "command", "typed", "expected"),
    [
        ("PROPERTY=VALUE", "console-consumer", "print.k", ["print.key="]),
        ("PROPERTY=VALUE", "console-consumer", "print.key=", ["print.key=true", "print.key=false"]),
        ("PROPERTY=VALUE", "console-consumer", "line.separator=", []),
        ("PROPERTY=VALUE", "console-consumer", "key.deserializer=Lo", ["key.deserializer=Long"]),
        ("PROPERTY=VALUE", "console-consumer", "parse", []),
        ("PROPERTY=VALUE", "console-producer", "parse.k", ["parse.key="]),
        ("PROPERTY=VALUE", "console-producer", "ignore.error=f", ["ignore.error=false"]),
        ("SETTING=VALUE", "console-consumer", "auto.o", ["auto.offset.reset="]),
        ("SETTING=VALUE", "console-consumer", "isolation.level=read_c", ["isolation.level=read_committed"]),
        ("SETTING=VALUE", "console-consumer", "enable.auto.commit=t", ["enable.auto.commit=true"]),
        ("SETTING=VALUE", "console-consumer", "compression", []),
        ("SETTING=VALUE", "console-producer", "compression.t", ["compression.type="]),
        ("SETTING=VALUE", "console-producer", "auto.o", []),
        ("SETTING=VALUE", "console-producer", "ssl.truststore.p", []),
    ],
)
def test_properties_and_settings(metavar: str, command: str, typed: str, expected: list[str]) -> None:
    assert offered(metavar, command, "--any", typed) == expected


def test_every_setting_that_is_offered_is_one() -> None:
    """Also those that only a consumer or a producer has, which are listed by hand."""
    known = settings()
    for command in ("console-consumer", "console-producer"):
        names = [each.rstrip("=") for each in offered("SETTING=VALUE", command, "--command-property", "")]
        assert len(names) > 40
        assert [name for name in names if name not in known or known[name].type == "PASSWORD"] == []


def test_the_files_of_schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other files are offered only where there are none of these."""
    for name in ("order.avsc", "order.json", "other.txt", ".order.avsc", "schemas/deep.avsc", "texts/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEMAS", "schemas")
    for way in ("avro", "confluent"):
        found = [each.removeprefix(f"{way}:") for each in offered("DECODING", f"{way}:")]
        assert found == ["order.avsc", "order.json", "schemas/", "texts/"]
    assert offered("DECODING", "avro:.o") == ["avro:.order.avsc"]
    assert offered("DECODING", "avro:ot") == ["avro:other.txt"]
    assert offered("DECODING", "avro:texts/") == ["avro:texts/a.txt"]
    assert offered("DECODING", f"avro:{tmp_path}/schemas/d") == [f"avro:{tmp_path}/schemas/deep.avsc"]
    assert offered("DECODING", "avro:$SCHEMAS/") == ["avro:$SCHEMAS/deep.avsc"]
    assert offered("DECODING", "string:") == offered("DECODING", "parquet:") == []


def test_members_that_may_leave() -> None:
    line = ["console-consumer", "--members", "3", "--then"]
    assert offered("EVENT@N", *line, "leave") == ["leave:1@", "leave:2@", "leave:3@"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cluster", "st"], ["status", "stop-broker", "start-broker"]),
        (["cluster", "status", ""], []),
        (["topics", ""], []),
        (["kafka-dump"], ["kafka-dump-log.sh"]),
        (["clu"], ["cluster", "cluster-id"]),
    ],
)
def test_pages_of_the_manual(words: list[str], expected: list[str]) -> None:
    assert offered("[PAGE...]", "help", *words) == expected


def test_addresses_and_masters_are_those_of_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "defaults: {master: 'spark://here:7077'}\ncontexts:\n"
        "  prod: {bootstrap-server: 'a:1,b:2', master: 'yarn'}\n  quorum: {bootstrap-controller: 'c:3'}\n"
    )
    monkeypatch.setenv("KAFKAPY_CONFIG", str(config))
    assert offered("HOST:PORT[,...]", "topics", "--bootstrap-server", "") == ["a:1", "b:2", "c:3"]
    assert offered("HOST:PORT[,...]", "topics", "--bootstrap-server", "b:2,a") == ["b:2,a:1"]
    assert offered("URL", "sql", "--master", "") == ["local[*]", "spark://here:7077", "yarn"]


METADATA = "[cat|find|ls|tree [METADATA-PATH...]]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], ["cat", "find", "ls", "tree"]),
        (["ls", ""], ["image/", "local/"]),
        (["ls", "image/", "/image/to"], ["/image/topics/"]),
        (["find", "image/topics/byName/or"], ["image/topics/byName/orders/"]),
        (["cat", "image/topics/byName/orders/"], [f"image/topics/byName/orders/{each}" for each in "012"]),
        (["ls", "image/cluster/brokers/"], ["image/cluster/brokers/1"]),
        (["ls", "image/cluster/../features/meta"], ["image/cluster/../features/metadataVersion"]),
        (["ls", "image/nothing/"], []),
    ],
)
def test_paths_of_the_metadata_shell(cluster: str, words: list[str], expected: list[str]) -> None:
    """By position: first a command, then paths."""
    found = offered(METADATA, "metadata-shell", *words)
    assert [each for each in found if not each.endswith(("/id", "/name"))] == expected


def test_paths_of_the_metadata_shell_are_those_that_it_shows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each path but those beneath a topic by id, whose partitions are the same; also out of one file."""
    cluster = row_world.made(tmp_path / "cluster")
    shown = set(run(capfd, "metadata-shell", "--cluster", cluster, "find", "image").lines) - {"image"}
    log = f"{cluster}/broker-1/__cluster_metadata-0/{0:020d}.log"
    assert any(each.startswith("image/configs/") for each in shown)
    for source in (["--cluster", cluster], ["-s", log]):
        assert _all_paths(source, "image/") == shown


def _all_paths(source: list[str], directory: str) -> set[str]:
    found = offered(METADATA, "metadata-shell", *source, "ls", directory)
    beneath = [_all_paths(source, each) for each in found if each.endswith("/")]
    return {each.rstrip("/") for each in found}.union(*beneath)


def test_columns_are_those_of_the_tables() -> None:
    pytest.importorskip("pyarrow")
    from kafkapy.tables.column_names import COLUMN_NAMES
    from kafkapy.tables.registry import TABLES, find_table

    assert {name: find_table(name).schema.names for name in TABLES} == COLUMN_NAMES


@pytest.mark.parametrize(
    ("value", "typed", "expected"),
    [
        ("a b", "a", r"a\ b"),
        ("a b", r"a\ ", r"a\ b"),
        ("a b", "a\\", r"a\ b"),
        ("a b", "'a", "a b"),
        ('a "b"', '"a', r"a \"b\""),
        ("a=[1,2],b=[c", "a=[1,2],b=[", "a=[1,2],b=[c"),
        ("a b", 'a" ', r"a\ b"),
    ],
)
def test_values_for_bash(value: str, typed: str, expected: str) -> None:
    """What was typed is left as it is spelled, unless quotes stand in it."""
    assert spelled(value, typed) == expected


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


@pytest.mark.parametrize("kind", sorted(OF_A_CLUSTER | OF_KAFKAPY))
def test_nothing_heavy_is_imported(root: Path, cluster: str, kind: str) -> None:
    words = ["transactions", "describe", "--topic", "orders", "--partition", "0", ""]
    program = (
        "import os, sys; from kafkapy.cli import main\n"
        "os._exit = lambda code: (print(*sys.modules, file=sys.stderr), sys.exit(code))\n"
        f"main(['__complete', 'zsh', {kind!r}, *{words!r}])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    modules = set(done.stderr.split())
    assert "kafkapy.completion.values" in modules
    assert modules & HEAVY <= ({"kafkapy.metadata.image"} if kind in OF_AN_IMAGE else set())
