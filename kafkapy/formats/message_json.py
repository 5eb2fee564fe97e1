"""The JSON text that Kafka prints for a message: its generated converter's tree, through Jackson's toString().

Fields stand in schema order, tagged ones only when they differ from their default. An id is its text, bytes are
base64 with padding, numbers are bare. Jackson writes no spaces, escapes only what JSON demands (hexadecimal digits in
capitals), and prints a double as Java does; NaN and the infinities become strings.

A tree is made of dicts, lists and scalars, so that a command can put one inside another before it prints.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable
from math import isnan
from types import NoneType
from typing import Any

from kafkapy.formats.message_decoder import Value
from kafkapy.formats.message_encoder import check_left_out, is_default
from kafkapy.formats.schema import Field, Schema, Struct

_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)} | str.maketrans(
    {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
)


def to_json(schema: Schema, version: int, value: Value) -> str:
    """The text of a message."""
    return json_text(json_tree(schema, version, value))


def json_tree(schema: Schema, version: int, value: Value) -> dict[str, Any]:
    """The tree of a message; like the readers, it takes a version it does not know as the nearest it does."""
    return _struct_tree(schema.struct, schema.valid_versions.nearest(version), value)


def _struct_tree(struct: Struct, version: int, value: Value) -> dict[str, Any]:
    here, left_out = struct.at(version)
    check_left_out(left_out, version, value)
    tree = {}
    for field in here:
        field_value = value[field.name] if field.name in value else field.default()
        if field.tag is None or not is_default(field, field_value):
            tree[field.name] = _field_tree(field, version, field_value)
    return tree


def _field_tree(field: Field, version: int, value: Any) -> Any:
    if value is None:
        return None
    if field.struct is None:
        return value
    if field.is_array:
        return [_struct_tree(field.struct, version, element) for element in value]
    return _struct_tree(field.struct, version, value)


def json_text(node: Any) -> str:
    """A tree as Jackson prints it."""
    return _TEXTS[type(node)](node)


def _object_node(node: dict[str, Any]) -> str:
    return "{" + ",".join([f"{_text_node(name)}:{_TEXTS[type(child)](child)}" for name, child in node.items()]) + "}"


def _array_node(node: list[Any] | tuple[Any, ...]) -> str:
    return "[" + ",".join([_TEXTS[type(child)](child) for child in node]) + "]"


def _text_node(node: str) -> str:
    # Almost no text has anything to escape, and looking is ten times faster than translating.
    plain = node.isprintable() and '"' not in node and "\\" not in node
    return f'"{node}"' if plain else f'"{node.translate(_ESCAPES)}"'


def _binary_node(node: bytes) -> str:
    return f'"{b2a_base64(node, newline=False).decode("ascii")}"'


def _boolean_node(node: bool) -> str:
    return "true" if node else "false"


def _null_node(node: None) -> str:
    return "null"


def _double_node(value: float) -> str:
    text = java_double(value)
    return f'"{text}"' if text in ("NaN", "Infinity", "-Infinity") else text


_TEXTS: dict[type, Callable[[Any], str]] = {
    dict: _object_node,
    list: _array_node,
    tuple: _array_node,
    str: _text_node,
    bytes: _binary_node,
    int: str,
    float: _double_node,
    bool: _boolean_node,
    NoneType: _null_node,
}


def java_double(value: float) -> str:
    """Java's Double.toString: plain between 0.001 and 10,000,000, else with an exponent; always a digit after the dot.

    The digits are the shortest that give the number back, as in Java 19 and later.
    """
    if isnan(value):
        return "NaN"
    sign, digits, exponent = _decimal(value)
    if not digits.isdigit():
        return f"{sign}Infinity"
    if digits == "0":
        return f"{sign}0.0"
    if not 1e-3 <= abs(value) < 1e7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"
    if exponent <= 0:
        return f"{sign}0.{'0' * -exponent}{digits}"
    whole = digits[:exponent].ljust(exponent, "0")
    return f"{sign}{whole}.{digits[exponent:] or '0'}"


def _decimal(value: float) -> tuple[str, str, int]:
    """Sign, significant digits d and exponent e of the shortest decimal 0.d * 10^e."""
    # Java wants two digits at least, so where one would do it takes the two that come closest: 4.9E-324, not 5.0E-324.
    two_digits = f"{value:.1e}"
    text = two_digits if float(two_digits) == value else repr(value)
    sign = "-" if text.startswith("-") else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return sign, digits.rstrip("0") or "0", len(whole) - leading + int(power or 0)
