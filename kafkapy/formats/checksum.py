"""The two checksums of Kafka's files.

CRC-32C (Castagnoli) guards record batches v2 and producer snapshots; CRC-32 (the one of zlib) guards
messages of the v0 and v1 formats.

``import crc32c`` reads its package metadata, which costs eight times what loading its extension does, so the
extension is loaded directly where it can be found.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from importlib import util
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

Checksum = Callable[..., int]

crc32 = zlib.crc32


def _extension_path() -> str | None:
    package = util.find_spec("crc32c")
    for directory in (package.submodule_search_locations or ()) if package else ():
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(directory, f"_crc32c{suffix}")
            if os.path.exists(path):
                return path
    return None


def _load() -> Checksum:
    path = _extension_path()
    if path is not None:
        spec = util.spec_from_file_location("_crc32c", path)
        if spec is not None and spec.loader is not None:
            module: Any = util.module_from_spec(spec)
            spec.loader.exec_module(module)
            function: Checksum = module.crc32c
            return function
    from crc32c import crc32c as function

    return function


crc32c: Checksum = _load()
