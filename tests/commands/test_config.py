"""Contexts: which cluster a command means, what config.yaml may say, and how it is changed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.contexts.config_edit import use
from kafkapy.contexts.config_file import ConfigFile, decode
from kafkapy.contexts.resolution import Typed, options_of_context
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.log.files import Files
from tests.commands.running import Done, run

Capture = pytest.CaptureFixture[str]
NAMES = ("one", "two", "three", "kafkapy-cluster")
COMMENTED = """\
# my clusters
current: one   # the usual
defaults:
  output: json
contexts:
  # for play
  one:
    cluster: one
  two:
    log-dirs:
      - two/broker-1   # the first
      - two/broker-2
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some clusters."""
    directory = tmp_path_factory.mktemp("contexts")
    for name in NAMES:
        make_cluster(str(directory / name), 2, files=Files(sync=False))
    return directory


@pytest.fixture
def config(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The place of a file that is not there yet, beside the clusters."""
    monkeypatch.chdir(place)
    for variable in ("KAFKAPY_CLUSTER", "KAFKAPY_CONTEXT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("KAFKAPY_CONFIG", str(place / "config.yaml"))
    yield place / "config.yaml"
    for left in place.glob("config.yaml*"):
        left.unlink()


def id_of(name: str) -> str:
    text = Path(name, "cluster.yaml").read_text()
    return text.partition("cluster_id: ")[2].partition("\n")[0].strip('"')


def meant(capfd: Capture, *args: str) -> str:
    """The name of the cluster directory that a command reads."""
    done = run(capfd, "cluster-id", *args)
    assert done.code == 0, done.err
    return next(name for name in NAMES if id_of(name) in done.out)


def test_precedence_from_last_to_first(capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert meant(capfd) == "kafkapy-cluster"
    contexts = "".join(f"  {name}: {{cluster: {name}}}\n" for name in ("one", "two", "three"))
    config.write_text(f"current: one\ncontexts:\n{contexts}")
    assert meant(capfd) == "one"
    monkeypatch.setenv("KAFKAPY_CONTEXT", "two")
    assert meant(capfd) == "two"
    monkeypatch.setenv("KAFKAPY_CLUSTER", "kafkapy-cluster")
    assert meant(capfd) == "kafkapy-cluster"
    assert meant(capfd, "--context", "three") == "three"
    assert meant(capfd, "--context", "three", "--cluster", "one") == "one"
    assert meant(capfd, "--context", "three", "--log-dirs", "two/broker-1") == "two"


def test_every_kind_of_context(capfd: Capture, config: Path) -> None:
    config.write_text(COMMENTED + "  live:\n    bootstrap-server: 127.0.0.1:1\n    command-config: absent.properties\n")
    assert meant(capfd, "--context", "one") == "one"
    assert meant(capfd, "--context", "two") == "two"
    done = run(capfd, "topics", "--list", "--context", "live")
    assert done.code == 1
    assert str(config.parent / "absent.properties") in done.err


def test_a_context_logs_in_to_its_own_servers_only(capfd: Capture, config: Path) -> None:
    config.write_text("contexts:\n  p: {bootstrap-server: '127.0.0.1:1', command-config: absent.properties}\n")
    done = run(capfd, "topics", "--list", "--context", "p", "--bootstrap-server", "127.0.0.1:2")
    assert (done.code, "absent" in done.err) == (1, False)
    assert done.err.splitlines() == [
        "kafkapy: broker 127.0.0.1:2 cannot be reached: connection refused",
        "kafkapy: is a broker running there? Give another address with --bootstrap-server; --cluster and --log-dirs "
        "need no broker",
    ]


def test_a_command_that_cannot_take_the_kind_says_so(capfd: Capture, config: Path) -> None:
    config.write_text("current: p\ncontexts:\n  p: {bootstrap-server: '127.0.0.1:1'}\n")
    done = run(capfd, "cluster", "status")
    assert (done.code, done.out) == (2, "")
    said_by = f"current in {config}:1"
    assert f"the context 'p' ({said_by}) is a bootstrap-server, which this command does not take" in done.err


def test_the_bare_cluster_of_acls_is_no_directory(capfd: Capture, config: Path) -> None:
    config.write_text("current: one\ncontexts:\n  one: {cluster: one}\n")
    add = ("acls", "--add", "--cluster", "--allow-principal", "User:a", "--operation", "Alter")
    assert run(capfd, *add).code == 0
    assert "User:a" in run(capfd, "acls", "--list", "--cluster", "one").out
    assert "User:a" not in run(capfd, "acls", "--list", "--cluster", "kafkapy-cluster").out


def test_options_before_the_subcommand(capfd: Capture, config: Path) -> None:
    config.write_text("contexts:\n  one: {cluster: one}\n")
    assert run(capfd, "features", "--context", "one", "describe").code == 0


def test_defaults_hold_where_nothing_is_typed(capfd: Capture, config: Path) -> None:
    config.write_text(COMMENTED + "    output: csv\n")
    assert run(capfd, "config", "list").out[0] in "[{"
    assert run(capfd, "features", "describe", "--context", "two").out.startswith("type,")
    assert run(capfd, "features", "describe", "--context", "two", "--output", "kafka").out.startswith("Feature: ")
    assert run(capfd, "features", "describe", "--cluster", "two").out[0] in "[{"


@pytest.mark.parametrize(
    ("typed", "added"),
    [
        (Typed(None, False, {}), ()),
        (Typed(None, False, {"--engine": "spark"}), ("--master", "spark://h:1")),
        (Typed(None, False, {"--engine": "spark", "--master": "local"}), ()),
    ],
)
def test_a_master_is_for_spark_only(config: Path, typed: Typed, added: tuple[str, ...]) -> None:
    config.write_text("defaults: {master: 'spark://h:1'}\n")
    offered = {"--engine": ("local", "spark"), "--master": ()}
    assert options_of_context(offered, False, typed).words == added
    assert options_of_context({"--master": ()}, False, Typed(None, False, {})).words == ("--master", "spark://h:1")


def test_an_output_that_a_command_lacks_is_no_error(config: Path) -> None:
    config.write_text("defaults: {output: csv}\n")
    assert options_of_context({"--output": ("table", "json")}, False, Typed(None, False, {})).words == ()


@pytest.mark.parametrize(
    ("typed", "added"),
    [
        ((), ("--output", "json", "--engine", "spark")),
        (("--plot",), ("--engine", "spark")),
        (("--watch",), ()),
        (("--interval",), ("--output", "json")),
        (("--forecast",), ("--output", "json")),
        (("--bootstrap-server",), ("--output", "json")),
        (("--no-header",), ("--engine", "spark")),
        (("--export",), ("--engine", "spark")),
        (("--format",), ("--engine", "spark")),
        (("--summary",), ("--output", "json", "--engine", "spark")),
    ],
)
def test_a_default_gives_way_to_an_option_that_it_does_not_go_with(
    config: Path, typed: tuple[str, ...], added: tuple[str, ...]
) -> None:
    config.write_text("defaults: {output: json, engine: spark}\n")
    offered = {"--output": (), "--engine": ()}
    assert options_of_context(offered, False, Typed(None, False, dict.fromkeys(typed))).words == added


@pytest.mark.parametrize("order", ["output: {output}, engine: spark", "engine: spark, output: {output}"])
@pytest.mark.parametrize(
    ("output", "typed", "added"),
    [
        ("table", {}, ("--output", "table")),
        ("jsonl", {}, ("--output", "jsonl", "--engine", "spark")),
        ("table", {"--engine": "spark"}, ()),
        ("jsonl", {"--output": "csv"}, ()),
        ("kafka", {"--sort-by": "offset"}, ("--output", "kafka")),
        ("kafka", {"--summary": True}, ("--output", "kafka")),
    ],
)
def test_of_two_defaults_that_a_command_refuses_together_one_gives_way(
    config: Path, order: str, output: str, typed: dict[str, object], added: tuple[str, ...]
) -> None:
    config.write_text(f"defaults: {{{order.format(output=output)}}}\n")
    offered = {"--output": (), "--engine": (), "--sort-by": (), "--summary": ()}
    assert options_of_context(offered, False, Typed(None, False, typed, "dump-log")).words == added


def test_a_master_gives_way_with_its_engine(config: Path) -> None:
    config.write_text("defaults: {engine: spark, master: 'local[2]'}\n")
    offered = {"--engine": ("local", "spark"), "--master": ()}
    assert options_of_context(offered, False, Typed(None, False, {"--watch": True}, "lag")).words == ()


def test_an_engine_gives_way_to_a_context_whose_files_are_not_here(config: Path) -> None:
    config.write_text("current: p\ndefaults: {engine: spark}\ncontexts:\n  p: {bootstrap-server: 'b:1'}\n")
    offered = {"--engine": ("local", "spark"), "--bootstrap-server": (), "--cluster": ()}
    of_context = options_of_context(offered, True, Typed(None, False, {}, "lag")).words
    assert of_context == ("--bootstrap-server", "b:1")
    typed = Typed(None, True, {"--cluster": "c"}, "lag")
    assert options_of_context(offered, True, typed).words == ("--engine", "spark")


@pytest.mark.parametrize(
    "args",
    [
        ("dump-log", "--files", "docs/samples/orders-0"),
        ("dump-log", "--files", "docs/samples/orders-0", "--sort-by", "base_offset"),
        ("dump-log", "--files", "docs/samples/orders-0", "--summary"),
    ],
)
def test_defaults_do_not_stop_a_dump(capfd: Capture, config: Path, root: Path, args: tuple[str, ...]) -> None:
    config.write_text("defaults: {output: table, engine: spark, master: 'local[2]'}\n")
    own = [str(root / each) if "/" in each else each for each in args]
    expected = run(capfd, *own, "--output", "table", "--engine", "local")
    assert expected.code == 0
    assert run(capfd, *own) == expected


def test_a_name_that_yaml_reads_otherwise_is_quoted(capfd: Capture, config: Path) -> None:
    for name in ("-", "1", "no"):
        assert run(capfd, "config", "add", name, "--cluster", "one").code == 0
        assert run(capfd, "config", "use", name).code == 0
        assert f"{name} " in run(capfd, "config", "list").out


def test_the_comment_of_an_empty_list_stays(capfd: Capture, config: Path) -> None:
    config.write_text("contexts: {} # none yet\n# the end\n")
    assert run(capfd, "config", "add", "one", "--cluster", "one").code == 0
    lines = config.read_text().splitlines()
    assert lines[1:3] == ["contexts: # none yet", "  one:"]
    assert lines[-1] == "# the end"


def test_only_a_file_is_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(KafkapyError, match="is not a file that can be replaced"):
        use(ConfigFile(str(pipe)), "one", print)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(("name", "meant"), [("stagin", "staging"), ("dve", "dev")])
def test_near_miss(capfd: Capture, config: Path, name: str, meant: str) -> None:
    config.write_text("contexts:\n  staging: {cluster: one}\n  dev: {cluster: two}\n")
    done = run(capfd, "topics", "--list", "--context", name)
    text = f"kafkapy: --context: there is no context '{name}' in {config}; did you mean '{meant}'?"
    assert done == (2, "", f"{text} Try 'kafkapy topics --help'.\n")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("contexts:\n  a:\n    clustr: x\n", 3, "unknown key 'clustr' in the context 'a'; did you mean 'cluster'?"),
        ("outputs: json\n", 1, "unknown key 'outputs'"),
        ("contexts:\n  a:\n    cluster: x\n  a:\n    cluster: y\n", 4, "'a' appears twice"),
        ("contexts:\n  a:\n    output: json\n", 2, "names no cluster"),
        ("contexts:\n  a:\n    cluster: x\n    log-dirs: y\n", 2, "names both cluster and log-dirs"),
        ("contexts:\n  a:\n    cluster: x\n    command-config: y\n", 2, "goes with bootstrap-server"),
        (
            "current: b\ncontexts:\n  a:\n    cluster: x\n",
            1,
            "no context here; 'kafkapy config use' changes that: there are a",
        ),
        ("current: dve\ncontexts:\n  dev:\n    cluster: x\n", 1, "no context here; did you mean 'dev'?"),
        ("current: dev\n", 1, "no context here; delete the line"),
        ("contexts:\n  a:\n    cluster: x\n    output: tabel\n", 4, "output is 'tabel', which is not one of kafka"),
        ("contexts:\n  a:\n    cluster: x\n    output: tabel\n", 4, "csv, yaml; did you mean 'table'?"),
        ("contexts:\n  a:\n    cluster: [x]\n", 3, "cluster is not text"),
        ("contexts:\n  a:\n    bootstrap-server: b:1\n    sasl.jaas.config: x\n", 4, "a secret in plain text"),
        ("contexts:\n  a:\n    bootstrap-server: b:1\n    password: x\n", 4, "name that file with command-config"),
        ("contexts:\n  a:\n    bootstrap-server: SASL://u:pw@b:1\n", 3, "holds a secret"),
        ("contexts:\n  a:\n    bootstrap-server: b:1\n    master: token=abc\n", 4, "holds a secret"),
        ("contexts:\n  a:\n    bootstrap-server: user:pw@b:1\n", 3, "holds a secret"),
        (
            "contexts:\n  a:\n    colour: x\n",
            3,
            "unknown key 'colour' in the context 'a'; the keys are cluster, log-dirs",
        ),
        ("contexts: [\n", 2, "not YAML"),
        ("contexts:\n  a:\n    cluster: x\n  b\n", 4, "not YAML: could not find expected ':'"),
        ('contexts:\n  a:\n    cluster: "x\n  b:\n    cluster: y\n', 3, "not YAML: found unexpected end of stream"),
        ("contexts:\n  a:\n\tcluster: x\n", 3, "not YAML: found character"),
        ("- a\n", 1, "not a list of 'key: value'"),
        ("contexts:\n  a b:\n    cluster: x\n", 2, "cannot be the name"),
    ],
)
def test_what_is_wrong_names_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode(text, "config.yaml")
    assert str(caught.value).startswith(f"config.yaml:{line}: ")
    assert said in str(caught.value)
    assert "pw" not in str(caught.value)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize("text", ["defaults: [", "contexts: {a: {clustr: x}}", "\0"])
