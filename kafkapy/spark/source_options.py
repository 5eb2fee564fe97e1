"""The options of ``format("kafkalog")``, and what they amount to: a table, and a scan of it.

    path, paths         one cluster directory, or log dirs; several divided by commas
    table               records by default
    topic, partition    only these; several divided by commas
    broker              whose copies to read; by default those of each partition's leader
    startingOffset      the first offset of each partition; endingOffset is the first not to be read
    startingTimestamp   the first time, in milliseconds or as ISO 8601; endingTimestamp is the first not to be read
    isolation           read_uncommitted (the default) or read_committed
    columns             only these, divided by commas
    mode                failfast (the default), dropmalformed or permissive
    splitSize           about how much one task reads: 64m, 1g, or bytes
    pushFilters         true: filters of a query bound what is read, see below; false by default

Spark 4.3 keeps what one query pushed to a Python source for every later use of the same frame, and for a second use in
the same query: rows are lost then. So ``pushFilters`` is for a frame that one query uses, once (``pushdown.py`` tells),
in a session with ``spark.sql.python.filterPushdown.enabled``. The other options bound a frame for good.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from kafkapy.errors import UsageError
from kafkapy.tables.registry import TABLES
from kafkapy.tables.scan import SPLIT_BYTES, Mode, Range, Scan

NAMES = (
    *("path", "paths", "table", "topic", "partition", "broker", "startingOffset", "endingOffset"),
    *("startingTimestamp", "endingTimestamp", "isolation", "columns", "mode", "splitSize"),
    "pushFilters",
)
_LEVELS = {"read_uncommitted": False, "read_committed": True}
_SIZE = re.compile(r"([0-9]{1,15})([kmgt]?)b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class SourceOptions(NamedTuple):
    """What is to be read."""

    table: str
    scan: Scan
    push_filters: bool


def parse_options(options: Mapping[str, str]) -> SourceOptions:
    """Understand what a user gave; names count without their case, as Spark's do."""
    known = {name.lower(): name for name in NAMES}
    given = {}
    for name, value in options.items():
        if name.lower() not in known:
            raise UsageError(f"kafkalog has no option {name}: there are {', '.join(NAMES)}")
        given[known[name.lower()]] = value
    return SourceOptions(_table(given), _scan(given), _is_true(given, "pushFilters"))


def _table(given: Mapping[str, str]) -> str:
    name = given.get("table", "records")
    return name if name in TABLES else _refuse(given, "table", f"one of {', '.join(TABLES)}")


def _scan(given: Mapping[str, str]) -> Scan:
    topics, columns = _list(given, "topic"), _list(given, "columns")
    return Scan(
        paths=_paths(given),
        topics=None if topics is None else frozenset(topics),
        partitions=_partitions(given),
        offsets=Range(_number(given, "startingOffset"), _number(given, "endingOffset")),
        timestamps=Range(_time(given, "startingTimestamp"), _time(given, "endingTimestamp")),
        committed=_is_committed(given),
        broker=_number(given, "broker"),
        columns=None if columns is None else tuple(columns),
        mode=_mode(given),
        split_bytes=_split_bytes(given),
    )


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    """Spark hands a list of paths on as JSON."""
    several = given.get("paths", "")
    listed = json.loads(several) if several.startswith("[") else (_list(given, "paths") or [])
    paths = (*listed, *(_list(given, "path") or []))
    if not paths:
        raise UsageError("kafkalog reads directories: give them to load(), or as the option path")
    return tuple(path.removeprefix("file://") for path in paths)


def _partitions(given: Mapping[str, str]) -> frozenset[int] | None:
    listed = _list(given, "partition")
    if listed is None:
        return None
    if not all(each.isascii() and each.isdecimal() for each in listed):
        _refuse(given, "partition", "numbers divided by commas")
    return frozenset(int(each) for each in listed)


def _list(given: Mapping[str, str], name: str) -> list[str] | None:
    if name not in given:
        return None
    items = [each.strip() for each in given[name].split(",")]
    return items if all(items) else _refuse(given, name, "a list divided by commas")


def _number(given: Mapping[str, str], name: str) -> int | None:
    if name not in given:
        return None
    text = given[name]
    return int(text) if text.isascii() and text.isdecimal() else _refuse(given, name, "a number")


def _time(given: Mapping[str, str], name: str) -> int | None:
    from kafkapy.output.timestamps import parse_timestamp

    if name not in given:
        return None
    try:
        return parse_timestamp(given[name])
    except ValueError as error:
        raise UsageError(f"option {name}: {error}") from None


def _is_true(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "false").lower()
    return text == "true" if text in ("true", "false") else _refuse(given, name, "true or false")


def _is_committed(given: Mapping[str, str]) -> bool:
    level = given.get("isolation", "read_uncommitted").lower()
    return _LEVELS[level] if level in _LEVELS else _refuse(given, "isolation", " or ".join(_LEVELS))


def _mode(given: Mapping[str, str]) -> Mode:
    try:
        return Mode(given.get("mode", Mode.FAILFAST).lower())
    except ValueError:
        _refuse(given, "mode", ", ".join(Mode))


def _split_bytes(given: Mapping[str, str]) -> int:
    if "splitSize" not in given:
        return SPLIT_BYTES
    found = _SIZE.fullmatch(given["splitSize"])
    if found is None or not int(found[1]):
        _refuse(given, "splitSize", "a size like 64m")
    return int(found[1]) * _FACTORS[found[2].lower()]


def _refuse(given: Mapping[str, str], name: str, wanted: str) -> NoReturn:
    raise UsageError(f"option {name}: '{given[name]}' is not {wanted}")
