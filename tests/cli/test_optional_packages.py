"""Without the packages that kafkapy can do without: what needs one says so in a line, and all else works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from kafkapy.optional_packages import REQUIREMENTS, install_command

ARROW = "'pyarrow>=18'"
PIP = f"{sys.executable} -m pip install"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place whose Python has none of them, with a cluster."""
    place = tmp_path_factory.mktemp("bare")
    absent = (*REQUIREMENTS, "numpy", "pandas")
    (place / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({absent!r}))\n")
    make_cluster(str(place / "kafkapy-cluster"), 3, files=Files(sync=False))
    return place


def run(bare: Path, root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KAFKAPY_")}
    env = {**kept, "PYTHONPATH": f"{bare}{os.pathsep}{root}", "XDG_CONFIG_HOME": str(bare)}
    command = [sys.executable, "-m", "kafkapy", *args]
    return subprocess.run(
        command, cwd=bare, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("sql --tables", f"pyarrow is not installed: {PIP} {ARROW}"),
        ("sql SELECT(1)", f"pyspark and pyarrow are not installed: {PIP} 'pyspark>=4.1' {ARROW}"),
        ("sql", f"pyspark and pyarrow are not installed: {PIP} 'pyspark>=4.1' {ARROW}"),
        ("lag --engine spark", f"pyspark and pyarrow are not installed: {PIP} 'pyspark>=4.1' {ARROW}"),
        ("throughput --engine spark", f"pyspark and pyarrow are not installed: {PIP} 'pyspark>=4.1' {ARROW}"),
        (
            "dump-log --engine spark --files kafkapy-cluster/broker-1/__cluster_metadata-0",
            f"pyspark and pyarrow are not installed: {PIP} 'pyspark>=4.1' {ARROW}",
        ),
        ("export --to json --out o", f"pyarrow and fastavro are not installed: {PIP} {ARROW} 'fastavro>=1.9'"),
    ],
)
def test_what_needs_a_missing_package_names_it(bare: Path, root: Path, args: str, said: str) -> None:
    done = run(bare, root, *args.split())
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"kafkapy: {said}\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ("lag", "kafkapy: no group has committed anything\n"),
        ("throughput", ""),
        ("topics --list", ""),
        ("consumer-offsets", ""),
    ],
)
def test_all_else_works(bare: Path, root: Path, args: str, said: str) -> None:
    done = run(bare, root, *args.split())
    assert (done.returncode, done.stderr) == (0, said)


def test_plans_are_made_without_the_solver(bare: Path, root: Path) -> None:
    create = "topics --create --topic t --partitions 4 --replication-factor 1"
    assert run(bare, root, *create.split()).returncode == 0
    (bare / "topics.json").write_text('{"version": 1, "topics": [{"topic": "t"}]}')
    plan = "reassign-partitions --generate --strategy minimal --broker-list 1 --topics-to-move-json-file topics.json"
    done = run(bare, root, *plan.split())
    assert done.returncode == 0
    assert {*re.findall(r'"replicas":(\S+?),"', done.stdout.rpartition("configuration")[2])} == {"[1]"}


def test_requirements_are_those_of_the_project(root: Path) -> None:
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    listed = {each for extra in ("arrow", "spark", "solver") for each in extras[extra]} - {"kafkapy[arrow]"}
    assert {*REQUIREMENTS.values()} == listed
    assert all(requirement.startswith(name) for name, requirement in REQUIREMENTS.items())


def test_no_advice_names_what_others_have_on_pypi(root: Path) -> None:
    sources = [path for place in ("kafkapy", "commands") for path in (root / place).rglob("*.py")]
    assert [path for path in sources if "pip install" in path.read_text()] == []
    assert install_command("pyspark").endswith(" -m pip install 'pyspark>=4.1'")
