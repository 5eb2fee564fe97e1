"""An image as the tree of files that MetadataShell shows.

    /image/provenance                       where the image ends
          /features/metadataVersion, finalized_NAME
          /cluster/brokers/ID, controllers/ID
          /topics/byName/NAME/{name, id, 0, 1 ...}, byId/ID/{...}
          /configs/{TOPIC:name, BROKER, BROKER:id ...}/NAME
          /clientQuotas/ENTITY/NAME
          /producerIds/nextProducerId
          /acls/byId/ID, /scram/MECHANISM/USER, /delegationToken/ID
    /local/{version, commitId}              of the program that shows it

A node is its text, or a Directory. Paths may have ``.``, ``..`` and globs (``*``, ``?``, ``{a,b}``, backslash) in every
part. Directories are made when they are looked into, so a large cluster costs only what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, TypeVar

from kafkapy.metadata import image_text
from kafkapy.metadata.features import METADATA_VERSION
from kafkapy.metadata.image import CONFIG_TYPE_NAMES, MetadataImage
from kafkapy.metadata.security_image import SCRAM_MECHANISMS
from kafkapy.metadata.topics_image import TopicImage

K = TypeVar("K")
V = TypeVar("V")

_INDENT = "  "
_FINALIZED = "finalized_"
_GLOB_CHARACTERS = frozenset("*?{}\\")


class Directory(NamedTuple):
    """``names`` are those of its children, in no order; ``child`` is None where there is no such child."""

    names: Collection[str]
    child: Callable[[str], Directory | str | None]


Node = Directory | str


class Found(NamedTuple):
    """A node and its absolute path."""

    path: str
    node: Node

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2] or "/"


def root(image: MetadataImage, version: str, commit_id: str) -> Directory:
    """The tree; the version and the commit are those of the program."""
    local = {"version": version, "commitId": commit_id}
    return _directory({"image": lambda: _image(image), "local": lambda: Directory(local, local.get)})


def resolve(tree: Directory, path: str, working_directory: str = "/") -> list[Found]:
    """What a path names, in order; nothing where there is no such node."""
    full = path if path.startswith("/") else f"{working_directory}/{path}"
    return list(_matches(tree, "", normalize(full)))


def normalize(path: str) -> list[str]:
    """The parts of a path without ``.`` and ``..``."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def tree_lines(node: Node, indent: str = "") -> Iterator[str]:
    """What ``tree`` prints: names with a colon, what is in them beneath."""
    if isinstance(node, str):
        yield indent + node
        return
    for name, child in children(node):
        yield f"{indent}{name}:"
        yield from tree_lines(child, indent + _INDENT)


def find_lines(node: Node, path: str) -> Iterator[str]:
    """What ``find`` prints: the path of the node and of all beneath it."""
    yield path
    if isinstance(node, Directory):
        for name, child in children(node):
            yield from find_lines(child, f"{path}{name}" if path == "/" else f"{path}/{name}")


def children(directory: Directory, start: str = "") -> Iterator[tuple[str, Node]]:
    """Those whose names begin so, by name."""
    for name in sorted(name for name in directory.names if name.startswith(start)):
        child = directory.child(name)
        if child is not None:
            yield name, child


def _matches(node: Node, path: str, parts: list[str]) -> Iterator[Found]:
    if not parts:
        yield Found(path or "/", node)
        return
    if isinstance(node, str):
        return
    pattern = _glob_pattern(parts[0])
    if pattern is None:
        child = node.child(parts[0])
        named = [] if child is None else [(parts[0], child)]
    else:
        named = [(name, child) for name, child in children(node) if pattern(name)]
    for name, child in named:
        yield from _matches(child, f"{path}/{name}", parts[1:])


def _glob_pattern(glob: str) -> Callable[[str], object] | None:
    """What matches a name, None for a part that is to be taken as it stands: one without globs, or a bad one."""
    if _GLOB_CHARACTERS.isdisjoint(glob):
        return None
    import re

    regex, in_group, literal = "", False, True
    characters = iter(glob)
    for character in characters:
        if character == "\\":
            regex += re.escape(next(characters, "\\"))
            continue
        special = _GLOB_REGEX.get(character) if character in "*?" else None
        if character == "{" and in_group:
            return None
        if character in "{}" and (in_group or character == "{"):
            special, in_group = _GLOB_REGEX[character], character == "{"
        elif character == "," and in_group:
            special = _GLOB_REGEX[","]
        regex += re.escape(character) if special is None else special
        literal = literal and special is None
    return None if literal or in_group else re.compile(regex, re.DOTALL).fullmatch


