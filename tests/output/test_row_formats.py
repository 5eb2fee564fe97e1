"""Every command with ``--output``, in every format: the same rows come back out of each."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafkapy.backends.directory_format import make_cluster
from kafkapy.command_tree import command_tree, walk
from kafkapy.log.files import Files
from kafkapy.output.output_format import Output
from kafkapy.output.row_columns import columns_of
from kafkapy.output.row_writer import NO_ROWS, csv_cell
from tests.commands.running import Done, run
from tests.output.row_world import made

Capture = pytest.CaptureFixture[str]
Row = dict[str, Any]

WHERE = "--cluster={cluster}"
CASES = {
    "acls": (WHERE, "--list"),
    "assign": ("--assignor", "range", "--topics", "a:4,b:2", "--members", "2", "--then", "leave:m1"),
    "cluster advance": (WHERE, "--ms", "60000"),
    "cluster kill-broker": (WHERE, "2"),
    "cluster lag-broker": (WHERE, "2"),
    "cluster list-endpoints": (WHERE,),
    "cluster replicate": (WHERE,),
    "cluster start-broker": (WHERE, "2"),
    "cluster status": (WHERE, "--topic", "orders"),
    "cluster stop-broker": (WHERE, "3"),
    "cluster-id": (WHERE,),
    "config list": (),
    "config show": (),
    "configs": (WHERE, "--describe", "--topic", "orders", "--all"),
    "consumer-groups": (WHERE, "--describe", "--all-groups"),
    "consumer-offsets": (WHERE, "--records", "all"),
    "delete-records": (WHERE, "--offset-json-file", "{files}/offsets.json"),
    "doctor": (WHERE,),
    "dump-log": ("--files", "{cluster}/broker-1/orders-0,{cluster}/broker-1/orders-2", "--print-data-log"),
    "export": (WHERE, "--to", "json", "--out", "{files}/out", "--dry-run"),
    "features describe": (WHERE,),
    "features feature-dependencies": (
        "--feature",
        "eligible.leader.replicas.version=1",
        "--feature",
        "share.version=1",
    ),
    "features version-mapping": (),
    "get-offsets": (WHERE,),
    "groups": (WHERE, "--list"),
    "install-shims": ("{files}/bin",),
    "lab list": (),
    "lab run": ("acks",),
    "lab show": ("acks",),
    "lag": (WHERE,),
    "leader-election": (WHERE, "--election-type", "preferred", "--topic", "orders", "--partition", "0"),
    "log-dirs": (WHERE, "--describe", "--topic-list", "orders"),
    "lookup": (WHERE, "--topic", "orders", "--partition", "0", "--offset", "2"),
    "maintenance": (WHERE, "--dry-run", "--assume", "orders:retention.bytes=1"),
    "metadata-quorum describe": (WHERE, "--replication"),
    "reassign-partitions": (WHERE, "--list"),
    "replica-diff": (WHERE, "orders"),
    "share-groups": (WHERE, "--list"),
    "sql": ("--tables",),
    "storage feature-dependencies": ("--feature", "eligible.leader.replicas.version=1"),
    "storage info": (WHERE,),
    "storage version-mapping": (),
    "streams-groups": (WHERE, "--list"),
    "throughput": (WHERE,),
    "topics": (WHERE, "--describe"),
    "tour": ("--list",),
    "transactions describe": (WHERE, "--transactional-id", "payments-1"),
    "transactions describe-producers": (WHERE, "--topic", "orders", "--partition", "0"),
    "transactions find-hanging": (WHERE, "--topic", "orders"),
    "transactions list": (WHERE,),
}
"""The arguments of a run of each command."""
OF_BROKERS = {"broker-api-versions", "features disable", "features downgrade", "features upgrade"}
"""Only brokers can be asked for these: tests/live and tests/outages do."""
BEFORE = {"cluster start-broker": ("kill-broker",), "cluster replicate": ("kill-broker", "start-broker")}
WITHOUT_ROWS = {
    *("acls", "cluster advance", "cluster start-broker", "config list", "reassign-partitions"),
    *("share-groups", "streams-groups"),
}
OF_THE_CLOCK = {"duration_min", "duration_ms", "last_timestamp", "timestamp", "text", "remedy", "reason", "time_lag_ms"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(made(tmp_path_factory.mktemp("rows") / "cluster"))


def test_every_command_with_rows_is_here() -> None:
    with_output = {
        " ".join(node.path[1:])
        for node in walk(command_tree())
        if any("--sort-by" in each.names for each in node.options)
    }
    assert with_output - OF_BROKERS == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_format_has_the_same_rows(
    capfd: Capture, tmp_path: Path, cluster: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "offsets.json").write_text(
        json.dumps({"version": 1, "partitions": [{"topic": "orders", "partition": 1, "offset": 2}]})
    )
    monkeypatch.setenv("KAFKAPY_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.delenv("COLUMNS", raising=False)
    given = {word.partition("=")[0] for word in CASES[name]}

    def done(output: str) -> Done:
        own = tmp_path / "cluster"
        shutil.copytree(cluster, own)
        (tmp_path / "config.yaml").unlink(missing_ok=True)
        arguments = (each.format(cluster=own, files=tmp_path) for each in CASES[name])
        for change in BEFORE.get(name, ()):
            run(capfd, "cluster", change, "2", "--cluster", own)
        found = run(capfd, *name.split(), *arguments, "--output", output)
        shutil.rmtree(own)
        return found

    expected = done("jsonl").rows
    assert bool(expected) is (name not in WITHOUT_ROWS)
    assert {column for row in expected for column in row} <= set(columns_of(name, lambda each: f"--{each}" in given))
    codes = set()
    for output in ("json", "yaml", "csv", "table"):
        found = done(output)
        codes.add(found.code)
        assert "\x1b" not in found.out
        if output == "table":
            assert found.out.strip() == NO_ROWS or expected
        elif output == "csv":
            assert masked_table(read_csv(found.out, expected)) == masked_table(cells(expected))
            assert found.out.startswith("type,") or name == "sql", "also where there are no rows"
        else:
            document = json.loads(found.out) if output == "json" else yaml.safe_load(found.out)
            assert document["schema_version"] == 1
            assert masked(document["rows"]) == masked(expected), output
    assert len(codes) == 1


def masked(rows: list[Row]) -> list[Row]:
    """The rows without what another moment changes."""
    return [{name: value for name, value in row.items() if name not in OF_THE_CLOCK} for row in rows]


def masked_table(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted((masked([row])[0] for row in rows), key=str)  # CSV has the rows of a kind together


def cells(rows: list[Row]) -> list[dict[str, str]]:
    return [{name: str(csv_cell(value)) for name, value in row.items() if value not in (None, "")} for row in rows]


def read_csv(text: str, expected: list[Row]) -> list[dict[str, str]]:
    """The rows under the headings that they have; what is empty is left out."""
    headings = {tuple(row) for row in expected}
    names: list[str] = []
    rows = []
    for line in csv.reader(io.StringIO(text, newline="")):
        if line[0] == "type" or tuple(line) in headings:
            names = line
        else:
            rows.append({name: cell for name, cell in zip(names, line, strict=True) if cell != ""})
    return rows


@pytest.mark.parametrize("output", [each for each in Output if each is not Output.KAFKA])
def test_the_options_of_rows_go_with_any_form_of_them(capfd: Capture, cluster: Path, output: Output) -> None:
    where = ("topics", "--cluster", str(cluster), "--describe", "--topic", "orders", "--output", output)
    done = run(capfd, *where, "--columns", "partition,leader", "--sort-by", "partition:desc")
    rows = [{"partition": number, "leader": leader} for number, leader in ((2, 1), (1, 3), (0, 2))]
    if output is Output.TABLE:
        found = [line.split() for line in done.lines if line.strip() and "──" not in line]
        assert found == [["partition", "leader"], ["2", "1"], ["1", "3"], ["0", "2"]]
    elif output is Output.CSV:
        assert done.out == "partition,leader\n2,1\n1,3\n0,2\n"
    elif output is Output.JSONL:
        assert done.rows == rows
    else:
        assert yaml.safe_load(done.out) == {"schema_version": 1, "rows": rows}, "JSON is YAML, too"


@pytest.mark.parametrize(("output", "expected"), [("csv", "orders,0\norders,1\norders,2\n"), ("table", None)])
def test_no_header(capfd: Capture, cluster: Path, output: str, expected: str | None) -> None:
    done = run(
        capfd, "topics", "--cluster", cluster, "--describe", "--topic", "orders", "--columns", "topic,partition",
        "--no-header", "--output", output,
    )  # fmt: skip
    assert done.out == expected or [line.split() for line in done.lines] == [["orders", str(n)] for n in range(3)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--columns topic", "--columns goes with --output table, json, jsonl, csv or yaml"),
        ("--sort-by topic", "--sort-by goes with --output table, json, jsonl, csv or yaml"),
        ("--no-header", "--no-header goes with --output table or csv"),
        ("--output json --no-header", "--no-header goes with --output table or csv: json has no header"),
        (
            "--output csv --columns topc",
            "--columns: no column 'topc'; did you mean 'topic'? The columns are type, topic, ",
        ),
        (
            "--output csv --sort-by zzz",
            "--sort-by: no column 'zzz'. The columns are type, topic, topic_id, partition, ",
        ),
        ("--output csv --columns topic,,leader", "--columns: 'topic,,leader' has an empty name"),
        ("--output csv --columns topic,topic", "--columns: 'topic,topic' names a column twice"),
        ("--output csv --sort-by :desc", "--sort-by is empty; give COL or COL:desc"),
        ("--output csv --sort-by topic:dsc", "--sort-by: ':dsc' is not a sort order: give topic or topic:desc"),
    ],
)
def test_what_is_refused(capfd: Capture, cluster: Path, given: str, expected: str) -> None:
    done = run(capfd, "topics", "--cluster", cluster, "--describe", *given.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"kafkapy: {expected}")
    assert done.err.endswith("Try 'kafkapy topics --help'.\n")


def test_rows_of_several_kinds(capfd: Capture, cluster: Path) -> None:
    """A column of a later kind is known; rows that have none of the columns are left out."""
    where = ("dump-log", "--files", f"{cluster}/broker-1/orders-0", "--print-data-log", "--output", "jsonl")
    everything = run(capfd, *where).rows
    assert {"record", "producer"} <= {row["type"] for row in everything}
    found = run(capfd, *where, "--columns", "type,coordinator_epoch,key", "--sort-by", "offset:desc").rows
    assert found == [
        {"type": row["type"], "coordinator_epoch": row.get("coordinator_epoch"), "key": row.get("key")}
        for kind in dict.fromkeys(row["type"] for row in everything)
        for row in sorted((row for row in everything if row["type"] == kind), key=lambda row: -row.get("offset", 0))
    ]
    keys = run(capfd, *where, "--columns", "key").rows
    assert keys == [{"key": row["key"]} for row in everything if "key" in row]


def test_the_columns_of_no_rows(capfd: Capture, cluster: Path) -> None:
    where = ("acls", "--cluster", cluster, "--list", "--columns", "host,principal", "--output")
    assert run(capfd, *where, "csv").out == "host,principal\n"
    assert run(capfd, *where, "csv", "--no-header").out == ""
    assert run(capfd, *where, "table").lines == [NO_ROWS]
    assert run(capfd, *where, "yaml").out == "schema_version: 1\nrows: []\n"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster without topics."""
    path = tmp_path_factory.mktemp("empty") / "cluster"
    make_cluster(str(path), 2, files=Files(sync=False))
    return path


