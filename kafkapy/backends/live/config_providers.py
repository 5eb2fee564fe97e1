"""References in a client's .properties to what lies elsewhere: ``${file:/etc/kafka/secrets.properties:password}``.

``config.providers`` lists names, ``config.providers.NAME.class`` is the class of each, and what begins with
``config.providers.NAME.param.`` are its parameters. Java clients resolve them; Kafka has three classes of its own, and
kafkapy has those:

    FileConfigProvider       ${name:PATH:KEY}   a key of a .properties file (UTF-8)         allowed.paths
    DirectoryConfigProvider  ${name:DIR:FILE}   the text of a file, its line end included   allowed.paths
    EnvVarConfigProvider     ${name:VARIABLE}   an environment variable                     allowlist.pattern

A reference to a name that is not listed stays as it is, as in Java. One that leads to nothing is an error here: Java
would take the reference itself for the password.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.live.client_settings import SettingError, words

if TYPE_CHECKING:
    import re

_PACKAGE = "org.apache.kafka.common.config.provider."
_REFERENCE = r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}"

Lookup = Callable[[str, str], str | None]


def resolve_references(properties: Mapping[str, str], source: str) -> dict[str, str]:
    """The properties with what they refer to in the references' place."""
    names = words(properties.get("config.providers", ""))
    if not names:
        return dict(properties)
    import re

    providers = {name: _provider(name, properties, source) for name in names}
    reference = re.compile(_REFERENCE)

    def replaced(setting: str, value: str) -> str:
        return reference.sub(lambda match: _look_up(providers, setting, match, source), value)

    return {
        name: value if name.startswith("config.providers") else replaced(name, value)
        for name, value in properties.items()
    }


def _look_up(providers: Mapping[str, Lookup], setting: str, match: re.Match[str], source: str) -> str:
    name, path, key = match.groups()
    if name not in providers:
        return match[0]
    try:
        found = providers[name](path or "", key)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SettingError(source, setting, f"{match[0]} cannot be read: {reason}") from None
    if found is None:
        raise SettingError(source, setting, f"{match[0]} leads to nothing")
    return found


def _provider(name: str, properties: Mapping[str, str], source: str) -> Lookup:
    setting = f"config.providers.{name}.class"
    class_name = properties.get(setting, "")
    prefix = f"config.providers.{name}.param."
    params = {key.removeprefix(prefix): value for key, value in properties.items() if key.startswith(prefix)}
    make = _CLASSES.get(class_name.removeprefix(_PACKAGE)) if class_name.startswith(_PACKAGE) else None
    if make is None:
        known = ", ".join(_PACKAGE + simple for simple in _CLASSES)
        raise SettingError(source, setting, f"{class_name or 'it is missing'}: kafkapy has only {known}")
    return make(params)


def _file(params: Mapping[str, str]) -> Lookup:
    from kafkapy.formats.java_properties import load

    def look_up(path: str, key: str) -> str | None:
        if not path or not _is_allowed(path, params):
            return None
        with open(path, encoding="utf-8") as file:
            return load(_ascii(file.read())).get(key)

    return look_up


def _directory(params: Mapping[str, str]) -> Lookup:
    def look_up(path: str, key: str) -> str | None:
        file_path = os.path.join(path, key)
        if not path or os.sep in key or not _is_allowed(path, params) or not os.path.isfile(file_path):
            return None
        with open(file_path, encoding="utf-8", newline="") as file:
            return file.read()

    return look_up


def _environment(params: Mapping[str, str]) -> Lookup:
    import re

    allowed = re.compile(params.get("allowlist.pattern", ".*"), re.DOTALL)

    def look_up(path: str, key: str) -> str | None:
        return os.environ.get(key) if not path and allowed.fullmatch(key) else None

    return look_up


_CLASSES: dict[str, Callable[[Mapping[str, str]], Lookup]] = {
    "FileConfigProvider": _file,
    "DirectoryConfigProvider": _directory,
    "EnvVarConfigProvider": _environment,
}


def _is_allowed(path: str, params: Mapping[str, str]) -> bool:
    allowed = words(params.get("allowed.paths", ""))
    if not allowed:
        return True
    normal = os.path.normpath(path)
    return any(os.path.commonpath([normal, root]) == root for root in map(os.path.normpath, allowed))


def _ascii(text: str) -> bytes:
    """The text with every other character as the escapes that the loader undoes: Kafka reads this file as UTF-8, where
    Java's loader of bytes takes them for ISO-8859-1."""
    return "".join(char if char.isascii() else _java_escape(char) for char in text).encode()


def _java_escape(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
