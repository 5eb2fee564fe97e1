"""The checks of one value, in the notation of the tables.

    -                      anything goes
    1..   0..1   1..9|-1   a number that is at least the first and at most the second, or the one after the bar
    in:a|b                 one of these texts
    in-any-case:A|B        the same, whatever the case
    non-empty              a text that is not empty
    list   list:a|b        a list of distinct texts that are not empty, all of them among these if any are named;
                           what stands in it twice counts once
    non-empty-list[:a|b]   the same, with at least one element
    throttled-replicas     ``partition:broker`` pairs, or ``*``
    offset-reset           ``earliest``, ``latest`` or ``by_duration:`` with an ISO 8601 duration

Numbers are compared as doubles, as Kafka does, so at the far end of LONG they are compared inexactly.
"""

from __future__ import annotations

from kafkapy.metadata.configs.config_types import Value, invalid_config, invalid_value, trim

_MAX_SECONDS = 1 << 63
_DURATION = (
    r"([-+]?)P(?=.)(?:([-+]?[0-9]+)D)?"
    r"(?:T(?=.)(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?)([0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?"
)


def validated(name: str, value: Value, validator: str) -> Value:
    """The value, without repetitions if it is a list that may not have any; raises what Kafka would."""
    kind, _, named = validator.partition(":")
    choices = named.split("|")
    if isinstance(value, list):
        return _validated_list(name, value, kind, choices if named else [])
    if isinstance(value, (int, float)) and validator != "-":
        _check_range(name, value, validator)
    elif isinstance(value, str):
        _check_text(name, value, kind, choices)
    return value


def _check_range(name: str, value: float, validator: str) -> None:
    bounds, _, exception = validator.partition("|")
    low, _, high = bounds.partition("..")
    if exception:
        if value != int(exception) and not int(low) <= value <= int(high):
            raise invalid_value(name, value, f"Value must be between {low} and {high} or equal to {exception}")
    elif float(value) < float(low):
        raise invalid_value(name, value, f"Value must be at least {low}")
    elif high and float(value) > float(high):
        raise invalid_value(name, value, f"Value must be no more than {high}")


def _check_text(name: str, value: str, kind: str, choices: list[str]) -> None:
    if kind == "in" and value not in choices:
        raise invalid_value(name, value, f"String must be one of: {', '.join(choices)}")
    if kind == "in-any-case" and value.upper() not in choices:
        raise invalid_value(name, value, f"String must be one of (case insensitive): {', '.join(choices)}")
    if kind == "non-empty" and not value:
        raise invalid_value(name, value, "String must be non-empty")
    if kind == "offset-reset" and value not in ("earliest", "latest") and not _is_by_duration(value):
        reason = (
            f"Invalid value `{value}` for configuration {name}. "
            "The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
        raise invalid_value(name, value, reason)


def _validated_list(name: str, value: list[str], kind: str, choices: list[str]) -> list[str]:
    if kind == "throttled-replicas":
        _check_throttled_replicas(name, value)
    if not kind.endswith("list"):
        return value
    distinct = list(dict.fromkeys(value))
    if kind == "non-empty-list" and not distinct:
        valid = f"[{', '.join(choices)}]" if choices else "any non-empty value"
        raise invalid_config(f"Configuration '{name}' must not be empty. Valid values include: {valid}")
    for element in distinct:
        if not element:
            raise invalid_config(f"Configuration '{name}' values must not be empty.")
        if choices:
            _check_text(name, element, "in", choices)
    return distinct


def _check_throttled_replicas(name: str, value: list[str]) -> None:
    replicas = [element for element in map(trim, value) if element]
    if replicas != ["*"] and not all(map(_is_replica, replicas)):
        reason = (
            f"{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
        raise invalid_value(name, value, reason)


def _is_replica(text: str) -> bool:
    partition, colon, broker = text.partition(":")
    return bool(colon) and all(part.isascii() and part.isdecimal() for part in (partition, broker))


def _is_by_duration(text: str) -> bool:
    """Whether the text is ``by_duration:`` and what ``Duration.parse`` takes, and that is not negative."""
    import re

    prefix, _, duration = text.partition(":")
    match = re.fullmatch(_DURATION, duration, re.IGNORECASE) if prefix == "by_duration" else None
    if not match:
        return False
    sign, days, hours, minutes, seconds_sign, seconds, fraction = (group or "" for group in match.groups())
    whole = int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes or 0) * 60
    nanos = int(seconds_sign + (seconds or "0") + (fraction or "").ljust(9, "0"))
    total = (whole * 10**9 + nanos) * (-1 if sign == "-" else 1)
    return 0 <= total < _MAX_SECONDS * 10**9