_GLOB_REGEX = {"*": ".*", "?": ".", "{": "(?:(?:", ",": ")|(?:", "}": "))"}


def _image(image: MetadataImage) -> Directory:
    return _directory(
        {
            "provenance": lambda: image_text.provenance_text(image.provenance),
            "features": lambda: _features(image.features),
            "cluster": lambda: _cluster(image),
            "topics": lambda: _topics(image),
            "configs": lambda: _configs(image),
            "clientQuotas": lambda: _client_quotas(image),
            "producerIds": lambda: _leaf("nextProducerId", str(image.producer_ids.next_producer_id)),
            "acls": lambda: _directory({"byId": lambda: _mapped(image.acls, str, image_text.acl_text)}),
            "scram": lambda: _scram(image),
            "delegationToken": lambda: _mapped(image.delegation_tokens, str, image_text.token_text),
        }
    )


def _directory(entries: Mapping[str, Callable[[], Node]]) -> Directory:
    return Directory(entries.keys(), lambda name: entries[name]() if name in entries else None)


def _mapped(values: Mapping[K, V], name: Callable[[K], str], node: Callable[[V], Node]) -> Directory:
    """A directory with a child for each entry of a mapping."""
    keys = {name(key): key for key in values}
    return Directory(keys.keys(), lambda child: node(values[keys[child]]) if child in keys else None)


def _leaf(name: str, text: str) -> Directory:
    return Directory((name,), lambda child: text if child == name else None)


def _features(levels: Mapping[str, int]) -> Directory:
    """A feature that is not finalized is not listed, and its file says 0."""

    finalized = {_FINALIZED + name: str(level) for name, level in levels.items() if name != METADATA_VERSION}

    def child(name: str) -> str | None:
        if name == "metadataVersion":
            return image_text.metadata_version_text(levels)
        return finalized.get(name, "0") if name.startswith(_FINALIZED) else None

    return Directory(["metadataVersion", *finalized], child)


def _cluster(image: MetadataImage) -> Directory:
    return _directory(
        {
            "brokers": lambda: _mapped(image.brokers, str, image_text.broker_text),
            "controllers": lambda: _mapped(image.controllers, str, image_text.controller_text),
        }
    )


def _topics(image: MetadataImage) -> Directory:
    return _directory(
        {
            "byName": lambda: _mapped(image.topics, str, _topic),
            "byId": lambda: _mapped(image.topics_by_id, str, _topic),
        }
    )


def _topic(topic: TopicImage) -> Directory:
    partitions = _mapped(topic.partitions, str, image_text.partition_text)
    texts = {"name": topic.name, "id": topic.id}
    return Directory([*texts, *partitions.names], lambda name: texts.get(name) or partitions.child(name))


def _configs(image: MetadataImage) -> Directory:
    def name(resource: tuple[int, str]) -> str:
        resource_type, resource_name = resource
        type_name = CONFIG_TYPE_NAMES.get(resource_type, "UNKNOWN")
        return f"{type_name}:{resource_name}" if resource_name else type_name

    return _mapped(image.configs, name, lambda configs: Directory(configs.keys(), configs.get))


def _client_quotas(image: MetadataImage) -> Directory:
    from kafkapy.formats.message_json import java_double

    return _mapped(image.client_quotas, image_text.quota_entity_text, lambda quotas: _mapped(quotas, str, java_double))


def _scram(image: MetadataImage) -> Directory:
    def users(mechanism: int) -> Directory:
        own = {user: credential for (number, user), credential in image.scram.items() if number == mechanism}
        return _mapped(own, str, image_text.scram_text)

    names = {name: number for number, name in SCRAM_MECHANISMS.items()}
    return Directory(names.keys(), lambda name: users(names[name]) if name in names else None)