def test_a_file_that_cannot_be_read_stops_only_whoever_needs_it(
    capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    config.write_text(text)
    for args in (["cluster-id"], ["cluster-id", "--context", "a", "--cluster", "one"], ["config", "list"]):
        done = run(capfd, *args)
        assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
        assert done.err.startswith(f"kafkapy: {config}")
        assert "\\n" not in done.err
    for args in (["cluster-id", "--cluster", "one"], ["storage", "random-uuid"], ["lab", "list"]):
        done = run(capfd, *args)
        assert (done.code, bool(done.out), len(done.err.splitlines())) == (0, True, 1)
        assert done.err.startswith(f"kafkapy: {config}")
        assert done.err.endswith("; the file is not read, and no defaults are taken from it\n")
    assert run(capfd, "cluster-id", "--version").err == ""
    monkeypatch.setenv("KAFKAPY_CLUSTER", "two")
    assert meant(capfd) == "two"


def test_the_doctor_finds_a_file_that_cannot_be_read(capfd: Capture, config: Path) -> None:
    config.write_text("defaults: [")
    done = run(capfd, "doctor", "--output", "jsonl", "--cluster", "one")
    assert (done.code, done.err) == (1, "")
    assert run(capfd, "doctor", "--output", "jsonl").code == 1
    [found] = [row for row in done.rows if row["place"] == "config"]
    assert (found["severity"], found["remedy"]) == ("error", f"edit {config}")


def test_another_context_takes_the_place_of_a_current_one_that_is_gone(capfd: Capture, config: Path) -> None:
    config.write_text("current: x  # mine\ncontexts:\n  one: {cluster: one}\n")
    done = run(capfd, "cluster-id")
    said = "current is 'x', which is no context here; 'kafkapy config use' changes that: there are one"
    assert (done.code, done.err) == (1, f"kafkapy: {config}:1: {said}\n")
    assert run(capfd, "config", "use", "one").code == 0
    assert config.read_text() == "current: one  # mine\ncontexts:\n  one: {cluster: one}\n"
    assert meant(capfd) == "one"


def test_references_to_the_environment(capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("current: e\ncontexts:\n  e: {cluster: '${ENV:WHERE}/one'}\n")
    done = run(capfd, "cluster-id")
    assert done == (1, "", f"kafkapy: {config}:3: the environment variable WHERE is not set\n")
    monkeypatch.setenv("WHERE", str(config.parent))
    assert meant(capfd) == "one"
    assert "${ENV:WHERE}/one" in run(capfd, "config", "show").out


def add(capfd: Capture, *args: str) -> Done:
    done = run(capfd, "config", "add", *args)
    assert done.code == 0, done.err
    return done


def test_a_file_that_kafkapy_made(capfd: Capture, config: Path) -> None:
    add(capfd, "one", "--cluster", "one")
    add(capfd, "two", "--log-dirs", "two/broker-1,two/broker-2", "--engine", "spark", "--master", "local[2]")
    here = config.parent
    assert config.read_text() == (
        f"current: one\ncontexts:\n  one:\n    cluster: {here}/one\n  two:\n"
        f'    log-dirs: [{here}/two/broker-1, {here}/two/broker-2]\n    engine: spark\n    master: "local[2]"\n'
    )
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert [each for each in os.listdir(here) if each.startswith("config")] == ["config.yaml"]


@pytest.mark.parametrize("path", ["a\x01b", "a\udcffb", "a\x85b", "a\ufffeb"])
def test_a_path_that_yaml_cannot_have_as_it_is(capfd: Capture, config: Path, path: str) -> None:
    add(capfd, "odd", "--cluster", path)
    kept = decode(config.read_text(), str(config))
    assert kept.resolved(kept.contexts["odd"], "cluster") == f"{config.parent}/{path}"


def test_the_directory_of_the_file_is_made(capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKAPY_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent / "xdg"))
    add(capfd, "one", "--cluster", "one")
    assert (config.parent / "xdg" / "kafkapy" / "config.yaml").exists()
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(config.parent / "home"))
    add(capfd, "two", "--cluster", "two")
    assert (config.parent / "home" / ".config" / "kafkapy" / "config.yaml").exists()


