"""Java's hash of a string: ``h = 31 * h + unit`` over its UTF-16 code units, in 32 bits with a sign."""

from __future__ import annotations

from kafkapy.formats.record_batch import wrap_int32


def java_hash(text: str) -> int:
    """``String.hashCode()``."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8) + units[at + 1]) & 0xFFFFFFFF
    return wrap_int32(value)
