"""configs against ConfigCommand's own output; altering a cluster directory and reading it back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.errors import UsageError
from kafkapy.log.files import Files
from kafkapy.metadata.config_entities import Entities, entities
from tests.commands.running import Done, dirs, printed, run

Capture = pytest.CaptureFixture[str]
Configs = Callable[..., Done]


@pytest.fixture
def describe(capfd: Capture, golden: Path) -> Configs:
    """Describes what is in the golden set."""
    return lambda *args: run(capfd, "configs", "--log-dirs", dirs(golden), "--describe", *args)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 1, files=Files(False))
    return directory


@pytest.fixture
def configs(capfd: Capture, cluster: Path) -> Configs:
    """Runs on a new cluster directory that has a topic ``orders``."""
    where = ("--cluster", cluster, "--no-fsync")
    assert run(capfd, "topics", *where, "--create", "--topic", "orders", "--partitions", "1").code == 0
    return lambda *args: run(capfd, "configs", *where, *args)


def test_what_is_set_on_a_topic(describe: Configs, golden: Path) -> None:
    wanted = printed(golden, "configs-topic")
    assert describe("--entity-type", "topics", "--entity-name", "rolled").lines == wanted
    assert describe("--topic", "rolled").lines == wanted


def test_all_configs_of_a_topic(describe: Configs, golden: Path) -> None:
    """The one that differs is set in the brokers' server.properties, which no directory holds."""
    done = describe("--topic", "rolled", "--all").lines
    differing = [line for line in printed(golden, "configs-topic-all") if line not in done]
    assert [line.partition("=")[0].strip() for line in differing] == ["segment.index.bytes"]
    assert len(done) == len(printed(golden, "configs-topic-all"))


def test_a_broker(describe: Configs, golden: Path) -> None:
    assert describe("--broker", "1").lines == printed(golden, "configs-broker")


def test_all_brokers_and_their_default(describe: Configs) -> None:
    headings = [line for line in describe("--entity-type", "brokers").lines if not line.startswith(" ")]
    assert headings == [
        "Dynamic configs for broker 1 are:",
        "Dynamic configs for broker 2 are:",
        "Dynamic configs for broker 3 are:",
        "Default configs for brokers in the cluster are:",
    ]
    default = describe("--broker-defaults")
    assert default == describe("--entity-type", "brokers", "--entity-default")
    assert default.lines[0] == headings[-1]
    assert "min.insync.replicas=1" in default.lines[1]


def test_users_that_have_nothing(describe: Configs, golden: Path) -> None:
    assert describe("--entity-type", "users").lines == printed(golden, "configs-users") == []


def test_a_group(describe: Configs) -> None:
    assert describe("--group", "sharers").lines == [
        "Dynamic configs for group sharers are:",
        "  share.auto.offset.reset=earliest sensitive=false synonyms={"
        "DYNAMIC_GROUP_CONFIG:share.auto.offset.reset=earliest, DEFAULT_CONFIG:share.auto.offset.reset=latest}",
    ]


@pytest.mark.parametrize(
    ("args", "what", "told"),
    [
        (["--topic", "nope"], "topic 'nope'", ""),
        (["--broker", "9"], "broker '9'", "kafkapy: there is no broker 9; there are 1, 2, 3\n"),
    ],
)
def test_what_does_not_exist(describe: Configs, args: list[str], what: str, told: str) -> None:
    line = f"The {what} doesn't exist and doesn't have dynamic config.\n"
    assert describe(*args) == (1, line, told)
    assert describe(*args, "--output", "jsonl") == (1, "", line + told)
    assert describe(*args, "--all").code == 1


def test_rows(describe: Configs) -> None:
    rows = describe("--topic", "rolled", "--output", "jsonl").rows
    assert [(row["name"], row["value"], row["source"]) for row in rows] == [
        ("index.interval.bytes", "4096", "DYNAMIC_TOPIC_CONFIG"),
        ("segment.bytes", "1048576", "DYNAMIC_TOPIC_CONFIG"),
    ]