def test_two_at_once_lose_nothing(config: Path, root: Path) -> None:
    names = [f"c{number}" for number in range(8)]
    # All are started before the first one writes: each waits for its line.
    program = "import sys; from kafkapy.cli import main; input(); sys.exit(main(sys.argv[1:]))"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, "config", "add", name, "--cluster", "one"],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        for name in names
    ]
    for each in started:
        assert each.stdin is not None
        each.stdin.write(b"\n")
        each.stdin.close()
    assert [each.wait() for each in started] == [0] * len(names)
    assert sorted(decode(config.read_text(), str(config)).contexts) == names
    assert [each for each in os.listdir(config.parent) if each.startswith(".config")] == []


def test_changes_keep_comments_and_order(capfd: Capture, config: Path) -> None:
    config.write_text(COMMENTED)
    run(capfd, "config", "use", "two")
    assert config.read_text() == COMMENTED.replace("current: one ", "current: two ")
    add(capfd, "three", "--cluster", "three")
    added = f"  three:\n    cluster: {config.parent}/three\n"
    assert config.read_text() == COMMENTED.replace("current: one ", "current: two ") + added
    assert run(capfd, "config", "remove", "two").code == 0
    left = COMMENTED[: COMMENTED.index("  two:")].replace("current: one   # the usual\n", "")
    assert config.read_text() == left + added


