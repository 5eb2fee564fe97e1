"""Who a controller is, from its own server.properties: MetadataQuorumCommand's ``add-controller`` needs no more.

Its id stands in the file, the id of its metadata directory in that directory's meta.properties, and where it listens
are the listeners that controller.listener.names names, as advertised.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.backends.log_dir_identity import read_meta_properties
from kafkapy.backends.quorum import Voter
from kafkapy.errors import FormatError, KafkapyError
from kafkapy.formats import java_properties
from kafkapy.formats.java_parsing import parse_int

NODE_ID = "node.id"
PROCESS_ROLES = "process.roles"
METADATA_LOG_DIR = "metadata.log.dir"
LOG_DIRS = "log.dirs"
LISTENERS = ("listeners", "advertised.listeners")
CONTROLLER_LISTENER_NAMES = "controller.listener.names"

_DOUBT = "Is this a valid controller configuration file?"
_LISTENER = r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)"


def read_controller(path: str) -> Voter:
    """The controller whose file this is."""
    try:
        with open(path, "rb") as file:
            properties = java_properties.load(file.read())
    except FileNotFoundError:
        raise KafkapyError(f"Properties file {path} does not exists!") from None
    except FormatError as error:
        raise KafkapyError(f"{path}: {error}") from None
    node_id = _node_id(properties)
    return Voter(node_id, _directory_id(_metadata_directory(properties)), _endpoints(properties))


def _node_id(properties: Mapping[str, str]) -> int:
    if NODE_ID not in properties:
        raise KafkapyError(f"{NODE_ID} not found in configuration file. {_DOUBT}")
    try:
        node_id = parse_int(properties[NODE_ID])
    except FormatError as error:
        raise KafkapyError(f"{NODE_ID}: {error}") from None
    if node_id < 0:
        raise KafkapyError(f"{NODE_ID} was negative in configuration file. {_DOUBT}")
    if "controller" not in properties.get(PROCESS_ROLES, ""):
        raise KafkapyError(f"{PROCESS_ROLES} did not contain 'controller' in configuration file. {_DOUBT}")
    return node_id


def _metadata_directory(properties: Mapping[str, str]) -> str:
    if METADATA_LOG_DIR in properties:
        return properties[METADATA_LOG_DIR]
    if LOG_DIRS in properties:
        return properties[LOG_DIRS].strip().split(",")[0]
    raise KafkapyError(f"Neither {METADATA_LOG_DIR} nor {LOG_DIRS} were found. {_DOUBT}")


def _directory_id(directory: str) -> str:
    try:
        directory_id = read_meta_properties(directory).directory_id
    except (OSError, FormatError):
        raise KafkapyError(f"Unable to read meta.properties from {directory}") from None
    if directory_id is None:
        raise KafkapyError(f"No directory id found in {directory}")
    return directory_id


def _endpoints(properties: Mapping[str, str]) -> tuple[str, ...]:
    """As ``NAME://host:port``; a listener on every address is told as localhost."""
    if CONTROLLER_LISTENER_NAMES not in properties:
        raise KafkapyError(f"{CONTROLLER_LISTENER_NAMES} was not found. {_DOUBT}")
    listeners: dict[str, str] = {}
    for key in LISTENERS:
        listeners |= dict(map(_listener, filter(None, (each.strip() for each in properties.get(key, "").split(",")))))
    names = [name.strip().upper() for name in properties[CONTROLLER_LISTENER_NAMES].split(",")]
    for name in names:
        if name not in listeners:
            raise KafkapyError(f"Cannot find information about controller listener name: {name}")
    return tuple(f"{name}://{listeners[name]}" for name in dict.fromkeys(names))


def _listener(text: str) -> tuple[str, str]:
    import re

    found = re.fullmatch(_LISTENER, text)
    if found is None:
        raise KafkapyError(f"Unable to parse {text} to a broker endpoint")
    name, host, port = found.groups()
    return name.upper(), f"[{host}]:{port}" if ":" in host else f"{host or 'localhost'}:{port}"