def test_without_metadata_configs_are_unknown(capfd: Capture, zk_era: Path) -> None:
    where = ("configs", "--log-dirs", dirs(zk_era), "--describe")
    topic = run(capfd, *where, "--topic", "ledger")
    assert topic == (0, "The configs of topics ('ledger') are unknown: there is no metadata log\n", "")
    brokers = run(capfd, *where, "--entity-type", "brokers", "--output", "jsonl").rows
    assert [(row["entity_name"], row["known"]) for row in brokers] == [("1", False), ("2", False), ("", False)]
    assert "unknown" in run(capfd, *where, "--entity-type", "users").out


def test_alter_and_take_back(configs: Configs) -> None:
    done = configs("--alter", "--topic", "orders", "--add-config", "retention.ms=1000,cleanup.policy=[compact,delete]")
    assert done == (0, "Completed updating config for topic orders.\n", "")
    shown = configs("--describe", "--topic", "orders").lines
    assert [line.split()[0] for line in shown[1:]] == ["cleanup.policy=compact,delete", "retention.ms=1000"]
    assert configs("--alter", "--topic", "orders", "--delete-config", "retention.ms,cleanup.policy").code == 0
    assert configs("--describe", "--topic", "orders").lines == ["Dynamic configs for topic orders are:"]


def test_alter_from_a_file(configs: Configs, tmp_path: Path) -> None:
    file = tmp_path / "new.properties"
    file.write_text("# comment\nretention.ms = 5\nmax.message.bytes: 9000\n")
    assert configs("--alter", "--topic", "orders", "--add-config-file", file).code == 0
    shown = configs("--describe", "--topic", "orders").lines
    assert [line.split()[0] for line in shown[1:]] == ["max.message.bytes=9000", "retention.ms=5"]


def test_broker_layers(configs: Configs) -> None:
    assert configs("--alter", "--broker", "1", "--add-config", "log.cleaner.threads=2").code == 0
    done = configs("--alter", "--broker-defaults", "--add-config", "log.cleaner.threads=3")
    assert done.out == "Completed updating default config for brokers in the cluster.\n"
    assert configs("--describe", "--broker", "1").lines[1] == (
        "  log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2, "
        "DYNAMIC_DEFAULT_BROKER_CONFIG:log.cleaner.threads=3, DEFAULT_CONFIG:log.cleaner.threads=1}"
    )


def test_quotas_of_users_and_clients(configs: Configs) -> None:
    users_first = ("--entity-type", "users", "--entity-default", "--entity-type", "clients", "--entity-name", "c")
    assert configs("--alter", *users_first, "--add-config", "consumer_byte_rate=5").code == 0
    done = configs(
        "--alter", "--user", "u", "--client", "c", "--add-config", "producer_byte_rate=10,request_percentage=2.5"
    )
    assert done.out == "Completed updating config for client c.\n"
    default = "Quota configs for the default user-principal, client-id 'c' are consumer_byte_rate=5.0"
    own = "Quota configs for user-principal 'u', client-id 'c' are producer_byte_rate=10.0, request_percentage=2.5"
    both = ("--describe", "--entity-type", "users", "--entity-type", "clients")
    assert configs(*both).lines == [default, own]
    assert configs("--describe", *users_first).lines == [default]
    assert configs("--describe", "--user", "u", "--client", "c").lines == [own]
    assert configs("--describe", "--entity-type", "users").lines == []
    assert configs("--alter", "--user", "u", "--client", "c", "--delete-config", "request_percentage").code == 0
    left = "Quota configs for user-principal 'u', client-id 'c' are producer_byte_rate=10.0"
    assert configs("--describe", "--user", "u", "--client", "c").lines == [left]


def test_quota_of_an_ip(configs: Configs) -> None:
    assert configs("--alter", "--ip", "127.0.0.1", "--add-config", "connection_creation_rate=5").code == 0
    wanted = ["Quota configs for ip '127.0.0.1' are connection_creation_rate=5.0"]
    assert configs("--describe", "--entity-type", "ips").lines == wanted


