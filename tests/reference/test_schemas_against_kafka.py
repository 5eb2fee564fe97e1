"""Our tables against the JSON schemas inside Kafka's jars: every message of every area, field by field, both ways."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkapy import formats
from kafkapy.formats.schema import OPEN_END, Field, Schema, Struct, Versions, schemas
from tests.kafka_jars import KAFKA_VERSION, kafka_libs

CONTROL_RECORDS = (
    "ControlRecordTypeSchema",
    "EndTxnMarker",
    "LeaderChangeMessage",
    "SnapshotHeaderRecord",
    "SnapshotFooterRecord",
    "KRaftVersionRecord",
    "VotersRecord",
)

REQUESTS = tuple(sorted(path.stem for path in Path(formats.__file__).parent.glob("schemas/requests/*.txt")))

# Area, and for each jar the messages that belong to it; None for all that the jar has.
AREAS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "metadata": {"kafka-metadata": None},
    "group_coordinator": {"kafka-group-coordinator": None},
    "transaction_coordinator": {"kafka-transaction-coordinator": None},
    "share_coordinator": {"kafka-share-coordinator": None},
    "consumer_protocol": {"kafka-clients": ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")},
    "raft": {"kafka-clients": CONTROL_RECORDS, "kafka-raft": None},
    "storage": {"kafka-storage": None},
    **{f"requests/{name}": {"kafka-clients": (f"{name}Request", f"{name}Response")} for name in REQUESTS},
}

_NUMBERS = {"int8", "int16", "uint16", "int32", "uint32", "int64", "float64"}
_PRIMITIVES = {*_NUMBERS, "bool", "string", "bytes", "records", "uuid"}


@pytest.fixture(scope="module")
def libs() -> Path:
    return kafka_libs()


@cache
def _jar_messages(jar: Path) -> dict[str, dict[str, Any]]:
    """Every schema in a jar by the name inside it, which is not always the name of its file."""
    with zipfile.ZipFile(jar) as archive:
        paths = [path for path in archive.namelist() if path.endswith(".json") and "/" in path]
        parsed = [_parse(archive.read(path).decode("utf-8")) for path in paths]
    return {message["name"]: message for message in parsed if "validVersions" in message}


def _parse(text: str) -> dict[str, Any]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    message: dict[str, Any] = json.loads("\n".join(lines))
    return message


def _kafka_area(libs: Path, area: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for jar, names in AREAS[area].items():
        messages = _jar_messages(libs / f"{jar}-{KAFKA_VERSION}.jar")
        found |= messages if names is None else {name: messages[name] for name in names}
    return found


def _lower_first(name: str) -> str:
    return name[0].lower() + name[1:]


def _kafka_message(message: dict[str, Any]) -> dict[str, Any]:
    shared = {struct["name"]: struct for struct in message.get("commonStructs", [])}
    assert all(struct["versions"] == "0+" for struct in shared.values())
    return {
        "type": message["type"],
        "api_key": message.get("apiKey"),
        "valid": message["validVersions"],
        "flexible": message["flexibleVersions"],
        "fields": [_kafka_field(field, shared) for field in message["fields"]],
    }


def _default(value: Any) -> str | None:
    """A default of JSON's null is no default at all to Kafka's generator, only the string "null" is; and an empty
    string is what a string has anyway."""
    if value is None or value == "":
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kafka_field(field: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    tagged = field.get("taggedVersions", "none")
    element = field["type"].removeprefix("[]")
    inline = "fields" in field
    fields = field["fields"] if inline else shared.get(element, {}).get("fields")
    return {
        "name": _lower_first(field["name"]),
        "type": field["type"],
        "versions": field.get("versions", tagged),
        "nullable": field.get("nullableVersions", "none"),
        "tag": field.get("tag"),
        "tagged": tagged,
        "default": _default(field.get("default")),
        "ignorable": field.get("ignorable", False),
        "map_key": field.get("mapKey", False),
        "inline": inline,
        "fields": None if element in _PRIMITIVES else [_kafka_field(child, shared) for child in fields],
    }


def _our_message(schema: Schema) -> dict[str, Any]:
    return {
        "type": schema.type,
        "api_key": schema.api_key,
        "valid": str(schema.valid_versions),
        "flexible": str(schema.flexible_versions),
        "fields": _our_fields(schema.struct),
    }


def _our_fields(struct: Struct) -> list[dict[str, Any]]:
    return [_our_field(field) for field in struct.fields]


def _our_field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": f"[]{field.type}" if field.is_array else field.type,
        "versions": str(field.versions),
        "nullable": str(field.nullable),
        "tag": field.tag,
        "tagged": "none" if field.tag is None else str(field.versions),
        "default": field.default_text,
        "ignorable": field.ignorable,
        "map_key": field.map_key,
        "inline": field.struct is not None and field.struct.inline,
        "fields": None if field.struct is None else _our_fields(field.struct),
    }


@pytest.mark.parametrize("area", AREAS)
def test_both_have_the_same_messages(libs: Path, area: str) -> None:
    assert set(schemas(area)) == set(_kafka_area(libs, area))


@pytest.mark.parametrize("area", AREAS)
def test_messages_are_the_same_field_by_field(libs: Path, area: str) -> None:
    for name, message in _kafka_area(libs, area).items():
        assert _our_message(schemas(area)[name]) == _kafka_message(message), name


def test_versions_are_spelled_as_kafka_spells_them() -> None:
    ranges = [Versions(0, OPEN_END), Versions(1, 3), Versions(2, 2), Versions(0, -1)]
    assert [str(versions) for versions in ranges] == ["0+", "1-3", "2", "none"]
