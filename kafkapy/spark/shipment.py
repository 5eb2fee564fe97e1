"""What executors need of kafkapy, sent with the job: this very package, so that both ends are always the same.

Format: a .tar.gz whose top is the inside of the package. Spark unpacks an archive ``X#kafkapy`` as a directory
``kafkapy`` where executors' Python looks for modules first; from a zip on the module path the compiled kernel could not
be loaded. Codecs and checksums travel in ``_libraries`` (``kafkapy.spark.worker``), for a Python that has none.
PySpark and pyarrow must be installed there, as for any job with Arrow, and Python be of the same minor version.

The file lies in Spark's own temporary directory of the session, and goes with it.
"""

from __future__ import annotations

import os
import tarfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

import kafkapy
from kafkapy.spark.worker import LIBRARIES

if TYPE_CHECKING:
    from pyspark import SparkContext

SHIPPED = ("crc32c", "cramjam", "lz4", "zstandard")
_LEFT_OUT = ("__pycache__", ".pyx", ".pxi", ".pyi", "_cffi.")
_NAME = "kafkapy.tar.gz"


def ship(context: SparkContext) -> None:
    """Send the package to the executors of a cluster, once in a session."""
    if context._jsc.isLocal() or any(str(each).endswith("#kafkapy") for each in context.listArchives):
        return
    path = os.path.join(context._temp_dir, _NAME)
    write_archive(path)
    context.addArchive(f"{path}#kafkapy")


def write_archive(path: str) -> None:
    """Pack the package and its libraries. Commands stay: they run where the command line is."""
    root = os.path.dirname(os.path.abspath(kafkapy.__file__))
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name in sorted(os.listdir(root)):
            if name not in ("commands", "commands.py"):
                archive.add(os.path.join(root, name), name, filter=_wanted)
        for library in SHIPPED:
            spec = find_spec(library)
            for directory in (spec.submodule_search_locations or ()) if spec is not None else ():
                archive.add(directory, f"{LIBRARIES}/{library}", filter=_wanted)


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if any(each in os.path.basename(member.name) for each in _LEFT_OUT) else member
