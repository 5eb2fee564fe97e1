"""``storage format`` for one broker, from its server.properties, as StorageTool does it.

Every log dir gets a meta.properties and a bootstrap.checkpoint; the metadata dir of a dynamic quorum also who its
voters are. Each file is written whole or not at all, meta.properties last: a dir that has one is formatted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.formats import java_properties, meta_properties
from kafkapy.formats.message import Value
from kafkapy.formats.meta_properties import MetaProperties
from kafkapy.formats.uuid import random_uuid
from kafkapy.log.files import Files
from kafkapy.metadata import features
from kafkapy.metadata.configs.config_def import definition
from kafkapy.metadata.format import bootstrap_records, bootstrap_text, feature_levels, log_dir_files
from kafkapy.metadata.metadata_snapshot import voter, voters_value
from kafkapy.metadata.scram import parse_argument

VOTERS = "controller.quorum.voters"
DEFAULT_LISTENER = "CONTROLLER"


class ServerProperties(NamedTuple):
    """What formatting needs of a server.properties."""

    node_id: int
    roles: tuple[str, ...]
    log_dirs: tuple[str, ...]
    metadata_log_dir: str
    has_static_voters: bool
    controller_listener: str
    listeners: Mapping[str, str]
    unstable: bool


class FormatOptions(NamedTuple):
    """The options of ``storage format``."""

    cluster_id: str
    release: str | None = None
    features: Mapping[str, int] = {}
    scram: Sequence[str] = ()
    ignore_formatted: bool = False
    standalone: bool = False
    no_initial_controllers: bool = False
    initial_controllers: str | None = None


def read_server_properties(path: str) -> ServerProperties:
    """A server.properties, with Kafka's defaults."""
    with open(path, "rb") as file:
        values = java_properties.load(file.read())
    log_dirs = _words(values.get("log.dirs") or values.get("log.dir") or definition("broker")["log.dir"].default or "")
    return ServerProperties(
        int(values.get("node.id") or values.get("broker.id") or -1),
        _words(values.get("process.roles", "")),
        log_dirs,
        values.get("metadata.log.dir") or log_dirs[0],
        bool(values.get(VOTERS, "").strip()),
        (_words(values.get("controller.listener.names", "")) or (DEFAULT_LISTENER,))[0],
        dict(listener.split("://", 1) for listener in _words(values.get("listeners", "")) if "://" in listener),
        values.get("unstable.feature.versions.enable", "false").strip().lower() == "true",
    )


def format_storage(server: ServerProperties, options: FormatOptions, files: Files) -> list[str]:
    """Format the log dirs of a broker; the lines that StorageTool prints."""
    _check(server, options)
    levels = feature_levels(
        options.release, options.features, dynamic_quorum=not server.has_static_voters, unstable=server.unstable
    )
    bootstrap = bootstrap_records(levels, [parse_argument(argument) for argument in options.scram])
    every = sorted({*server.log_dirs, server.metadata_log_dir})
    done = [path for path in every if os.path.exists(os.path.join(path, meta_properties.FILE_NAME))]
    if done and not options.ignore_formatted:
        raise _refused(
            f"Log directory {done[0]} is already formatted. Use --ignore-formatted to ignore this directory and format "
            "the others."
        )
    to_do = [path for path in every if path not in done]
    if not to_do:
        return ["All of the log directories are already formatted."]
    lines = [f"Bootstrap metadata: {bootstrap_text(bootstrap)}"]
    version = features.metadata_version_name(levels[features.METADATA_VERSION])
    now = datetime.now().astimezone()
    for path in to_do:
        directory_id, voters = random_uuid(), None
        if path == server.metadata_log_dir:
            voters = _voters(server, options, directory_id)
            directory_id = _own_directory_id(server.node_id, voters) or directory_id
        lines.append(f"Formatting {_kind(server, path, voters)} {path} with metadata.version {version}.")
        meta = MetaProperties(1, options.cluster_id, server.node_id, directory_id)
        _write(path, log_dir_files(meta, bootstrap, now, voters=voters), files)
    return lines


def _write(path: str, contents: Mapping[str, bytes], files: Files) -> None:
    for name in sorted(contents, key=lambda name: name == meta_properties.FILE_NAME):
        target = os.path.join(path, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        files.write_atomic(target, contents[name])


def _check(server: ServerProperties, options: FormatOptions) -> None:
    if not server.roles:
        raise _refused(
            "The kafka configuration file appears to be for a legacy cluster. Formatting is only supported for "
            "clusters in KRaft mode."
        )
    if server.has_static_voters and (options.standalone or options.initial_controllers):
        raise _refused(
            f"You cannot specify {VOTERS} and format the node with --initial-controllers or --standalone. If you want "
            f"to use dynamic quorum, please remove {VOTERS} and specify controller.quorum.bootstrap.servers instead."
        )
    chosen = options.no_initial_controllers or options.standalone or options.initial_controllers
    if "controller" in server.roles and not server.has_static_voters and not chosen:
        raise _refused(
            f"Because {VOTERS} is not set on this controller, you must specify one of the following: --standalone, "
            "--initial-controllers, or --no-initial-controllers."
        )


def _kind(server: ServerProperties, path: str, voters: Value | None) -> str:
    if path != server.metadata_log_dir:
        return "data directory"
    return "metadata directory" if voters is None else "dynamic metadata voter directory"


def _voters(server: ServerProperties, options: FormatOptions, directory_id: str) -> Value | None:
    listener = server.controller_listener
    if options.standalone:
        host, _, port = server.listeners.get(listener, "localhost:9093").rpartition(":")
        return voters_value([voter(server.node_id, directory_id, listener, host or "localhost", int(port))])
    if options.initial_controllers:
        return voters_value(_initial(text, listener) for text in options.initial_controllers.split(","))
    return None


def _own_directory_id(node_id: int, voters: Value | None) -> str | None:
    """The id that a list of voters gives the metadata dir of this node."""
    known = {} if voters is None else {each["voterId"]: each["voterDirectoryId"] for each in voters["voters"]}
    return known.get(node_id)


def _initial(text: str, listener: str) -> Value:
    """``1@host:9093:directory-id``."""
    try:
        node, _, rest = text.strip().partition("@")
        host, port, directory_id = rest.rsplit(":", 2)
        return voter(int(node), directory_id, listener, host, int(port))
    except ValueError:
        raise _refused(f"'{text}' is not of the form ID@HOST:PORT:DIRECTORY-ID") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _refused(message: str) -> KafkaError:
    return KafkaError("FormatterException", message)
