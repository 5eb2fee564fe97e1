"""The formats of exported files, and how each may be compressed."""

from __future__ import annotations

from enum import StrEnum

from kafkapy.errors import UsageError


class Format(StrEnum):
    """The values of ``--to``."""

    PARQUET = "parquet"
    JSON = "json"
    CSV = "csv"
    ORC = "orc"
    AVRO = "avro"
    TEXT = "text"


class Compression(StrEnum):
    """The values of ``--compression``."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4 = "lz4"
    NONE = "none"


IN_BLOCKS = (Compression.ZSTD, Compression.SNAPPY, Compression.GZIP)
AS_STREAM = (Compression.NONE, Compression.GZIP, Compression.ZSTD)
COMPRESSIONS = {
    Format.PARQUET: (*IN_BLOCKS, Compression.LZ4, Compression.NONE),
    Format.ORC: (*IN_BLOCKS, Compression.LZ4, Compression.NONE),
    Format.AVRO: (Compression.GZIP, Compression.SNAPPY, Compression.NONE),
    Format.JSON: AS_STREAM,
    Format.CSV: AS_STREAM,
    Format.TEXT: (Compression.NONE,),
}
"""The first is the default."""

STREAM_SUFFIXES = {Compression.GZIP: ".gz", Compression.ZSTD: ".zst"}


def chosen_compression(kind: Format, given: Compression | None) -> Compression:
    """The compression of a format's files: the one that is asked for, or the default."""
    known = COMPRESSIONS[kind]
    if given is not None and given not in known:
        raise UsageError(f"--compression {given}: {kind} files can be {', '.join(known)}")
    return known[0] if given is None else given


def suffix(kind: Format, compression: Compression) -> str:
    """What the names of files end with."""
    if kind is Format.TEXT:
        return ".txt"
    outer = STREAM_SUFFIXES.get(compression, "") if COMPRESSIONS[kind] is AS_STREAM else ""
    return f".{kind}{outer}"
