"""Running dumps and catching what they print.

``dumped`` runs one dump in this process. ``run_dumps`` starts one process with the kernel that is asked for and gives
it command lines; that process runs each of them through ``kafkapy.cli.main`` and hands back what came out.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafkapy.errors import KafkapyError
from kafkapy.output.output_format import Output
from kafkapy.scan.dump import dump
from kafkapy.scan.options import DumpOptions

ROOT = Path(__file__).resolve().parent.parent
PLAIN, COMPILED = "plain", "compiled"
NOT_BUILT = "the compiled kernel was not built here"
has_compiled = importlib.util.find_spec("kafkapy.kernel._kernel") is not None
KERNELS = (PLAIN, pytest.param(COMPILED, marks=pytest.mark.skipif(not has_compiled, reason=NOT_BUILT)))


class Dumped(NamedTuple):
    """What one run gave."""

    code: int
    stdout: bytes
    stderr: bytes


def environment(kernel: str) -> dict[str, str]:
    """The environment of a process that is to use this kernel."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KAFKAPY_")}
    chosen = {"KAFKAPY_KERNEL": "plain"} if kernel == PLAIN else {}
    return {**kept, **chosen, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def run_dumps(kernel: str, directory: Path, command_lines: Sequence[Sequence[str]]) -> list[Dumped]:
    """``kafkapy dump-log`` with each of the argument lists, in ``directory``."""
    with tempfile.NamedTemporaryFile() as results:
        subprocess.run(
            [sys.executable, "-m", "tests.dumping", kernel, results.name],
            input=json.dumps([list(line) for line in command_lines]).encode(),
            cwd=directory,
            env=environment(kernel),
            check=True,
        )
        return [Dumped(*each) for each in pickle.load(results)]


def captured(run: Callable[[], int]) -> Dumped:
    """What ``run`` writes to descriptor 1 and to ``sys.stderr``, and the exit code it returns."""
    kept_descriptor, kept_stderr = os.dup(1), sys.stderr
    errors = io.BytesIO()
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        sys.stderr = text = io.TextIOWrapper(errors, "utf-8", "surrogateescape", write_through=True)
        try:
            code = run()
        finally:
            text.flush()
            sys.stderr = kept_stderr
            os.dup2(kept_descriptor, 1)
            os.close(kept_descriptor)
        output.seek(0)
        return Dumped(code, output.read(), errors.getvalue())


def dumped(*files: Path | str, **options: Any) -> Dumped:
    """What a dump with these options gives, in this process; an error becomes its line and exit code."""

    def run() -> int:
        try:
            return dump(DumpOptions(tuple(str(file) for file in files), **options))
        except KafkapyError as error:
            print(f"kafkapy: {error}", file=sys.stderr)
            return error.exit_code

    return captured(run)


def rows(*files: Path | str, **options: Any) -> list[dict[str, Any]]:
    """The rows of a dump that goes well; gaps between offsets may be told on stderr."""
    done = dumped(*files, output=Output.JSONL, **options)
    assert done.code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def _serve(command_lines: Iterable[list[str]], kernel: str) -> list[tuple[int, bytes, bytes]]:
    from kafkapy.cli import main
    from kafkapy.kernel.kernel import COMPILED as IS_COMPILED

    assert IS_COMPILED is (kernel == COMPILED)
    return [tuple(captured(lambda line=line: main(["dump-log", *line]))) for line in command_lines]


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(pickle.dumps(_serve(json.load(sys.stdin), sys.argv[1])))
