"""The types that a config may have, with ``ConfigDef.parseType`` and ``ConfigDef.convertToString``.

A value comes as text and is trimmed of blanks and control characters on both sides, as ``String.trim`` does. Error
messages show the text as it was given. A PASSWORD is a text here; who prints it has to hide it. A CLASS is its name:
there is no class path to look it up in, so any name is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int, parse_long

Value: TypeAlias = bool | int | float | str | list[str] | None

_MAX_LENGTH = 0x7FFF
_TRIMMED = "".join(map(chr, range(0x21)))
_BLANKS = " \t\n\x0b\f\r"
_HEX_DOUBLE = r"0[xX]([\da-fA-F]+\.?|[\da-fA-F]*\.[\da-fA-F]+)[pP][+-]?\d+"
_DOUBLE = rf"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|{_HEX_DOUBLE})[fFdD]?)"


def trim(text: str) -> str:
    """``String.trim``."""
    return text.strip(_TRIMMED)


def parse_type(name: str, text: str, config_type: str) -> Value:
    """The value that ``text`` stands for, before any validator has seen it."""
    trimmed = trim(text)
    if config_type == "BOOLEAN":
        return _parse_boolean(name, text, trimmed)
    if config_type == "LIST":
        return [part.strip(_BLANKS) for part in trimmed.split(",")] if trimmed else []
    if config_type in _NUMBERS:
        try:
            return _NUMBERS[config_type](trimmed)
        except FormatError:
            raise invalid_value(name, text, f"Not a number of type {config_type}") from None
    return trimmed


def _parse_boolean(name: str, text: str, trimmed: str) -> bool:
    folded = trimmed.lower()
    if folded not in ("true", "false"):
        raise invalid_value(name, text, "Expected value to be either true or false")
    return folded == "true"


def _parse_short(text: str) -> int:
    value = parse_int(text)
    if not -(1 << 15) <= value < 1 << 15:
        raise FormatError(f'Value out of range. Value:"{text}" Radix:10')
    return value


def parse_double(text: str) -> float:
    """``Double.parseDouble``: also hexadecimal and with a type suffix, but no ``inf`` and no underscores."""
    import re

    text = trim(text)
    if not re.fullmatch(_DOUBLE, text, re.ASCII):
        raise FormatError(f'For input string: "{text}"')
    if "x" in text.lower():
        return _parse_hex_double(text.rstrip("fFdD"))
    return float(text.rstrip("fFdD"))


def _parse_hex_double(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text.startswith("-") else "inf")


_NUMBERS = {"INT": parse_int, "SHORT": _parse_short, "LONG": parse_long, "DOUBLE": parse_double}


def to_text(value: Value) -> str | None:
    """``ConfigDef.convertToString``: how a config is printed; None where there is no value."""
    if value is None or isinstance(value, str):
        return value
    return ",".join(value) if isinstance(value, list) else _number_text(value)


def _number_text(value: float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        from kafkapy.formats.message_json import java_double

        return java_double(value)
    return str(value)


def check_value_sizes(configs: Mapping[str, str]) -> None:
    """A record of the metadata log holds no longer text; the controller counts UTF-16 units and calls them bytes."""
    for text in configs.values():
        if len(text.encode("utf-16-le", "surrogatepass")) // 2 > _MAX_LENGTH:
            raise invalid_config(
                "The configuration value cannot be added because "
                f"it exceeds the maximum value size of {_MAX_LENGTH} bytes."
            )


def invalid_value(name: str, value: Value, reason: str) -> KafkaError:
    """``ConfigException(name, value, reason)``; a list is shown as Java prints one."""
    shown = f"[{', '.join(value)}]" if isinstance(value, list) else to_text(value)
    return invalid_config(f"Invalid value {shown} for configuration {name}: {reason}")


def invalid_config(message: str) -> KafkaError:
    """Kafka's ConfigException and its InvalidConfigurationException: a client sees the latter for both."""
    return KafkaError("InvalidConfigurationException", message)
