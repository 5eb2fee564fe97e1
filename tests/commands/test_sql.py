"""kafkapy sql: answers over the golden set on one Spark session, what is refused, and the prompt on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafkapy.tables.registry import TABLES, find_table
from kafkapy.tables.scan import Mode
from tests.commands.running import Done, dirs, run
from tests.readable import is_readable
from tests.spark.conftest import java_home, spark, spark_cache
from tests.spark.leftovers import check_nothing_is_left, wait_for_process
from tests.tables.internal_logs import milliseconds, scan_of
from tests.tables.logs import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["java_home", "spark", "spark_cache"]

Capture = pytest.CaptureFixture[str]


def ask(capfd: Capture, golden: Path, *args: str | Path, output: str = "jsonl", state: str = "clean") -> Done:
    return run(capfd, "sql", "--log-dirs", dirs(golden, state), "--output", output, *args)


class TestWithoutSpark:
    """What needs no JVM must start none."""

    @pytest.fixture(autouse=True)
    def no_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("JAVA_HOME", raising=False)

    def test_tables(self, capfd: Capture) -> None:
        done = run(capfd, "sql", "--tables")
        assert done.code == 0
        assert [line.partition(":")[0] for line in done.lines if line and not line.startswith(" ")] == list(TABLES)
        assert "  headers         array<struct<key:string,value:binary>>" in done.lines
        listed = run(capfd, "sql", "--tables", "--output", "jsonl").rows
        assert {"table": "partitions", "column": "isr", "type": "array<int>"} in listed
        assert len(listed) == sum(len(find_table(name).schema) for name in TABLES)

    @pytest.mark.parametrize(
        ("args", "error"),
        [
            (["--bootstrap-server", "localhost:9092", "SELECT 1"], "sql reads files, not a running cluster"),
            (["--output", "parquet", "SELECT 1"], "--output parquet and --out PATH go together"),
            (["--out", "x", "SELECT 1"], "--output parquet and --out PATH go together"),
            (["--conf", "a", "SELECT 1"], "--conf: 'a' is not KEY=VALUE"),
            (["--file", "x.sql", "SELECT 1"], "give statements, or --file, not both"),
            (["--output", "json", "SELECT 1; SELECT 2"], "--output json holds one result"),
            (["--mode", "lenient", "SELECT 1"], "'lenient' is not one of"),
        ],
    )
    def test_usage(self, capfd: Capture, golden: Path, args: list[str], error: str) -> None:
        where = [] if "--bootstrap-server" in args else ["--log-dirs", dirs(golden)]
        done = run(capfd, "sql", *where, *args)
        assert (done.code, done.out) == (2, "")
        assert error in done.err
        assert len(done.err.splitlines()) == 1

    def test_no_java(self, capfd: Capture, golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from pyspark import SparkContext

        monkeypatch.setattr(SparkContext, "_active_spark_context", None)  # that of other tests would be used
        done = run(capfd, "sql", "--log-dirs", dirs(golden), "SELECT 1")
        assert (done.code, done.out) == (1, "")
        assert "Spark needs Java 17 or newer, but there is none" in done.err

    def test_no_cluster(self, capfd: Capture, tmp_path: Path) -> None:
        done = run(capfd, "sql", "--log-dirs", tmp_path / "nope", "SELECT 1")
        assert done.code == 1
        hint = "is its disk mounted, and is it what log.dirs of the broker names?"
        assert done.err == f"kafkapy: {tmp_path / 'nope'}: no such directory; {hint}\n"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_the_rows_that_one_process_reads(
    spark: SparkSession, capfd: Capture, golden: Path, table: str
) -> None:
    done = ask(capfd, golden, f"SELECT * FROM {table}")
    assert (done.code, done.err) == (0, "")
    found = rows(scan_of(golden), table)
    assert [list(row) for row in done.rows] == [find_table(table).schema.names] * len(found)
    simple = [name for name, value in found[0].items() if isinstance(value, int | str | bool)]
    assert sorted([[row[name] for name in simple] for row in done.rows], key=str) == sorted(
        [[row[name] for name in simple] for row in found], key=str
    )


def test_what_only_other_brokers_have_is_told_once(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    """As export tells it; not where only topics are asked for that are here."""
    one = ("--log-dirs", dirs(golden).partition(",")[0])
    note = run(capfd, "export", *one, "--to", "csv", "--out", golden / "none", "--dry-run").err
    assert re.fullmatch(r"kafkapy: left out: \d+ partitions? that only other brokers have copies of\n", note)
    count = "SELECT count(*) AS n FROM records"
    done = run(capfd, "sql", *one, "--output", "csv", f"{count}; {count}; SELECT count(*) AS n FROM batches")
    assert (done.code, done.err) == (0, note)
    for other in ("SELECT 1", "SELECT count(*) AS n FROM partitions", f"{count} WHERE topic = 'plain'"):
        assert "left out" not in run(capfd, "sql", *one, "--output", "csv", other).err


def test_values(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    query = "SELECT offset, timestamp, key, value, headers FROM records WHERE topic = 'plain' ORDER BY offset"
    found = rows(scan_of(golden)._replace(topics=frozenset(("plain",))))
    for row, own in zip(ask(capfd, golden, query).rows, found, strict=True):
        assert row["value"] == own["value"].decode()
        assert row["timestamp"].endswith("Z")
        assert milliseconds(own["timestamp"]) == milliseconds(_moment(row["timestamp"]))
    literal = ask(capfd, golden, "SELECT X'00FF' AS b, 1.50 AS d, map('a', X'6162') AS m, double('NaN') AS n").rows
    assert literal == [{"b": "X'00FF'", "d": "1.50", "m": {"a": "ab"}, "n": "nan"}]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_only_named_columns_are_read(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    assert ask(capfd, golden, "SELECT count(*) AS n FROM records WHERE topic = 'tx'").rows == [{"n": 45}]
    assert spark.table("records").columns == ["topic"]
    assert ask(capfd, golden, "SELECT count(*) AS n FROM partitions").rows == [{"n": 29}]
    assert spark.table("partitions").columns == ["topic"]
    made = "CREATE OR REPLACE TEMP VIEW mine AS SELECT key FROM records WHERE topic = 'tx'"
    assert ask(capfd, golden, made, "SELECT count(key) AS n FROM mine").rows == [{"n": 45}]
    spark.catalog.dropTempView("mine")


def test_filters_of_one_scan_do_not_bound_another(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    count = "SELECT count(*) AS n FROM records WHERE topic = '{}'"
    both = "SELECT a.n AS a, b.n AS b FROM ({}) a CROSS JOIN ({}) b"
    narrow = [count.format("tx"), count.format("plain"), both.format(count.format("tx"), count.format("plain"))]
    done = ask(capfd, golden, *narrow, "SELECT count(*) > 10000 AS many FROM records")
    assert done.rows == [{"n": 45}, {"n": 60}, {"a": 45, "b": 60}, {"many": True}]


def test_a_table_that_was_dropped_is_there_when_it_is_named_again(
    spark: SparkSession, capfd: Capture, golden: Path
) -> None:
    made = "CREATE OR REPLACE TEMP VIEW mine AS SELECT 1 AS one"
    count = "SELECT count(*) AS n FROM records CROSS JOIN mine WHERE topic = 'tx'"
    assert ask(capfd, golden, made, "DROP VIEW records", count, "DROP VIEW mine").rows == [{"n": 45}]


def test_outputs(spark: SparkSession, capfd: Capture, golden: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    query = "SELECT topic, count(*) AS n FROM records WHERE topic LIKE 'codec%' GROUP BY topic ORDER BY topic"
    table = ask(capfd, golden, query, output="table").lines
    assert table == [
        "topic        |   n",
        "-------------+----",
        *(f"{name:12} | 310" for name in ("codec-gzip", "codec-lz4", "codec-snappy", "codec-zstd")),
        "(4 rows)",
    ]
    assert ask(capfd, golden, query, output="csv").lines[:2] == ["topic,n", "codec-gzip,310"]
    document = json.loads(ask(capfd, golden, query, output="json").out)
    assert document["rows"][3] == {"topic": "codec-zstd", "n": 310}
    assert len(ask(capfd, golden, "--limit", "2", query).rows) == 2
    path = tmp_path / "codecs.parquet"
    for _ in range(2):  # the second time it takes the place of the first
        done = ask(capfd, golden, "--out", path, query, output="parquet")
        assert done == (0, "", "")
    assert pq.read_table(path).to_pylist() == document["rows"]
    assert os.listdir(tmp_path) == ["codecs.parquet"]


def test_files_and_several_statements(spark: SparkSession, capfd: Capture, golden: Path, tmp_path: Path) -> None:
    script = tmp_path / "q.sql"
    script.write_text("-- first;\nSELECT 1 AS a;\nSELECT ';' AS b;\n\nSELECT 3 AS c -- the last\n")
    assert ask(capfd, golden, "--file", script).rows == [{"a": 1}, {"b": ";"}, {"c": 3}]
    done = ask(capfd, golden, "SELECT 1 AS a; SELECT nope FROM records; SELECT 3 AS c")
    assert (done.code, done.rows) == (1, [{"a": 1}])


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT keyy FROM records", "there is no column 'keyy'; did you mean 'key'? (line 1, position 8)"),
        ("SELECT r.ofset FROM records r", "there is no column 'r.ofset'; did you mean 'offset'? (line 1, position 8)"),
        ("SELECT 1 FROM recrods", "there is no table 'recrods'; did you mean 'records'? (line 1, position 15)"),
        (
            "SELECT cuont(*) FROM records",
            "there is no function 'cuont'; did you mean 'count'? (line 1, position 8)",
        ),
        ("SELECT qqqqq(1)", "there is no function 'qqqqq' (line 1, position 8)"),
        (
            "SELECT * FROM explde(array(1))",
            "there is no function 'explde'; did you mean 'explode'? (line 1, position 15)",
        ),
        ("SELECT 1 FROM zzz", f"there is no table 'zzz': there are {', '.join(TABLES)} (line 1, position 15)"),
        (
            "INSERT INTO partitions SELECT * FROM partitions",
            "the table partitions is only read: kafkapy writes no records by way of Spark",
        ),
        ("SELCT 1", "Syntax error at or near 'SELCT' (line 1, position 1)"),
    ],
)
def test_errors_are_one_line(spark: SparkSession, capfd: Capture, golden: Path, query: str, error: str) -> None:
    assert ask(capfd, golden, query) == (1, "", f"kafkapy: {error}\n")


def test_damage_by_mode(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    damaged = str(golden / "damaged")
    query = "SELECT count(*) AS n FROM records WHERE topic = 'flipped-byte'"

    def asked(mode: str, text: str = query) -> Done:
        return run(capfd, "sql", "--log-dirs", damaged, "--output", "jsonl", "--mode", mode, text)

    failed = asked(Mode.FAILFAST)
    assert (failed.code, failed.out) == (1, "")
    assert re.fullmatch(
        r"kafkapy: .*/flipped-byte-0/0{20}\.log: damaged at byte \d+: Record is corrupt.*\n", failed.err
    )
    dropped = asked(Mode.DROPMALFORMED).rows[0]["n"]
    (row,) = asked(
        Mode.PERMISSIVE,
        "SELECT count(offset) AS n, count(damage) AS bad, max(damage_position) AS at FROM records "
        "WHERE topic = 'flipped-byte'",
    ).rows
    assert (row["n"], row["bad"]) == (dropped, 1)
    assert row["at"] >= 0


def test_isolation_and_broker(spark: SparkSession, capfd: Capture, golden: Path) -> None:
    query = "SELECT count(*) AS n FROM records WHERE topic = 'tx' AND NOT control"
    counts = [
        ask(capfd, golden, "--isolation", each, query).rows[0]["n"] for each in ("read_uncommitted", "read_committed")
    ]
    assert counts[0] > counts[1] > 0
    paths = ask(capfd, golden, "--broker", "2", "SELECT path FROM partitions").rows
    assert {Path(row["path"]).parent.name for row in paths} == {"broker-2"}


class Terminal:
    """kafkapy sql on a pseudo-terminal."""

    def __init__(self, golden: Path, home: Path, cache: Path) -> None:
        self.temporary = home / "temporary"
        self.temporary.mkdir()
        self.directory = home / "here"
        self.directory.mkdir()
        (home / "inputrc").write_text("set enable-bracketed-paste off\n")
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            environment = os.environ | {
                "XDG_STATE_HOME": str(home), "XDG_CACHE_HOME": str(cache), "TERM": "xterm", "COLUMNS": "120",
                "INPUTRC": str(home / "inputrc"), "TMPDIR": str(self.temporary),
                "PYTHONPATH": str(Path(__file__).parents[2]),
            }  # fmt: skip
            os.chdir(self.directory)
            args = [sys.executable, "-m", "kafkapy", "sql", "--log-dirs", dirs(golden), "--master", "local[2]"]
            os.execve(sys.executable, args, environment)
        self._seen = ""

    def send(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def interrupt(self, pattern: str) -> None:
        """Ctrl-C, and again where nothing comes of it: Python misses one that comes just before it waits for a key."""
        deadline = time.monotonic() + 200
        while re.search(pattern, self._seen) is None:
            assert time.monotonic() < deadline, f"no {pattern} in {self._seen!r}"
            self.send("\x03")
            patience = time.monotonic() + 20
            while re.search(pattern, self._seen) is None and time.monotonic() < patience:
                if is_readable(self._descriptor, 1):
                    self._read()
        self.wait_for(pattern)

    def _read(self) -> None:
        self._seen += os.read(self._descriptor, 65536).decode("utf-8", "replace").replace("\r", "")

    def wait_for(self, pattern: str, timeout_s: float = 200) -> str:
        """What came up to and with the pattern."""
        deadline = time.monotonic() + timeout_s
        while (found := re.search(pattern, self._seen)) is None:
            assert time.monotonic() < deadline, f"no {pattern} in {self._seen!r}"
            if is_readable(self._descriptor, 1):
                self._read()
        seen, self._seen = self._seen[: found.end()], self._seen[found.end() :]
        return seen

    def end(self) -> int:
        """The exit code."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            if is_readable(self._descriptor, 0.2):
                try:
                    os.read(self._descriptor, 65536)
                except OSError:  # nobody has the other end any more
                    time.sleep(0.1)
        raise AssertionError("kafkapy did not end")

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._descriptor)


