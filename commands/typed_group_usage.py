"""Which options of ``share-groups`` and ``streams-groups`` go together, in the words of Kafka's tools."""

from collections.abc import Collection, Mapping
from typing import Any

from kafkapy.errors import UsageError

from .consumer_group_usage import given

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SHARE_SCENARIOS = ("to-datetime", "to-earliest", "to-latest")
STREAMS_SCENARIOS = (
    *("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by", "from-file"),
)
DESCRIBED = ("members", "offsets", "state")
AVAILABLE_WITH = {
    "members": ("describe",),
    "offsets": ("describe",),
    "verbose": ("describe",),
    "state": ("describe", "list"),
}
GROUPS = "[all-groups], [group]"


class Given:
    """The options that were given; an empty word is a value, too."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.values = {name.strip("_").replace("_", "-"): value for name, value in params.items()}
        self._names = given(self.values)

    def has(self, *names: str) -> bool:
        """Whether all of these are there."""
        return self._names.issuperset(names)

    def any(self, names: Collection[str]) -> bool:
        """Whether one of these is there."""
        return not self._names.isdisjoint(names)

    def count(self, names: Collection[str]) -> int:
        return len(self._names.intersection(names))

    def check_one_action(self) -> None:
        if self.count(ACTIONS) != 1:
            listed = ", ".join(f"--{name}" for name in ACTIONS)
            raise UsageError(f"Command must include exactly one action: {listed}")
        for name, others in AVAILABLE_WITH.items():
            if self.has(name) and not self.any(others):
                raise UsageError(f"Option(s) [{name}] are unavailable given other options on the command line")

    def check_groups(self, action: str) -> None:
        if not self.any(("group", "all-groups")):
            raise UsageError(f"Option [{action}] takes one of these options: {GROUPS}")

    def check_describe(self) -> None:
        self.check_groups("describe")
        if self.count(DESCRIBED) > 1:
            raise UsageError("Option [describe] takes at most one of these options: [members], [offsets], [state]")
        if self.values["state"]:
            raise UsageError("Option [describe] does not take a value for [state]")

    def check_dry_or_not(self) -> None:
        if self.has("dry-run", "execute"):
            raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
        if not self.any(("dry-run", "execute")):
            raise UsageError("Option [reset-offsets] takes the option: [execute] or [dry-run]")

    def check_apart(self, name: str, others: Collection[str]) -> None:
        for other in others:
            if self.has(name, other) and other != name:
                raise UsageError(f'Option "[{name}]" can\'t be used with option "[{other}]"')

    def check_scenarios_apart(self, scenarios: Collection[str]) -> None:
        for scenario in scenarios:
            self.check_apart(scenario, scenarios)

    def check_one_group(self) -> None:
        if len(self.values["group"] or ()) > 1:
            raise UsageError("Found multiple arguments for option group, but you asked for only one")


def check_share_usage(params: Mapping[str, Any]) -> None:
    """Refuse what ShareGroupCommand refuses."""
    options = Given(params)
    options.check_one_action()
    if options.has("describe"):
        options.check_describe()
    if options.has("delete"):
        _check_share_delete(options)
    if options.has("delete-offsets") and not options.has("group", "topic"):
        raise UsageError("Option [delete-offsets] takes the following options: [group], [topic]")
    if options.has("reset-offsets"):
        _check_share_reset(options)
    options.check_apart("group", ("all-groups", "list"))
    options.check_apart("topic", ("list", "describe"))
    if options.any(("delete-offsets", "reset-offsets")):
        options.check_one_group()


def _check_share_delete(options: Given) -> None:
    if not options.any(("group", "all-groups")):
        raise UsageError("Option [delete] takes the options [group] or [all-groups]")
    if options.has("group", "all-groups"):
        raise UsageError("Option [delete] takes either [group] or [all-groups], not both.")
    if options.has("topic"):
        raise UsageError("Option [delete] does not take the option: [topic]")


def _check_share_reset(options: Given) -> None:
    options.check_dry_or_not()
    if not options.has("group"):
        raise UsageError("Option [reset-offsets] takes the option: [group]")
    if not options.any(("topic", "all-topics")):
        raise UsageError("Option [reset-offsets] takes one of these options: [all-topics], [topic]")
    if not options.any(SHARE_SCENARIOS):
        names = ", ".join(f"[{name}]" for name in SHARE_SCENARIOS)
        raise UsageError(f"Option [reset-offsets] takes one of these options: {names}")
    options.check_scenarios_apart(SHARE_SCENARIOS)


def check_streams_usage(params: Mapping[str, Any]) -> None:
    """Refuse what StreamsGroupCommand refuses."""
    options = Given(params)
    options.check_one_action()
    if options.has("describe"):
        options.check_describe()
    if options.has("delete"):
        options.check_groups("delete")
        if options.any(("input-topic", "all-input-topics")):
            raise UsageError("Kafka Streams does not support topic-specific offset deletion from a streams group.")
    if options.has("delete-offsets"):
        _check_streams_delete_offsets(options)
    if options.has("reset-offsets"):
        _check_streams_reset(options)
    elif options.any(("dry-run", "execute")):
        raise UsageError("Only Option [reset-offsets] accepts [execute] or [dry-run]")
    _check_internal_topics(options)
    options.check_apart("group", ("all-groups", "list"))
    options.check_apart("input-topic", ("list", "describe", "delete"))


def _check_streams_delete_offsets(options: Given) -> None:
    if not options.has("group") or not options.any(("input-topic", "all-input-topics")):
        names = "[all-input-topics], [input-topic]"
        raise UsageError(f"Option [delete-offsets] takes the [group] and one of these options: {names}")
    groups = options.values["group"]
    if len(groups) > 1:
        text = f"supports only one [group] at a time, but found: [{', '.join(groups)}]"
        raise UsageError(f"Option [delete-offsets] {text}")


def _check_streams_reset(options: Given) -> None:
    options.check_dry_or_not()
    options.check_groups("reset-offsets")
    options.check_scenarios_apart(STREAMS_SCENARIOS)
    if not options.any(("input-topic", "all-input-topics", "from-file")):
        raise UsageError("One of the reset scopes should be defined: --all-input-topics, --input-topic.")
    if not options.any(STREAMS_SCENARIOS):
        names = ", ".join(f"[{name}]" for name in STREAMS_SCENARIOS)
        raise UsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


def _check_internal_topics(options: Given) -> None:
    if options.has("delete-all-internal-topics"):
        name = "Option [delete-all-internal-topics]"
        if not options.any(("delete", "reset-offsets")):
            raise UsageError(f"{name} takes one of these options: [delete], [reset-offsets]")
        if options.has("reset-offsets") and not options.has("execute"):
            raise UsageError(f"{name} takes [execute] when [reset-offsets] is used.")
    elif options.has("delete-internal-topic") and not options.has("reset-offsets", "execute"):
        raise UsageError("Option [delete-internal-topic] takes [reset-offsets] when [execute] is used.")
