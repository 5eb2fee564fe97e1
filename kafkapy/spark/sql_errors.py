"""What is told of a statement that Spark refuses: its message without class and plan, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from kafkapy.errors import KafkapyError
from kafkapy.near_misses import did_you_mean, missing
from kafkapy.tables.registry import TABLES

_CLASS = re.compile(r"^\[[A-Z0-9_.]+\] ")
_SUGGESTION = re.compile(r" Did you mean one of the following\?.*$")
_NO_FUNCTION = {"UNRESOLVED_ROUTINE": "routineName", "UNRESOLVABLE_TABLE_VALUED_FUNCTION": "name"}
"""What Spark calls an unknown function, and where its name is then."""
_PLACE = re.compile(r"line (\d+),? pos(?:ition)? (\d+)")


def statement_error(
    error: KafkapyError, columns: Iterable[str], functions: Callable[[], Iterable[str]]
) -> KafkapyError:
    """The error of a statement over tables with these columns; one that is not Spark's stays as it is. ``functions``
    lists those that Spark has."""
    cause = error.__cause__
    condition: Any = getattr(cause, "getCondition", lambda: None)()
    if condition is None:
        return error
    parameters = cause.getMessageParameters() or {}  # type: ignore[union-attr]
    place = _place(str(cause))
    if condition.startswith("UNRESOLVED_COLUMN"):
        name = _name(parameters.get("objectName", ""))
        return KafkapyError(f"there is no column '{name}'{_near(name, columns)}{place}")
    if condition == "TABLE_OR_VIEW_NOT_FOUND":
        name = _name(parameters.get("relationName", ""))
        near = _near(name, TABLES) or f": there are {', '.join(TABLES)}"
        return KafkapyError(f"there is no table '{name}'{near}{place}")
    if condition in _NO_FUNCTION:
        name = _name(parameters.get(_NO_FUNCTION[condition], ""))
        return KafkapyError(f"{missing('function', name, functions())}{place}")
    return KafkapyError(_CLASS.sub("", _SUGGESTION.sub("", str(error))).rstrip(".") + place)


def is_unresolved(error: KafkapyError) -> bool:
    """Whether a name was not found, which a view of fewer columns may be the reason for."""
    condition: Any = getattr(error.__cause__, "getCondition", lambda: None)()
    return condition is not None and condition.startswith("UNRESOLVED")


def _name(quoted: str) -> str:
    return quoted.replace("`", "")


def _near(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name.rpartition(".")[2], known, 0.5)


def _place(text: str) -> str:
    found = _PLACE.search(text)
    return f" (line {found[1]}, position {int(found[2]) + 1})" if found else ""