@pytest.fixture
def terminal(java_home: str, spark_cache: Path, golden: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(golden, tmp_path, spark_cache.resolve())
    yield opened
    opened.close()


def test_the_prompt(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("kafkapy> ", 60)
    terminal.send("\\d part\t\n")
    assert "replicas            array<int>" in terminal.wait_for("path +string\nkafkapy> ", 60)
    terminal.send("SELECT 1;\n")
    terminal.wait_for("kafkapy: starting Spark ...\n")
    wait_for_process(terminal.temporary, "SparkSubmit")
    terminal.send("\x03")
    terminal.wait_for("kafkapy: cancelled\nkafkapy> ")
    check_nothing_is_left(terminal.temporary, but=terminal.pid)
    terminal.send("SELECT count(*) AS n\n")
    terminal.wait_for("      -> ")
    terminal.send("FROM recor\t WHERE topic = 'tx';\n")
    shown = terminal.wait_for(r"\n *45\n\(1 row\)\nkafkapy> ")
    assert "FROM records" in shown
    assert shown.count("kafkapy: starting Spark ...\n") == 1
    terminal.send("SELECT ofset FROM records;\n")
    terminal.wait_for(r"kafkapy: there is no column 'ofset'; did you mean 'offset'\? \(line 1, position 8\)\nkafkapy> ")
    terminal.send("SELECT * FROM nosuch;\n")
    terminal.wait_for("kafkapy: there is no table 'nosuch'.*\nkafkapy> ")
    for under_way in (r"range\(100000000000000\);\n", r"0/[0-9]+\S* tasks"):
        terminal.send("SELECT count(*) FROM records CROSS JOIN range(100000000000000);\n")
        terminal.wait_for(under_way)
        terminal.send("\x03")
        terminal.wait_for(r"(kafkapy: cancelled|\^C)\nkafkapy> ", 60)
    terminal.send("SELECT 40 + count(*) AS n FROM (SELECT topic FROM records WHERE topic = 'tx' LIMIT 2);\n")
    terminal.wait_for(r"\n *42\n\(1 row\)\nkafkapy> ")
    terminal.send("SELECT 1,\n")
    terminal.wait_for("      -> ")
    terminal.interrupt("kafkapy> ")
    terminal.send("SELECT id FROM range(200);\n")
    assert "only the first 100 rows are shown: give --limit for more" in terminal.wait_for("--limit.*\nkafkapy> ")
    terminal.send("\\q\n")
    assert terminal.end() == 0
    check_nothing_is_left(terminal.temporary)
    assert list(terminal.directory.iterdir()) == [], "not even of a table that is not there"
    history = (tmp_path / "kafkapy" / "sql_history").read_text()
    assert "SELECT count(*) AS n FROM records WHERE topic = 'tx';\n" in history


def test_the_queries_of_the_documentation(spark: SparkSession, capfd: Capture, golden: Path, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
    blocks = re.findall(r"```sql\n(.*?)```\n(?:```\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) >= 10
    for query, answer in blocks:
        done = ask(capfd, golden, query, output="table", state="crashed")
        assert (done.code, done.err) == (0, ""), query
        assert done.out == (answer or done.out)


def test_the_tables_of_the_documentation() -> None:
    from kafkapy.tables.sql_types import sql_columns

    text = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
    for name in TABLES:
        section = text.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        assert re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE) == sql_columns(find_table(name).schema)