def test_a_file_that_lines_cannot_change_is_written_anew(capfd: Capture, config: Path) -> None:
    text = "contexts: {one: {cluster: one}, two: {cluster: two}}  # mine\n"
    config.write_text(text)
    done = run(capfd, "config", "remove", "one")
    assert done.code == 0
    assert "its comments are lost" in done.err
    assert config.read_text() == "contexts:\n  two:\n    cluster: two\n"
    assert Path(f"{config}.old").read_text() == text


def test_a_name_that_is_taken(capfd: Capture, config: Path) -> None:
    add(capfd, "one", "--cluster", "one")
    before = config.read_text()
    done = run(capfd, "config", "add", "one", "--cluster", "two")
    assert (done.code, config.read_text()) == (2, before)
    assert add(capfd, "one", "--cluster", "two", "--replace").out == f"Replaced one in {config}.\n"
    assert config.read_text() == before.replace("/one\n", "/two\n")


@pytest.mark.parametrize(
    "args",
    [
        ["x"],
        ["x", "--cluster", "a", "--log-dirs", "b"],
        ["x", "--cluster", ""],
        ["x", "--cluster", "a", "--command-config", "b"],
        ["a b", "--cluster", "a"],
        ["x", "--bootstrap-server", "localhost"],
        ["x", "--bootstrap-server", "a:1,localhost:99999"],
        ["x", "--bootstrap-controller", ":9092"],
    ],
)
def test_usage_of_add(capfd: Capture, config: Path, args: list[str]) -> None:
    assert run(capfd, "config", "add", *args).code == 2
    assert not config.exists()


