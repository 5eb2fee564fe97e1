"""Properties on the command line: files and ``name=value`` pairs, and options that have an old name."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from kafkapy.errors import UsageError

Value = TypeVar("Value")


class Renamed(NamedTuple):
    """How a tool speaks of an option whose old name still works: with ``old`` and ``new`` in braces."""

    deprecated: str
    both: str

    def choose(self, old: str, old_value: Value | None, new: str, new_value: Value | None) -> Value | None:
        """The value that was given; the old name is told about on stdout, as Kafka does."""
        if old_value and new_value:
            raise UsageError(self.both.format(old=old, new=new))
        if not old_value:
            return new_value
        from kafkapy.output.printing import print_lines

        print_lines([self.deprecated.format(old=old, new=new)])
        return old_value


def load_properties(file: str | None, pairs: Iterable[str] | None) -> dict[str, str]:
    """The properties of a file, then the pairs, which win; a pair without ``=`` has an empty value."""
    loaded: dict[str, str] = {}
    if file is not None:
        from kafkapy.formats.java_properties import load

        with open(file, "rb") as opened:
            loaded = load(opened.read())
    for pair in pairs or ():
        name, _, value = pair.partition("=")
        loaded[name] = value
    return loaded