@pytest.mark.parametrize(
    "line",
    [
        "topics --list",
        "topics --describe",
        "topics --describe --topics-with-overrides",
        "consumer-groups --list",
        "consumer-groups --describe --all-groups",
        "consumer-groups --describe --all-groups --members",
        "consumer-groups --describe --all-groups --state",
        "consumer-groups --describe --all-groups --totals",
        "groups --list",
        "share-groups --list",
        "share-groups --describe --all-groups",
        "streams-groups --list",
        "streams-groups --describe --all-groups --members",
        "log-dirs --describe",
        "transactions list",
        "transactions find-hanging",
        "acls --list",
        "lag",
        "throughput",
        "throughput --forecast",
        "reassign-partitions --list",
        "configs --describe --entity-type topics",
        "maintenance",
        "consumer-offsets",
        "leader-election --election-type preferred --all-topic-partitions",
        "cluster replicate",
    ],
)
def test_csv_has_a_header_without_rows(capfd: Capture, empty: Path, line: str) -> None:
    words = line.split()
    done = run(capfd, *words, "--cluster", empty, "--output", "csv")
    assert done.code == 0, done
    (header,) = done.lines
    command = " ".join(word for word in words[:2] if not word.startswith("-"))
    columns = columns_of(command, lambda option: f"--{option}" in words)
    assert header.startswith("type,")
    assert set(header.split(",")) <= set(columns)
    assert run(capfd, *words, "--cluster", empty, "--output", "csv", "--no-header").out == ""


