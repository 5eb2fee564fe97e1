"""What kafkapy runs on: Python, the kernel, the codecs, Java and Spark, the terminal, and the user's config.yaml."""

from __future__ import annotations

import os
import platform
import stat
import sys
from collections.abc import Iterator
from shlex import quote

from kafkapy import __version__
from kafkapy.doctor.finding import Finding, error, info, ok, warning
from kafkapy.errors import KafkapyError
from kafkapy.optional_packages import install_command

OLDEST_PYTHON = (3, 11)
PACKAGES = {"pyarrow": ("pyarrow", "fastavro"), "pyspark": ("pyspark",)}
"""Those that are looked for, and what is installed where one is missing."""
NEEDED_BY = {"pyarrow": "export, sql and --engine spark", "pyspark": "sql and --engine spark"}
NARROWEST = 80


def check_surroundings() -> Iterator[Finding]:
    """All of them, in this order."""
    yield _python()
    yield _kernel()
    yield _codecs()
    yield from map(_package, PACKAGES)
    yield _java()
    yield from _terminal()
    yield _config()


def _python() -> Finding:
    found = f"{platform.python_version()} ({platform.machine()}, kafkapy {__version__})"
    if sys.version_info < OLDEST_PYTHON:
        return error("python", found, "install kafkapy with Python 3.11 or newer")
    return ok("python", found)


def _kernel() -> Finding:
    from kafkapy.kernel.kernel import COMPILED

    if COMPILED:
        return ok("kernel", "compiled")
    if os.environ.get("KAFKAPY_KERNEL") == "plain":
        return info("kernel", "plain Python, as $KAFKAPY_KERNEL says: dumps are slower", "unset KAFKAPY_KERNEL")
    remedy = "reinstall kafkapy from its source where a C compiler is"
    return info("kernel", "plain Python: what is printed is the same, dumps are slower", remedy)


def _codecs() -> Finding:
    from kafkapy.formats.compression import Codec, compress, decompress

    data, broken = b"kafka" * 100, []
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        try:
            if decompress(codec, compress(codec, data)) != data:
                broken.append(codec.label)
        except (ImportError, KafkapyError) as failure:
            broken.append(f"{codec.label} ({failure})")
    if broken:
        remedy = install_command("--force-reinstall", "cramjam", "lz4", "zstandard")
        return error("codecs", f"do not work: {', '.join(broken)}", remedy)
    return ok("codecs", "gzip, snappy, lz4, zstd")


def _package(name: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ok(name, version(name))
    except PackageNotFoundError:
        remedy = install_command(*PACKAGES[name])
        return info(name, f"not installed: needed by {NEEDED_BY[name]}", remedy)


def _java() -> Finding:
    from kafkapy.spark.java import find_java

    try:
        java = find_java()
    except KafkapyError as failure:
        return info("java", str(failure), "only sql and --engine spark need it")
    return ok("java", f"{java.version} ({java.home})")


def _terminal() -> Iterator[Finding]:
    from shutil import get_terminal_size

    encoding = sys.stdout.encoding or "none"
    if encoding.lower().replace("-", "") != "utf8":
        yield warning("encoding", f"{encoding}: characters that it does not have are not shown", "export LANG=C.UTF-8")
    else:
        yield ok("encoding", encoding)
    if not sys.stdout.isatty():
        yield ok("terminal", "none: output goes to a file or a pipe, without colour")
        return
    width = get_terminal_size().columns
    colour = "no colour ($NO_COLOR)" if os.environ.get("NO_COLOR") else f"colour (TERM={os.environ.get('TERM', '')})"
    if width < NARROWEST:
        yield info("terminal", f"{width} columns, {colour}", "tables want 80 columns: widen it, or use --output json")
    else:
        yield ok("terminal", f"{width} columns, {colour}")


def _config() -> Finding:
    from kafkapy.contexts.config_file import config_path, read_config

    path = config_path()
    try:
        config = read_config()
    except (KafkapyError, OSError) as failure:
        return error("config", str(failure), f"edit {path}")
    if not os.path.exists(path):
        return ok("config", f"no {path}")
    if os.path.isfile(path) and stat.S_IMODE(os.stat(path).st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        return warning("config", f"{path} can be read by others", f"chmod 600 {quote(path)}")
    current = f", current {config.current.value}" if config.current is not None else ""
    count = len(config.contexts)
    return ok("config", f"{path}: {count} {'context' if count == 1 else 'contexts'}{current}")
