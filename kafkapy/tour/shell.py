"""The shell that runs the commands of the tour, in the directory of the tour and as a person there would have it.

Commands are run by ``sh`` as processes of their own, so that what is shown is what they print: both outputs in one, as
on a terminal, though as in a pipe without colours. ``kafkapy`` is the one that gives the tour. The way to have the same
shell by hand is told by ``preparations``. Whoever is interrupted ends the command that runs, with all its processes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.optional_packages import install_command

CLUSTER = "cluster"
_PROGRAM = "kafkapy"
_END_SECONDS = 5
_TALKATIVE = ("KAFKAPY_VERBOSE", "KAFKAPY_DEBUG")
"""What would have commands print more than the tour explains."""


class Finished(NamedTuple):
    """What came of a command."""

    exit_code: int
    output: str


class Shell:
    """Runs commands in ``directory``, with these environment variables beside the one that names the cluster."""

    def __init__(self, directory: str, variables: Mapping[str, str]) -> None:
        self._directory = os.path.abspath(directory)
        self._variables = {"KAFKAPY_CLUSTER": CLUSTER, **variables}
        self._programs = _directory_of_programs()

    @property
    def preparations(self) -> list[str]:
        """What to type first, to go on by hand."""
        exports = (f"export {name}={quote(value)}" for name, value in self._variables.items())
        lines = [f"cd {quote(self._directory)}", *exports]
        found = shutil.which(_PROGRAM)
        if found is None or not os.path.samefile(found, os.path.join(self._programs, _PROGRAM)):
            lines.append(f"export PATH={quote(self._programs)}:$PATH")
        return lines

    def run(self, line: str) -> Finished:
        """Run a command line to its end."""
        process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=self._directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            output, _ = process.communicate()
        except BaseException:
            _end(process)
            raise
        return Finished(process.returncode, output.decode("utf-8", "surrogateescape"))

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join((self._programs, os.environ.get("PATH", os.defpath)))
        given = {name: value for name, value in os.environ.items() if name not in _TALKATIVE}
        return {**given, **self._variables, "PATH": path}


def _directory_of_programs() -> str:
    """Where the ``kafkapy`` is that runs now: beside its Python, where that was asked to run the module."""
    for program in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), _PROGRAM)):
        if os.path.basename(program) == _PROGRAM and os.access(program, os.X_OK):
            return os.path.dirname(os.path.abspath(program))
    raise KafkapyError(
        f"the tour needs the program {_PROGRAM} beside {sys.executable}: install kafkapy from its source with "
        f"'{install_command('.')}'"
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started."""
    with suppress(ProcessLookupError):  # it may have ended by itself
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
