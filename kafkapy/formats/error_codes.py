"""The error codes of Kafka's protocol: number, name, Java exception, whether a retry may help, and the usual message.

The table (error_codes.txt) has one code a line, its columns parted by tabs. Tools print the exception's name and the
message, so both are Kafka's own; a code that the table lacks comes from a newer broker.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats.fact_table import read_rows

NONE = 0


class ErrorCode(NamedTuple):
    """One line of the table."""

    code: int
    name: str
    exception: str
    retriable: bool
    message: str


@cache
def error_codes() -> dict[int, ErrorCode]:
    """Every code but NONE."""
    rows = read_rows("error_codes.txt")
    codes = [ErrorCode(int(row[0]), row[1], row[2], row[3] == "retriable", row[4]) for row in rows]
    return {code.code: code for code in codes}


@cache
def _by_name() -> dict[str, ErrorCode]:
    return {code.name: code for code in error_codes().values()}


def error_code(code: int) -> ErrorCode:
    """A code; one that is not known counts as an unexpected error of the server, as in Kafka's clients."""
    return error_codes().get(code) or error_codes()[-1]


def code_of(name: str) -> int:
    """The number of a code by its name, e.g. ``code_of("NOT_CONTROLLER")``."""
    return _by_name()[name].code


def kafka_error(code: int, message: str | None = None) -> KafkaError:
    """The error to raise for a code; ``message`` is what the broker said, where it said something."""
    known = error_code(code)
    return KafkaError(known.exception, message or known.message)


def raise_for(code: int, message: str | None = None) -> None:
    """Raise the error of a code that is not NONE."""
    if code != NONE:
        raise kafka_error(code, message)
