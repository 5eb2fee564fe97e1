"""A class-data archive: the JVM's own picture of the classes that Spark loads, which saves most of its start.

Format: what ``-XX:ArchiveClassesAtExit`` writes, about 160 MB, ``<key>.jsa`` in the user's cache directory. The key
says which Java and which Spark it is of; the JVM itself checks jars and its own build again, and where anything
differs it goes on without the archive. So an archive is never needed, and nothing about one is an error.

The first JVM of a key writes the archive as it ends, under a name of its own; only when that JVM has ended well does
the archive get its real name. What a crash leaves there is removed by the next one that is made, with archives that
were not used for a month.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress

from kafkapy.spark.java import Java

_UNUSED_SECONDS = 30 * 86_400
_LEFT_BEHIND_SECONDS = 3_600


class ClassArchive:
    """The archive for one Java and one Spark."""

    def __init__(self, java: Java, spark_home: str, spark_version: str) -> None:
        key = hashlib.sha256("\0".join([*java, spark_home, spark_version]).encode()).hexdigest()[:16]
        self._directory = os.path.join(cache_home(), "kafkapy", "spark")
        self._path = os.path.join(self._directory, f"{spark_version}-java{java.feature}-{key}.jsa")
        self._unfinished = f"{self._path}.{os.getpid()}"
        self.is_made_now = False

    def java_option(self) -> str | None:
        """How to use the archive or, where there is none, to make it; None where that cannot be."""
        with suppress(OSError):
            os.utime(self._path)
            return f'-XX:SharedArchiveFile="{self._path}"'
        try:
            os.makedirs(self._directory, exist_ok=True)
            self._tidy_up()
        except OSError:
            return None
        self.is_made_now = os.access(self._directory, os.W_OK)
        return f'-XX:ArchiveClassesAtExit="{self._unfinished}"' if self.is_made_now else None

    def finish(self, is_good: bool) -> None:
        """Say that the JVM has ended, and whether well."""
        if not self.is_made_now:
            return
        with suppress(OSError):
            if is_good:
                os.replace(self._unfinished, self._path)
            else:
                os.unlink(self._unfinished)

    def _tidy_up(self) -> None:
        now = time.time()
        for entry in os.scandir(self._directory):
            patience = _UNUSED_SECONDS if entry.name.endswith(".jsa") else _LEFT_BEHIND_SECONDS
            with suppress(OSError):
                if ".jsa" in entry.name and entry.stat().st_mtime < now - patience:
                    os.unlink(entry.path)


def cache_home() -> str:
    """Where programs keep what they can make again, as XDG has it."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return given if os.path.isabs(given) else os.path.expanduser("~/.cache")
