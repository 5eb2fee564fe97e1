"""How keys and values become columns: text, JSON, or Avro by a schema.

string          UTF-8; what is not becomes U+FFFD, as Java's decoder has it
json            the text itself, checked and on one line; a file of JSON lines has it as JSON, not as a string
avro:FILE       Avro's binary encoding by the schema in FILE, as a nested column
confluent:FILE  the same behind the five bytes that Confluent's serializers put there: 0, then a schema's id

A null stays null, and what markers of transactions hold is not the producers', so it becomes null too. What does not
decode is damage: failfast ends, dropmalformed leaves the row out, permissive keeps it with null and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkapy.errors import KafkapyError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

STRING, JSON, AVRO, CONFLUENT = "string", "json", "avro", "confluent"
JSON_TEXT = {b"kafkapy": b"json"}
"""The metadata of a field that holds JSON."""
CONFLUENT_HEADER = 5

Decode = Callable[[bytes], Any]


class Decoding(NamedTuple):
    """``schema`` is what stands in the file of an Avro schema."""

    kind: str
    schema: str | None = None

    @property
    def text(self) -> str:
        """How a manifest has it: another schema is another decoding."""
        return self.kind if self.schema is None else f"{self.kind}:{self.schema}"


class Decoded(NamedTuple):
    """A column, and why which rows of it could not be decoded."""

    column: pa.Array
    failures: dict[int, str]


def parse_decoding(option: str, text: str | None) -> Decoding | None:
    """What an option asks for; the schema is read now, so that it travels with the work."""
    if text is None or text in (STRING, JSON):
        return None if text is None else Decoding(text)
    kind, _, path = text.partition(":")
    if kind not in (AVRO, CONFLUENT) or not path:
        raise UsageError(f"{option} {text}: it can be string, json, avro:FILE or confluent:FILE")
    try:
        with open(path, encoding="utf-8") as file:
            decoding = Decoding(kind, _canonical(file.read()))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{option}: {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except ValueError as error:
        raise UsageError(f"{option}: {path} is not JSON: {error}") from None
    try:
        decoded_type(decoding)
    except KafkapyError as error:
        raise UsageError(f"{option}: {path}: {error}") from None
    return decoding


def _canonical(schema: str) -> str:
    import json

    return json.dumps(json.loads(schema), separators=(",", ":"))


def decoded_type(decoding: Decoding) -> pa.DataType:
    """The type of the column that comes out."""
    import pyarrow as pa

    if decoding.schema is None:
        return pa.string()
    from kafkapy.export.avro_types import arrow_type

    return arrow_type(_parsed(decoding.schema))


def decoded_field(name: str, decoding: Decoding) -> pa.Field:
    """The field of the column that comes out."""
    import pyarrow as pa

    return pa.field(name, decoded_type(decoding), metadata=JSON_TEXT if decoding.kind == JSON else None)


def decode(decoding: Decoding, column: pa.Array) -> Decoded:
    """A column of bytes, decoded."""
    import pyarrow as pa

    if decoding.kind == STRING:
        try:
            return Decoded(column.cast(pa.string()), {})
        except pa.ArrowInvalid:
            return _each(_utf8, column, pa.string())
    if decoding.kind == JSON:
        return _each(_json, column, pa.string())
    assert decoding.schema is not None
    return _each(_avro(decoding), column, decoded_type(decoding))


def _each(function: Decode, column: Iterable[Any], kind: pa.DataType) -> Decoded:
    import pyarrow as pa

    values: list[Any] = []
    failures: dict[int, str] = {}
    for row, scalar in enumerate(column):
        value = scalar.as_py()
        try:
            values.append(None if value is None else function(value))
        except (ValueError, KeyError, IndexError, EOFError, TypeError, OverflowError) as error:
            failures[row] = str(error) or type(error).__name__
            values.append(None)
    return Decoded(pa.array(values, kind), failures)


def _utf8(value: bytes) -> str:
    from kafkapy.formats.java_text import java_utf8

    return java_utf8(value).decode()


def _json(value: bytes) -> str:
    import json

    text = value.decode()
    json.loads(text, parse_constant=_refuse)
    # Inside of a string JSON has no line break: what is left are those between its words.
    return text.replace("\r", " ").replace("\n", " ")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _avro(decoding: Decoding) -> Decode:
    from io import BytesIO

    from fastavro import schemaless_reader

    schema = _parsed(decoding.schema or "")
    skipped = CONFLUENT_HEADER if decoding.kind == CONFLUENT else 0

    def read(value: bytes) -> Any:
        if skipped and (len(value) < skipped or value[0]):
            raise ValueError("it does not begin with Confluent's header, a zero and a schema's id")
        stream = BytesIO(value)
        stream.seek(skipped)
        found = schemaless_reader(stream, schema)
        if stream.tell() < len(value):
            raise ValueError(f"{len(value) - stream.tell()} bytes follow what the schema reads")
        return found

    return read


def _parsed(schema: str) -> Any:
    import json

    import fastavro
    from fastavro.schema import SchemaParseException, UnknownType

    from kafkapy.export.avro_types import without_other_logical_types

    try:
        return fastavro.parse_schema(without_other_logical_types(json.loads(schema)))
    except (SchemaParseException, UnknownType, KeyError, TypeError, AttributeError) as error:
        raise KafkapyError(f"this is not an Avro schema: {error}") from None
