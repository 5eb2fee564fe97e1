"""How the files of a run become part of an export.

1. They have been written and synced in the staging directory.
2. Each gets its name in its directory, and the directories are synced.
3. The manifest is replaced: from here on the run counts.
4. Files that the manifest no longer names are removed, and the staging directory last.

After a crash before 3 the export is as it was, after it the run is done; what lies about in both cases is removed by
the next run (staging.py). Between 2 and 4 somebody who lists directories, and does not go by the manifest, can see
files of the run early, and where they take the place of others both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from kafkapy.errors import KafkapyError
from kafkapy.export.manifest import Manifest, write_manifest
from kafkapy.export.staging import remove
from kafkapy.log.files import Files


class Move(NamedTuple):
    """A staged file, and its path below the export."""

    staged: str
    path: str


def commit(out: str, run: str, moves: Iterable[Move], old: Manifest, new: Manifest, files: Files) -> None:
    """Make the files of a run part of the export."""
    _move(out, moves, files)
    write_manifest(out, new, files)
    kept = {file.path for file in new.all_files()}
    for file in old.all_files():
        if file.path not in kept:
            remove(out, os.path.join(out, file.path), files)
    files.rmtree(run)


def _move(out: str, moves: Iterable[Move], files: Files) -> None:
    directories: set[str] = set()
    for staged, path in moves:
        target = os.path.join(out, path)
        directory = os.path.dirname(target)
        if directory not in directories:
            files.mkdir(directory)
            directories.add(directory)
        try:
            files.rename(staged, target)
        except FileNotFoundError:
            raise KafkapyError(
                f"{staged} is not there, though a task wrote it: --out must be a place that this machine and all "
                "executors share"
            ) from None
    for directory in sorted(_with_parents(out, directories)):
        files.fsync_dir(directory)


def _with_parents(out: str, directories: Iterable[str]) -> set[str]:
    """The directories, and those between them and the export, whose names have to be kept as well."""
    found = set()
    for directory in directories:
        each = directory
        while each not in found:
            found.add(each)
            if each == out:
                break
            each = os.path.dirname(each)
    return found
