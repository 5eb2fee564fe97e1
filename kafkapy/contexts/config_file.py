"""``config.yaml``: the user's named clusters, and what commands do by default.

    current: dev                        # whom a command means that names no cluster
    defaults:                           # for every command that has these options
      output: table
      engine: local                     # or spark
      master: spark://host:7077
    contexts:
      dev:
        cluster: ~/demo                 # a cluster directory
      disks:
        log-dirs: [/kafka/1, /kafka/2]  # brokers' data directories
      prod:
        bootstrap-server: broker1:9092,broker2:9092
        command-config: ${ENV:SECRETS}/prod.properties
        output: json                    # wins over that of defaults

It is ``$KAFKAPY_CONFIG``, else ``$XDG_CONFIG_HOME/kafkapy/config.yaml``, else ``~/.config/kafkapy/config.yaml``. Keys
are the options of the same names. ``${ENV:NAME}`` is an environment variable, looked up when the context is used; a
relative path is one from the directory of the file.

Invariants: no key is ignored, so one that is misspelled is an error with its line; and no secret stands in the file.
What logs in to a cluster is in the file that command-config names, or in the environment that this one refers to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import FormatError, UsageError
from kafkapy.near_misses import VERY_SIMILAR, did_you_mean, near_miss
from kafkapy.output.output_format import Output

if TYPE_CHECKING:
    from yaml.nodes import Node

FILE_VARIABLE = "KAFKAPY_CONFIG"
KINDS = ("cluster", "log-dirs", "bootstrap-server", "bootstrap-controller")
LIVE_KINDS = KINDS[2:]
COMMAND_CONFIG = "command-config"
CHOICES: Mapping[str, tuple[str, ...]] = {"output": tuple(Output), "engine": ("local", "spark")}
DEFAULTS = ("output", "engine", "master")
CONTEXT_KEYS = (*KINDS, COMMAND_CONFIG, *DEFAULTS)
PATH_KEYS = ("cluster", "log-dirs", COMMAND_CONFIG)
FILE_KEYS = ("current", "defaults", "contexts")
REFERENCE = re.compile(r"\$\{ENV:([^}]*)\}")

_NAME = re.compile(r"[\w.-]+")
_SECRET_KEY = re.compile(r"password|passphrase|secret|jaas|token|credential|private.?key", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(password|passphrase|secret|jaas[.\w]*|token)\s*[=:]|://[^/@\s]+:[^/@\s]+@", re.IGNORECASE)


class Setting(NamedTuple):
    """A value as it is written, with its first and last line."""

    value: str
    line: int = 0
    last_line: int = 0


class Context(NamedTuple):
    """A named cluster; log dirs are one value with commas, as their option has them."""

    name: str
    line: int
    settings: Mapping[str, Setting]

    @property
    def kind(self) -> str:
        """Which option names its cluster."""
        return next(kind for kind in KINDS if kind in self.settings)


class ConfigFile(NamedTuple):
    """The whole file. Where it was not checked, a context has one setting without a name: all that stands there."""

    path: str
    is_checked: bool = True
    current: Setting | None = None
    defaults: Mapping[str, Setting] = {}
    contexts: Mapping[str, Context] = {}

    def context(self, name: str, said_by: str) -> Context:
        """A context by its name; ``said_by`` is who named it."""
        if name in self.contexts:
            return self.contexts[name]
        near = near_miss(name, self.contexts)
        hint = f"did you mean '{near}'?" if near else "'kafkapy config list' shows the existing ones"
        raise UsageError(f"{said_by}: there is no context '{name}' in {self.path}; {hint}")

    def resolved(self, context: Context, key: str) -> str:
        """A value of a context with its references looked up and its paths made whole."""
        setting = context.settings[key]
        value = REFERENCE.sub(lambda match: self._variable(match[1], setting), setting.value)
        if key not in PATH_KEYS:
            return value
        base = os.path.dirname(os.path.abspath(self.path))
        return ",".join(os.path.normpath(os.path.join(base, os.path.expanduser(path))) for path in value.split(","))

    def _variable(self, name: str, setting: Setting) -> str:
        value = os.environ.get(name)
        if not value:
            raise FormatError(f"{self.path}:{setting.line}: the environment variable {name} is not set")
        return value


def config_path() -> str:
    """Where the file is, or would be."""
    named = os.environ.get(FILE_VARIABLE)
    if named:
        return os.path.expanduser(named)
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "kafkapy", "config.yaml")


def read_config(checked: bool = True, any_current: bool = False) -> ConfigFile:
    """The user's file; an empty one where there is none."""
    path = config_path()
    try:
        with open(path, encoding="utf-8") as file:
            return decode(file.read(), path, checked, any_current)
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(path)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from None


def decode(text: str, path: str, checked: bool = True, any_current: bool = False) -> ConfigFile:
    """The file's content; errors name ``path`` and the line. Where it is not to be ``checked``, contexts may say
    anything, so that a wrong one can be removed. With ``any_current``, the current one may be none of them, so that
    another can be made it."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if isinstance(error, yaml.scanner.ScannerError):  # a token without an end: what counts is where it begins
            mark = getattr(error, "context_mark", None) or mark
        at = f"{path}:{mark.line + 1}" if mark is not None else path
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise FormatError(f"{at}: not YAML: {reason}") from None
    return ConfigFile(path, checked) if root is None else _Reader(path, checked, any_current).file(root)


def problem_with(key: str, value: str) -> str | None:
    """Why a setting cannot stand in the file; None where it can. A value that may be a secret is not told."""
    if _SECRET_VALUE.search(value) or (key in LIVE_KINDS and "@" in value):
        return f"{key} holds a secret: {_NO_SECRETS}"
    if value not in CHOICES.get(key, (value,)):
        return f"{key} is '{value}', which is not one of {', '.join(CHOICES[key])}{did_you_mean(value, CHOICES[key])}"
    return None


def check_name(name: str) -> str:
    """A name that needs no quoting anywhere."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' cannot be the name of a context: use letters, digits, dots, dashes and underscores")
    return name