@pytest.mark.parametrize(
    "args",
    [["--bootstrap-server", "a:1", "--command-config", "password=hunter2"], ["--bootstrap-server", "u:hunter2@a:1"]],
)
def test_a_secret_is_refused_before_anything_is_written(capfd: Capture, config: Path, args: list[str]) -> None:
    done = run(capfd, "config", "add", "s", *args)
    assert (done.code, config.exists()) == (2, False)
    assert "holds a secret: put it into a .properties file" in done.err
    assert "hunter2" not in done.err


def test_add_names_both_that_were_given(capfd: Capture, config: Path) -> None:
    done = run(capfd, "config", "add", "x", "--cluster", "a", "--bootstrap-server", "b:1")
    text = "--cluster and --bootstrap-server name different clusters: give only one of them"
    assert done.err == f"kafkapy: {text}. Try 'kafkapy config add --help'.\n"


def test_add_tells_of_what_is_not_there_yet(capfd: Capture, config: Path) -> None:
    here = config.parent
    assert add(capfd, "a", "--cluster", "nosuch").err == (
        f"kafkapy: not there yet, but needed by the context: {here}/nosuch\n"
    )
    done = add(capfd, "b", "--log-dirs", "nosuch,one,no")
    assert done.err == f"kafkapy: not there yet, but needed by the context: {here}/nosuch, {here}/no\n"
    assert "no.properties" in add(capfd, "c", "--bootstrap-server", "a:1", "--command-config", "no.properties").err
    for settings in (["--cluster", "${ENV:WHERE}/x"], ["--bootstrap-server", "${ENV:SERVERS}"], ["--cluster", "one"]):
        assert add(capfd, "d", *settings, "--replace").err == ""


