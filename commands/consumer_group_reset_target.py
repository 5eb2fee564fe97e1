"""Where ``--reset-offsets`` of the group commands moves offsets to: the value of the one option that says so.

A time that cannot be read is told in Java's words on stdout, as Kafka's tool does, then as a usage error that shows the
form that is wanted.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkapy.errors import FormatError, KafkaError, UsageError
from kafkapy.output.output_format import Output

from .consumer_group_errors import print_failure
from .consumer_group_usage import SCENARIOS

if TYPE_CHECKING:
    from kafkapy.backends.offset_targets import Target

STDIN = "-"
DATETIME_FORM = "YYYY-MM-DDThh:mm:ss.sss, such as 2026-01-31T09:30:00.000 (UTC) or 2026-01-31T09:30:00.000+02:00"
DURATION_FORM = "PnDTnHnMnS, such as P1D for a day or PT1H30M for an hour and a half"
TIMESTAMP_FORM = "epoch milliseconds, such as 1769851800000; for a date, give --to-datetime 2026-01-31T09:30:00.000"


def reset_target(output: Output, options: Mapping[str, Any], groups: Sequence[str], kind: str = "consumer") -> "Target":
    """The target that ``options`` name; ``groups``, of a kind, are those that were named."""
    from kafkapy.backends.offset_targets import Target

    (scenario,) = (
        name for name in SCENARIOS if name in options and options[name] is not None and options[name] is not False
    )
    value = options[scenario]
    if scenario == "from-file":
        return _of_file(value, groups)
    if scenario in ("to-datetime", "by-duration"):
        moment = _moment(output, scenario, value, kind)
        return Target("to-timestamp", max(moment, 0))  # Kafka has no record from before 1970
    if scenario == "to-timestamp":
        return Target(scenario, _timestamp(value))
    return Target(scenario, group=value) if scenario == "to-group" else Target(scenario, int(value))


def _of_file(path: str, groups: Sequence[str]) -> "Target":
    from kafkapy.backends.offset_targets import Target
    from kafkapy.backends.reset_file import parse_reset_file

    with open(0 if path == STDIN else path, encoding="utf-8", errors="surrogateescape", closefd=path != STDIN) as file:
        found = parse_reset_file(file.read(), "stdin" if path == STDIN else path, groups)
    return Target("from-file", offsets=found.offsets, places=found.places)


def _moment(output: Output, scenario: str, value: str, kind: str) -> int:
    from time import time

    from kafkapy.backends.reset_times import before, parse_datetime, parse_duration

    is_moment = scenario == "to-datetime"
    try:
        return parse_datetime(value) if is_moment else before(int(time() * 1000), parse_duration(value))
    except KafkaError as error:
        if output is Output.KAFKA:
            print_failure(error, kind)
        if error.name not in ("ParseException", "DateTimeParseException"):
            raise UsageError(f"--{scenario}: {value!r} ago is outside of the calendar") from None
        raise UsageError(f"--{scenario}: {value!r} is not {DATETIME_FORM if is_moment else DURATION_FORM}") from None


def _timestamp(value: str) -> int:
    from kafkapy.formats.java_parsing import parse_long

    try:
        number = parse_long(value)
    except FormatError:
        number = -1
    if number < 0:
        raise UsageError(f"--to-timestamp: {value!r} is not {TIMESTAMP_FORM}")
    return number
