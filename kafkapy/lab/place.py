"""YAML that knows its lines: what is wrong in a scenario is said with the file, the line and the step it is in."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from kafkapy.errors import FormatError

if TYPE_CHECKING:
    import yaml


class Place:
    """A value of a file: a mapping, a list or a scalar, and where it stands; ``within`` is the part of the file that
    errors name, empty where there is none."""

    def __init__(self, location: str, node: yaml.Node, loader: yaml.SafeLoader, within: str = "") -> None:
        self.location = location
        self.within = within
        self.line: int = node.start_mark.line + 1
        self._kind: str = getattr(node, "id", "scalar")
        self._node = node
        self._loader = loader

    def error(self, what: str) -> FormatError:
        """What is wrong here."""
        return FormatError(": ".join(filter(None, (f"{self.location}:{self.line}", self.within, what))))

    @property
    def value(self) -> Any:
        """The value as YAML reads it."""
        import yaml

        try:
            return self._loader.construct_object(self._node, deep=True)
        except (yaml.YAMLError, ValueError):  # an unknown tag, or what looks like a date and is none
            raise self.error(f"YAML cannot read {self._node.value}; put it in quotes") from None

    @property
    def is_mapping(self) -> bool:
        return self._kind == "mapping"

    @property
    def is_list(self) -> bool:
        return self._kind == "sequence"

    def fields(self, what: str, known: Collection[str] = ()) -> dict[str, Place]:
        """The entries of a mapping by key; a key that is there twice, or that is none of ``known``, is an error at its
        own line. ``what`` names the mapping, unless that is what the place is within."""
        about = f"{what}: " if what else ""
        if not self.is_mapping:
            raise self.error(f"{about}expected keys with values")
        found: dict[str, Place] = {}
        for key_node, value_node in self._node.value:
            key = self._below(key_node)
            name = str(key.value)
            if known and name not in known:
                raise key.error(f"{about}unknown key {name}{_hint(name, known)}")
            if name in found:
                raise key.error(f"{about}{name} is given twice")
            found[name] = self._below(value_node)
            found[name].line = key.line
        return found

    def items(self, what: str) -> list[Place]:
        """The entries of a list."""
        if not self.is_list:
            raise self.error(f"{what}: expected a list")
        return [self._below(node) for node in self._node.value]

    def one_or_more(self, what: str) -> list[Place]:
        """The entries of a list, or the one value that stands for a list of it."""
        if self.is_mapping:
            raise self.error(f"{what}: expected a value or a list")
        return self.items(what) if self.is_list else [self]

    def integer(self, what: str, least: int = 0) -> int:
        """A whole number from ``least`` on."""
        value = self.value
        if type(value) is not int or value < least:
            raise self.error(f"{what}: expected a whole number of at least {least}, not {value}")
        return value

    def flag(self, what: str) -> bool:
        """on or off, which are true and false."""
        value = self.value
        if type(value) is not bool:
            raise self.error(f"{what}: expected on or off, not {value}")
        return value

    def text(self, what: str) -> str:
        """A scalar as text; numbers are what they look like."""
        value = self.value
        if isinstance(value, str):
            return value
        if type(value) in (int, float):
            return str(self._node.value)
        raise self.error(f"{what}: expected text, in quotes if YAML would read it as something else")

    def one_of(self, what: str, known: Collection[str]) -> str:
        """One of several words."""
        word = str(self.value)
        if word not in known:
            about = f"{what}: " if what else ""
            raise self.error(f"{about}expected one of {', '.join(known)}, not {word}")
        return word

    def _below(self, node: yaml.Node) -> Place:
        return Place(self.location, node, self._loader, self.within)


def parse(data: str, location: str) -> Place:
    """The one document of a file."""
    import yaml

    try:
        loader = yaml.SafeLoader(data)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise FormatError(f"{location}:{line}: not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise FormatError(f"{location}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise FormatError(f"{location}: nested too deep") from None
    if node is None:
        raise FormatError(f"{location}:1: the file is empty")
    return Place(location, node, loader)


def _hint(name: str, known: Collection[str]) -> str:
    from kafkapy.near_misses import did_you_mean

    return did_you_mean(name, known) or f"; there are {', '.join(known)}"
