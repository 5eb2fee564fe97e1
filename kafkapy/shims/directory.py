"""A directory of shims. Each is put in its place as a whole, so a crash leaves some, and never half of one.

A file that is not a shim is never touched unless that is asked for, and then none is written before all are known to be
free.
"""

from __future__ import annotations

import os
import tempfile

from kafkapy.errors import KafkapyError
from kafkapy.shims.scripts import MARK, SCRIPTS, shim

MODE = 0o755


def install(
    directory: str, python: str, cluster: str | None = None, bare_names: bool = False, force: bool = False
) -> list[str]:
    """Write every shim; their names. ``bare_names`` writes each without ``.sh``, too."""
    texts = {script: shim(script, python, cluster) for script in SCRIPTS}
    if bare_names:
        texts |= {script.removesuffix(".sh"): text for script, text in texts.items()}
    paths = {os.path.join(directory, name): text for name, text in texts.items()}
    taken = [path for path in paths if os.path.lexists(path) and not _is_shim(path)]
    if taken and not force:
        others = f" and {len(taken) - 1} others" if len(taken) > 1 else ""
        raise KafkapyError(f"{taken[0]}{others}: not a shim of kafkapy; --force replaces it, or name another directory")
    os.makedirs(directory, exist_ok=True)
    for path, text in paths.items():
        _replace(path, text)
    return sorted(texts)


def uninstall(directory: str) -> list[str]:
    """Remove the shims of a directory, and nothing else; their names."""
    names = sorted(name for name in os.listdir(directory) if _is_shim(os.path.join(directory, name)))
    for name in names:
        os.unlink(os.path.join(directory, name))
    return names


def _is_shim(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.readline() == b"#!/bin/sh\n" and file.readline().startswith(MARK.encode())


def _replace(path: str, text: str) -> None:
    descriptor, beside = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".shim-")
    try:
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.chmod(beside, MODE)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