class _Reader:
    """Nodes of YAML, which know their lines, to values."""

    def __init__(self, path: str, checked: bool, any_current: bool) -> None:
        self._path = path
        self._checked = checked
        self._checks_current = checked and not any_current

    def file(self, root: Node) -> ConfigFile:
        parts = self._mapping(root, "the file", FILE_KEYS)
        current = self._setting("current", parts["current"]) if "current" in parts else None
        defaults = self._settings(parts["defaults"], "defaults", DEFAULTS) if "defaults" in parts else {}
        contexts: dict[str, Context] = {}
        if "contexts" in parts and not _is_empty(parts["contexts"]):
            nodes = self._mapping(parts["contexts"], "contexts")
            contexts = {key.value: self._context(key, nodes[key.value]) for key, _ in self._pairs(parts["contexts"])}
        if self._checks_current and current is not None and current.value not in contexts:
            raise FormatError(f"{self._path}:{current.line}: {_no_such_current(current.value, contexts)}")
        return ConfigFile(self._path, self._checked, current, defaults, contexts)

    def _context(self, key: Node, node: Node) -> Context:
        name, line = key.value, key.start_mark.line + 1
        if not self._checked:
            import yaml

            return Context(name, line, {"": Setting(yaml.serialize(node), line, _last_line(node))})
        if not _NAME.fullmatch(name):
            raise self._error(key, f"'{name}' cannot be the name of a context")
        settings = self._settings(node, f"the context '{name}'", CONTEXT_KEYS)
        kinds = [kind for kind in KINDS if kind in settings]
        if len(kinds) != 1:
            what = f"both {' and '.join(kinds)}" if kinds else "no cluster"
            raise self._error(key, f"the context '{name}' names {what}: give one of {', '.join(KINDS)}")
        if COMMAND_CONFIG in settings and kinds[0] not in LIVE_KINDS:
            raise self._error(key, f"the context '{name}' has {COMMAND_CONFIG}, which goes with bootstrap-server")
        return Context(name, line, settings)

    def _settings(self, node: Node, where: str, known: tuple[str, ...]) -> dict[str, Setting]:
        if _is_empty(node):
            return {}
        return {key: self._setting(key, value) for key, value in self._mapping(node, where, known).items()}

    def _setting(self, key: str, node: Node) -> Setting:
        import yaml

        nodes = node.value if isinstance(node, yaml.SequenceNode) and key == "log-dirs" else [node]
        if not nodes or not all(isinstance(each, yaml.ScalarNode) and each.value.strip() for each in nodes):
            raise self._error(node, f"{key} is not {'a list of paths' if key == 'log-dirs' else 'text'}")
        value = ",".join(each.value for each in nodes)
        problem = problem_with(key, value)
        if problem is not None:
            raise self._error(node, problem)
        return Setting(value, node.start_mark.line + 1, _last_line(node))

    def _mapping(self, node: Node, where: str, known: tuple[str, ...] | None = None) -> dict[str, Node]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, f"{where} is not a list of 'key: value'")
        found: dict[str, Node] = {}
        for key, value in self._pairs(node):
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, f"a key in {where} is not text")
            if known is not None and key.value not in known:
                raise self._unknown(key, where, known)
            if key.value in found:
                raise self._error(key, f"'{key.value}' appears twice in {where}")
            found[key.value] = value
        return found

    @staticmethod
    def _pairs(node: Node) -> list[tuple[Node, Node]]:
        return list(node.value)

    def _unknown(self, key: Node, where: str, known: tuple[str, ...]) -> FormatError:
        if _SECRET_KEY.search(str(key.value)):
            return self._error(key, f"'{key.value}' would be a secret in plain text: {_NO_SECRETS}")
        near = near_miss(str(key.value), known, VERY_SIMILAR)
        hint = f"did you mean '{near}'?" if near else f"the keys are {', '.join(known)}"
        return self._error(key, f"unknown key '{key.value}' in {where}; {hint}")

    def _error(self, node: Node, text: str) -> FormatError:
        return FormatError(f"{self._path}:{node.start_mark.line + 1}: {text}")


_NO_SECRETS = "put it into a .properties file that only you can read, and name that file with command-config"


def _no_such_current(name: str, contexts: Mapping[str, Context]) -> str:
    there = f"'kafkapy config use' changes that: there are {', '.join(contexts)}" if contexts else "delete the line"
    return f"current is '{name}', which is no context here{did_you_mean(name, contexts) or f'; {there}'}"


def _is_empty(node: Node) -> bool:
    """Whether nothing, or null, stands behind a key."""
    return node.tag == "tag:yaml.org,2002:null"


def _last_line(node: Node) -> int:
    """The last line that something stands on. A block is said to end where the next one begins, after comments that
    are not its own."""
    if not isinstance(node.value, str) and node.value and not getattr(node, "flow_style", False):
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.line) + (node.end_mark.column > 0)
