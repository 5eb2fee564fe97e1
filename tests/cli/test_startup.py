"""What a small command must not import: the modules that would make it slow to start."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("rich", "pydantic", "numpy", "pyarrow", "pyspark", "kafka", "zstandard", "lz4", "cramjam", "crc32c", "yaml"),
    *("asyncio", "concurrent", "multiprocessing", "ssl", "socket", "http", "email", "logging", "unittest"),
}
OTHER_LAYERS = {"kafkapy.formats", "kafkapy.log", "kafkapy.commands"}

PROGRAM = (
    "import sys; from kafkapy.cli import main; main(sys.argv[1:]); print(*sys.modules, sep='\\n', file=sys.stderr)"
)


def imported(root: Path, *args: str) -> set[str]:
    """The modules that a run of ``kafkapy`` leaves loaded."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *args], cwd=root, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["dump-log", "--help"], ["dump-log", "--version"]])
def test_a_small_command_imports_nothing_heavy(root: Path, args: list[str]) -> None:
    modules = imported(root, *args)
    assert "kafkapy.lazy_group" in modules
    assert {module.partition(".")[0] for module in modules} & HEAVY == set()


def test_the_list_of_commands_imports_no_command(root: Path) -> None:
    assert imported(root, "--help") & OTHER_LAYERS == set()


def test_help_of_a_command_imports_neither_formats_nor_log(root: Path) -> None:
    modules = imported(root, "dump-log", "--help")
    assert "kafkapy.commands.dump_log" in modules
    assert modules & {"kafkapy.formats", "kafkapy.log", "kafkapy.scan.dump"} == set()