def test_errors_name_the_context_that_said_it(capfd: Capture, config: Path) -> None:
    live = "  live: {bootstrap-server: '127.0.0.1:1,127.0.0.1:2', command-config: no.properties}\n"
    config.write_text(f"contexts:\n  a: {{cluster: nosuch}}\n  b: {{log-dirs: [one/broker-1, no]}}\n{live}")
    here = config.parent
    done = run(capfd, "topics", "--list", "--context", "a")
    assert done.err.startswith(
        f"kafkapy: there is no cluster directory {here}/nosuch (context a of {config}): create one with"
    )
    assert f"{here}/no (context b of {config}): no such directory" in run(capfd, "cluster-id", "--context", "b").err
    assert (
        f"no.properties (context live of {config}): No such file" in run(capfd, "cluster-id", "--context", "live").err
    )
    config.write_text(config.read_text().replace(", command-config: no.properties", ""))
    assert f"127.0.0.1:1 (context live of {config}) cannot be" in run(capfd, "cluster-id", "--context", "live").err
    assert "(context" not in run(capfd, "cluster-id", "--context", "a", "--cluster", f"{here}/nosuch").err


@pytest.mark.parametrize("name", ["nosuch", "cluster", "a", "./no/such"])
def test_errors_name_the_variable_that_said_it(
    capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("KAFKAPY_CLUSTER", name)
    said = f"kafkapy: there is no cluster directory {name} ($KAFKAPY_CLUSTER)"
    assert run(capfd, "topics", "--list").err.startswith(said)
    for args in (("topics", "--list", "--cluster", name), ("topics", "--describe", "--cluster", "one", "--topic", "x")):
        done = run(capfd, *args)
        assert (done.code, "($KAFKAPY_CLUSTER)" in done.err) == (1, False)


@pytest.mark.parametrize("name", ["cluster", "a"])
def test_a_word_of_an_error_is_not_taken_for_the_variable(
    capfd: Capture, tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    make_cluster(name, 2, files=Files(sync=False))
    monkeypatch.setenv("KAFKAPY_CLUSTER", name)
    done = run(capfd, "broker-api-versions")
    assert done.code == 1
    assert " a cluster " in done.err
    assert "($KAFKAPY_CLUSTER)" not in done.err
    (tmp_path / name / "cluster.yaml").write_text("brokers: [")
    done = run(capfd, "topics", "--list")
    assert done.err.startswith(f"kafkapy: {name}/cluster.yaml")
    assert done.err.splitlines()[0].endswith(" ($KAFKAPY_CLUSTER)")


def test_an_error_inside_a_cluster_names_the_context_at_its_end(capfd: Capture, config: Path) -> None:
    config.write_text("contexts:\n  a: {cluster: broken}\n")
    broken = config.parent / "broken"
    broken.mkdir()
    (broken / "cluster.yaml").write_text("brokers: [")
    done = run(capfd, "cluster-id", "--context", "a")
    assert done.err.startswith(f"kafkapy: {broken}/cluster.yaml")
    assert done.err.splitlines()[0].endswith(f" (context a of {config})")


@pytest.mark.parametrize(
    "wrong",
    [
        "  bad:\n    bootstrap-server: a:1\n    password: hunter2\n",
        "  bad:\n    bootstrap-server: a:1\n    command-config: password=hunter2  # mine\n",
        "  bad: {cluster: one, log-dirs: two}\n",
        "  bad:\n    log-dirs:\n      - [a]\n",
        "  bad:\n    cluster: |\n      password=x\n",
        "  bad:\n",
    ],
)
@pytest.mark.parametrize("also", ["", "  worse:\n    clustr: x\n"])
def test_a_context_that_is_wrong_can_be_removed(capfd: Capture, config: Path, wrong: str, also: str) -> None:
    config.write_text(COMMENTED + wrong + "  # the end\n" + also)
    assert run(capfd, "config", "remove", "bad") == (0, f"Removed bad from {config}.\n", "")
    assert config.read_text() == COMMENTED + "  # the end\n" + also
    config.write_text("contexts: {bad: {clustr: x}, one: {cluster: one}}\n")
    done = run(capfd, "config", "remove", "bad")
    assert done == (1, "", f"kafkapy: {config} cannot be changed line by line: edit it\n")


def test_whoever_removes_the_current_context_is_told_what_commands_mean_now(
    capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("current: bad\ncontexts:\n  bad:\n    cluster: x\n  other:\n    cluster: y\n")
    assert run(capfd, "config", "remove", "other") == (0, f"Removed other from {config}.\n", "")
    monkeypatch.setenv("KAFKAPY_CLUSTER", "z")
    done = run(capfd, "config", "remove", "bad")
    told = "kafkapy: it was the current one; commands that name no cluster now use z ($KAFKAPY_CLUSTER)\n"
    assert done == (0, f"Removed bad from {config}.\n", told)
    config.write_text("current: bad\ncontexts:\n  bad:\n    cluster: x\n  other:\n    cluster: y\n")
    monkeypatch.setenv("KAFKAPY_CONTEXT", "other")
    assert run(capfd, "config", "remove", "bad").err == "", "commands meant another one, and still do"


def sources(capfd: Capture) -> dict[str, tuple[str, str]]:
    rows = run(capfd, "config", "show", "--output", "jsonl").rows
    return {row["name"]: (row["value"], row["source"]) for row in rows}


def test_show_tells_where_values_come_from(capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text(COMMENTED)
    shown = sources(capfd)
    assert shown["context"] == ("one", f"current in {config}:2")
    assert shown["cluster"] == ("one", f"{config}:8")
    assert shown["output"] == ("json", f"{config}:4")
    assert shown["engine"] == ("local", "built in")
    monkeypatch.setenv("KAFKAPY_CLUSTER", "elsewhere")
    shown = sources(capfd)
    assert shown["cluster"] == ("elsewhere", "$KAFKAPY_CLUSTER")


def test_no_file_costs_no_import(config: Path, root: Path) -> None:
    program = (
        "import sys; from kafkapy.cli import main; main(['dump-log', '--files', sys.argv[1]]); "
        "assert 'kafkapy.contexts.config_edit' not in sys.modules; assert 'yaml' not in sys.modules"
    )
    sample = root / "docs" / "samples" / "orders-0"
    subprocess.run([sys.executable, "-c", program, sample], cwd=root, capture_output=True, check=True)


def test_verbose_tells_what_is_touched(config: Path, root: Path) -> None:
    config.write_text("current: one\ncontexts:\n  one: {cluster: one}\n")
    command = [sys.executable, "-m", "kafkapy", "topics", "--create", "--topic", "t", "--replication-factor", "2"]
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [*command, "--verbose"], cwd=config.parent, capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout == "Created topic t.\n"
    told = done.stderr.splitlines()
    assert told[0] == f"kafkapy: the cluster is --cluster {config.parent}/one (the context one, current in {config}:1)"
    assert "kafkapy: reads one/cluster.yaml" in told
    assert "kafkapy: makes one/broker-1/t-0" in told
    assert "kafkapy: writes one/broker-1/t-0/partition.metadata" in told
    assert not [line for line in told if line.endswith((".py", ".tmp", "reads one/broker-1"))]


def test_verbose_and_debug_show_no_secret(config: Path, root: Path) -> None:
    secrets = config.parent / "secret.properties"
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2";'
    secrets.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={jaas}\n")
    config.write_text("contexts:\n  p: {bootstrap-server: '127.0.0.1:1', command-config: secret.properties}\n")
    command = [sys.executable, "-m", "kafkapy", "topics", "--list", "--context", "p", "--verbose", "--debug"]
    env = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=config.parent, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 1
    assert "kafkapy: reads secret.properties" in done.stderr.splitlines()
    assert "Traceback" in done.stderr
    assert "hunter2" not in done.stderr


def test_verbose_keeps_the_meaning_of_kafkas_own_option(capfd: Capture, config: Path) -> None:
    done = run(capfd, "consumer-groups", "--list", "--verbose", "--cluster", "one")
    assert "kafkapy: reads" not in done.err


def test_a_terminal_does_not_break_words(capfd: Capture, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("current: one\ncontexts:\n  one: {cluster: here}\n")
    words = [" ".join(line.split()) for line in run(capfd, "config", "show").lines]
    assert "context one current in config file:1" in words
    monkeypatch.setattr("kafkapy.output.at_words.terminal_width", lambda: 20)
    assert "    config file:1" in run(capfd, "config", "show").lines