def test_scram_credentials(configs: Configs, cluster: Path) -> None:
    done = configs("--alter", "--user", "alice", "--add-config", "SCRAM-SHA-256=[iterations=8192,password=pw-3141]")
    assert done == (0, "Completed updating config for user alice.\n", "")
    wanted = ["SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192"]
    assert configs("--describe", "--entity-type", "users").lines == wanted
    assert configs("--describe", "--user", "alice").lines == wanted
    assert configs("--describe", "--user", "bob").lines == []
    assert not any(b"pw-3141" in path.read_bytes() for path in cluster.rglob("*") if path.is_file())
    assert configs("--alter", "--user", "alice", "--delete-config", "SCRAM-SHA-256").code == 0
    assert configs("--describe", "--entity-type", "users").lines == []


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (
            ["--topic", "orders", "--add-config", "retention.ms=abc"],
            "Invalid value abc for configuration retention.ms: Not a number of type LONG",
        ),
        (["--topic", "orders", "--add-config", "nosuch=1"], "Unknown topic config name: nosuch"),
        (["--topic", "nope", "--add-config", "retention.ms=1"], "The topic 'nope' does not exist."),
        (["--user", "u", "--delete-config", "producer_byte_rate"], "Invalid config(s): producer_byte_rate"),
        (
            ["--user", "u", "--delete-config", "SCRAM-SHA-512"],
            "Attempt to delete a user credential that does not exist",
        ),
    ],
)
def test_what_kafka_refuses(configs: Configs, args: list[str], error: str) -> None:
    before = configs("--describe", "--entity-type", "topics")
    assert configs("--alter", *args) == (1, "", f"kafkapy: {error}\n")
    assert configs("--describe", "--entity-type", "topics") == before


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ([], "Command must include exactly one action: --describe, --alter"),
        (["--describe"], "At least one entity type must be specified"),
        (["--describe", "--entity-type", "cats"], "Invalid entity type cats, the entity type must be one of topics"),
        (
            ["--describe", "--topic", "t", "--user", "u"],
            "Only 'users' and 'clients' entity types may be specified together",
        ),
        (
            ["--describe", "--broker", "x"],
            "The entity name for brokers must be a valid integer broker id, but it is: x",
        ),
        (
            ["--describe", "--entity-type", "topics", "--entity-default"],
            "--entity-default must not be specified with --describe of topics",
        ),
        (["--alter", "--topic", "t"], "At least one of --add-config, --add-config-file, or --delete-config"),
        (
            ["--alter", "--entity-type", "topics", "--add-config", "a=b"],
            "An entity name must be specified with --alter",
        ),
        (["--alter", "--topic", "t", "--add-config", "a"], "requirement failed: Invalid entity config"),
    ],
)
def test_bad_usage(capfd: Capture, golden: Path, args: list[str], error: str) -> None:
    done = run(capfd, "configs", "--log-dirs", dirs(golden), *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {error}")


def test_brokers_directories_are_not_altered(capfd: Capture, golden: Path) -> None:
    done = run(
        capfd, "configs", "--log-dirs", dirs(golden), "--alter", "--topic", "plain", "--add-config", "retention.ms=1"
    )
    assert done.code == 1
    assert "is not supported by --log-dirs" in done.err


def test_entities_are_paired_in_order() -> None:
    assert entities(["users", "clients"], ["", "c"], {}, []).named == {"users": "", "clients": "c"}
    assert entities(["users", "clients"], ["u"], {}, []).named == {"users": "u", "clients": None}
    assert entities([], [], {"clients": "c", "users": None}, ["users"]) == Entities(("clients", "users"), ("c", ""))


@pytest.mark.parametrize(
    ("types", "names", "shortcuts"),
    [
        (["users", "users"], [], {}),
        (["topics"], ["a", "b"], {}),
        (["users"], ["u"], {"clients": "c"}),
    ],
)
def test_what_cannot_be_meant(types: list[str], names: list[str], shortcuts: dict[str, str | None]) -> None:
    with pytest.raises(UsageError):
        entities(types, names, shortcuts, [])
