"""A directory to play in, for commands that show something on files of their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .tool_errors import warn


@contextmanager
def scratch_directory(keep: str | None, prefix: str) -> Iterator[str]:
    """The directory of ``--keep``, which must not hold anything, or a temporary one with a name that begins so: it is
    removed however this ends, but by a kill: also when the terminal is closed."""
    from signal import SIGHUP
    from tempfile import TemporaryDirectory

    from kafkapy.errors import UsageError
    from kafkapy.signals import terminated_like_interrupted

    if keep is None:
        with terminated_like_interrupted(SIGHUP), TemporaryDirectory(prefix=prefix) as directory:
            yield directory
        return
    os.makedirs(keep, exist_ok=True)
    if os.listdir(keep):
        raise UsageError(f"--keep: {keep} is not empty: name a new or an empty directory")
    try:
        with terminated_like_interrupted():
            yield keep
    except KeyboardInterrupt:
        warn(f"\nkafkapy: what was made so far is in {keep}")
        raise
