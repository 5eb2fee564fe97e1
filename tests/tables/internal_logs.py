"""Logs of internal topics for tests of tables: the golden ones, and made ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kafkapy.formats.record_batch import decode_header
from kafkapy.tables.scan import Scan


def scan_of(golden_set: Path, state: str = "clean") -> Scan:
    """All log dirs of a golden set."""
    return Scan(tuple(map(str, sorted((golden_set / state).glob("broker-*")))))


def json_documents(golden_set: Path, name: str) -> list[Any]:
    """What a formatter of Kafka's printed: documents one behind the other."""
    text = (golden_set / "tools" / f"{name}.out").read_text()
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at)
        found.append(document)
    return found


def milliseconds(moment: datetime | None) -> int | None:
    """A time as Kafka has it."""
    return None if moment is None else (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def log_dir(directory: Path, topic: str, batches: Sequence[bytes]) -> tuple[str]:
    """A log dir with partition 0 of a topic; batches get the offsets that follow one another."""
    partition = directory / f"{topic}-0"
    partition.mkdir()
    offset, data = 0, b""
    for batch in batches:
        data += offset.to_bytes(8, "big") + batch[8:]
        offset += decode_header(batch).last_offset_delta + 1
    (partition / f"{0:020d}.log").write_bytes(data)
    return (str(directory),)