def test_a_dump_of_nothing_has_a_header(capfd: Capture, cluster: Path) -> None:
    where = ("dump-log", "--files", f"{cluster}/broker-1/orders-0", "--from-offset", "900")
    assert run(capfd, *where, "--output", "csv").out.startswith("type,file,position,")
    assert run(capfd, *where, "--print-data-log", "--output", "csv").out.startswith("type,file,offset,")
    assert run(capfd, *where, "--output", "table").lines == [NO_ROWS]


@pytest.mark.parametrize("summary", [(), ("--summary",)])
def test_an_error_before_any_row(capfd: pytest.CaptureFixture[str], tmp_path: Path, summary: tuple[str, ...]) -> None:
    """A table says nothing beside it; what programs read is a document all the same, or a header."""
    gone = tmp_path / f"{0:020d}.log"
    for output, expected in (("table", ""), ("jsonl", ""), ("json", '{"schema_version":1,"rows":[]}\n')):
        done = run(capfd, "dump-log", "--files", gone, *summary, "--output", output)
        assert done == (1, expected, f"kafkapy: {gone}: No such file or directory\n")
    done = run(capfd, "dump-log", "--files", gone, *summary, "--output", "csv")
    assert (done.code, len(done.lines), done.out.startswith("type,file,")) == (1, 1, True)
