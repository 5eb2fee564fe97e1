"""The two JSON files of ReassignPartitionsCommand.

    {"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}
    {"version":1,"topics":[{"topic":"orders"}]}

``version`` may be left out, and so may ``log_dirs``: each is "any" or the path of a log dir on the replica's broker.
What is wrong raises a KafkaError, in Kafka's words where the words are Kafka's own and not its JSON library's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.layout import Assignment

VERSION = 1
ANY_LOG_DIR = "any"
EXAMPLE = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
TOPICS_EXAMPLE = '{"version":1,"topics":[{"topic":"orders"}]}'

LogDirs = Mapping[tuple[TopicPartition, int], str]
"""The log dir of a partition's replica on a broker."""


class Reassignment(NamedTuple):
    """What a file asks for; ``log_dirs`` has only those that are named."""

    replicas: dict[TopicPartition, tuple[int, ...]]
    log_dirs: dict[tuple[TopicPartition, int], str]


def format_reassignment(replicas: Assignment, log_dirs: LogDirs | None = None) -> str:
    """The file of a plan, or of what is there now."""
    import json

    known = log_dirs or {}
    partitions = [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "replicas": list(replicas[partition]),
            "log_dirs": [known.get((partition, broker), ANY_LOG_DIR) for broker in replicas[partition]],
        }
        for partition in sorted(replicas)
    ]
    return json.dumps({"version": VERSION, "partitions": partitions}, ensure_ascii=False, separators=(",", ":"))


def parse_reassignment(data: str, to_execute: bool = True) -> Reassignment:
    """A file of partitions and their replicas, checked as far as it can be without a cluster. Where it is not there
    ``to_execute`` Kafka minds neither an empty list nor what stands there twice."""
    entries: list[tuple[TopicPartition, tuple[int, ...]]] = []
    log_dirs: dict[tuple[TopicPartition, int], str] = {}
    for entry in _entries(data, "partitions"):
        partition = TopicPartition(_field(entry, "topic", str), _field(entry, "partition", int))
        if "replicas" not in entry:
            raise _missing("replicas")
        replicas = _list(entry["replicas"], int)
        dirs = _list(entry["log_dirs"], str) if "log_dirs" in entry else [ANY_LOG_DIR] * len(replicas)
        if len(dirs) != len(replicas):
            raise _failed(
                f"Size of replicas list {_java(replicas)} is different from size of log dirs list {_java(dirs)} for "
                f"partition {partition}"
            )
        entries.append((partition, tuple(replicas)))
        log_dirs |= {(partition, r): d for r, d in zip(replicas, dirs, strict=True) if d != ANY_LOG_DIR}
    if to_execute:
        _check_entries(entries)
    return Reassignment(dict(entries), log_dirs)


def parse_topics(data: str) -> list[str]:
    """The topics of a --topics-to-move-json-file."""
    topics = [_field(entry, "topic", str) for entry in _entries(data, "topics")]
    twice = duplicates(topics)
    if twice:
        raise _failed(f"List of topics to reassign contains duplicate entries: {_java(twice)}")
    return topics


def parse_brokers(text: str) -> tuple[int, ...]:
    """A --broker-list, as Java splits it: empty words at the end are none, but of no words at all there is one."""
    words = text.rstrip(",").split(",") if text.strip(",") else [""] * (not text)
    try:
        brokers = [parse_int(word) for word in words]
    except FormatError as error:
        raise KafkaError("NumberFormatException", str(error)) from None
    twice = duplicates(brokers)
    if twice:
        raise _failed(f"Broker list contains duplicate entries: {_java(twice)}")
    return tuple(brokers)


def duplicates(items: Iterable[Any]) -> list[Any]:
    """What stands there more than once, sorted."""
    counts: Counter[Any] = Counter(items)
    return sorted(item for item, count in counts.items() if count > 1)


def _check_entries(entries: list[tuple[TopicPartition, tuple[int, ...]]]) -> None:
    if not entries:
        raise _failed("Partition reassignment list cannot be empty")
    if not all(replicas for _, replicas in entries):
        raise _failed("Partition replica list cannot be empty")
    twice = duplicates(partition for partition, _ in entries)
    if twice:
        raise _failed(f"Partition reassignment contains duplicate topic partitions: {','.join(map(str, twice))}")
    doubled = [
        f"{partition} contains multiple entries for {','.join(map(str, duplicates(replicas)))}"
        for partition, replicas in entries
        if duplicates(replicas)
    ]
    if doubled:
        raise _failed(f"Partition replica lists may not contain duplicate entries: {'. '.join(doubled)}")


def _entries(data: str, field: str) -> Iterator[dict[str, Any]]:
    """The objects in a list of the document, each checked when its turn comes."""
    document = _checked(_parse(data, field), dict)
    version = _checked(document.get("version", VERSION), int)
    if version != VERSION:
        raise KafkaError("AdminOperationException", f"Not supported version field value {version}")
    for entry in _checked(document.get(field, []), list):
        yield _checked(entry, dict)


def _parse(data: str, field: str) -> Any:
    """The first value; Kafka looks at nothing after it."""
    import json

    try:
        return json.JSONDecoder(parse_constant=_no_constant).raw_decode(data.lstrip(" \t\r\n"))[0]
    except (ValueError, RecursionError) as error:
        if field == "topics":
            reason = "The input string is not a valid JSON"
        else:
            reason = f"Not valid JSON: {error}" if data else "The input string shouldn't be empty"
        raise KafkaError("AdminOperationException", reason) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _field(entry: dict[str, Any], name: str, kind: type) -> Any:
    if name not in entry:
        raise _missing(name)
    return _checked(entry[name], kind)


def _missing(name: str) -> KafkaError:
    return KafkaError("JsonMappingException", f"No such field exists: `{name}`")


def _list(value: Any, kind: type) -> list[Any]:
    if not isinstance(value, list):
        raise _mismatch("`JSON array` value", value)
    return [_checked(item, kind) for item in value]


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind or (kind is int and not _is_java_int(value)):
        raise _mismatch(_EXPECTED[kind], value)
    return value


def _is_java_int(value: Any) -> bool:
    return -(1 << 31) <= int(value) < 1 << 31


def _mismatch(expected: str, value: Any) -> KafkaError:
    import json

    received = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return KafkaError("JsonMappingException", f"Expected {expected}, received {received}")


_EXPECTED: dict[type, str] = {int: "`Integer` value", str: "`String` value", dict: "JSON object", list: "JSON array"}


def _java(items: Iterable[Any]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _failed(message: str) -> KafkaError:
    return KafkaError("AdminCommandFailedException", message)
