"""``dump-log`` with its files dumped at once by many workers: the same bytes on stdout, in the order of the files.

Each worker writes what a file's dump prints into a file of its own in a temporary directory, which all workers must
have: the one that TMPDIR names. When all are done they are put together. What is told on stderr follows the file that
it is about, and what is behind a file over which Kafka's tool would die is left out, as there.

After a crash the temporary directory is left, under a name that begins with ``kafkapy-dump-``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from kafkapy.errors import KafkapyError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.output.sink import Sink
from kafkapy.scan.dump import dump_part, expand
from kafkapy.scan.options import DumpOptions
from kafkapy.scan.payload import payload_decoder

if TYPE_CHECKING:
    from kafkapy.tables.engine import Engine

CHUNK = 1 << 20


class DumpedFile(NamedTuple):
    """Where a file's dump is, and how it ended: what was told is beside it."""

    path: str
    exit_code: int
    error: str | None = None

    @property
    def told_path(self) -> str:
        """Where the lines for stderr are."""
        return self.path + ".told"


def dump_in_parallel(options: DumpOptions, engine: Engine, sink: Sink | None = None) -> int:
    """Dump every file to ``sink``, stdout where none is given; the exit code."""
    if options.summary or options.output not in (Output.KAFKA, Output.JSONL):
        raise UsageError("--engine spark prints Kafka's lines or --output jsonl, and no --summary")
    if options.view.sort_by is not None:
        raise UsageError("--engine spark prints rows in the order of the files: no --sort-by")
    for name in (options.key_decoder, options.value_decoder):
        payload_decoder(name)
    sink = sink or Sink()
    exit_code = 0
    with TemporaryDirectory(prefix="kafkapy-dump-", ignore_cleanup_errors=True) as directory:
        for dumped in engine.map(partial(dump_file, options, directory), expand(options)):
            _copy(dumped.path, sink.write)
            _copy(dumped.told_path, sys.stderr.buffer.write)
            sys.stderr.flush()
            if dumped.error is not None:
                raise KafkapyError(dumped.error)
            exit_code = exit_code or dumped.exit_code
    return exit_code


def dump_file(options: DumpOptions, directory: str, path: str) -> DumpedFile:
    """Dump one file into the directory. An error is part of the result: what was printed before it counts."""
    if not os.path.isdir(directory):
        raise KafkapyError(f"{directory} is not on this worker: have TMPDIR name a directory that all workers share")
    dumped = DumpedFile(os.path.join(directory, uuid4().hex), 0)
    descriptor = os.open(dumped.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(dumped.told_path, "wb") as told:
            sink = Sink(descriptor)
            exit_code = dump_part(
                options._replace(files=(path,)),
                sink,
                lambda line: told.write(line.encode("utf-8", "surrogateescape") + b"\n"),
            )
        return dumped._replace(exit_code=exit_code)
    except KafkapyError as error:
        return dumped._replace(error=str(error))
    finally:
        os.close(descriptor)


def _copy(path: str, write: Callable[[bytes], object]) -> None:
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            write(chunk)
