"""Which options of ``kafkapy consumer-groups`` go together, checked in the order and in the words of Kafka's tool."""

from collections.abc import Collection, Mapping
from typing import Any

from kafkapy.errors import UsageError

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
SCENARIOS = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "shift-by",
    "from-file",
    "to-timestamp",
    "to-group",
)
GROUPS = "[group], [all-groups]"
AVAILABLE_WITH = {
    "members": ("describe",),
    "verbose": ("describe",),
    "offsets": ("describe",),
    "totals": ("describe",),
    "lagging": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
}


def given(options: Mapping[str, Any]) -> frozenset[str]:
    """The options that were given; 0 and an empty word are values too."""
    return frozenset(
        name for name, value in options.items() if value is not None and value is not False and value not in ([], ())
    )


def check_usage(options: frozenset[str], state: str | None) -> None:
    """Refuse what does not go together; ``state`` is the value of ``--state``."""
    if len(options.intersection(ACTIONS)) > 1:  # Kafka's tool first tells what one of the actions lacks
        raise _not_one_action()
    for name, others in AVAILABLE_WITH.items():
        if name in options and options.isdisjoint(others):
            raise UsageError(f"Option(s) [{name}] are unavailable given other options on the command line")
    if "describe" in options:
        _check_describe(options, state)
    if "delete" in options:
        _check_groups(options, "delete")
        if "topic" in options:
            raise UsageError("The consumer does not support topic-specific offset deletion from a consumer group.")
    if "delete-offsets" in options and not options.issuperset(("group", "topic")):
        raise UsageError("Option [delete-offsets] takes the following options: [group], [topic]")
    if "reset-offsets" in options:
        _check_reset(options)
    _check_apart(options, "group", ("all-groups", "list"))
    _check_apart(options, "topic", ("list", "describe"))
    if options.isdisjoint(ACTIONS):
        raise _not_one_action()


def _not_one_action() -> UsageError:
    actions = ", ".join(f"--{name}" for name in ACTIONS)
    return UsageError(f"Command must include exactly one action: {actions}")


def _check_describe(options: frozenset[str], state: str | None) -> None:
    _check_groups(options, "describe")
    if len(options.intersection(("members", "offsets", "state"))) > 1:
        raise UsageError("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if state:
        raise UsageError("Option [describe] does not take a value for [state]")
    for name in ("totals", "lagging"):
        _check_apart(options, name, ("members", "state"))


def _check_reset(options: frozenset[str]) -> None:
    if options.issuperset(("dry-run", "execute")):
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    _check_groups(options, "reset-offsets")
    for scenario in SCENARIOS:
        _check_apart(options, scenario, [other for other in SCENARIOS if other != scenario])
    if options.isdisjoint(("all-topics", "topic", "from-file", "to-group")):
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if options.isdisjoint(SCENARIOS):
        names = ", ".join(f"[{name}]" for name in SCENARIOS)
        raise UsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


def _check_groups(options: frozenset[str], action: str) -> None:
    if options.isdisjoint(("group", "all-groups")):
        raise UsageError(f"Option [{action}] takes one of these options: {GROUPS}")


def _check_apart(options: frozenset[str], name: str, others: Collection[str]) -> None:
    if name in options:
        for other in others:
            if other in options:
                raise UsageError(f'Option "[{name}]" can\'t be used with option "[{other}]"')
