"""What ``kafkapy share-groups`` changes: resets and deletions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output

from .tool_errors import finish, warn
from .typed_groups import fail

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.offset_targets import Reset, Target


def reset_offsets(opened: "Cluster", params: Mapping[str, Any], output: Output) -> None:
    """Plan the reset of one group, make it with ``--execute``, and show it."""
    from kafkapy.backends.offset_targets import OffsetTargets
    from kafkapy.coordinator.group import GroupType
    from kafkapy.output.group_change_lines import reset_lines
    from kafkapy.output.group_rows import reset_rows
    from kafkapy.output.printing import print_rows

    (group_id,) = params["group"]
    _check_empty(opened, group_id)
    try:
        targets = OffsetTargets(opened, _target(params, output))
        resets = _plan(opened, group_id, targets, params["topic"] or ())
        if params["execute"] and resets:
            opened.groups().alter_share_offsets(group_id, {each.partition: each.new.offset for each in resets})
    except UsageError:
        raise
    except KafkaError as error:
        fail(GroupType.SHARE, error, output, targets.notes)
    for warning in targets.warnings:
        print_warning(warning, output)
    rows = reset_rows(group_id, resets, params["execute"])
    lines = reset_lines({group_id: resets})
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    finish(opened.groups().problems)


def _check_empty(opened: "Cluster", group_id: str) -> None:
    """Refuse a group that has members; one that is not there yet is taken."""
    from kafkapy.backends.offset_reset import INACTIVE

    described = opened.groups().describe_share_groups([group_id])[group_id]
    if isinstance(described, KafkaError):
        if described.name != "GroupIdNotFoundException":
            warn(str(described))
            raise typer.Exit(1)
    elif described.state not in INACTIVE:
        warn(f"Share group '{group_id}' is not empty.")
        raise typer.Exit(1)


def _target(params: Mapping[str, Any], output: Output) -> "Target":
    from .consumer_group_reset_target import reset_target
    from .typed_group_usage import SHARE_SCENARIOS

    return reset_target(output, {name: params[name.replace("-", "_")] for name in SHARE_SCENARIOS}, (), "share")


def _plan(opened: "Cluster", group_id: str, targets: Any, topics: Sequence[str]) -> "list[Reset]":
    from kafkapy.formats.java_exceptions import exception_text

    if topics:
        partitions = targets.named(topics)
    else:
        offsets = opened.groups().share_offsets([group_id], lambda _: None)[group_id]
        if isinstance(offsets, KafkaError):
            raise KafkaError("ExecutionException", exception_text(offsets))
        partitions = [each.partition for each in offsets]
    targets.look_up(partitions)
    found: list[Reset] = targets.resets(targets.moved(partitions, {}), {})
    return found


def print_warning(text: str, output: Output) -> None:
    """What Kafka's tools tell beside a plan."""
    from kafkapy.output.printing import print_lines

    if output is Output.KAFKA:
        print_lines(["", f"Warn: {text}"])
    else:
        warn(f"kafkapy: {text}")


def delete_groups(opened: "Cluster", named: Sequence[str] | None, output: Output) -> None:
    """Delete groups, each by itself; those that have members, or are none of share, are not even asked for."""
    from kafkapy.coordinator.group import GroupType
    from kafkapy.output.group_change_lines import deletion_lines
    from kafkapy.output.group_rows import deleted_group_row
    from kafkapy.output.printing import print_rows

    from .typed_group_deletion import refusals

    groups = opened.groups()
    listings = groups.list(types=[GroupType.SHARE])
    ids = sorted(set(named)) if named else [listing.group_id for listing in listings]
    refused = refusals(listings, ids, "Share", "Group '{}' is not a share group.")
    wanted = [group_id for group_id in ids if group_id not in refused]
    done = {**refused, **(groups.delete_share_groups(wanted) if wanted else {})}
    rows = [deleted_group_row(group_id, done[group_id]) for group_id in ids]
    lines = deletion_lines({group_id: done[group_id] for group_id in ids}, "share")
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    if any(done.values()):
        raise typer.Exit(1)


def delete_offsets(opened: "Cluster", group_id: str, topics: Sequence[str], output: Output) -> None:
    """Delete the offsets of a group for topics."""
    from kafkapy.output.group_change_lines import share_offset_deletion_lines
    from kafkapy.output.group_rows import deleted_topic_row
    from kafkapy.output.printing import print_rows

    try:
        done = opened.groups().delete_share_offsets(group_id, topics)
        error = next((why for _, why in sorted(done.items()) if why), None)
    except KafkaError as refusal:
        error = refusal
        done = dict.fromkeys(topics, refusal)
    lines = share_offset_deletion_lines(done, error)
    rows = [deleted_topic_row(group_id, topic, why) for topic, why in sorted(done.items())]
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    if error is not None:
        raise typer.Exit(1)
